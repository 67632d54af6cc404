"""The reader of marshal data against Python's own writer, and against data made to break it."""

from __future__ import annotations

import marshal  # noqa: TID251 - writes what the reader reads
import struct
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.readers import marshal_values
from data.readers.marshal_values import MAX_DEPTH, MAX_TEXT, OMITTED, MarshalError, read_entries

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**74), 2**74)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=300).map(tuple), max_leaves=30)


def dump(value: Any, version: int = 4) -> bytes:
    return marshal.dumps(value, version)


def refused(data: bytes) -> str:
    with pytest.raises(MarshalError) as raised:
        read_entries(data)
    return str(raised.value)


@given(st.dictionaries(SCALARS, VALUES, max_size=8), st.integers(0, 4))
def test_what_python_writes_is_read(content: dict[Any, Any], version: int) -> None:
    assert read_entries(dump(content, version)) == list(content.items())


def test_kinds_that_need_many_entries() -> None:
    content = {"long tuple": tuple(range(300)), "list": [1, 2, [3]], "bytes": b"abc", "none": None}
    assert read_entries(dump(content)) == [
        ("long tuple", tuple(range(300))),
        ("list", (1, 2, (3,))),
        ("bytes", "abc"),
        ("none", None),
    ]


def test_nested_dicts_are_passed_over_but_what_they_hold_can_be_referred_to() -> None:
    key = ("main.py", 3, "main")
    assert read_entries(dump({1: {key: 1}, 2: key, 3: {}})) == [(1, OMITTED), (2, key), (3, OMITTED)]


def test_long_texts_are_cut() -> None:
    ((_, value),) = read_entries(dump({"k": "é" * 10_000_000}))
    assert value == "é" * MAX_TEXT


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"this is a text", "does not begin"),
        (b"{", "breaks off"),
        (b"{N", "breaks off"),
        (b"{N0", "end mark"),
        (b"{)\x020", "breaks off"),
        (b"{)\x01000", "end mark"),
        (b"{i\x00\x00", "breaks off"),
        (b"{g1234567", "breaks off"),
        (b"{c", "no dump of cProfile holds"),  # a code object
        (b"{\xb0", "no dump of cProfile holds"),
        (b"{r\x00\x00\x00\x00", "refers to"),
        (b"{r\xff\xff\xff\xff", "refers to"),
        (b"{f\x03abc", "number that cannot be read"),
        (b"{f\x02\xc3\xa9", "number that cannot be read"),
        (b"{l" + struct.pack("<i", 6) + bytes(12), "too large"),
        (b"{l" + struct.pack("<i", -(2**31)), "too large"),
    ],
)
def test_damage_is_named(data: bytes, reason: str) -> None:
    assert reason in refused(data)


@pytest.mark.parametrize("code", list("(["))
@pytest.mark.parametrize("claimed", [2**31 - 1, 1_000])
def test_a_length_is_believed_only_if_the_bytes_are_there(code: str, claimed: int) -> None:
    assert refused(b"{" + code.encode() + struct.pack("<i", claimed) + b"N" * 999) == "breaks off"


@pytest.mark.parametrize("code", list("stuaA"))
def test_a_text_ends_with_the_file(code: str) -> None:
    assert refused(b"{" + code.encode() + struct.pack("<i", 2**31 - 1) + b"x" * 100) == "breaks off"
    assert "below 0" in refused(b"{" + code.encode() + struct.pack("<i", -5) + b"x" * 100)


@pytest.mark.parametrize("opening", [b")\x01", b"(\x01\x00\x00\x00", b"[\x01\x00\x00\x00", b"{"])
def test_millions_of_nested_containers(opening: bytes) -> None:
    assert refused(b"{" + opening * 2_000_000) == f"is nested more than {MAX_DEPTH} levels deep"


def test_a_value_inside_itself() -> None:
    assert read_entries(b"{N\xdb\x01\x00\x00\x00r\x00\x00\x00\x000") == [(None, (OMITTED,))]


def test_a_reference_bomb_stays_as_small_as_its_file() -> None:
    """Twelve levels of 255 references each would be 255^12 values if they were copied or walked."""
    levels = b"".join(b"N" + b"\xa9\xff" + (b"r" + struct.pack("<i", level)) * 255 for level in range(12))
    data = b"{" + b"N" + b"\xe9\x01\x00\x00\x00" + levels + b"0"
    tracemalloc.start()
    entries = read_entries(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(entries) == 13
    assert peak < 40 * len(data)


def test_the_number_of_values_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marshal_values, "MAX_VALUES", 1_000)
    assert "more than 1,000 values" in refused(b"{" + b"N" * 1_002)


@given(st.binary(max_size=200))
def test_any_bytes_give_entries_or_a_reason(tail: bytes) -> None:
    with suppress(MarshalError):
        read_entries(b"{" + tail)


def test_a_dict_that_ends_long_before_its_file_is_damaged() -> None:
    """A byte that was changed to the mark of its end would take the rest of the functions along without a word."""
    data = marshal.dumps({("a.py", 1, "f"): (1, 1, 0.5, 0.5, {}), ("a.py", 2, "g"): (1, 1, 0.5, 0.5, {})})
    assert len(read_entries(data)) == 2
    second = data.index(b"\xda\x01g") if b"\xda\x01g" in data else data.index(b"g")
    for at in range(1, second):
        changed = data[:at] + b"0" + data[at + 1 :]
        try:
            found = read_entries(changed)
        except MarshalError:
            continue
        assert len(found) == 2
    with pytest.raises(MarshalError, match="long before its file"):
        read_entries(data + b"0")
