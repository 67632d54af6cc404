"""A damaged list of events is read as far as it goes, event by event."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers import trace_scan
from data.readers.trace_scan import Damage, Text, scan

EVENTS = [
    {"name": f'n{number} {{[",\\ é', "ph": "X", "ts": number, "args": {"a": [{"b": number}]}} for number in range(6)
]


def read(data: bytes, at_once: int | None = None, **options: Any) -> tuple[list[dict[str, Any]], list[Damage]]:
    """What stands in a list whose bracket was passed already, in line 1; `at_once` bytes are there from the start."""
    stream = io.BytesIO(data)
    window = Text(stream.read(at_once), stream.read, 1)
    found = list(scan(window, **options))
    events = [item[1] for item in found if not isinstance(item, Damage)]
    return events, [item for item in found if isinstance(item, Damage)]


def lines(events: list[dict[str, Any]] = EVENTS) -> str:
    return "\n" + ",\n".join(json.dumps(event, ensure_ascii=False) for event in events) + "\n]\n"


def test_a_whole_list_has_no_damage() -> None:
    for text in (lines(), json.dumps(EVENTS)[1:], json.dumps(EVENTS, indent=1)[1:]):
        assert read(text.encode()) == (EVENTS, [])


def test_events_are_named_by_the_line_that_they_begin_in() -> None:
    window = Text(lines().encode(), lambda size: b"", 7)
    assert [found[0] for found in scan(window) if not isinstance(found, Damage)] == [8, 9, 10, 11, 12, 13]


@pytest.mark.parametrize(
    ("text", "kept", "severity", "lost", "words", "line"),
    [
        ("", 0, "note", 0, "not closed", 1),
        ("@,@", 2, "note", 0, "not closed", 1),
        ("@,@,\n", 2, "note", 0, "not closed", 2),
        (",@,,@]", 2, "warning", 0, "commas", 1),
        ("@ @]", 2, "warning", 0, "commas", 1),
        ("@,\n\n@ @]", 3, "warning", 0, "commas", 3),
        ("@,@\n[@,@]", 4, "warning", 0, "commas", 2),
        ("@ garbage, @]", 2, "warning", 0, "no event", 1),
        ("@, 5, null, @]", 2, "warning", 0, "no event", 1),
        ('@,\n{"name": "x",\n@]', 2, "warning", 1, "damaged", 2),
        ('@,\n{"name": "x, "ts": 5},\n@]', 2, "warning", 1, "damaged", 2),
        ('@,\n{"name": "x", ts": 5},\n@]', 2, "warning", 1, "damaged", 2),
        ('@,{"ts": }, @]', 2, "warning", 1, "damaged", 1),
        ('@,{"ts": 1e99999999999999999999}, @]', 2, "warning", 1, "damaged", 1),
        ('@,{"ts": ' + "9" * 5000 + "}, @]", 2, "warning", 1, "damaged", 1),
        ('@,\n{"ts": ' + "[" * 100_000 + "]" * 100_000 + "}, @]", 2, "warning", 1, "damaged", 2),
        ('@,\n{"name": "x', 1, "warning", 1, "ends inside an event", 2),
    ],
)
def test_known_damage(text: str, kept: int, severity: str, lost: int, words: str, line: int) -> None:
    event = {"ph": "X", "ts": 1}
    events, damages = read(text.replace("@", json.dumps(event)).encode())
    assert events == [event] * kept
    (named,) = [damage for damage in damages if words in damage.message]
    assert (named.severity, named.line) == (severity, line)
    assert sum(damage.lost_rows for damage in damages) == lost


@pytest.mark.parametrize(
    ("text", "event", "words", "line"),
    [
        (r'{"ts": 1, "name": "C:\py\x.py"}', {"ts": 1, "name": r"C:\py\x.py"}, "backslashes", 2),
        (r'{"n": "D:\data\node\\t\u00e9"}', {"n": "D:\\data\\node\\té"}, "backslashes", 2),
        (r'{"ts": 1, "name": "\ud800 half"}', {"ts": 1, "name": "\ufffd half"}, "backslashes", None),
        ('{"ts": N/A}', {"ts": None}, "N/A", 2),
        ('{"a": N/A ,\n"name": "k N/A"}', {"a": None, "name": "k N/A"}, "N/A", 2),
        ('{"name": "x",\n"a": N/A}', {"name": "x", "a": None}, "N/A", 3),
    ],
)
def test_well_known_faults_are_mended(text: str, event: dict[str, Any], words: str, line: int | None) -> None:
    """A half surrogate pair is no fault to Python: its text is made fit to be stored later."""
    events, damages = read(b'{"ts": 0},\n' + text.encode() + b',\n{"ts": 2}]')
    if line is None:
        assert damages == []
        return
    assert events == [{"ts": 0}, event, {"ts": 2}]
    (damage,) = damages
    assert words in damage.message
    assert (damage.line, damage.lost_rows, damage.severity) == (line, 0, "warning")


def test_a_whole_trace_in_place_of_an_event_holds_events() -> None:
    text = '{"ts": 0}, {"traceEvents": [{"ts": 1}, {"ts": 2}, 5]}, {"ts": 3}]'
    events, (damage,) = read(text.encode())
    assert events == [{"ts": number} for number in range(4)]
    assert "no event" in damage.message


def test_what_stands_behind_the_list_of_an_object_is_given_away() -> None:
    taken: list[bytes] = []

    def take(text: bytes) -> bool:
        taken.append(text)
        return True

    assert read(b'{"ts": 1}], "rank": 3}', take_end=take) == ([{"ts": 1}], [])
    assert taken == [b'{"rank": 3}']
    assert read(b'{"ts": 1}]}', take_end=take) == ([{"ts": 1}], [])


def test_what_is_taken_for_no_end_is_damage() -> None:
    events, damages = read(b'{"ts": 1}], "rank": 3', take_end=lambda text: False)
    assert events == [{"ts": 1}]
    assert {damage.severity for damage in damages} == {"warning", "note"}


def test_reading_stops_behind_the_bytes_that_are_wanted_and_gives_the_rest_back() -> None:
    data = lines().encode()
    stream = io.BytesIO(data)
    window = Text(stream.read(100), stream.read, 1)
    found = [item[1] for item in scan(window, until=60) if not isinstance(item, Damage)]
    assert found == EVENTS[:1]
    assert window.line == 3
    assert read(window.rest() + stream.read()) == (EVENTS[1:], [])


def test_a_character_that_is_cut_by_the_end_of_a_chunk_is_given_back_whole() -> None:
    stream = io.BytesIO('{"n": "é"}, {"n": "é'.encode() + 'é"}'.encode())
    window = Text(stream.read(19), stream.read, 1)
    first = next(scan(window))
    assert first == (1, {"n": "é"})
    assert (window.rest() + stream.read()).decode() == ', {"n": "éé"}'


def test_bytes_that_are_no_text_are_replaced_and_counted() -> None:
    data = b'{"name": "a\xff\xfeb \xef\xbf\xbd"}]'
    window = Text(data, lambda size: b"", 1)
    assert list(scan(window)) == [(1, {"name": "a\ufffd\ufffdb \ufffd"})]
    assert window.replaced == 2


@settings(deadline=None)
@given(st.integers(0, len(lines().encode())))
def test_a_list_cut_anywhere_gives_the_events_before_the_cut(cut: int) -> None:
    data = lines().encode()
    events, damages = read(data[:cut])
    ends = [data.find(b"\n", data.find(f'"n{number} '.encode())) - (number < 5) for number in range(6)]
    assert events == EVENTS[: sum(end <= cut for end in ends)]
    closed = b"]" in data[ends[-1] : cut]
    assert bool(damages) != closed
    assert all(damage.severity in ("note", "warning") for damage in damages)


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 40))
def test_no_bytes_raise(noise: bytes, position: int, removed: int) -> None:
    data = lines().encode()
    read(data[:position] + noise + data[position + removed :])
    read(noise)


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 40))
def test_chunks_may_end_anywhere(size: int, at_once: int) -> None:
    before, trace_scan.CHUNK_BYTES = trace_scan.CHUNK_BYTES, size
    try:
        assert read(lines().encode(), at_once) == (EVENTS, [])
        assert read(json.dumps(EVENTS, ensure_ascii=False, indent=1).encode()[1:], at_once) == (EVENTS, [])
    finally:
        trace_scan.CHUNK_BYTES = before
