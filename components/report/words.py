"""The values of a document in words, as the pages write them: filters of the report's templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from components import format as text
from components.coverage_tables import share_shown
from components.report.conclusions import Finding, Parameter
from components.report.parts import Moment, Span
from components.shell import STATUS_WORDS

STATES: Final = {
    "issue": "Issue found",
    "no issue": "No issue found",
    "not enough data": "Not enough data",
    "n/a": "Cannot be judged",
    "failed": "The rule failed",
    "summary": "Summary",
}
"""What a rule's conclusion is called."""


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
    return text.number(value_h, 2)


def usd(value: float | None) -> str:
    """An amount of money."""
    return text.MISSING if value is None else f"${value:,.2f}"


def rate(value: float | None) -> str:
    """A price of an hour, with all its digits."""
    if value is None:
        return text.MISSING
    digits = f"{value:,.5f}".rstrip("0")
    whole, _, part = digits.partition(".")
    return f"${whole}.{part.ljust(2, '0')}"


def status(word: str) -> str:
    """A job's status."""
    return STATUS_WORDS.get(word, ("", "Unknown", ""))[1]


def state(word: str) -> str:
    """The conclusion of a rule."""
    return STATES.get(word, word)


def waste(one: Finding) -> str:
    """What a cure could give back at most; "" where a rule cannot tell."""
    share = "" if one.wasted_percent is None else f" ({text.share(one.wasted_percent / 100)} of the job's {{}} time)"
    if one.wasted_gpu_h is not None:
        words = f"At most {hours(one.wasted_gpu_h)} GPU-hours{share.format('GPU')}"
    elif one.wasted_node_h is not None:
        words = f"At most {hours(one.wasted_node_h)} node-hours{share.format('node')}"
    else:
        return ""
    money = "" if one.wasted_usd is None else f", {usd(one.wasted_usd)}"
    sooner = "" if one.saved_s is None else f" If fixed, the job could end up to {duration(one.saved_s)} earlier."
    return f"{words}{money}.{sooner}"


def parameter(one: Parameter) -> str:
    """A parameter with its value and unit."""
    value = one.value if isinstance(one.value, str) else f"{one.value:,g}"
    usual = one.default if isinstance(one.default, str) else f"{one.default:,g}"
    moved = "" if one.value == one.default else f" (usually {usual})"
    return f"{one.name} {value} {one.unit}".strip() + moved


def figure(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return text.MISSING
    return f"{value:,.4g} {unit}".strip() if abs(value) < 1000 else f"{text.count(value)} {unit}".strip()


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
    "waste": waste,
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
