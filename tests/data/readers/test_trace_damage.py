"""Any damage to a good trace: never an exception, and either the right events or a problem beside what is left."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers import chrome_trace, sagemaker_trace, trace_file
from data.readers.events import EventReader
from data.sources import FileKind
from tests.traces import START_US, Found, lane, read_files, source_file, start, without

COUNT = 12
EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": f"n{at} [é", "pid": 1, "tid": at % 3, "ts": 10 * at, "dur": at + 0.5,
     "args": {"step_num": str(at), "more": [{"a": "}]"}]}}
    for at in range(COUNT)
]  # fmt: skip
LINES = [json.dumps(one, ensure_ascii=False) for one in [start(), lane(1, "A"), *EVENTS]]
HEADS = {
    "list": "[",
    "object": '{"schemaVersion": 1, "distributedInfo": {"rank": 3, "pg": [{"a": 1}]},\n"traceEvents": [',
    "tail": '{"traceEvents": [',
}
TAILS = {"list": "]\n", "object": "],\n" + '"traceName": "x"}', "tail": '], "distributedInfo": {"rank": 3}}\n'}
READERS: dict[str, tuple[EventReader, FileKind]] = {
    "list": (sagemaker_trace.READER, FileKind.PYTHONTIMELINE),
    "object": (chrome_trace.READER, FileKind.TRACE),
    "tail": (chrome_trace.READER, FileKind.TRACE),
}
FORM = st.sampled_from(sorted(HEADS))
PIECES = st.sampled_from([50, 120, 500, 4 << 20])
Row = tuple[str, int, int]


def document(form: str, lines: list[str] = LINES) -> bytes:
    return (HEADS[form] + "\n" + ",\n".join(lines) + "\n" + TAILS[form]).encode()


def read(form: str, data: bytes, piece_bytes: int = 4 << 20) -> Found:
    reader, kind = READERS[form]
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(trace_file, "PIECE_BYTES", piece_bytes),
        mock.patch.object(trace_file, "_CUT_BYTES", max(piece_bytes, 64)),
    ):
        path = Path(folder) / "rank0.trace.json"
        path.write_bytes(data)
        return read_files(reader, [source_file(path, kind)])


def rows(found: Found) -> Counter[Row]:
    """Name, start and length, whether the file still says when it starts or not."""
    return Counter(
        (row["name"], row["start_ns"] - (START_US * 1000 if row["wall"] else 0), row["duration_ns"])
        for row in found.rows
    )


def row(event: dict[str, Any]) -> Row:
    return event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000)


def told(found: Found) -> set[tuple[str, int | None, int]]:
    """What is said of a file, but for how many faults of a kind each piece had."""
    return {(one.message.split(" mended")[0].rstrip("0123456789: "), one.line, one.lost_rows) for one in found.problems}


GOOD = Counter(map(row, EVENTS))


@pytest.mark.parametrize("form", HEADS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_good_file_is_read_without_a_problem(form: str, pack: Callable[[bytes], bytes]) -> None:
    found = read(form, pack(document(form)))
    assert rows(found) == GOOD
    assert found.problems == ()
    assert {(one["node"], one["worker"]) for one in found.rows} == {
        ("algo-1", "81") if form == "list" else ("rank3", "3")
    }


@pytest.mark.parametrize("form", HEADS)
@pytest.mark.parametrize("piece_bytes", [50, 51, 77, 100, 130, 200, 333, 600, 1500, 4 << 20])
@pytest.mark.parametrize("damage", ["", "cut", "word", "bare"])
def test_pieces_of_any_size_give_the_same(form: str, piece_bytes: int, damage: str) -> None:
    """Also where some of them have to be read event by event, or mended."""
    data = document(form)
    if damage == "cut":
        data = data[: data.index(b"n9 [")]
    elif damage == "word":
        data = data.replace(b'"n5 [', b'"n5 [" "').replace(b'"n8 [', b"n8 [")
    elif damage == "bare":
        data = data.replace(b'"n5 [', b'"C:\\\\users [').replace(b'"n8 [', b'"n8 \\xff[')
    whole, pieces = read(form, data), read(form, data, piece_bytes)
    assert without(pieces.rows) == without(whole.rows)
    assert told(pieces) == told(whole)


@settings(max_examples=60)
@given(form=FORM, cut=st.integers(0, 2500), piece_bytes=PIECES)
def test_a_file_cut_anywhere(form: str, cut: int, piece_bytes: int) -> None:
    data = document(form)
    found = read(form, data[:cut], piece_bytes)
    ends = [data.index(line.encode()) + len(line.encode()) for line in LINES[2:]]
    kept = sum(end <= cut for end in ends)
    assert rows(found) == Counter(map(row, EVENTS[:kept]))
    assert bool(found.problems) or cut >= len(data.rstrip()) - (form != "list")
    assert found.lost <= 1
    assert found.files[0].invalid == 0


@settings(max_examples=60)
@given(form=FORM, at=st.integers(0, len(LINES) - 1), twice=st.booleans(), piece_bytes=PIECES)
def test_a_line_dropped_or_doubled(form: str, at: int, twice: bool, piece_bytes: int) -> None:
    lines = LINES[: at + 1] + LINES[at:] if twice else LINES[:at] + LINES[at + 1 :]
    found = read(form, document(form, lines), piece_bytes)
    assert rows(found) == Counter(row(event) for event in map(json.loads, lines) if event["ph"] == "X")
    assert [
        one.message for one in found.problems if "place in time" not in one.message and "1970" not in one.message
    ] == []


@settings(max_examples=100)
@given(form=FORM, place=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255), piece_bytes=PIECES)
def test_a_flipped_byte(form: str, place: float, mask: int, piece_bytes: int) -> None:
    """Where the file is still strict JSON, it means what plain json takes it for; else nothing but one line is lost."""
    data = bytearray(document(form))
    at = int(place * len(data))
    data[at] ^= mask
    found = read(form, bytes(data), piece_bytes)
    line = document(form)[:at].count(b"\n") - document(form)[: document(form).index(LINES[2].encode())].count(b"\n")
    untouched = Counter(row(event) for number, event in enumerate(EVENTS) if number != line)
    lost_rows = untouched - rows(found)
    assert not lost_rows or found.problems
    assert sum(lost_rows.values()) <= 1 or "no trace" in found.problems[0].message
    read_in_all = len(found.rows) + found.lost + found.files[0].invalid
    try:
        json.loads(bytes(data))
    except ValueError:
        assert found.problems or rows(found) == GOOD
        assert COUNT - 1 <= read_in_all <= COUNT + 1


@settings(max_examples=100)
@given(form=FORM, place=st.floats(0, 1), mask=st.integers(0, 255), cut=st.booleans())
def test_damage_to_a_packed_file(form: str, place: float, mask: int, cut: bool) -> None:
    packed = bytearray(gzip.compress(document(form), mtime=0))
    at = int(place * (len(packed) - 1))
    if cut:
        packed = packed[:at]
    else:
        packed[at] ^= mask
    found = read(form, bytes(packed))
    assert found.problems or rows(found) == GOOD
    if cut:
        assert not rows(found) - GOOD
