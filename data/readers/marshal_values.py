"""Marshal data read as plain values, without Python's own loader: damaged bytes can crash that one.

Only what a dump of cProfile consists of is read: a dict of tuples, texts and numbers. Nothing is built by name, no
value is hashed or compared, and work and memory are bounded by the length of the data: a value that is referred to
many times exists once, a nested dict is passed over, and long texts are cut.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MAX_VALUES: Final = 8_000_000
MAX_DEPTH: Final = 16
"""Levels of nesting. Profiles have four: dict, entry, callers, caller."""

MAX_TEXT: Final = 1024
"""Characters kept of a text."""

MAX_LONG_DIGITS: Final = 5
"""Digits of 15 bits: no number of a profile needs more than 64 bits."""

_FLAG_REF: Final = 0x80
_INT32, _FLOAT64 = struct.Struct("<i"), struct.Struct("<d")


class MarshalError(ValueError):
    """What is wrong with the data, in words that follow "it"."""


class Omitted:
    """Stands for a nested dict, and for a container that is still being read."""


OMITTED: Final = Omitted()
Value = int | float | str | bool | None | Omitted | tuple["Value", ...]


@dataclass(slots=True)
class _Open:
    """A container that is being read. `left` counts the items to come; -1 is a dict, which has an end mark."""

    left: int
    items: list[Value] = field(default_factory=list)
    reference: int = -1  # its place among the values that can be referred to
    count: int = 0


def read_entries(data: bytes) -> list[tuple[Value, Value]]:
    """Keys and values of a marshalled dict, in order. Raises MarshalError, also where something follows the dict: a
    damaged byte may have ended it early.
    """
    return _Reader(data).entries()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._values = 0
        self._references: list[Value] = []
        self._open: list[_Open] = []
        self._scalars: dict[int, Callable[[], Value]] = {
            ord("N"): lambda: None,
            ord("T"): lambda: True,
            ord("F"): lambda: False,
            ord("i"): self._int,
            ord("l"): self._long,
            ord("g"): self._float,
            ord("f"): self._text_float,
            ord("r"): self._reference,
            ord("z"): self._short_text,
            ord("Z"): self._short_text,
        } | dict.fromkeys(map(ord, "stuaA"), self._text)

    def entries(self) -> list[tuple[Value, Value]]:
        if not self._data:
            raise MarshalError("is empty")
        code = self._byte()
        if code & ~_FLAG_REF != ord("{"):
            raise MarshalError("does not begin as a dump of cProfile does")
        if code & _FLAG_REF:
            self._references.append(OMITTED)
        top = _Open(-1)
        self._open = [top]
        while self._open:
            self._step()
        if self._at < len(self._data):
            raise MarshalError(f"ends at byte {self._at:,}, long before its file")
        return list(zip(top.items[::2], top.items[1::2], strict=True))

    def _step(self) -> None:
        """Reads one value, or the beginning or end of a container."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise MarshalError(f"holds more than {MAX_VALUES:,} values")
        at = self._at
        byte = self._byte()
        code, flagged = byte & ~_FLAG_REF, bool(byte & _FLAG_REF)
        read = self._scalars.get(code)
        if read is not None:
            value = read()
            if flagged:
                self._references.append(value)
            self._deliver(value)
        elif code in b"()[{":
            self._begin(code, flagged)
        elif code == ord("0") and not flagged:
            self._end_dict(at)
        else:
            raise MarshalError(f"has at byte {at:,} what no dump of cProfile holds")

    def _begin(self, code: int, flagged: bool) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise MarshalError(f"is nested more than {MAX_DEPTH} levels deep")
        left = -1 if code == ord("{") else self._byte() if code == ord(")") else self._length()
        if left > len(self._data) - self._at:
            raise MarshalError("breaks off")
        opened = _Open(left)
        if flagged:
            opened.reference = len(self._references)
            self._references.append(OMITTED)
        self._open.append(opened)
        if left == 0:
            self._close()

    def _end_dict(self, at: int) -> None:
        top = self._open[-1]
        if top.left >= 0 or top.count % 2:
            raise MarshalError(f"has an end mark at byte {at:,} where a value belongs")
        if len(self._open) == 1:
            self._open.pop()
        else:
            self._close()

    def _close(self) -> None:
        """The innermost container is complete."""
        done = self._open.pop()
        value: Value = OMITTED if done.left < 0 else tuple(done.items)
        if done.reference >= 0:
            self._references[done.reference] = value
        self._deliver(value)

    def _deliver(self, value: Value) -> None:
        top = self._open[-1]
        top.count += 1
        if top.left < 0:
            if len(self._open) == 1:
                top.items.append(value)
            return
        top.items.append(value)
        top.left -= 1
        if top.left == 0:
            self._close()

    def _take(self, size: int) -> bytes:
        at = self._at
        if size > len(self._data) - at:
            raise MarshalError("breaks off")
        self._at = at + size
        return self._data[at : self._at]

    def _byte(self) -> int:
        if self._at >= len(self._data):
            raise MarshalError("breaks off")
        self._at += 1
        return self._data[self._at - 1]

    def _int(self) -> int:
        number: int = _INT32.unpack(self._take(4))[0]
        return number

    def _length(self) -> int:
        length = self._int()
        if length < 0:
            raise MarshalError("gives a length below 0")
        return length

    def _long(self) -> int:
        digits = self._int()
        if abs(digits) > MAX_LONG_DIGITS:
            raise MarshalError("holds a number that is too large")
        data = self._take(2 * abs(digits))
        number = sum(int.from_bytes(data[at : at + 2], "little") << (15 * at // 2) for at in range(0, len(data), 2))
        return -number if digits < 0 else number

    def _float(self) -> float:
        number: float = _FLOAT64.unpack(self._take(8))[0]
        return number

    def _text_float(self) -> float:
        try:
            return float(self._take(self._byte()))
        except ValueError as error:
            raise MarshalError("holds a number that cannot be read") from error

    def _reference(self) -> Value:
        number = self._int()
        if not 0 <= number < len(self._references):
            raise MarshalError("refers to a value that it does not hold")
        return self._references[number]

    def _text(self) -> str:
        return _cut(self._take(self._length()))

    def _short_text(self) -> str:
        return _cut(self._take(self._byte()))


def _cut(text: bytes) -> str:
    return text[: 4 * MAX_TEXT].decode("utf-8", "replace")[:MAX_TEXT]
