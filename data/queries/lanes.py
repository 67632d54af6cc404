"""Framework events over time: lanes of a phase and a node, and the events behind a place on one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.coverage import covered, merged
from data.errors import MissingTable
from data.frames.framework import EVENT_ROWS_COLUMNS, EventList, EventRows, Lane, LaneBars, Lanes
from data.names import natural_key
from data.queries.bins import window_of
from data.queries.events import part_files
from data.selection import Selection, Window
from data.store import Database, StoredJob

MAX_BARS = 2000
"""Events that are drawn one by one; more are reduced to columns."""

MAX_LANES = 48
MAX_PHASES = 24
MAX_EVENTS = 500
_FEWEST_COLUMNS = 200
_MOST_SORTED = 1_000_000
"""More events than this are not sorted for one view: it takes the stored bins, however wide."""

NO_EVENTS = "This job has no framework events."

_OVERLAP = """wall = $wall and duration_ns <= $longest_ns
    and start_ns < $end and start_ns + greatest(duration_ns, 1) > $start"""
"""An event without a length belongs to the window that it lies in."""

_TOTALS = f"""
select lane, events, duration_ns
from (select node::varchar as node, phase::varchar as phase, count(*) as events, sum(duration_ns)::bigint as duration_ns
      from read_parquet($files) where {_OVERLAP} group by all)
join (select lane, node, phase from read_parquet($lanes)) using (node, phase)
"""
_BINS = """
select lane, (bin_ns - $first) // $column as place, sum(covered_ns)::bigint as covered_ns, sum(begun)::bigint as begun
from read_parquet($bins) where list_contains($chosen, lane) and bin_ns >= $first and bin_ns < $last
group by all
"""
_SORTED = f"""
select lane, e.start_ns, e.start_ns + e.duration_ns as end_ns
from (select node::varchar as node, phase::varchar as phase, start_ns, duration_ns
      from read_parquet($files) where {_OVERLAP}) e
join (select lane, node, phase from read_parquet($lanes)) using (node, phase) where list_contains($chosen, lane)
order by lane, e.start_ns
"""
_EACH = f"""
select lane, e.start_ns, e.duration_ns, step, name, thread
from (select node::varchar as node, phase::varchar as phase, start_ns, duration_ns, step, name::varchar as name,
             thread::varchar as thread
      from read_parquet($files) where {_OVERLAP}) e
join (select lane, node, phase from read_parquet($lanes)) using (node, phase) where list_contains($chosen, lane)
order by lane, e.start_ns, e.duration_ns desc, name
"""
_LONGEST = f"""
select {
    ", ".join(
        name if name.endswith("_ns") or name == "step" else f"{name}::varchar as {name}" for name in EVENT_ROWS_COLUMNS
    )
},
       count(*) over () as events, (sum(duration_ns) over ())::bigint as total_ns
from read_parquet($files) where node = $node and phase = $phase and {_OVERLAP}
order by duration_ns desc, start_ns, name limit {MAX_EVENTS}
"""


def over_time(db: Database, selection: Selection, columns: int) -> Lanes:
    """Lanes of the events that overlap the window. Raises MissingTable where there are none."""
    stored = db.job(selection.job)
    window = window_of(stored, selection)
    table = _lanes(db, stored, selection)
    if not len(table):
        raise MissingTable("No framework event was recorded on these nodes.")
    totals = _totals(db, stored, selection, table)
    present = [row for row in table.to_dict("records") if totals["events"][row["lane"]]]
    chosen = _chosen(present)
    lanes = [int(row["lane"]) for row in chosen]
    drawn = tuple(
        Lane(row["node"], row["phase"], totals["events"][row["lane"]], totals["duration_ns"][row["lane"]])
        for row in chosen
    )
    shown = _shown(stored, window) | {"chosen": lanes, "lanes": _file(stored, "lanes.parquet")}
    some = sum(lane.events for lane in drawn)
    bars = _bars(db, shown, lanes) if some <= MAX_BARS else None
    nothing = np.zeros((len(lanes), 0))
    start_ns, column_ns, share, begun = window.start_ns, 0, nothing, nothing.astype(np.int64)
    if bars is None:
        few = window.duration_ns < _FEWEST_COLUMNS * stored.manifest.lane_bin_ns and some <= _MOST_SORTED
        columns_of = _from_events if few else _from_bins
        start_ns, column_ns, share, begun = columns_of(db, stored, window, shown, columns)
    return Lanes(
        lanes=drawn,
        start_ns=start_ns,
        column_ns=column_ns,
        covered=share.astype(np.float32),
        begun=begun.astype(np.int32),
        bars=bars,
        events=sum(totals["events"].values()),
        lane_count=len(present),
        node_count=len({row["node"] for row in present}),
    )


def longest(db: Database, selection: Selection, node: str, phase: str) -> EventList:
    """The events of a lane that overlap the window, the longest of them first, at most 500."""
    stored = db.job(selection.job)
    shown = _shown(stored, window_of(stored, selection))
    frame = db.frame(_LONGEST, node=node, phase=phase, **shown)
    total, duration_ns = (int(frame[name].iloc[0]) if len(frame) else 0 for name in ("events", "total_ns"))
    return EventList(EventRows(frame[list(EVENT_ROWS_COLUMNS)]), total, duration_ns)


def _file(stored: StoredJob, name: str) -> list[str]:
    if not stored.manifest.lanes:
        raise MissingTable(NO_EVENTS)
    return [str(stored.folder / name)]


def _shown(stored: StoredJob, window: Window) -> dict[str, Any]:
    """Which events count, and where they lie."""
    return {
        "files": part_files(stored),
        "wall": stored.manifest.wall_clock,
        "longest_ns": stored.manifest.longest_ns,
        "start": window.start_ns,
        "end": window.end_ns,
    }


def _lanes(db: Database, stored: StoredJob, selection: Selection) -> pd.DataFrame:
    """The lanes of the selected nodes."""
    table = db.frame("select * from read_parquet($files)", files=_file(stored, "lanes.parquet"))
    return table[table["node"].isin(selection.nodes)] if selection.nodes else table


def _totals(db: Database, stored: StoredJob, selection: Selection, table: pd.DataFrame) -> dict[str, dict[int, int]]:
    """Events and their length by lane; of the whole job they are known."""
    found = table
    if selection.window is not None:
        shown = _shown(stored, selection.window)
        found = db.frame(_TOTALS, lanes=_file(stored, "lanes.parquet"), **shown)
    totals = found.set_index("lane").reindex(table["lane"], fill_value=0)
    return {name: {int(lane): int(one) for lane, one in totals[name].items()} for name in ("events", "duration_ns")}  # type: ignore[call-overload]


def _chosen(present: list[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """The lanes that are drawn: of each node the fullest phases, and as many nodes as there is room for."""
    by_node: dict[str, list[dict[Any, Any]]] = {}
    for row in sorted(present, key=lambda row: (natural_key(row["node"]), -row["covered_ns"], row["phase"])):
        by_node.setdefault(row["node"], []).append(row)
    kept: list[dict[Any, Any]] = []
    for lanes in by_node.values():
        if kept and len(kept) + len(lanes[:MAX_PHASES]) > MAX_LANES:
            break
        kept += lanes[:MAX_PHASES]
    return kept


Columns = tuple[int, int, NDArray[np.float64], NDArray[np.int64]]
"""Left edge of the first column, width of a column, share that is covered, and events that begin."""


def _from_bins(db: Database, stored: StoredJob, window: Window, shown: dict[str, Any], columns: int) -> Columns:
    """Columns of whole bins, also where the window begins or ends inside of one."""
    bin_ns, chosen = stored.manifest.lane_bin_ns, shown["chosen"]
    first = window.start_ns // bin_ns * bin_ns
    column_ns = max(-(-(window.end_ns - first) // columns // bin_ns), 1) * bin_ns
    size = -(-(window.end_ns - first) // column_ns)
    found = db.columns(
        _BINS,
        bins=_file(stored, "lane_bins.parquet"),
        chosen=chosen,
        first=first,
        last=first + size * column_ns,
        column=column_ns,
    )
    row = _places(chosen)[found["lane"]]
    share, begun = np.zeros((len(chosen), size)), np.zeros((len(chosen), size), np.int64)
    share[row, found["place"]] = found["covered_ns"] / column_ns
    begun[row, found["place"]] = found["begun"]
    return first, column_ns, share, begun


def _from_events(db: Database, stored: StoredJob, window: Window, shown: dict[str, Any], columns: int) -> Columns:
    """Columns over exactly the window, from the events themselves."""
    chosen = shown["chosen"]
    column_ns = max(-(-window.duration_ns // columns), 1)
    edges = column_edges(window, column_ns)
    found = db.columns(_SORTED, **shown)
    share, begun = np.zeros((len(chosen), len(edges) - 1)), np.zeros((len(chosen), len(edges) - 1), np.int64)
    ends = np.searchsorted(found["lane"], np.sort(chosen), side="right")
    for lane, first, last in zip(np.sort(chosen).tolist(), np.append(0, ends[:-1]), ends, strict=True):
        start, end, row = found["start_ns"][first:last], found["end_ns"][first:last], chosen.index(lane)
        share[row] = covered(merged(start, end), edges) / np.diff(edges)
        begun[row] = np.diff(np.searchsorted(start, edges))
    return window.start_ns, column_ns, share, begun


def column_edges(window: Window, column_ns: int) -> NDArray[np.int64]:
    """The edges of columns over a window; the last one ends with it."""
    edges = window.start_ns + column_ns * np.arange(-(-window.duration_ns // column_ns) + 1)
    edges[-1] = window.end_ns
    return edges


def _places(chosen: list[int]) -> NDArray[np.int64]:
    place = np.zeros(max(chosen, default=0) + 1, np.int64)
    place[chosen] = np.arange(len(chosen))
    return place


def _bars(db: Database, shown: dict[str, Any], chosen: list[int]) -> LaneBars:
    found = db.columns(_EACH, **shown)
    lane = _places(chosen)[found["lane"]]
    return LaneBars(
        lane=lane.astype(np.int16),
        start_ns=found["start_ns"],
        duration_ns=found["duration_ns"],
        depth=_depths(lane, found["start_ns"], found["start_ns"] + found["duration_ns"]),
        step=found["step"],
        names=tuple(found["name"].tolist()),
        threads=tuple(found["thread"].tolist()),
    )


def _depths(lane: NDArray[np.int64], start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> NDArray[np.int16]:
    """The first depth of its lane that is free when an event begins; events come by lane and start."""
    depths = np.zeros(len(lane), np.int16)
    free: dict[int, list[int]] = {}
    for at, (mine, start, end) in enumerate(zip(lane.tolist(), start_ns.tolist(), end_ns.tolist(), strict=True)):
        levels = free.setdefault(mine, [])
        depth = next((level for level, until in enumerate(levels) if until <= start), len(levels))
        if depth == len(levels):
            levels.append(end)
        levels[depth] = end
        depths[at] = depth
    return depths
