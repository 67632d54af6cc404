"""The careful road for one trace file: slow, sequential, and giving everything that can be read.

Lanes and start values apply from where they stand in the file, so that a second session appended to the first keeps
its own; events before the first of them get the first.
"""

from __future__ import annotations

import gzip
import io
from array import array
from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from data.problem import Problem
from data.readers.events import NO_NUMBER, NO_PHASE
from data.readers.trace_scan import Damage, scan

MOST_REPORTED = 20  # damaged places named one by one, per file
EARLIEST_START_US = 946_684_800_000_000  # 2000: earlier start values count from something else than 1970
LATEST_START_US = 4_102_444_800_000_000  # 2100
MOST_US = 2_000_000_000_000_000  # 63 years: with any start value, start plus duration fits int64 nanoseconds
_INT64 = 1 << 63
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass
class TraceEvents:
    """The events of one file, column by column, and what was found beside them."""

    phases: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    start_ns: array[int] = field(default_factory=lambda: array("q"))
    duration_ns: array[int] = field(default_factory=lambda: array("q"))
    steps: array[int] = field(default_factory=lambda: array("q"))
    processes: array[int] = field(default_factory=lambda: array("q"))
    threads: array[int] = field(default_factory=lambda: array("q"))
    problems: list[Problem] = field(default_factory=list)
    without_clock: int = 0
    invalid: int = 0
    pairs: int = 0  # begin and end events


def read_carefully(path: str, name: str) -> TraceEvents:
    """Read one file as far as it goes. `name` is how problems call it. Never raises for what the file holds."""
    try:
        with open(path, "rb") as raw:
            if raw.peek(2)[:2] == _GZIP_MAGIC:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    return _Reading(name).run(unpacked)
            return _Reading(name).run(raw)
    except OSError as error:
        problem = Problem(name, None, f"the file cannot be read: {error.strerror or error}", "error")
        return TraceEvents(problems=[problem])


def start_value(value: object) -> int | None:
    """The microseconds since 1970 that a file starts at, or None where the value cannot be that."""
    start_us = to_number(value)
    return start_us if EARLIEST_START_US <= start_us < LATEST_START_US else None


def to_ns(value: object) -> int | None:
    """Microseconds as JSON gives them, as whole nanoseconds; None for what is no number or out of range."""
    if type(value) is int:  # the common case; True and False are no numbers here
        return value * 1000 if -MOST_US <= value <= MOST_US else None
    if not isinstance(value, float | Decimal | str):
        return None
    try:
        number = Decimal(value)
    except ArithmeticError:
        return None
    if not number.is_finite() or abs(number) > MOST_US:
        return None
    return int((number * 1000).to_integral_value(ROUND_HALF_UP))


def to_number(value: object) -> int:
    """A step, process or thread number, which may be text; NO_NUMBER for anything else."""
    if isinstance(value, str):
        text = value.strip()
        value = int(text) if text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20 else None
    elif isinstance(value, Decimal) and value.is_finite() and abs(value) < _INT64 and value == int(value):
        value = int(value)
    return value if type(value) is int and -_INT64 <= value < _INT64 else NO_NUMBER


def plain_text(value: object) -> str:
    """A name as text that can be stored: no half surrogate pairs."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _lane(event: dict[str, Any]) -> str | None:
    pid = event.get("pid")
    return None if pid is None else str(pid)


def _thread(event: dict[str, Any], args: dict[str, Any]) -> int:
    for value in (args.get("thread_id"), args.get("tid"), event.get("tid")):
        if value is not None and (number := to_number(value)) != NO_NUMBER:
            return number
    return NO_NUMBER


class _Reading:
    """One pass through one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._out = TraceEvents()
        self._lanes: dict[str | None, str] = {None: NO_PHASE}
        self._first_lanes: dict[str | None, str] = {}
        self._starts_us: list[int] = []
        self._early_lanes: dict[int, str | None] = {}  # row -> lane, for events before their lane's name
        self._early_rows = 0  # events before the first start value
        self._invalid: Counter[str] = Counter()
        self._invalid_line: dict[str, int] = {}
        self._damages = 0

    def run(self, stream: io.BufferedIOBase) -> TraceEvents:
        for item in scan(stream):
            if isinstance(item, Damage):
                self._note(item)
            else:
                self._event(*item)
        self._finish()
        return self._out

    def _event(self, line: int, event: dict[str, Any]) -> None:
        args = event.get("args")
        if not isinstance(args, dict):
            args = {}
        match event.get("ph"):
            case "X":
                self._complete(line, event, args)
            case "M":
                self._describe(event, args)
            case "B" | "E":
                self._out.pairs += 1
            case None if event:
                self._reject(line, "no kind (ph)")

    def _describe(self, event: dict[str, Any], args: dict[str, Any]) -> None:
        lane = _lane(event)
        if event.get("name") == "process_name" and args.get("name") is not None and lane is not None:
            self._lanes[lane] = plain_text(args["name"]) or NO_PHASE
            self._first_lanes.setdefault(lane, self._lanes[lane])
        start_us = start_value(args.get("start_time_since_epoch_in_micros"))
        if start_us is not None:
            if not self._starts_us:
                self._early_rows = len(self._out.start_ns)
            self._starts_us.append(start_us)

    def _complete(self, line: int, event: dict[str, Any], args: dict[str, Any]) -> None:
        start_ns, duration_ns = to_ns(event.get("ts")), to_ns(event.get("dur"))
        if start_ns is None or duration_ns is None or duration_ns < 0:
            if start_ns is None:
                reason = "no usable time"
            else:
                reason = "no usable duration" if duration_ns is None else "a negative duration"
            return self._reject(line, reason)
        out, lane = self._out, _lane(event)
        phase = self._lanes.get(lane)
        if phase is None:
            self._early_lanes[len(out.phases)] = lane
        out.phases.append(phase or NO_PHASE)
        out.names.append(plain_text(event.get("name")))
        out.start_ns.append(start_ns + (self._starts_us[-1] * 1000 if self._starts_us else 0))
        out.duration_ns.append(duration_ns)
        out.steps.append(to_number(args.get("step_num")))
        out.processes.append(to_number(args.get("pid")))
        out.threads.append(_thread(event, args))
        return None

    def _reject(self, line: int, reason: str) -> None:
        self._invalid[reason] += 1
        self._invalid_line.setdefault(reason, line)

    def _note(self, damage: Damage) -> None:
        self._damages += 1
        if self._damages <= MOST_REPORTED:
            self._problem(damage.line, damage.message, damage)
        elif self._damages == MOST_REPORTED + 1:
            self._problem(damage.line, "more places are damaged from here on", damage)
        else:
            last = self._out.problems[MOST_REPORTED]
            lost_rows = last.lost_rows + damage.lost_rows
            self._out.problems[MOST_REPORTED] = Problem(last.file, last.line, last.message, last.severity, lost_rows)

    def _problem(self, line: int | None, message: str, damage: Damage) -> None:
        self._out.problems.append(Problem(self._name, line, message, damage.severity, damage.lost_rows))

    def _finish(self) -> None:
        out = self._out
        for row, lane in self._early_lanes.items():
            out.phases[row] = self._first_lanes.get(lane, NO_PHASE)
        for reason, count in self._invalid.items():
            subject, verb = ("event", "was") if count == 1 else ("events", "were")
            message = f"{count} {subject} with {reason} {verb} left out"
            out.problems.append(Problem(self._name, self._invalid_line[reason], message, "warning"))
        out.invalid = self._invalid.total()
        if self._starts_us:
            for row in range(self._early_rows):
                out.start_ns[row] += self._starts_us[0] * 1000
        else:
            out.without_clock = len(out.start_ns)
            for column in (out.phases, out.names, out.start_ns, out.duration_ns, out.steps, out.processes, out.threads):
                del column[:]
