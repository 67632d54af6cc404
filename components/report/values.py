"""From the values of frames to those of a document: moments, spans, and None for what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from components import format as text
from components.report.parts import Absence, Moment, Span
from data.frames.report import Absent

LONGEST_NAME, LONGEST_SENTENCE = 300, 1200
"""Characters of a name from a file, and of a sentence with such names, that a report keeps."""


@dataclass(frozen=True)
class Calendar:
    """How a job's times are written: as they are, or counted from its start where nobody knows when that was."""

    origin_ns: int | None

    def moment(self, time_ns: int) -> Moment:
        """A time of the job."""
        if self.origin_ns is not None:
            return Moment(None, int(time_ns) - self.origin_ns)
        return wall(time_ns)

    def maybe(self, time_ns: int | None) -> Moment | None:
        """A time that may not be known."""
        return None if time_ns is None else self.moment(time_ns)

    def span(self, window: tuple[int, int]) -> Span:
        """A stretch of time of the job."""
        start_ns, end_ns = window
        return Span(self.moment(start_ns), self.moment(end_ns), seconds(end_ns - start_ns))


def wall(time_ns: int) -> Moment:
    """A time of the calendar, to the nanosecond: 2020-12-04T22:39:46.528517000Z."""
    whole_s, rest_ns = divmod(int(time_ns), text.NS_PER_S)
    stamp = text.moment(whole_s * text.NS_PER_S).strftime("%Y-%m-%dT%H:%M:%S")
    return Moment(f"{stamp}.{rest_ns:09d}Z", int(time_ns))


def absence(part: object) -> Absence | None:
    """Why a part is not there; None where it is."""
    return Absence(text.plain(part.reason, 400), text.plain(part.hint, 400)) if isinstance(part, Absent) else None


def number(value: float | None) -> float | None:
    """A number, or None for what is none."""
    return None if value is None or text.is_missing(value) else float(value)


def seconds(duration_ns: float) -> float:
    """A duration that is known."""
    return float(duration_ns) / text.NS_PER_S


def maybe_seconds(duration_ns: float | None) -> float | None:
    """A duration in seconds."""
    known = number(duration_ns)
    return None if known is None else known / text.NS_PER_S


def milliseconds(duration_ns: float | None) -> float | None:
    """A duration in milliseconds."""
    known = number(duration_ns)
    return None if known is None else known / 1e6


def name(words: object) -> str:
    """A name from a file, in one line, of bounded length."""
    return text.plain(words, LONGEST_NAME)


def sentence(words: object) -> str:
    """A sentence, which may hold names from files."""
    return text.plain(words, LONGEST_SENTENCE)
