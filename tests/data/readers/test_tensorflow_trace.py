"""Traces of TensorFlow's profiler: lanes that are processes, packed files of all kinds, the clock in another name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from data.readers.tensorflow_trace import READER
from data.sources import FileKind, SourceFile
from tests.traces import START_US, Found, event, lane, read_files, source_file

FOLDER = "profiler-output/framework/tensorflow/detailed_profiling/2026010112/000000009"
TRACE = f"{FOLDER}/plugins/profile/2026_01_01_12_00_05/host-7.trace.json.gz"
EVENTS = [lane(1, "/device:GPU:0"), lane(2, "/host:CPU"), event(100.5, 2.25, 1), event(7, 20, 2), event(9, 0, 3), {}]


def read(folder: Path, *contents: tuple[str, bytes]) -> Found:
    """Files at these paths of a job; a metadata file is known by its name."""
    paths: list[tuple[SourceFile, str]] = []
    for number, (path, content) in enumerate(contents):
        (folder / str(number)).write_bytes(content)
        name = path.rsplit("/", 1)[-1]
        kind, node, stamp_ns = FileKind.TENSORFLOW_TRACE, "", 0
        if name.endswith(".metadata"):
            kind, node = FileKind.TENSORFLOW_METADATA, name.split("_")[0]
            stamp_ns = int(name.split("_")[1]) * 1000
        paths.append(source_file(folder / str(number), kind, node, stamp_ns, path))
    return read_files(READER, paths)


def packed(events: list[dict[str, Any]] = EVENTS) -> bytes:
    text = json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events})
    return gzip.compress(text.encode(), mtime=0)


def test_lanes_are_processes_and_the_clock_is_in_the_other_name(tmp_path: Path) -> None:
    metadata = f"{FOLDER}/81-algo-1_{START_US}_{START_US + 5}.metadata"
    found = read(tmp_path, (TRACE, packed()), (metadata, b""))
    assert found.problems == ()
    assert [(row["phase"], at) for row, at in zip(found.rows, found.starts_us, strict=True)] == [
        ("/host:CPU", 7), ("Unknown", 9), ("/device:GPU:0", 100.5),
    ]  # fmt: skip
    assert {(row["node"], row["worker"], row["wall"]) for row in found.rows} == {("algo-1", "81", True)}


@pytest.mark.parametrize(
    "other",
    [
        "",
        f"{FOLDER[:-1]}8/81-algo-1_{START_US}_9.metadata",
        f"{FOLDER}/plugins/81-algo-1_{START_US}_9.metadata",
        f"{FOLDER}/81-algo-1_0000000000000005_9.metadata",
    ],
)
def test_without_a_clock_events_keep_their_durations(tmp_path: Path, other: str) -> None:
    """Also where the other name lies elsewhere, or has a time before 2000."""
    found = read(tmp_path, (TRACE, packed()), *([(other, b"")] if other else []))
    assert [(row["start_ns"], row["duration_ns"]) for row in found.rows] == [(7000, 20_000), (9000, 0), (100_500, 2250)]
    assert not any(row["wall"] for row in found.rows)
    assert {row["node"] for row in found.rows} == {"algo-1" if "_0000" in other else "host-7"}
    (problem,) = found.problems
    assert (problem.severity, problem.line) == ("warning", None)
    assert "metadata" in problem.message
    assert "3 events" in problem.message


def in_members(data: bytes) -> bytes:
    return b"".join(gzip.compress(data[at : at + 50]) for at in range(0, len(data), 50))


@pytest.mark.parametrize("name", [TRACE, TRACE.removesuffix(".gz")])
@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        in_members,
        lambda data: in_members(data) + b"\0" * 4096,
        lambda data: b"\xef\xbb\xbf" + data,
    ],
    ids=["plain", "packed", "members", "padded", "marked"],
)
def test_what_is_packed_is_told_by_its_bytes_and_not_by_its_name(tmp_path: Path, name: str, pack: Any) -> None:
    found = read(tmp_path, (name, pack(gzip.decompress(packed()))))
    assert len(found.rows) == 3
    assert len(found.problems) == 1  # of the clock


@pytest.mark.parametrize(
    ("damage", "severity", "lost", "words"),
    [
        (lambda data: data[:-9], "warning", 1, "breaks off"),
        (lambda data: data[: len(data) // 2], "warning", 1, "breaks off"),
        (lambda data: data[:-8] + b"\1" + data[-7:], "error", 0, "checksum"),
        (lambda data: data + b"something else", "note", 0, "something else"),
        (lambda data: data[:40] + b"\xff" * 9 + data[49:], "warning", 1, "damaged"),
        (lambda data: data[:2], "warning", 1, "breaks off"),
    ],
)
def test_damaged_packing(tmp_path: Path, damage: Any, severity: str, lost: int, words: str) -> None:
    events = [event(at, at % 7, name=f"n{at**3 % 1009}") for at in range(500)]
    found = read(tmp_path, (TRACE, damage(packed(events))))
    told = next(one for one in found.problems if words in one.message)
    assert (told.severity, told.lost_rows) == (severity, lost)
    if lost == 0:
        assert len(found.rows) == 500
    assert [row["name"] for row in found.rows] == [f"n{at**3 % 1009}" for at in range(len(found.rows))]


def test_an_empty_event_is_nothing_wherever_it_stands(tmp_path: Path) -> None:
    for events in ([{}, event()], [event(), {}], [{}, {}, event(), {}, {}]):
        found = read(tmp_path, (TRACE, packed(events)))
        assert (len(found.rows), found.files[0].invalid, found.lost) == (1, 0, 0)
