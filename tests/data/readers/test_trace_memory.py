"""Records of memory allocators in traces: kept to the byte, and left out with a word where they make no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.readers.chrome_trace import READER
from data.sources import FileKind
from tests.traces import START_US, Found, event, memory, read_texts

GIB = 1 << 30


def read(folder: Path, *events: dict[str, Any] | str, **around: Any) -> Found:
    """A trace with one event a line, the first of them in line 2."""
    lines = ",\n".join(one if isinstance(one, str) else json.dumps(one) for one in events)
    text = json.dumps({"distributedInfo": {"rank": 3}, **around, "traceEvents": "@"}).replace('"@"', f"[\n{lines}\n]")
    return read_texts(READER, folder, text, kind=FileKind.TRACE)


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return record | {"args": {name: value for name, value in record["args"].items() if name != key}}


BROKEN = '{"ph": "X", "name": "broken", "ts": 1, "du'
"""An event that no parser takes: what stands in its piece is read event by event."""


@pytest.mark.parametrize("damage", [[], [BROKEN]])
def test_a_record_is_kept_as_it_is_written(tmp_path: Path, damage: list[str]) -> None:
    records = [
        memory(START_US + 1.5, 512, 80 * GIB, 81 * GIB, device=1),
        memory(START_US + 1, -(3 * GIB + 1), 77 * GIB - 1, 81 * GIB, device=1),
        memory(f"{START_US}", 8, 2**50, 0, kind=0, device=-1),
    ]
    found = read(tmp_path, *records, *damage, event(START_US, 1))
    same = {"node": "rank3", "worker": "3", "process": "7", "thread": "8", "wall": True, "file": 0}
    cuda, base_ns = {"device_kind": "cuda", "device": 1}, START_US * 1000
    first = {"time_ns": base_ns + 1500, "bytes": 512, "allocated": 80 * GIB, "reserved": 81 * GIB, "place": 0}
    second = {"time_ns": base_ns + 1000, "bytes": -3 * GIB - 1, "allocated": 77 * GIB - 1, "reserved": 81 * GIB}
    third = {"time_ns": base_ns, "bytes": 8, "allocated": 2**50, "reserved": 0, "place": 2}
    assert found.memory.to_pylist() == [
        same | cuda | first,
        same | cuda | second | {"place": 1},
        same | {"device_kind": "cpu", "device": -1} | third,
    ]
    assert [row["name"] for row in found.rows] == ["e"]
    assert [one.lost_rows for one in found.problems if "damaged" in one.message] == [1] * len(damage)
    assert (found.files[0].events, found.files[0].memory, found.files[0].invalid) == (1, 3, 0)


FAULTS: list[tuple[dict[str, Any], str]] = [
    (without(memory(START_US, 1, 1), "Device Type"), "no usable Device Type"),
    (without(memory(START_US, 1, 1), "Device Id"), "no usable Device Id"),
    (without(memory(START_US, 1, 1), "Bytes"), "no usable Bytes"),
    (without(memory(START_US, 1, 1), "Total Allocated"), "no usable Total Allocated"),
    (without(memory(START_US, 1, 1), "Total Reserved"), "no usable Total Reserved"),
    (memory(START_US, "much", 1), "no usable Bytes"),
    (memory(START_US, None, 1), "no usable Bytes"),
    (memory(START_US, 1, 1.5), "no usable Total Allocated"),
    (memory(START_US, 1, float("nan")), "no usable Total Allocated"),
    (memory(START_US, 1, 10**30), "no usable Total Allocated"),
    (memory(START_US, 1, [1]), "no usable Total Allocated"),
    (memory(START_US, 1, -1), "a negative Total Allocated"),
    (memory(START_US, 1, 1, -5), "a negative Total Reserved"),
    (memory(START_US, 2**50 + 1, 1), "an impossible Bytes"),
    (memory(START_US, 1, 2**50 + 1), "an impossible Total Allocated"),
    (memory(START_US, 1, 1, kind=128), "an impossible Device Type"),
    (memory(START_US, 1, 1, kind=-1), "a negative Device Type"),
    (memory(START_US, 1, 1, device=-2), "an impossible Device Id"),
    (memory(START_US, 1, 1) | {"args": None}, "no usable Device Type"),
    (memory(START_US, 1, 1) | {"args": ["Bytes", 1]}, "no usable Device Type"),
    (memory(None, 1, 1), "no usable time"),
    (memory(5, 1, 1), "a time before 2000 or after 2100"),
]


@pytest.mark.parametrize("damage", [[], [BROKEN]])
@pytest.mark.parametrize(("record", "reason"), FAULTS)
def test_a_record_that_makes_no_sense_is_left_out_and_named(
    tmp_path: Path, record: dict[str, Any], reason: str, damage: list[str]
) -> None:
    good = memory(START_US, 512, 512)
    found = read(tmp_path, good, record, good, record, *damage)
    assert [row["place"] for row in found.memory.to_pylist()] == [0, 2]
    (problem,) = [one for one in found.problems if "memory" in one.message]
    assert problem.message == f"0.json: 2 memory records with {reason} were left out"
    assert (problem.line, problem.severity) == (3, "warning")
    assert (found.files[0].memory, found.files[0].invalid) == (2, 2)


@pytest.mark.parametrize(
    ("kind", "word"), [(0, "cpu"), (1, "cuda"), (6, "hip"), (12, "xpu"), (20, "privateuseone"), (42, "device type 42")]
)
def test_kinds_of_devices_are_words(tmp_path: Path, kind: int, word: str) -> None:
    assert read(tmp_path, memory(START_US, 1, 1, kind=kind)).memory.column("device_kind").to_pylist() == [word]


def test_a_trace_of_memory_records_alone_is_not_empty(tmp_path: Path) -> None:
    found = read(tmp_path, memory(START_US, 1, 1))
    assert found.problems == ()
    assert found.memory.column("wall").to_pylist() == [True]


def test_records_without_a_clock_say_so(tmp_path: Path) -> None:
    found = read(tmp_path, memory(5.25, 1, 1), event(5, 1))
    assert found.memory.select(["time_ns", "wall"]).to_pylist() == [{"time_ns": 5250, "wall": False}]


def test_times_count_from_the_base_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, memory(5.25, 1, 1), baseTimeNanoseconds=START_US * 1000)
    assert found.memory.column("time_ns").to_pylist() == [START_US * 1000 + 5250]


def test_other_instants_are_no_records(tmp_path: Path) -> None:
    mark = memory(START_US, 1, 1) | {"name": "Iteration Start: PyTorch Profiler"}
    begun = memory(START_US, 1, 1) | {"ph": "C"}
    found = read(tmp_path, mark, begun, event(START_US, 1))
    assert len(found.memory) == 0
    assert (found.files[0].events, found.files[0].invalid, found.problems) == (1, 0, ())
