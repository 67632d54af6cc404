"""Answers of AWS services as the command line saves them: JSON objects, asked for values of known types.

A value that is missing is None, "" or empty; a value of another type is that too, and is named in `problems`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Self

LONGEST_TEXT = 4_096  # characters; more than any of these fields may have
MOST_ITEMS = 10_000
MOST_PROBLEMS = 50

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_NS = 4_102_444_800 * 1_000_000_000  # 2100
_LARGEST_NUMBER = 1_000_000_000_000


class Malformed(ValueError):
    """The data are no JSON object; the message says what is wrong."""


class Answer:
    """A JSON object of an answer. All sections of an answer share one list of problems."""

    def __init__(self, content: Mapping[str, Any], within: str, problems: list[str]) -> None:
        self._content = content
        self._within = within
        self.problems = problems

    @classmethod
    def parse(cls, data: bytes, largest_bytes: int) -> Self:
        """The answer that the data hold. Raises Malformed."""
        if len(data) > largest_bytes:
            raise Malformed(f"it is larger than {largest_bytes >> 10} KiB")
        try:
            # Decimals keep the digits of times; NaN and Infinity are no values of any field.
            text = data.decode("utf-8-sig", "replace")
            content = json.loads(text, parse_float=Decimal, parse_constant=lambda _: None)
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise Malformed("it is not valid JSON") from error
        if not isinstance(content, dict):
            raise Malformed("it is not a JSON object")
        return cls(content, "", [])

    def text(self, key: str) -> str:
        """A text, cut where it is absurdly long; "" where missing."""
        value = self._content.get(key)
        if value is None:
            return ""
        if isinstance(value, str):
            return _storable(value)
        self._reject(key, "is not text")
        return ""

    def flag(self, key: str) -> bool | None:
        """True or false; None where missing."""
        value = self._content.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._reject(key, "is neither true nor false")
        return None

    def seconds(self, key: str) -> float | None:
        """A number of seconds, not negative; None where missing."""
        value = self._number(key)
        return None if value is None else float(value)

    def count(self, key: str) -> int | None:
        """A whole number, not negative; None where missing."""
        value = self._number(key)
        if value is not None and value != int(value):
            self._reject(key, "is not a whole number")
            return None
        return None if value is None else int(value)

    def time_ns(self, key: str) -> int | None:
        """A point in time as nanoseconds since 1970 UTC, from ISO 8601 text or epoch seconds; None where missing."""
        value = self._content.get(key)
        if value is None:
            return None
        time_ns = _iso_ns(value) if isinstance(value, str) else _epoch_ns(value)
        if time_ns is None:
            self._reject(key, "is not a time")
        return time_ns

    def section(self, key: str) -> Answer:
        """An object within; an empty one where missing."""
        value = self._content.get(key)
        if value is not None and not isinstance(value, dict):
            self._reject(key, "is not an object")
        return Answer(value if isinstance(value, dict) else {}, self._name(key) + ".", self.problems)

    def sections(self, key: str) -> list[Answer]:
        """The objects of a list within."""
        value = self._content.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._reject(key, "is not a list")
            return []
        found = [item for item in value[:MOST_ITEMS] if isinstance(item, dict)]
        if len(found) < len(value):
            self._reject(key, "holds entries that are not objects, or too many")
        return [Answer(item, f"{self._name(key)}[{index}].", self.problems) for index, item in enumerate(found)]

    def texts(self) -> tuple[tuple[str, str], ...]:
        """All entries whose values are texts, in the order of the file."""
        return tuple((_storable(key), self.text(key)) for key in list(self._content)[:MOST_ITEMS])

    def _number(self, key: str) -> int | Decimal | None:
        value = self._content.get(key)
        if value is None:
            return None
        if isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 <= value <= _LARGEST_NUMBER:
            return value
        self._reject(key, "is not a number of this kind")
        return None

    def _name(self, key: str) -> str:
        return _storable(f"{self._within}{key}"[:200])

    def _reject(self, key: str, reason: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"{self._name(key)} {reason}")


def _storable(text: str) -> str:
    """Text that can be written as UTF-8, of bounded length."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _iso_ns(text: str) -> int | None:
    """Nanoseconds of an ISO 8601 time; one without an offset is UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        time_ns = (time - _EPOCH) // timedelta(microseconds=1) * 1000
    except (ValueError, OverflowError):
        return None
    return time_ns if 0 < time_ns < _LATEST_NS else None


def _epoch_ns(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return int(value * 1_000_000_000) if 0 < value < _LATEST_NS // 1_000_000_000 else None
