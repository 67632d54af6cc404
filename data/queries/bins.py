"""Series over time at a fitting resolution: raw samples where few enough fall into the window, else wider bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data import schema
from data.manifest import level_file
from data.selection import Selection, Window
from data.store import Database, StoredJob

MAX_CELLS = 800_000
"""Bins times series that one query reads at most; beyond, the next coarser level is taken."""


@dataclass(frozen=True)
class Resolution:
    """How a window is cut into columns: bins of a stored level, several of them pooled into one column."""

    factor: int  # of the level; 1 is raw
    start_ns: int  # left edge of the first column
    column_ns: int
    columns: int
    interval_ns: int  # the longest nominal sampling interval of the nodes looked at

    @property
    def samples_per_column(self) -> float:
        return self.column_ns / self.interval_ns

    @property
    def fine(self) -> bool:
        """Whether columns are so short that a sample which comes a little early or late leaves one empty."""
        return self.column_ns < 1.5 * self.interval_ns

    @property
    def margin(self) -> int:
        """Columns read beyond either end: what lies there fills fine columns at the edge."""
        return 3 * -(-self.interval_ns // self.column_ns) if self.fine else 0

    @property
    def read_window(self) -> Window:
        """What is read: whole columns, also where the window begins or ends inside one."""
        beyond = self.margin * self.column_ns
        return Window(self.start_ns - beyond, self.start_ns + self.columns * self.column_ns + beyond)


@dataclass(frozen=True)
class Grid:
    """Statistics per row and column, NaN (and count 0) where nothing was measured; arrays are [rows, columns]."""

    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    total: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def mean(self) -> NDArray[np.float64]:
        mean = np.full(self.total.shape, np.nan)
        np.divide(self.total, self.count, out=mean, where=self.count > 0)
        return mean


def window_of(stored: StoredJob, selection: Selection) -> Window:
    """The selected window, or the whole job."""
    if selection.window is not None:
        return selection.window
    manifest = stored.manifest
    return Window(manifest.start_ns, max(manifest.end_ns, manifest.start_ns) + 1)


def selected_nodes(stored: StoredJob, selection: Selection) -> tuple[str, ...]:
    """The selected nodes that the job has, in natural order; all where none is selected."""
    names = tuple(node.name for node in stored.manifest.nodes)
    return tuple(name for name in names if name in selection.nodes) if selection.nodes else names


def resolution(stored: StoredJob, window: Window, nodes: tuple[str, ...], series: int, width_px: int) -> Resolution:
    """The finest level that gives at most 1,500 bins and not too many cells, pooled to at most `width_px` columns."""
    nominal = [node.nominal_ns for node in stored.manifest.nodes if node.name in nodes]
    interval, longest = min(nominal, default=500 * 10**6), max(nominal, default=500 * 10**6)
    most = max(min(schema.MAX_BINS, MAX_CELLS // max(series, 1)), 60)
    factor = 1
    for factor in (1, *stored.manifest.levels):
        if window.duration_ns <= most * interval * factor:
            break
    level_ns = longest * factor
    bins = -(-window.duration_ns // level_ns) + 1
    pooled = max(-(-bins // max(min(width_px, schema.MAX_BINS), 60)), 1)
    column_ns = level_ns * pooled
    start_ns = window.start_ns // column_ns * column_ns
    columns = -(-(window.end_ns - start_ns) // column_ns)
    return Resolution(factor, start_ns, column_ns, int(columns), longest)


def grid(db: Database, stored: StoredJob, at: Resolution, row_of: NDArray[np.int64], rows: int) -> Grid:
    """The series' statistics on a grid; `row_of` gives for each series id its row, or -1."""
    wanted = np.flatnonzero(row_of >= 0)
    if not len(wanted):
        empty = np.full((rows, at.columns), np.nan)
        return Grid(empty, empty, empty, np.zeros((rows, at.columns), np.int64))
    found = _level(db, stored, at, wanted)
    times = (found["time_ns"], found["time_ns"])
    return cells(at, rows, row_of[found["sid"]], times, found["min"], found["max"], found["sum"], found["count"])


def cells(
    at: Resolution,
    rows: int,
    row: NDArray[np.int64],
    times: tuple[NDArray[np.int64], NDArray[np.int64]],
    minimum: NDArray[np.float64],
    maximum: NDArray[np.float64],
    total: NDArray[np.float64],
    count: NDArray[np.float64],
) -> Grid:
    """Values with their rows (-1 for none) and the first and last time each stands for, as a grid."""
    columns = at.columns + 2 * at.margin
    column = (times[0] - at.start_ns) // at.column_ns + at.margin
    keep = (row >= 0) & (column >= 0) & (column < columns)
    cell = row[keep] * columns + column[keep]
    size, shape = rows * columns, (rows, columns)
    many = np.bincount(cell, weights=count[keep], minlength=size).astype(np.int64)
    sums: NDArray[np.float64] = np.bincount(cell, weights=total[keep], minlength=size).astype(np.float64)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, cell, minimum[keep])
    np.maximum.at(high, cell, maximum[keep])
    for values in (low, high, sums):
        values[many == 0] = np.nan
    made = Grid(low.reshape(shape), high.reshape(shape), sums.reshape(shape), many.reshape(shape))
    if not at.fine:
        return made
    first, last = np.full(size, np.iinfo(np.int64).max), np.zeros(size, np.int64)
    np.minimum.at(first, cell, times[0][keep])
    np.maximum.at(last, cell, times[1][keep])
    return _inner(_bridged(made, first.reshape(shape), last.reshape(shape), at.interval_ns), at)


MAX_RUNS = 16


def raw_rows(
    db: Database, stored: StoredJob, window: Window, sids: NDArray[np.int64], columns: str = "sid, time_ns, value"
) -> dict[str, NDArray[Any]]:
    """The raw rows of some series (their ids ascending, a few more may come along) in a window."""
    files = stored.part_files(schema.Table.RAW, window)
    if not files or not len(sids):
        return {name: np.empty(0, np.int64) for name in columns.split(", ")}
    return db.columns(
        _each_run(f"select {columns} from read_parquet($files) where time_ns >= $start and time_ns < $end", sids),
        files=files,
        start=window.start_ns,
        end=window.end_ns,
    )


def _runs(sids: NDArray[np.int64]) -> list[str]:
    """Conditions for the runs of neighbouring ids, at most `MAX_RUNS` of them; the narrowest breaks are bridged.

    Ids are numbers of our own making: they are put into the text, where DuckDB can compare them with row groups.
    """
    breaks = np.flatnonzero(np.diff(sids) > 1)
    if len(breaks) >= MAX_RUNS:
        widest = np.sort(np.argsort(np.diff(sids)[breaks])[-(MAX_RUNS - 1) :])
        breaks = breaks[widest]
    firsts = [int(sids[0]), *sids[breaks + 1].tolist()]
    lasts = [*sids[breaks].tolist(), int(sids[-1])]
    return [f"sid between {first} and {last}" for first, last in zip(firsts, lasts, strict=True)]


def _each_run(select: str, sids: NDArray[np.int64]) -> str:
    """A scan for each run of ids: row groups without it are skipped, which pays where rows are many."""
    return " union all ".join(f"{select} and {run}" for run in _runs(sids))


def _level(db: Database, stored: StoredJob, at: Resolution, sids: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    window = at.read_window
    if at.factor == 1:
        found = raw_rows(db, stored, window, sids)
        value = found["value"]
        return found | {"min": value, "max": value, "sum": value, "count": np.ones(len(value))}
    if at.factor == schema.ROLLUP_FACTORS[0]:
        files = stored.part_files(schema.Table.ROLLUP, window)
    else:
        files = [str(stored.folder / level_file(at.factor))]
    select = (
        "select sid, bin_ns as time_ns, min, max, sum, count from read_parquet($files)"
        " where bin_ns >= $start and bin_ns < $end"
    )
    if not files:
        return {name: np.empty(0, np.int64) for name in ("sid", "time_ns", "min", "max", "sum", "count")}
    kept_by_part = at.factor == schema.ROLLUP_FACTORS[0]
    query = _each_run(select, sids) if kept_by_part else f"{select} and ({' or '.join(_runs(sids))})"
    return db.columns(query, files=files, start=window.start_ns, end=window.end_ns)


def _inner(made: Grid, at: Resolution) -> Grid:
    """Without the margins."""
    inside = slice(at.margin, at.margin + at.columns)
    return Grid(made.minimum[:, inside], made.maximum[:, inside], made.total[:, inside], made.count[:, inside])


def _bridged(made: Grid, first: NDArray[np.int64], last: NDArray[np.int64], interval_ns: int) -> Grid:
    """Empty columns between samples that are no gap apart take the values before them.

    Columns about as long as the sampling interval are now and then missed by a sample that came a little early or late.
    A gap begins above `GAP_INTERVALS` intervals from the last sample before to the first after.
    """
    filled = made.count > 0
    width = filled.shape[1]
    columns = np.arange(width)
    before = np.maximum.accumulate(np.where(filled, columns, -1), axis=1)
    after = np.minimum.accumulate(np.where(filled, columns, width)[:, ::-1], axis=1)[:, ::-1]
    between = ~filled & (before >= 0) & (after < width)
    start = np.take_along_axis(last, np.maximum(before, 0), axis=1)
    end = np.take_along_axis(first, np.minimum(after, width - 1), axis=1)
    source = np.where(between & (end - start <= schema.GAP_INTERVALS * interval_ns), before, columns)
    return Grid(
        np.take_along_axis(made.minimum, source, axis=1),
        np.take_along_axis(made.maximum, source, axis=1),
        np.take_along_axis(made.total, source, axis=1),
        np.take_along_axis(made.count, source, axis=1),
    )
