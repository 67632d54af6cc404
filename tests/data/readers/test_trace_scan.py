"""Damaged traces are read as far as they go."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers import trace_scan
from data.readers.trace_scan import Damage, scan

EVENTS = [
    {"name": f'n{number} {{[",\\ é', "ph": "X", "ts": number, "args": {"a": [{"b": number}]}} for number in range(6)
]


def read(data: bytes) -> tuple[list[dict[str, Any]], list[Damage]]:
    found = list(scan(io.BytesIO(data)))
    events = [item[1] for item in found if not isinstance(item, Damage)]
    return events, [item for item in found if isinstance(item, Damage)]


def lines(events: list[dict[str, Any]] = EVENTS) -> str:
    return "[\n" + ",\n".join(json.dumps(event, ensure_ascii=False) for event in events) + "\n]\n"


def test_a_whole_array_has_no_damage() -> None:
    for text in (lines(), json.dumps(EVENTS), json.dumps(EVENTS, indent=1), "\ufeff" + lines()):
        assert read(text.encode()) == (EVENTS, [])


@pytest.mark.parametrize(
    ("text", "kept", "severity", "lost", "words"),
    [
        ("", 0, "note", 0, "empty"),
        (" \n", 0, "note", 0, "empty"),
        ("[", 0, "note", 0, "not closed"),
        ("[{a},\n", 0, "note", 0, "not closed"),
        ("[@,@", 2, "note", 0, "not closed"),
        ("[@,@,\n", 2, "note", 0, "not closed"),
        ("[,@,,@]", 2, "warning", 0, "commas"),
        ("[@ @]", 2, "warning", 0, "commas"),
        ("[@,@\n[@,@]", 4, "warning", 0, "commas"),
        ("@,@]", 2, "warning", 0, "commas"),
        ("[@ garbage, @]", 2, "warning", 0, "no event"),
        ("[@, 5, null, @]", 2, "warning", 0, "no event"),
        ('[@,\n{"name": "x",\n@]', 2, "warning", 1, "damaged"),
        ('[@,\n{"name": "x, "ts": 5},\n@]', 2, "warning", 1, "damaged"),
        ('[@,{"ts": }, @]', 2, "warning", 1, "damaged"),
        ('[@,{"ts": N/A}, @]', 2, "warning", 1, "damaged"),
        ('[@,{"ts": 1e99999999999999999999}, @]', 2, "warning", 1, "damaged"),
        ('[@,{"ts": ' + "9" * 5000 + "}, @]", 2, "warning", 1, "damaged"),
        ('[@,{"ts": ' + "[" * 100_000 + "]" * 100_000 + "}, @]", 2, "warning", 1, "damaged"),
        ('[@,\n{"name": "x', 1, "warning", 1, "ends inside an event"),
    ],
)
def test_known_damage(text: str, kept: int, severity: str, lost: int, words: str) -> None:
    event = {"ph": "X", "ts": 1}
    events, damages = read(text.replace("{a},", "").replace("@", json.dumps(event)).encode())
    assert events == [event] * kept
    named = [damage for damage in damages if words in damage.message]
    assert len(named) == 1
    assert named[0].severity == severity
    assert sum(damage.lost_rows for damage in damages) == lost


def test_damage_is_named_by_its_line() -> None:
    text = lines().replace('"ph": "X", "ts": 3', '"ph": "X", "ts": ')
    events, (damage,) = read(text.encode())
    assert events == EVENTS[:3] + EVENTS[4:]
    assert (damage.line, damage.lost_rows) == (5, 1)


def test_the_object_form_holds_its_events_in_a_list() -> None:
    assert read(json.dumps({"displayTimeUnit": "ms", "traceEvents": EVENTS}).encode())[0] == EVENTS


def test_bytes_that_are_no_text_are_replaced_and_counted() -> None:
    events, damages = read(b'[{"name": "a\xff\xfeb \xef\xbf\xbd"}]')
    assert events == [{"name": "a\ufffd\ufffdb \ufffd"}]
    assert [damage.message for damage in damages] == ["2 bytes are not valid UTF-8 text and were replaced"]


@settings(deadline=None)
@given(st.integers(0, len(lines().encode())))
def test_a_file_cut_anywhere_gives_the_events_before_the_cut(cut: int) -> None:
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
@given(st.integers(1, 40))
def test_chunks_may_end_anywhere(size: int) -> None:
    before, trace_scan.CHUNK_BYTES = trace_scan.CHUNK_BYTES, size
    try:
        assert read(lines().encode()) == (EVENTS, [])
        assert read(json.dumps(EVENTS, ensure_ascii=False, indent=1).encode()) == (EVENTS, [])
    finally:
        trace_scan.CHUNK_BYTES = before


def test_a_packed_file_that_was_cut_gives_what_was_unpacked() -> None:
    packed = gzip.compress(lines([{"ph": "X", "ts": number**5 % 100_003} for number in range(5000)]).encode())
    with gzip.GzipFile(fileobj=io.BytesIO(packed[: len(packed) // 2])) as stream:
        found = list(scan(stream))
    damages = [item for item in found if isinstance(item, Damage)]
    assert 1000 < len(found) < 4500
    assert any("could not be read to its end" in damage.message for damage in damages)
