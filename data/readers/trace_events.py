"""From the rows of a trace file to events: lanes, clocks, marks in pairs, and what makes no sense left out and counted.

What the formats in Chrome's style have in common is here; each has a module of its own that says what its files are
called, where its clock is, and what its lanes mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.problem import Problem, Severity
from data.readers.events import EVENT_SCHEMA, NO_NUMBER, NO_PHASE, EventBatch, EventPaths, FileEvents
from data.readers.trace_columns import GPU_NUMBER, always, either, steps, words
from data.readers.trace_file import Early, Facts, Pieces, early, plain
from data.readers.trace_lanes import Lanes
from data.readers.trace_memory import KIND as MEMORY
from data.readers.trace_memory import MEMORY_SCHEMA, device_kinds, numbers
from data.readers.trace_pairs import Marks, pair
from data.readers.trace_rows import Rows, integers, read_rows
from data.readers.trace_scan import Damage
from data.sources import SourceFile

EARLIEST_NS = 946_684_800 * 10**9
"""2000-01-01: an earlier time counts from something else than 1970."""

LATEST_NS = 4_102_444_800 * 10**9
"""2100-01-01."""

_OUTSIDE = "a time before 2000 or after 2100"

MOST_REPORTED = 20
"""Damaged places named one by one, per file."""

HELD_ROWS = 100_000
"""Where phases are the names of lanes, so many rows are held back, so that a lane may get its name after its events."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a file's events belong, and what its times count from."""

    node: str
    worker: str
    start_us: int | None = None  # None: the file has to say it itself
    waiting: str = ""  # why another file may still give the clock, "" where none can
    shared: bool = False  # it follows from another file, too


@dataclass(frozen=True, slots=True)
class Format:
    """How the files of a format are understood."""

    lanes: bool  # phases are the names of lanes; else they are categories
    origin: Callable[[SourceFile, EventPaths, Early], Origin]
    writer: Callable[[SourceFile], str]  # files of one writer continue each other's begin marks
    without_clock: str  # why an event has no place in time
    when_empty: Severity = "note"
    pid_is_lane: bool = False  # the process stands in the arguments


def read_traces(
    db: duckdb.DuckDBPyConnection, paths: EventPaths, scratch: Path, kind: Format, which: Iterable[int] | None = None
) -> Iterator[EventBatch]:
    """All events of the files, or of some of them, in the order of the times in their names, so that marks find their
    other half.
    """
    order = sorted(
        range(len(paths)) if which is None else which,
        key=lambda at: (kind.writer(paths[at][0]), paths[at][0].stamp_ns, paths[at][0].path),
    )
    for _, mine in groupby(order, key=lambda at: kind.writer(paths[at][0])):
        open_marks = Marks.empty()
        readings = []
        for index in mine:
            reading = _Reading(db, kind, index, paths[index][0], open_marks)
            yield from _read(db, paths, scratch, reading, kind)
            open_marks = reading.open
            readings.append(reading)
        yield _leftover(open_marks, readings)


def _read(
    db: duckdb.DuckDBPyConnection, paths: EventPaths, scratch: Path, reading: _Reading, kind: Format
) -> Iterator[EventBatch]:
    file, path = paths[reading.index]
    try:
        stream, damages = plain(path, scratch)
    except OSError as error:
        text = f"the file cannot be read: {error.strerror or error}"
        yield EventBatch(EVENT_SCHEMA.empty_table(), (reading.problem(None, text, "error"),))
        return
    with stream:
        first = early(stream)
        reading.begin(kind.origin(file, paths, first), first, damages)
        pieces = Pieces(stream)
        for rows in read_rows(db, pieces, scratch):
            yield from reading.add(rows)
        yield from reading.end(pieces)


def _leftover(marks: Marks, readings: list[_Reading]) -> EventBatch:
    """The begin marks of a writer that nothing has ended, told at the file they stand in."""
    counts = Counter(marks.events.column("file").to_pylist())
    problems = []
    for reading in readings:
        if counts[reading.index]:
            many = "1 begin mark has" if counts[reading.index] == 1 else f"{counts[reading.index]} begin marks have"
            problems.append(reading.problem(None, f"{many} no end: no event could be made of that"))
    return EventBatch(EVENT_SCHEMA.empty_table(), tuple(problems), {one.index: one.counts for one in readings})


@dataclass
class _Clock:
    """What the times of a file count from."""

    start_ns: int = 0
    wall: bool | None = None  # None as long as no time was seen
    given: bool = False  # a start value was given, by the file or by another one


class _Reading:
    """One file on its way to events."""

    def __init__(
        self, db: duckdb.DuckDBPyConnection, kind: Format, index: int, file: SourceFile, open_marks: Marks
    ) -> None:
        self.index = index
        self._db = db
        self.counts = FileEvents()
        self.open = open_marks
        self._kind = kind
        self._file = file
        self._origin = Origin("", "")
        self._clock = _Clock()
        self._held: list[Rows] = []
        self._rows = 0
        self._lanes = Lanes()
        self._memory: pa.Table | None = None
        self._memory_rows = 0
        self._invalid: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], int | None] = {}
        self._damages: list[Damage] = []

    def begin(self, origin: Origin, first: Early, damages: list[Damage]) -> None:
        self._origin = origin
        self.counts.waiting = origin.shared
        self._damages = list(damages)
        base_ns = origin.start_us * 1000 if origin.start_us is not None else first.base_ns
        if base_ns is not None and EARLIEST_NS <= base_ns < LATEST_NS:
            self._clock = _Clock(base_ns, wall=True, given=True)

    def problem(self, line: int | None, text: str, severity: Severity = "warning", lost_rows: int = 0) -> Problem:
        name = self._file.path.rsplit("/", 1)[-1]
        return Problem(self._file.path, line, f"{name}: {text}", severity, lost_rows)

    def add(self, rows: Rows) -> Iterator[EventBatch]:
        self._damages += rows.damages
        self._held.append(rows)
        self._rows += len(rows.table)
        if not self._kind.lanes or self._rows >= HELD_ROWS:
            yield self._batch()

    def end(self, pieces: Pieces) -> Iterator[EventBatch]:
        """The last events, and the problems of the file."""
        batch = self._batch()
        self.counts.waiting |= self._has_open_marks()
        self._damages += pieces.damages
        if self._holds_nothing():
            self._damages = [one for one in self._damages if _matters(one, opened=pieces.facts.opened)]
        problems = [
            *self._of_damages(),
            *self._of_invalid(),
            *self._of_clock(),
            *self._of_lanes(),
            *self._of_emptiness(pieces.facts),
        ]
        yield EventBatch(batch.table, tuple(problems), memory=batch.memory)

    def _batch(self) -> EventBatch:
        events, self._memory = EVENT_SCHEMA.empty_table(), None
        if self._rows:
            events = self._events(pa.concat_tables([one.table for one in self._held]).combine_chunks())
        self._held, self._rows = [], 0
        self.counts.events += len(events)
        self.counts.memory += len(self._memory) if self._memory else 0
        return EventBatch(events, memory=self._memory)

    def _events(self, table: pa.Table) -> pa.Table:
        ph = pc.dictionary_encode(table.column("ph").combine_chunks())
        kinds = {word: code for code, word in enumerate(ph.dictionary.to_pylist())}
        code = ph.indices.to_numpy()
        start_ns = self._starts(table, code == kinds.get("M", -1))
        is_memory = code == kinds.get(MEMORY, -1)
        is_event, is_mark = code == kinds.get("X", -1), (code == kinds.get("B", -1)) | (code == kinds.get("E", -1))
        self._reject(code == kinds.get("", -1), "no kind (ph)")
        begins, durations = (pc.fill_null(table.column(name), 0).to_numpy() for name in ("ts_ns", "dur_ns"))
        timed = is_event | is_mark
        has_ts = table.column("ts_ns").is_valid().to_numpy()
        has_dur = table.column("dur_ns").is_valid().to_numpy()
        self._reject(timed & ~has_ts, "no usable time")
        self._reject(is_event & has_ts & ~has_dur, "no usable duration")
        self._reject(is_event & has_ts & has_dur & (durations < 0), "a negative duration")
        fine = has_ts & (is_mark | (is_event & has_dur & (durations >= 0)))
        start_ns = self._placed(begins, start_ns, fine | (is_memory & has_ts))
        if is_memory.any():
            self._memory = self._records(table, np.flatnonzero(is_memory), start_ns, has_ts)
        if self._clock.wall:
            outside = (start_ns < EARLIEST_NS) | (start_ns >= LATEST_NS)
            self._reject(fine & outside, _OUTSIDE)
            fine &= ~outside
        everything = self._columns(table, np.flatnonzero(fine), start_ns, durations)
        marks = is_mark[fine]
        if not marks.any():
            return everything
        return self._paired(table, everything, np.flatnonzero(fine), marks, code == kinds.get("B", -1))

    def _records(
        self, table: pa.Table, at: NDArray[np.int64], time_ns: NDArray[np.int64], has_ts: NDArray[np.bool_]
    ) -> pa.Table:
        """The chosen rows as MEMORY_SCHEMA has them; those that make no sense are left out and counted."""
        place = self._memory_rows + np.arange(len(at))
        self._memory_rows += len(at)
        outside = bool(self._clock.wall) & ((time_ns[at] < EARLIEST_NS) | (time_ns[at] >= LATEST_NS))
        for wrong, reason in ((~has_ts[at], "no usable time"), (has_ts[at] & outside, _OUTSIDE)):
            self._reject_at(at[wrong], reason, "memory record")
        timed = has_ts[at] & ~outside
        at, place = at[timed], place[timed]
        found, faults = numbers(self._db, table.column("args").take(pa.array(at)).combine_chunks())
        kept = np.ones(len(at), bool)
        for reason, places in faults:
            self._reject_at(at[places], reason, "memory record")
            kept[places] = False
        size = int(kept.sum())
        rows = table.select(["pid", "tid"]).take(pa.array(at[kept]))
        columns = {
            "node": always(self._origin.node, size),
            "worker": always(self._origin.worker, size),
            "process": words(rows.column("pid")),
            "thread": words(rows.column("tid")),
            "device_kind": device_kinds(found["Device Type"][kept]),
            "device": pa.array(found["Device Id"][kept].astype(np.int32)),
            "time_ns": pa.array(time_ns[at[kept]]),
            "bytes": pa.array(found["Bytes"][kept]),
            "allocated": pa.array(found["Total Allocated"][kept]),
            "reserved": pa.array(found["Total Reserved"][kept]),
            "place": pa.array(place[kept]),
            "wall": pa.array(np.full(size, bool(self._clock.wall))),
            "file": pa.array(np.full(size, self.index, np.int32)),
        }
        return pa.table([columns[name] for name in MEMORY_SCHEMA.names], schema=MEMORY_SCHEMA)

    def _paired(
        self,
        table: pa.Table,
        everything: pa.Table,
        at: NDArray[np.int64],
        marks: NDArray[np.bool_],
        begins: NDArray[np.bool_],
    ) -> pa.Table:
        """Complete events as they are, and those that marks make."""
        lane = pc.binary_join_element_wise(
            pc.fill_null(table.column("pid"), ""), pc.fill_null(table.column("tid"), ""), "\x1f"
        ).combine_chunks()
        mine = np.flatnonzero(marks)
        found = Marks(everything.take(pa.array(mine)), lane.take(pa.array(at[mine])), begins[at[mine]])
        rows = np.append(np.full(len(self.open.is_begin), -1), at[mine])
        both = self.open.then(found)
        paired = pair(both)
        self.open = paired.open
        closed = both.events.column("file").to_numpy()[paired.closed]
        self.counts.waiting |= len(paired.lone_ends) > 0 or bool((closed != self.index).any())
        self._reject_at(rows[paired.lone_ends], "an end mark that ends nothing")
        self._reject_at(rows[paired.backwards], "an end before its begin")
        return pa.concat_tables([everything.filter(pa.array(~marks)), paired.events]).unify_dictionaries()

    def _starts(self, table: pa.Table, is_meta: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The start value that holds for each row: the last one before it, else the first one of the file."""
        rows = np.flatnonzero(is_meta)
        self._lanes.take_names(table, rows)
        values_us = integers(table.column("args.start_time_since_epoch_in_micros").take(pa.array(rows)), NO_NUMBER)
        usable = (values_us >= EARLIEST_NS // 1000) & (values_us < LATEST_NS // 1000)
        rows, values_us = rows[usable], values_us[usable]
        if len(rows) and not (self._origin.start_us is not None):
            first = values_us[0] * 1000 if not self._clock.given else self._clock.start_ns
            self._clock = _Clock(int(values_us[-1]) * 1000, wall=True, given=True)
            at = np.searchsorted(rows, np.arange(len(table)), side="right") - 1
            return np.where(at >= 0, values_us[np.maximum(at, 0)] * 1000, first)
        return np.full(len(table), self._clock.start_ns)

    def _placed(
        self, ts_ns: NDArray[np.int64], start_ns: NDArray[np.int64], fine: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Times since 1970, or since whenever the file's clock began."""
        if self._clock.wall is None and fine.any():
            self._clock.wall = int(ts_ns[fine].max()) >= EARLIEST_NS
        return ts_ns + start_ns if self._clock.given else ts_ns

    def _columns(
        self, table: pa.Table, at: NDArray[np.int64], start_ns: NDArray[np.int64], duration_ns: NDArray[np.int64]
    ) -> pa.Table:
        """The chosen rows as EVENT_SCHEMA has them."""
        size = len(at)
        together = size > 0 and int(at[-1]) - int(at[0]) + 1 == size  # mostly so, and a slice copies nothing
        rows = table.slice(int(at[0]), size) if together else table.take(pa.array(at))
        lane = self._lanes.phases(rows.column("pid").combine_chunks(), at)
        category, names = words(rows.column("cat")), words(rows.column("name"))
        phase = lane if self._kind.lanes else either(category, lane)
        unnamed = pc.equal(phase.indices, pc.index_in(pa.scalar(NO_PHASE), phase.dictionary))
        if pc.any(unnamed).as_py():
            self._lanes.take_unnamed(rows.column("pid").combine_chunks().filter(unnamed))
        process = rows.column("args.pid") if self._kind.pid_is_lane else rows.column("pid")
        threads = ["args.thread_id", "args.tid", "tid"] if self._kind.pid_is_lane else ["tid"]
        columns = {
            "node": always(self._origin.node, size),
            "worker": always(self._origin.worker, size),
            "process": words(process),
            "thread": words(pc.coalesce(*(rows.column(name) for name in threads))),
            "phase": phase,
            "category": category,
            "name": names,
            "start_ns": pa.array(start_ns[at]),
            "duration_ns": pa.array(duration_ns[at]),
            "step": pa.array(steps(names, rows.column("args.step_num"))),
            "device": words(rows.column("args.device"), GPU_NUMBER),
            "stream": pa.array(integers(rows.column("args.stream"), NO_NUMBER)),
            "bytes": pa.array(integers(rows.column("args.bytes"), NO_NUMBER)),
            "args": rows.column("args"),
            "wall": pa.array(np.full(size, bool(self._clock.wall))),
            "file": pa.array(np.full(size, self.index, np.int32)),
        }
        return pa.table([columns[name] for name in EVENT_SCHEMA.names], schema=EVENT_SCHEMA)

    def _reject(self, rows: NDArray[np.bool_], reason: str) -> None:
        self._reject_at(np.flatnonzero(rows), reason)

    def _reject_at(self, rows: NDArray[np.int64], reason: str, subject: str = "event") -> None:
        """Counts rows of this batch that make no sense; the first one of each kind is named by its line."""
        if not len(rows):
            return
        self._invalid[subject, reason] += len(rows)
        if (subject, reason) not in self._lines:
            self._lines[subject, reason] = self._line(int(rows[0]))

    def _line(self, row: int) -> int | None:
        """The line of a row of this batch."""
        for one in self._held:
            if row < len(one.table):
                return one.line(row)
            row -= len(one.table)
        return None

    def _of_damages(self) -> Iterator[Problem]:
        unlike = list(dict.fromkeys(self._damages))
        for damage in unlike[:MOST_REPORTED]:
            yield self.problem(damage.line, damage.message, damage.severity, damage.lost_rows)
        more = unlike[MOST_REPORTED:]
        if more:
            lost = sum(damage.lost_rows for damage in more)
            yield self.problem(more[0].line, f"{len(more)} more places are damaged from here on", "warning", lost)

    def _of_invalid(self) -> Iterator[Problem]:
        for (subject, reason), count in self._invalid.items():
            many, verb = (subject, "was") if count == 1 else (f"{subject}s", "were")
            yield self.problem(self._lines.get((subject, reason)), f"{count} {many} with {reason} {verb} left out")
        self.counts.invalid = self._invalid.total()

    def _of_clock(self) -> Iterator[Problem]:
        if self._clock.wall or not self.counts.events:
            return
        why = self._origin.waiting or self._kind.without_clock
        severity: Severity = "warning" if self._kind.lanes else "note"
        text = f"{why}: its {self.counts.events} events are kept, but have no place in time"
        yield self.problem(None, text, severity)

    def _of_lanes(self) -> Iterator[Problem]:
        late = self._lanes.late
        if late:
            lanes = "1 lane has its name" if late == 1 else f"{late:,} lanes have their names"
            text = f"{lanes} so far behind the first events that these are kept as of the lane {NO_PHASE}"
            yield self.problem(None, text)

    def _has_open_marks(self) -> bool:
        """Whether begin marks of this file wait for their end; those of earlier files only pass by."""
        return self.index in self.open.events.column("file").to_pylist()

    def _holds_nothing(self) -> bool:
        """Whether the file holds no event and no record of memory, not even a lost one."""
        lost = any(one.lost_rows for one in self._damages)
        found = self.counts.events or self.counts.memory or self._invalid
        return not (found or lost or self._has_open_marks())

    def _of_emptiness(self, facts: Facts) -> Iterator[Problem]:
        if self._damages or not self._holds_nothing():
            return
        if not facts.opened and not facts.is_object:
            text = "there are no events in it: it is neither a list nor an object"
            yield self.problem(None, text, self._kind.when_empty)
        elif facts.has_events or self._kind.when_empty != "note":
            yield self.problem(None, "there are no events in it", self._kind.when_empty)
        else:
            yield self.problem(None, "it is JSON, but no trace: it has no list of events", "note")


def _matters(damage: Damage, *, opened: bool) -> bool:
    """Whether a damage has to be told of a file without events: what stands between events is none, nor is the end of a
    list that was never opened.
    """
    return damage.severity == "error" or (damage.severity == "note" and opened)
