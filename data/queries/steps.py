"""Step durations: their distribution, and how they change over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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
OUTLIER_DEVIATIONS = 3
"""An outlier takes longer than mean plus three population standard deviations of its phase and node (StepOutlier)."""


@dataclass(frozen=True)
class _Chosen:
    """The steps that start in a window, ordered by start as they are stored; groups are (phase, node)."""

    groups: tuple[tuple[str, str], ...]
    group: NDArray[np.int16]
    duration_ns: NDArray[np.int64]
    start_ns: NDArray[np.int64]  # empty where not asked for, like `step`
    step: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.group)


def histogram(db: Database, selection: Selection, scale: Scale) -> StepHistogram:
    """Durations of the steps that start in the window, counted per phase and node; exact."""
    stored = db.job(selection.job)
    steps = _chosen(db, stored, selection, "duration_ns")
    cuts = _cuts(steps)
    edges = _edges(int(steps.duration_ns.min()), int(steps.duration_ns.max()), scale)
    p50, p95, p99 = _quantiles(np.sort(steps.duration_ns))
    outliers, count = _outliers(db, stored, selection, cuts)
    return StepHistogram(
        edges_ns=edges,
        scale=scale,
        groups=tuple(_group(steps, at, edges, cuts[at]) for at in np.unique(steps.group).tolist()),
        steps=len(steps),
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        outliers=outliers,
        outlier_count=count,
    )


def timeline(db: Database, selection: Selection, width_px: int) -> StepTimeline:
    """The steps that start in the window with their durations, one by one where they are few."""
    stored = db.job(selection.job)
    steps = _chosen(db, stored, selection, "duration_ns, start_ns, step")
    present = np.unique(steps.group)
    bin_ns = 0
    if len(steps) > MAX_POINTS:
        columns = max(min(width_px, MAX_POINTS // len(present)), 60)
        bin_ns = max(window_of(stored, selection).duration_ns // columns, 1)
    group, start_ns, step, duration_ns, mean_ns = _points(steps, bin_ns)
    outliers, count = _outliers(db, stored, selection, _cuts(steps))
    return StepTimeline(
        groups=tuple(steps.groups[at] for at in present.tolist()),
        group=np.searchsorted(present, group).astype(np.int16),
        start_ns=start_ns,
        step=step,
        duration_ns=duration_ns,
        mean_ns=mean_ns,
        steps=len(steps),
        bin_ns=bin_ns,
        outliers=outliers,
        outlier_count=count,
    )


def _where(stored: StoredJob, selection: Selection) -> tuple[str, dict[str, object]]:
    """The condition that chooses steps, and its parameters; group numbers are our own."""
    window = window_of(stored, selection)
    condition = "start_ns >= $start and start_ns < $end"
    if selection.nodes:
        wanted = [at for at, (_, node) in enumerate(stored.manifest.step_groups) if node in selection.nodes]
        condition += f' and "group" in ({", ".join(map(str, wanted)) or -1})'
    files = [stored.file("steps.parquet", "This job's framework recorded no steps.")]
    return condition, {"files": files, "start": window.start_ns, "end": window.end_ns}


def _chosen(db: Database, stored: StoredJob, selection: Selection, columns: str) -> _Chosen:
    """Raises MissingTable where no step starts in the window."""
    condition, parameters = _where(stored, selection)
    found = db.columns(f'select "group", {columns} from read_parquet($files) where {condition}', **parameters)
    if not len(found["group"]):
        raise MissingTable("No step starts in this window on these nodes.")
    none = np.empty(0, np.int64)
    return _Chosen(
        stored.manifest.step_groups,
        found["group"],
        found["duration_ns"],
        found.get("start_ns", none),
        found.get("step", none),
    )


def _cuts(steps: _Chosen) -> NDArray[np.float64]:
    """Per group the duration above which a step is an outlier."""
    size = len(steps.groups)
    count = np.maximum(np.bincount(steps.group, minlength=size), 1)
    mean = np.bincount(steps.group, weights=steps.duration_ns, minlength=size) / count
    from_mean = steps.duration_ns - mean[steps.group]
    deviation = np.sqrt(np.bincount(steps.group, weights=from_mean * from_mean, minlength=size) / count)
    return np.asarray(mean + OUTLIER_DEVIATIONS * deviation)


def _outliers(
    db: Database, stored: StoredJob, selection: Selection, cuts: NDArray[np.float64]
) -> tuple[tuple[Step, ...], int]:
    """The longest of the outliers, and how many there are."""
    condition, parameters = _where(stored, selection)
    rows = db.frame(
        'select "group", worker, step, start_ns, duration_ns, count(*) over () as outliers from read_parquet($files)'
        f' where {condition} and duration_ns > $cuts["group" + 1]'
        f' order by duration_ns desc, start_ns, "group", worker limit {MAX_OUTLIERS}',
        cuts=cuts.tolist(),
        **parameters,
    )
    found = []
    for row in rows.to_dict("records"):
        phase, node = stored.manifest.step_groups[row["group"]]
        found.append(Step(node, row["worker"], phase, row["step"], row["start_ns"], row["duration_ns"]))
    return tuple(found), int(rows["outliers"].iloc[0]) if len(rows) else 0


def _edges(low: int, high: int, scale: Scale) -> NDArray[np.float64]:
    """Edges that hold every duration; equal durations get one bin around them."""
    if scale == "log":
        first = max(low, 1)
        edges = np.geomspace(first, max(high, first * 1.02), BINS + 1)
        edges[0], edges[-1] = min(low, first), max(edges[-1], high)
        return edges
    return np.linspace(low, max(high, low * 1.02, low + 1), BINS + 1)


def _group(steps: _Chosen, at: int, edges: NDArray[np.float64], cut: float) -> StepGroup:
    mine = steps.group == at
    durations = steps.duration_ns[mine]
    durations.sort()
    p50, p95, p99 = _quantiles(durations)
    phase, node = steps.groups[at]
    return StepGroup(
        phase=phase,
        node=node,
        counts=_counts(durations, edges),
        steps=len(durations),
        mean_ns=float(durations.mean()),
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        outliers=int(np.sum(durations > cut)),
    )


def _points(steps: _Chosen, bin_ns: int) -> tuple[NDArray[Any], ...]:
    """Group, start, step, longest and mean duration of every step, or of every group and bin."""
    if not bin_ns:
        return steps.group, steps.start_ns, steps.step, steps.duration_ns, steps.duration_ns.astype(np.float64)
    cell = (steps.start_ns - steps.start_ns[0]) // bin_ns * len(steps.groups) + steps.group
    size = int(cell.max()) + 1
    head: NDArray[np.int64] = np.full(size, -1)
    head[cell[::-1]] = np.arange(len(steps))[::-1]  # steps are ordered by start: the first of a cell is written last
    longest: NDArray[np.int64] = np.zeros(size, np.int64)
    np.maximum.at(longest, cell, steps.duration_ns)
    many = np.bincount(cell, minlength=size)
    filled = np.flatnonzero(many)
    mean = np.bincount(cell, weights=steps.duration_ns, minlength=size)[filled] / many[filled]
    head = head[filled]
    return steps.group[head], steps.start_ns[head], steps.step[head], longest[filled], mean


def _quantiles(ascending: NDArray[np.int64]) -> tuple[float, float, float]:
    """p50, p95 and p99 of sorted values, by linear interpolation."""
    at = np.array([0.5, 0.95, 0.99]) * (len(ascending) - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, len(ascending) - 1)
    p50, p95, p99 = (ascending[low] + (ascending[high] - ascending[low]) * (at - low)).tolist()
    return p50, p95, p99


def _counts(ascending: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many sorted values lie in each bin; the last bin includes its right edge."""
    below = np.searchsorted(ascending, edges)
    below[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(below)
