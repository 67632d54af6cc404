"""Traces of PyTorch's profiler and of other tools: the kinds of trouble that they are known for, anywhere in a file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.readers.chrome_trace import PERHAPS, READER, rank_of
from data.sources import FileKind
from tests.traces import START_US, Found, event, lane, read_files, source_file

COUNT = 6
PACK: list[Callable[[bytes], bytes]] = [bytes, gzip.compress]
FORMS = ['{"traceEvents": [@], "distributedInfo": {"rank": 2}}', '{"distributedInfo": {"rank": 2}, "traceEvents": [@]}']


NEITHER = (
    *(b"null", b"true", b"0", b"-1.5", b'"x"', b'"x', b"nul", b"null null", b"NaN"),
    *(b"]", b"}", b",", b"null]", b"\x00" * 9, b"<html>404</html>", b"some\nwords"),
)
"""Texts of all sorts that begin with neither bracket."""


def good(at: int, **more: Any) -> dict[str, Any]:
    return event(START_US + at, 2, name=f"n{at}") | {"cat": "cpu_op"} | more


def read(folder: Path, data: bytes, name: str = "a.pt.trace.json", kind: FileKind = FileKind.TRACE) -> Found:
    path = folder / name.replace("/", "_")
    path.write_bytes(data)
    return read_files(READER if kind is FileKind.TRACE else PERHAPS, [source_file(path, kind, "", inside=name)])


def text_of(place: int, odd: str, form: str = FORMS[0], count: int = COUNT) -> bytes:
    """A trace with an odd event in some place, one event a line."""
    events = [json.dumps(good(at)) for at in range(count)]
    events.insert(place, odd)
    return form.replace("@", "\n" + ",\n".join(events) + "\n").encode()


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [0, 3, COUNT])
@pytest.mark.parametrize(
    ("odd", "name", "words"),
    [
        (r'{"ph": "X", "name": "C:\py\train.py(3): f", "ts": @, "dur": 2}', r"C:\py\train.py(3): f", "backslashes"),
        (r'{"ph": "X", "name": "\ud83d half", "ts": @, "dur": 2}', "\ufffd half", "backslashes"),
        ('{"ph": "X", "name": "k N/A", "ts": @, "dur": 2, "args": {"a": N/A, "b": [1]}}', "k N/A", "N/A"),
        ('{"ph": "X", "name": "a\tb", "ts": @, "dur": 2}', "a\tb", "control characters"),
        ('{"ph": "X", "name": "x", "ts": @, "dur": 2, "args": {"a": NaN, "b": -Infinity}}', "x", ""),
        ('{"ph": "X", "name": "big", "ts": @, "dur": 2, "args": {"a": "' + "z" * 3_000_000 + '"}}', "big", ""),
    ],
    ids=["backslash", "surrogate", "n/a", "control", "nan", "huge"],
)
def test_an_event_that_can_be_mended_is_kept(
    tmp_path: Path, pack: Callable[[bytes], bytes], form: str, place: int, odd: str, name: str, words: str
) -> None:
    found = read(tmp_path, pack(text_of(place, odd.replace("@", str(START_US + 50)), form)))
    assert sorted(row["name"] for row in found.rows) == sorted([name, *(f"n{at}" for at in range(COUNT))])
    assert {(row["node"], row["worker"], row["wall"]) for row in found.rows} == {("rank2", "2", True)}
    assert [words in one.message for one in found.problems] == [True] * bool(words)
    assert all((one.line, one.severity, one.lost_rows) == (place + 2, "warning", 0) for one in found.problems)
    for row in found.rows:
        json.loads(row["args"] or "{}", parse_constant=lambda word: pytest.fail(word))


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("place", [0, 3, COUNT])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (good(9, ts=0, dur=0), "a time before 2000 or after 2100"),
        (good(9, dur=-1), "a negative duration"),
        (good(9, dur=None), "no usable duration"),
        (good(9, dur="Infinity"), "no usable duration"),
        (good(9, ts="soon"), "no usable time"),
        ({"name": "x", "ts": START_US, "dur": 1}, "no kind (ph)"),
        ({"ph": "E", "ts": START_US, "pid": 1}, "an end mark that ends nothing"),
    ],
    ids=["zero", "negative", "missing", "infinite", "word", "kind", "end"],
)
def test_an_event_without_sense_is_left_out_and_named(
    tmp_path: Path, pack: Callable[[bytes], bytes], place: int, times: int, odd: dict[str, Any], words: str
) -> None:
    found = read(tmp_path, pack(text_of(place, ",\n".join([json.dumps(odd)] * times))))
    assert [row["name"] for row in found.rows] == [f"n{at}" for at in range(COUNT)]
    (problem,) = found.problems
    assert f"{times} event{'s' * (times > 1)} with {words}" in problem.message
    assert (problem.line, problem.lost_rows, found.files[0].invalid) == (place + 2, 0, times)


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("place", [0, 3, COUNT])
@pytest.mark.parametrize("odd", ['{"ph": "X", name": "q", "ts": 5}', '{"ph": "X", "ts": , "dur": 1}', '{"ph" "X"}'])
def test_a_damaged_event_is_lost_alone(tmp_path: Path, pack: Callable[[bytes], bytes], place: int, odd: str) -> None:
    found = read(tmp_path, pack(text_of(place, odd)))
    assert [row["name"] for row in found.rows] == [f"n{at}" for at in range(COUNT)]
    (problem,) = found.problems
    assert (problem.line, problem.lost_rows, problem.severity) == (place + 2, 1, "warning")
    assert {row["worker"] for row in found.rows} == {"2"}


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Counted over the whole file, however it is cut."""
    odd = b'{"ph": "X", "name": "a\xff\xfe", "ts": 1767268800000050, "dur": 2}'
    for place in (0, 3, COUNT):
        found = read(tmp_path, text_of(place, "@").replace(b"@", odd))
        assert "a\ufffd\ufffd" in {row["name"] for row in found.rows}
        assert [one.message.split(": ")[1] for one in found.problems] == [
            "2 bytes are not valid UTF-8 text and were replaced"
        ]


@pytest.mark.parametrize("base", [1_700_000_000 * 10**9, str(1_700_000_000 * 10**9)])
@pytest.mark.parametrize("first", [True, False])
def test_times_count_from_the_base_that_the_file_names(tmp_path: Path, base: int | str, first: bool) -> None:
    known = {"baseTimeNanoseconds": base, "displayTimeUnit": "ms"}
    events = {"traceEvents": [event("84070453580123.125", 2.0625), event(84070453580124, 0.5)]}
    found = read(tmp_path, json.dumps(known | events if first else events | known).encode())
    assert found.problems == ()
    expected = 1_700_000_000 * 10**9 + 84070453580123125
    assert [(row["start_ns"], row["wall"]) for row in found.rows] == [(expected, True), (expected + 875, True)]


def test_times_that_count_from_nothing_known_are_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps([event(5, 2)]).encode())
    assert [(row["start_ns"], row["wall"]) for row in found.rows] == [(5000, False)]
    assert [one.severity for one in found.problems] == ["note"]


@pytest.mark.parametrize(
    ("path", "rank"),
    [
        ("rank3.pt.trace.json", 3),
        ("deep/rank_12/trace.json", 12),
        ("worker-7.1767268802123.pt.trace.json.gz", 7),
        ("host_1234.1767268802123.pt.trace.json", None),
        ("inference_rank_1.json.gz", 1),
        ("rank2/sampled_rank-5.json.gz", 5),
        ("trace.json", None),
    ],
)
def test_ranks_of_names(tmp_path: Path, path: str, rank: int | None) -> None:
    assert rank_of(path) == rank
    (row,) = read(tmp_path, json.dumps([good(1)]).encode(), path).rows
    assert (row["node"], row["worker"]) == (f"rank{rank or 0}", str(rank or 0))


def test_ids_of_any_kind_are_kept_as_they_are_written(tmp_path: Path) -> None:
    ids = ["CPU functions", 0, 2**53 + 1, 2**64 - 1, -7, "127.0.0.1", None, 1.5, True, "007"]
    events = [good(at, pid=one, tid=one, args={"correlation": one}) for at, one in enumerate(ids)]
    for text in (json.dumps(events), json.dumps(events)[:-1]):
        rows = read(tmp_path, text.encode()).rows
        words = ["" if one is None else one if isinstance(one, str) else json.dumps(one) for one in ids]
        assert [row["process"] for row in rows] == words
        assert [row["thread"] for row in rows] == words
        assert [json.loads(row["args"])["correlation"] for row in rows] == ids


def test_phases_are_categories_and_else_lanes(tmp_path: Path) -> None:
    events = [
        lane(1, "python"),
        good(1),
        good(2, cat=""),
        good(3, cat=None),
        good(4, cat="kernel"),
        good(5, pid=9, cat=""),
    ]
    rows = read(tmp_path, json.dumps(events).encode()).rows
    assert [row["phase"] for row in rows] == ["cpu_op", "python", "python", "kernel", "Unknown"]
    assert [row["category"] for row in rows] == ["cpu_op", "", "", "kernel", ""]


def test_steps_are_numbered_by_their_names(tmp_path: Path) -> None:
    names = [
        "ProfilerStep#551",
        "ProfilerStep#0",
        "ProfilerStep#",
        "ProfilerStep#1x",
        "ProfilerStep*",
        "ProfilerStep#" + "9" * 30,
    ]
    rows = read(tmp_path, json.dumps([good(at, name=name) for at, name in enumerate(names)]).encode()).rows
    assert [row["step"] for row in rows] == [551, 0, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("text", "certain", "perhaps"),
    [
        (b"", "the file is empty", "the file is empty"),
        (b"{}", "no events", "no trace"),
        (b'{"a": 1}', "no events", "no trace"),
        (b'{"traceEvents": []}', "no events", "no events"),
        (b'{"traceEvents": [], "distributedInfo": {"rank": 1}}', "no events", "no events"),
        (b"[]", "no events", "no events"),
        (b"[1, 2]", "no event", "no event"),
        (b'[{"ph": "M", "name": "process_name", "pid": 1}]', "no events", "no events"),
        (b'{"a": 1}\n{"b": 2}\n', "no events", "no events"),
        *((text, "neither a list nor an object", "neither a list nor an object") for text in NEITHER),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda text: b"\xef\xbb\xbf \n\t" + text + b" \n"])
def test_what_has_no_events(
    tmp_path: Path, pack: Callable[[bytes], bytes], text: bytes, certain: str, perhaps: str
) -> None:
    (problem,) = read(tmp_path, pack(text)).problems
    assert certain in problem.message
    assert (problem.severity, problem.lost_rows) == ("error" if text else "note", 0)
    (problem,) = read(tmp_path, pack(text), kind=FileKind.PERHAPS_TRACE).problems
    assert perhaps in problem.message
    assert (problem.severity, problem.lost_rows) == ("note", 0)


@pytest.mark.parametrize("text", [b"[", b'{"traceEvents": [', b'[{"ph": "X", "name": "a'])
def test_a_list_that_has_only_begun_is_still_being_written(tmp_path: Path, text: bytes) -> None:
    assert "not closed" in read(tmp_path, text).problems[-1].message


def test_a_list_far_behind_the_file_s_beginning_is_found(tmp_path: Path) -> None:
    found = read(tmp_path, b"\n" * (3 << 20) + b'[{"ph": "X", "name": "a", "ts": -1, "dur": -1}]')
    assert [one.line for one in found.problems] == [(3 << 20) + 1]


@pytest.mark.parametrize("cut", [1, 2, 30])
@pytest.mark.parametrize("form", FORMS)
def test_an_object_that_breaks_off(tmp_path: Path, form: str, cut: int) -> None:
    data = text_of(0, json.dumps(good(9)), form)
    end = data.rindex(b"]")
    found = read(tmp_path, data[: end - cut])
    kept = COUNT + 1 - (cut > 1)
    assert len(found.rows) == kept
    assert any(one.severity == "note" and "not closed" in one.message for one in found.problems) or found.lost
    assert {row["worker"] for row in found.rows} == {"2" if form == FORMS[1] else "0"}


def test_two_writers_of_one_file(tmp_path: Path) -> None:
    """A second trace begins in the middle of the first one."""
    one, two = text_of(0, json.dumps(good(9))), text_of(0, json.dumps(good(10)))
    found = read(tmp_path, one[: len(one) // 2] + two)
    names = [row["name"] for row in found.rows]
    assert {"n10", *(f"n{at}" for at in range(COUNT))} <= set(names)
    assert found.problems
