"""The values of a document in words, as the pages write them: filters of the report's templates."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from components import format as text
from components.coverage_tables import share_shown
from components.insights import WORDS as STATES
from components.report.conclusions import Finding, Parameter
from components.report.parts import Moment, Span
from components.shell import STATUS_WORDS


def when(moment: Moment | None) -> str:
    """A time to the millisecond, or what has passed until then."""
    if moment is None:
        return text.MISSING
    return text.elapsed(moment.ns) if moment.iso is None else text.timestamp(moment.ns)


def during(span: Span | None) -> str:
    """A stretch of time; the date is said once."""
    if span is None:
        return "whole job"
    start, end = when(span.start), when(span.end)
    day, _, clock = end.partition(" ")
    if clock and start.startswith(f"{day} "):
        end = clock
    return f"{start} – {end} ({duration(span.duration_s)})"


def duration(value_s: float | None) -> str:
    """A duration in seconds, in the units that fit it."""
    return text.MISSING if value_s is None else text.duration(round(value_s * text.NS_PER_S, 3))


def milliseconds(value_ms: float | None) -> str:
    """A duration in milliseconds, in the units that fit it."""
    return text.MISSING if value_ms is None else text.duration(round(value_ms * 1e6, 3))


def hours(value_h: float | None) -> str:
    """A number of hours."""
    return text.hours(_decimal(value_h))


def usd(value: float | None) -> str:
    """An amount of money."""
    return text.money(_decimal(value))


def rate(value: float | None) -> str:
    """A price of an hour."""
    return text.price(_decimal(value))


def _decimal(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def status(word: str) -> str:
    """A job's status."""
    return STATUS_WORDS.get(word, ("", "Unknown", ""))[1]


def state(one: Finding) -> str:
    """The conclusion of a rule, in the words of the page."""
    return STATES.get(one.severity or one.state, one.state)


def parameter(one: Parameter) -> str:
    """A parameter with its value and unit."""
    value = one.value if isinstance(one.value, str) else f"{one.value:,g}"
    usual = one.default if isinstance(one.default, str) else f"{one.default:,g}"
    moved = "" if one.value == one.default else f" (usually {usual})"
    return f"{one.name} {value} {one.unit}".strip() + moved


def figure(value: float | None, unit: str) -> str:
    """A number with its unit."""
    words = text.number(value) if unit == "%" else text.significant(value)
    return words if words == text.MISSING or not unit else f"{words} {unit}"


def cell(value: str | float | None) -> str:
    """A cell of a finding's table."""
    return value if isinstance(value, str) else figure(value, "")


def covered(percent: float | None) -> str:
    """A share of covered time, never rounded to a whole that it is not."""
    return text.MISSING if percent is None else text.percent(share_shown(percent))


def counted(value: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return text.counted(value, one, many)


WORDS: Final[dict[str, Callable[..., Any]]] = {
    "when": when,
    "during": during,
    "duration": duration,
    "ms": milliseconds,
    "hours": hours,
    "usd": usd,
    "rate": rate,
    "status": status,
    "state": state,
    "parameter": parameter,
    "figure": figure,
    "counted": counted,
    "covered": covered,
    "cell": cell,
    "count": text.count,
    "percent": text.percent,
    "size": text.byte_size,
    "number": text.number,
    "share": lambda value: text.MISSING if value is None else text.share(value / 100),
}
"""The filters by their names in templates."""
