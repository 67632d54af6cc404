"""Begin and end marks against a plain stack, also where files are cut between them."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers.sagemaker_trace import READER
from data.sources import FileKind, SourceFile
from tests.traces import START_US, begin, end, event, read_files, source_file, start

MARKS = st.lists(
    st.tuples(st.sampled_from("BEBEX"), st.integers(0, 2), st.sampled_from([0, 1, "main"]), st.integers(0, 3)),
    max_size=24,
)
"""Kind, process, thread, and how much later than the mark before, in microseconds."""


def as_events(marks: list[tuple[str, int, Any, int]]) -> list[dict[str, Any]]:
    found, at = [], 0
    for number, (kind, pid, tid, later) in enumerate(marks):
        at += later
        if kind == "B":
            found.append(begin(at, f"b{number}", pid, tid))
        elif kind == "E":
            found.append(end(at, pid, tid))
        else:
            found.append(event(at, 1, pid, "x") | {"tid": tid})
    return found


def by_stack(events: list[dict[str, Any]]) -> tuple[Counter[tuple[str, int, int]], int, int]:
    """Name, start and duration of each event that the marks make; begins that stay open, ends that close nothing."""
    open_marks: dict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    made: Counter[tuple[str, int, int]] = Counter()
    lone = 0
    for one in events:
        stack = open_marks[str(one["pid"]), str(one["tid"])]
        if one["ph"] == "B":
            stack.append(one)
        elif one["ph"] == "X":
            made["x", one["ts"], 1] += 1
        elif stack:
            first = stack.pop()
            made[first["name"], first["ts"], one["ts"] - first["ts"]] += 1
        else:
            lone += 1
    return made, sum(map(len, open_marks.values())), lone


def write(folder: Path, parts: list[list[dict[str, Any]]], ending: str = "]") -> list[tuple[SourceFile, str]]:
    """The parts as rotated files of one process, listed in another order than they were written in."""
    paths = []
    for number, part in enumerate(parts):
        path = folder / f"{9 - number}.json"
        path.write_text(json.dumps([start(), *part])[:-1] + ending)
        paths.append(source_file(path, FileKind.HOROVOD_TIMELINE, stamp_ns=number + 1))
    return paths[::-1]


def number_in(messages: list[str], words: str) -> int:
    return sum(int(one.split(": ", 1)[1].split()[0]) for one in messages if words in one)


@settings(max_examples=40)
@given(marks=MARKS, cuts=st.lists(st.integers(0, 24), max_size=3), ending=st.sampled_from(["]", ",", ",,]"]))
def test_pairs_are_those_of_a_plain_stack_wherever_files_are_cut(
    marks: list[tuple[str, int, Any, int]], cuts: list[int], ending: str
) -> None:
    events = as_events(marks)
    places = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    parts = [events[first:last] for first, last in pairwise(places)]
    with tempfile.TemporaryDirectory() as folder:
        found = read_files(READER, write(Path(folder), parts, ending))
    made, open_marks, lone = by_stack(events)
    rows = Counter((row["name"], row["start_ns"] // 1000 - START_US, row["duration_ns"] // 1000) for row in found.rows)
    assert rows == made
    messages = [one.message for one in found.problems]
    assert number_in(messages, "no end: no event could be made of that") == open_marks
    assert number_in(messages, "an end mark that ends nothing") == lone == sum(one.invalid for one in found.files)


def test_an_end_before_its_begin_is_no_event(tmp_path: Path) -> None:
    found = read_files(READER, write(tmp_path, [[begin(9, "outer"), begin(5, "late"), end(3), end(11)]]))
    assert [(row["name"], row["duration_ns"]) for row in found.rows] == [("outer", 2000)]
    assert found.files[0].invalid == 1
    assert any("an end before its begin" in one.message for one in found.problems)


def test_what_is_taken_from_begin_and_from_end(tmp_path: Path) -> None:
    first = begin(1, "a") | {"cat": "c", "args": {"step_num": 4, "bytes": 9, "pid": 7}}
    last = end(5) | {"name": "other", "args": {"bytes": 12, "pid": 8}}
    ((row),) = read_files(READER, write(tmp_path, [[first], [last]])).rows
    assert (row["name"], row["category"], row["step"], row["process"], row["bytes"]) == ("a", "c", 4, "7", 12)
    assert row["args"] == '{"bytes":12,"pid":8}'
    assert row["file"] == 0


def test_a_file_that_cannot_be_opened_breaks_no_pair_around_it(tmp_path: Path) -> None:
    paths = write(tmp_path, [[begin(1, "a")], [], [end(4)], []])
    for _, path in paths:
        if json.loads(Path(path).read_text()) == [start()]:
            Path(path).unlink()
    found = read_files(READER, paths)
    assert [(row["name"], row["duration_ns"]) for row in found.rows] == [("a", 3000)]
    assert [one.severity for one in found.problems] == ["error", "error"]
    assert [one.waiting for one in found.files] == [False, True, False, True]
