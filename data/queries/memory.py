"""What memory allocators hold over time, from the records of PyTorch's profiler: exact in any window.

Most of a window is answered from stored bins; what its edges cut, and windows of a few bins, from the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data import memory, schema
from data.errors import MissingTable
from data.frames.framework import AllocatedMemory, MemoryLine
from data.manifest import part_file
from data.memory import UNKNOWN, Stretches
from data.queries.bins import window_of
from data.selection import Selection, Window
from data.store import Database, StoredJob

Which = Literal["gpu", "cpu"]
MAX_LINES = 24
_FEWEST_BINS = 200
"""Windows of fewer bins are answered from the records, so that a zoom shows more than the bins."""

_MOST_RECORDS = 300_000
"""More records than this are not sorted for one view: it takes the bins, however wide."""

NO_RECORDS = "No record of a memory allocator in this job."
HOW_TO_RECORD = "PyTorch's profiler writes them into its traces with profile_memory=True."

_LINES = "select * from read_parquet($lines) where (device_kind = 'cpu') = $cpu order by line, start_ns"
_MANY = """
select coalesce(sum(allocations + frees + uncounted), 0)::bigint as many
from read_parquet($bins) where list_contains($chosen, line) and bin_ns >= $first and bin_ns < $last
"""
_BINS = f"""
select line::bigint as line, bin_ns, {", ".join(f"coalesce({name}, {UNKNOWN}) as {name}" for name in memory.KNOWN)},
       {", ".join(f"{name}::bigint as {name}" for name in memory.COUNTED)}
from read_parquet($bins) where list_contains($chosen, line) and bin_ns >= $first and bin_ns < $last
"""
_BEFORE = """
select line, arg_max(last, bin_ns) as allocated, arg_max(reserved_last, bin_ns) as reserved
from read_parquet($bins) where list_contains($chosen, line) and bin_ns < $first and last is not null group by line
"""
_RECORDS = """
select line::bigint as line, device_kind = 'cpu' as cpu, time_ns, bytes, allocated, reserved
from (select node::varchar as node, process::varchar as process, device_kind::varchar as device_kind, device, time_ns,
             bytes, allocated, reserved, place
      from read_parquet($files) where wall = $wall and time_ns >= $first and time_ns < $last)
join (select distinct line, node, process, device_kind, device from read_parquet($lines)
      where list_contains($chosen, line)) using (node, process, device_kind, device)
order by line, time_ns, place, allocated
"""


def over_time(db: Database, selection: Selection, which: Which, columns: int) -> AllocatedMemory:
    """Bytes allocated and reserved, a line for each process and device. Raises MissingTable where nothing is known."""
    stored = db.job(selection.job)
    if not stored.manifest.memory_records:
        raise MissingTable(NO_RECORDS, HOW_TO_RECORD)
    lines = db.frame(_LINES, lines=_file(stored, "memory_lines"), cpu=which == "cpu")
    lines = lines[lines["node"].isin(selection.nodes)] if selection.nodes else lines
    if not len(lines):
        device = "a GPU" if which == "gpu" else "the CPU"
        raise MissingTable(f"No record of {device}'s memory allocator on these nodes.", HOW_TO_RECORD)
    window = window_of(stored, selection)
    found, edges = _stretches(_Asked(db, stored, lines), window, columns)
    present, whole = memory.pooled(found[0], found[2])
    order = np.argsort(-whole["high"], kind="stable")[:MAX_LINES]
    names = lines.drop_duplicates("line").set_index("line")
    drawn = [_filled(found, int(line), lines[lines["line"] == line], edges) for line in present[order]]
    shape = (len(order), len(edges) - 1)
    arrays = [np.array([one[at] for one in drawn]).reshape(shape) for at in range(4)]
    return AllocatedMemory(
        tuple(_line(names.loc[int(present[one])], whole, int(one)) for one in order),
        len(present),
        int(edges[0]),
        int(edges[1] - edges[0]),
        *arrays,
    )


def _line(name: Any, whole: Stretches, at: int) -> MemoryLine:
    return MemoryLine(
        node=str(name["node"]),
        process=str(name["process"]),
        device_kind=str(name["device_kind"]),
        device=int(name["device"]),
        peak_bytes=int(whole["high"][at]),
        peak_ns=int(whole["high_ns"][at]),
        rise_bytes=int(whole["rise"][at]),
        largest_bytes=int(whole["largest"][at]),
        allocations=int(whole["allocations"][at]),
        frees=int(whole["frees"][at]),
        uncounted=int(whole["uncounted"][at]),
    )


def _file(stored: StoredJob, table: str) -> list[str]:
    return [str(stored.folder / f"{table}.parquet")]


@dataclass(frozen=True)
class _Asked:
    """Which lines of a job are asked for."""

    db: Database
    stored: StoredJob
    lines: pd.DataFrame

    @property
    def chosen(self) -> list[int]:
        """Their numbers."""
        return [int(line) for line in self.lines["line"].unique()]

    def columns(self, sql: str, **parameters: Any) -> dict[str, NDArray[Any]]:
        """A query's result; it may ask for the files of the tables."""
        manifest, folder = self.stored.manifest, self.stored.folder
        files = [str(folder / part_file(schema.Table.MEMORY, part.part)) for part in manifest.memory_parts]
        known: dict[str, Any] = {"files": files, "wall": manifest.wall_clock, "chosen": self.chosen}
        known |= {"bins": _file(self.stored, "memory_bins"), "lines": _file(self.stored, "memory_lines")}
        return self.db.columns(sql, **{name: one for name, one in known.items() if f"${name}" in sql}, **parameters)


Found = tuple[NDArray[np.int64], NDArray[np.int64], Stretches]
"""Lines, times, and what is known of each stretch, by line and time."""


def _stretches(asked: _Asked, window: Window, columns: int) -> tuple[Found, NDArray[np.int64]]:
    """All that is known in the window, from what was held at its start on; and the edges of columns over it."""
    bin_ns = asked.stored.manifest.memory_bin_ns
    first, last = window.start_ns // bin_ns * bin_ns, -(-window.end_ns // bin_ns) * bin_ns
    inner, outer = -(-window.start_ns // bin_ns) * bin_ns, window.end_ns // bin_ns * bin_ns
    if inner >= outer or (window.duration_ns < _FEWEST_BINS * bin_ns and _many(asked, first, last) <= _MOST_RECORDS):
        inner = outer = window.end_ns
        edges = np.append(np.arange(window.start_ns, window.end_ns, -(-window.duration_ns // columns)), window.end_ns)
    else:
        column_ns = -(-(last - first) // columns // bin_ns) * bin_ns
        edges = first + column_ns * np.arange(-(-(last - first) // column_ns) + 1)
    early, inside = _split(_records(asked, first, inner), window.start_ns)
    pieces = [_held(asked, window.start_ns, early, _before(asked, first)), inside]
    if outer > inner:
        pieces += [_bins(asked, inner, outer), _records(asked, outer, window.end_ns)]
    line, at_ns = (np.concatenate([piece[at] for piece in pieces]) for at in (0, 1))
    order = np.lexsort((at_ns, line))
    parts = {name: np.concatenate([piece[2][name] for piece in pieces])[order] for name in pieces[0][2]}
    return (line[order], at_ns[order], parts), edges


def _many(asked: _Asked, first_ns: int, last_ns: int) -> int:
    return int(asked.columns(_MANY, first=first_ns, last=last_ns)["many"][0])


def _before(asked: _Asked, bin_ns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What each line was told of last before a bin: bytes allocated and reserved."""
    totals = np.full((2, max(asked.chosen) + 1), UNKNOWN, np.int64)
    found = asked.columns(_BEFORE, first=bin_ns)
    totals[:, found["line"]] = found["allocated"], found["reserved"]
    return totals[0], totals[1]


def _records(asked: _Asked, first_ns: int, last_ns: int) -> Found:
    """The records from the start of a bin on."""
    found = asked.columns(_RECORDS, first=first_ns, last=last_ns)
    line, time_ns, size, allocated = (found[name] for name in ("line", "time_ns", "bytes", "allocated"))
    tells = memory.counted(line, found["cpu"].astype(bool), size, allocated, _before(asked, first_ns)[0])
    return line, time_ns, memory.of_records(time_ns, size, allocated, found["reserved"], tells)


def _bins(asked: _Asked, first_ns: int, last_ns: int) -> Found:
    found = asked.columns(_BINS, first=first_ns, last=last_ns)
    return found["line"], found["bin_ns"], {name: found[name] for name in (*memory.KNOWN, *memory.COUNTED)}


def _split(found: Found, at_ns: int) -> tuple[Found, Found]:
    """What lies before a time, and the rest."""
    line, time_ns, parts = found
    early, late = np.flatnonzero(time_ns < at_ns), np.flatnonzero(time_ns >= at_ns)
    pieces = [(line[at], time_ns[at], {name: one[at] for name, one in parts.items()}) for at in (early, late)]
    return pieces[0], pieces[1]


def _held(asked: _Asked, start_ns: int, early: Found, before: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Found:
    """What the lines hold as the window begins, if that lies inside of a recording."""
    held, kept = before
    line, _, parts = early
    told = np.flatnonzero(parts["last"] != UNKNOWN)
    held[line[told]], kept[line[told]] = parts["last"][told], parts["reserved_last"][told]
    lines = asked.lines
    recorded = lines.loc[(lines["start_ns"] < start_ns) & (lines["end_ns"] >= start_ns), "line"]
    some = np.unique(recorded.to_numpy(np.int64))
    some = some[held[some] != UNKNOWN]
    since, none = np.full(len(some), start_ns), np.zeros(len(some), np.int64)
    found = memory.of_records(since, none, held[some], kept[some], np.ones(len(some), bool))
    return some, since, found


Columns = tuple[NDArray[np.float64], ...]
"""Bytes allocated, most and last of each column, and bytes reserved."""


def _filled(found: Found, line: int, spans: pd.DataFrame, edges: NDArray[np.int64]) -> Columns:
    """The columns of a line. What was held when one begins counts in it, if a recording goes on there."""
    left, right = np.searchsorted(found[0], [line, line + 1])
    at_ns, parts = found[1][left:right], {name: one[left:right] for name, one in found[2].items()}
    place = np.clip(np.searchsorted(edges, at_ns, side="right") - 1, 0, len(edges) - 2)
    column, own = memory.pooled(place, parts)
    known = own["high"] != UNKNOWN
    column = column[known]
    begun = edges[:-1]
    recorded = np.zeros(len(begun), bool)
    for start, end in zip(spans["start_ns"], spans["end_ns"], strict=True):
        recorded |= (begun >= start) & (begun <= end)
    told = np.full(len(begun), -1)
    told[column] = np.arange(len(column))
    since = np.append(-1, np.maximum.accumulate(told)[:-1])
    arrays = []
    for high, last in (("high", "last"), ("reserved_high", "reserved_last")):
        most, end_of = own[high][known], own[last][known].astype(float)
        before = np.where(recorded & (since >= 0), end_of[since] if len(end_of) else np.nan, np.nan)
        highest, latest = before.copy(), before
        highest[column] = np.fmax(before[column], most)
        latest = np.where(told >= 0, end_of[told] if len(end_of) else np.nan, before)
        arrays += [highest, latest]
    return tuple(arrays)
