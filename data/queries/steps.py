"""Step durations: their distribution, and how they change over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames import Step, StepGroup, StepHistogram, StepTimeline
from data.queries.bins import window_of
from data.selection import Selection
from data.store import Database, StoredJob

Scale = Literal["linear", "log"]

BINS = 60
MAX_POINTS = 2000
"""Steps drawn one by one; more are reduced to bins."""

MAX_OUTLIERS = 20
_DURATION_BITS = 47
"""Bits left for a duration beside a group's number: 39 hours."""

OUTLIER_DEVIATIONS = 3
"""An outlier takes longer than mean plus three population standard deviations of its phase and node (StepOutlier)."""


@dataclass(frozen=True)
class _Groups:
    """Number, mean and outlier limit of the steps of each group (phase and node) that start in the window."""

    pairs: tuple[tuple[str, str], ...]  # of the whole job; a group's number is its place
    count: NDArray[np.int64]
    mean_ns: NDArray[np.float64]
    cut_ns: NDArray[np.float64]
    first_ns: int  # start of the first step

    @property
    def present(self) -> list[int]:
        return np.flatnonzero(self.count).tolist()


def histogram(db: Database, selection: Selection, scale: Scale) -> StepHistogram:
    """Durations of the steps that start in the window, counted per phase and node; exact."""
    stored = db.job(selection.job)
    groups = _groups(db, stored, selection)
    condition, parameters = _where(stored, selection)
    found = db.columns(f'select "group", duration_ns from read_parquet($files) where {condition}', **parameters)
    by_group = _sorted_by_group(found["group"], found["duration_ns"], groups)
    ascending = np.sort(found["duration_ns"])
    edges = histogram_edges(int(ascending[0]), int(ascending[-1]), scale)
    p50, p95, p99 = quantiles(ascending)
    outliers, count = _outliers(db, stored, selection, groups)
    return StepHistogram(
        edges_ns=edges,
        scale=scale,
        groups=tuple(_group(groups, at, by_group[at], edges) for at in groups.present),
        steps=len(ascending),
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        outliers=outliers,
        outlier_count=count,
    )


def timeline(db: Database, selection: Selection, width_px: int) -> StepTimeline:
    """The steps that start in the window with their durations, one by one where they are few."""
    stored = db.job(selection.job)
    groups = _groups(db, stored, selection)
    present, steps = groups.present, int(groups.count.sum())
    bin_ns = 0
    if steps > MAX_POINTS:
        columns = max(min(width_px, MAX_POINTS // len(present)), 60)
        bin_ns = max(window_of(stored, selection).duration_ns // columns, 1)
    condition, parameters = _where(stored, selection)
    points = db.columns(
        (_BINS if bin_ns else _EACH).format(condition=condition, bin=bin_ns, first=groups.first_ns), **parameters
    )
    outliers, count = _outliers(db, stored, selection, groups)
    return StepTimeline(
        groups=tuple(groups.pairs[at] for at in present),
        group=np.searchsorted(present, points["group"]).astype(np.int16),
        start_ns=points["start_ns"],
        step=points["step"],
        duration_ns=points["duration_ns"],
        mean_ns=points["mean_ns"],
        steps=steps,
        bin_ns=bin_ns,
        outliers=outliers,
        outlier_count=count,
    )


_EACH = """
    select "group", start_ns, step, duration_ns, duration_ns::double as mean_ns
    from read_parquet($files) where {condition} order by start_ns, "group"
"""
_BINS = """
    select "group", min(start_ns) as start_ns, arg_min(step, start_ns) as step, max(duration_ns) as duration_ns,
           avg(duration_ns) as mean_ns
    from read_parquet($files) where {condition}
    group by "group", (start_ns - {first}) // {bin} order by start_ns, "group"
"""


def _where(stored: StoredJob, selection: Selection) -> tuple[str, dict[str, object]]:
    """The condition that chooses steps, and its parameters; group numbers are our own."""
    window = window_of(stored, selection)
    condition = "start_ns >= $start and start_ns < $end"
    if selection.nodes:
        wanted = [at for at, (_, node) in enumerate(stored.manifest.step_groups) if node in selection.nodes]
        condition += f' and "group" in ({", ".join(map(str, wanted)) or -1})'
    files = [stored.file("steps.parquet", "This job's framework recorded no steps.")]
    return condition, {"files": files, "start": window.start_ns, "end": window.end_ns}


def _groups(db: Database, stored: StoredJob, selection: Selection) -> _Groups:
    """Raises MissingTable where no step starts in the window."""
    condition, parameters = _where(stored, selection)
    found = db.columns(
        'select "group", count(*)::bigint as count, avg(duration_ns) as mean, stddev_pop(duration_ns) as deviation,'
        " min(start_ns) as first"
        f' from read_parquet($files) where {condition} group by "group"',
        **parameters,
    )
    if not len(found["group"]):
        raise MissingTable("No step starts in this window on these nodes.")
    size = len(stored.manifest.step_groups)
    count, mean, cut = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
    count[found["group"]], mean[found["group"]] = found["count"], found["mean"]
    cut[found["group"]] = found["mean"] + OUTLIER_DEVIATIONS * found["deviation"]
    return _Groups(stored.manifest.step_groups, count, mean, cut, int(found["first"].min()))


def _outliers(db: Database, stored: StoredJob, selection: Selection, groups: _Groups) -> tuple[tuple[Step, ...], int]:
    """The longest of the outliers, and how many there are."""
    condition, parameters = _where(stored, selection)
    rows = db.frame(
        'select "group", worker, step, start_ns, duration_ns, count(*) over () as outliers from read_parquet($files)'
        f' where {condition} and duration_ns > $cuts["group" + 1]'
        f' order by duration_ns desc, start_ns, "group", worker limit {MAX_OUTLIERS}',
        cuts=groups.cut_ns.tolist(),
        **parameters,
    )
    found = []
    for row in rows.to_dict("records"):
        phase, node = groups.pairs[row["group"]]
        found.append(Step(node, row["worker"], phase, row["step"], row["start_ns"], row["duration_ns"]))
    return tuple(found), int(rows["outliers"].iloc[0]) if len(rows) else 0


def _sorted_by_group(
    group: NDArray[np.int16], duration_ns: NDArray[np.int64], groups: _Groups
) -> list[NDArray[np.int64]]:
    """The durations of each group, ascending: one sort of group and duration as one number, where both fit."""
    if int(duration_ns.max()) >> _DURATION_BITS:
        ascending = duration_ns[np.lexsort((duration_ns, group))]
    else:
        together = np.sort(group.astype(np.int64) << _DURATION_BITS | duration_ns)
        ascending = together & ((1 << _DURATION_BITS) - 1)
    return np.split(ascending, np.cumsum(groups.count)[:-1])


def histogram_edges(low: int, high: int, scale: Scale) -> NDArray[np.float64]:
    """Edges that hold every duration; equal durations get one bin around them."""
    if scale == "log":
        first = max(low, 1)
        edges = np.geomspace(first, max(high, first * 1.02), BINS + 1)
        edges[0], edges[-1] = min(low, first), max(edges[-1], high)
        return edges
    return np.linspace(low, max(high, low * 1.02, low + 1), BINS + 1)


def _group(groups: _Groups, at: int, ascending: NDArray[np.int64], edges: NDArray[np.float64]) -> StepGroup:
    p50, p95, p99 = quantiles(ascending)
    phase, node = groups.pairs[at]
    return StepGroup(
        phase=phase,
        node=node,
        counts=histogram_counts(ascending, edges),
        steps=len(ascending),
        mean_ns=float(groups.mean_ns[at]),
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        outliers=len(ascending) - int(np.searchsorted(ascending, groups.cut_ns[at], side="right")),
    )


def quantiles(ascending: NDArray[np.int64]) -> tuple[float, float, float]:
    """p50, p95 and p99 of sorted values, by linear interpolation."""
    at = np.array([0.5, 0.95, 0.99]) * (len(ascending) - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, len(ascending) - 1)
    p50, p95, p99 = (ascending[low] + (ascending[high] - ascending[low]) * (at - low)).tolist()
    return p50, p95, p99


def histogram_counts(ascending: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many sorted values lie in each bin; the last bin includes its right edge."""
    below = np.searchsorted(ascending, edges)
    below[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(below)
