"""What all parts of a document share: times, stretches of time, and why something is missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """A time, as text and as nanoseconds since 1970 UTC (since the start of the recording where `iso` is None)."""

    iso: str | None
    ns: int


@dataclass(frozen=True)
class Span:
    """A stretch of time."""

    start: Moment
    end: Moment
    duration_s: float


@dataclass(frozen=True)
class Absence:
    """Why a part is not there, and what could be done about it."""

    reason: str
    hint: str
