"""Step durations: their distribution, and how they change over time."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from data.errors import MissingTable
from data.frames import Step, StepGroup, StepHistogram, StepTimeline
from data.names import natural_key
from data.queries.bins import window_of
from data.selection import Selection, Window
from data.store import Database, StoredJob

Scale = Literal["linear", "log"]

BINS = 60
MAX_POINTS = 2000
"""Steps drawn one by one; more are reduced to bins."""

MAX_OUTLIERS = 20
OUTLIER_DEVIATIONS = 3
"""An outlier takes longer than the mean plus three population standard deviations of its phase and node (rule StepOutlier)."""

_NO_STEPS = "This job's framework recorded no steps."
_FROM_WINDOW = """
    from read_parquet($files)
    where start_ns >= $start and start_ns < $end and (len($nodes) = 0 or list_contains($nodes, node))
"""
_GROUPS = f"""
    select phase, node, count(*)::bigint as steps, avg(duration_ns) as mean, stddev_pop(duration_ns) as deviation,
           min(duration_ns) as low, max(duration_ns) as high,
           quantile_cont(duration_ns, [0.5, 0.95, 0.99]) as quantiles
    {_FROM_WINDOW}
    group by phase, node
"""
_OUTLIERS = f"""
    with chosen as (select * {_FROM_WINDOW}),
         cuts as (
             select phase, node, avg(duration_ns) + {OUTLIER_DEVIATIONS} * stddev_pop(duration_ns) as cut
             from chosen group by phase, node
         )
    select chosen.*, count(*) over (partition by phase, node) as outliers
    from chosen join cuts using (phase, node) where duration_ns > cut
    order by duration_ns desc, start_ns, node, worker
"""


def histogram(db: Database, selection: Selection, scale: Scale) -> StepHistogram:
    """Durations of the steps that start in the window, counted per phase and node; exact."""
    stored = db.job(selection.job)
    parameters = _parameters(stored, selection)
    groups = _sorted(db.frame(_GROUPS, **parameters))
    if groups.empty:
        raise MissingTable("No step starts in this window on these nodes.")
    edges = _edges(float(groups["low"].min()), float(groups["high"].max()), scale)
    counted = db.frame(
        f"select phase, node, duration_ns, count(*)::bigint as count {_FROM_WINDOW} group by all", **parameters
    )
    overall = db.columns(
        f"select unnest(quantile_cont(duration_ns, [0.5, 0.95, 0.99])) as at {_FROM_WINDOW}", **parameters
    )["at"]
    outliers = db.frame(_OUTLIERS, **parameters)
    many = outliers.groupby(["phase", "node"]).size()
    return StepHistogram(
        edges_ns=edges,
        scale=scale,
        groups=tuple(
            _group(row, counted, edges, int(many.get((row.phase, row.node), 0))) for row in groups.itertuples()
        ),
        steps=int(groups["steps"].sum()),
        p50_ns=float(overall[0]),
        p95_ns=float(overall[1]),
        p99_ns=float(overall[2]),
        outliers=_steps(outliers),
        outlier_count=len(outliers),
    )


def timeline(db: Database, selection: Selection, width_px: int) -> StepTimeline:
    """The steps that start in the window with their durations, one by one where they are few."""
    stored = db.job(selection.job)
    parameters = _parameters(stored, selection)
    window = window_of(stored, selection)
    groups = _sorted(db.frame(f"select phase, node, count(*)::bigint as steps {_FROM_WINDOW} group by all", **parameters))
    if groups.empty:
        raise MissingTable("No step starts in this window on these nodes.")
    pairs = list(zip(groups["phase"], groups["node"], strict=True))
    steps = int(groups["steps"].sum())
    bin_ns = 0
    if steps > MAX_POINTS:
        columns = max(min(width_px, MAX_POINTS // len(pairs)), 60)
        bin_ns = max(window.duration_ns // columns, 1)
    points = _points(db, parameters, bin_ns)
    number = {pair: at for at, pair in enumerate(pairs)}
    group = np.array([number[pair] for pair in zip(points["phase"], points["node"], strict=True)], np.int16)
    outliers = db.frame(_OUTLIERS, **parameters)
    return StepTimeline(
        groups=tuple(pairs),
        group=group,
        start_ns=points["start_ns"].to_numpy(np.int64),
        step=points["step"].to_numpy(np.int64),
        duration_ns=points["duration_ns"].to_numpy(np.int64),
        mean_ns=points["mean_ns"].to_numpy(np.float64),
        steps=steps,
        bin_ns=bin_ns,
        outliers=_steps(outliers),
        outlier_count=len(outliers),
    )


def _points(db: Database, parameters: dict[str, object], bin_ns: int) -> pd.DataFrame:
    if not bin_ns:
        return db.frame(
            f"select phase, node, start_ns, step, duration_ns, duration_ns::double as mean_ns {_FROM_WINDOW}"
            " order by start_ns, node, worker",
            **parameters,
        )
    return db.frame(
        f"select phase, node, min(start_ns) as start_ns, arg_min(step, start_ns) as step,"
        f" max(duration_ns) as duration_ns, avg(duration_ns) as mean_ns {_FROM_WINDOW}"
        " group by phase, node, (start_ns - $start) // $bin order by start_ns, node",
        bin=bin_ns,
        **parameters,
    )


def _parameters(stored: StoredJob, selection: Selection) -> dict[str, object]:
    window: Window = window_of(stored, selection)
    return {
        "files": [stored.file("steps.parquet", _NO_STEPS)],
        "start": window.start_ns,
        "end": window.end_ns,
        "nodes": list(selection.nodes),
    }


def _sorted(groups: pd.DataFrame) -> pd.DataFrame:
    """Groups by phase, training first, then nodes in natural order."""
    order = sorted(
        range(len(groups)),
        key=lambda at: ("TRAIN" not in groups["phase"][at], groups["phase"][at], natural_key(groups["node"][at])),
    )
    return groups.iloc[order].reset_index(drop=True)


def _edges(low: float, high: float, scale: Scale) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Edges that hold every duration; equal durations get one bin around them."""
    if scale == "log":
        low = max(low, 1.0)
        high = max(high, low * 1.02)
        edges = np.geomspace(low, high, BINS + 1)
        edges[0], edges[-1] = min(low, edges[0]), high
        return edges
    if high <= low:
        high = low + max(low * 0.02, 1.0)
    return np.linspace(low, high, BINS + 1)


def _group(row: object, counted: pd.DataFrame, edges: np.ndarray[tuple[int], np.dtype[np.float64]], outliers: int) -> StepGroup:
    phase, node = row.phase, row.node  # type: ignore[attr-defined]
    mine = counted[(counted["phase"] == phase) & (counted["node"] == node)]
    at = np.searchsorted(edges, mine["duration_ns"].to_numpy(float), side="right") - 1
    counts = np.bincount(np.clip(at, 0, len(edges) - 2), weights=mine["count"], minlength=len(edges) - 1)
    p50, p95, p99 = row.quantiles  # type: ignore[attr-defined]
    return StepGroup(
        phase=phase,
        node=node,
        counts=counts.astype(np.int64),
        steps=int(row.steps),  # type: ignore[attr-defined]
        mean_ns=float(row.mean),  # type: ignore[attr-defined]
        p50_ns=float(p50),
        p95_ns=float(p95),
        p99_ns=float(p99),
        outliers=outliers,
    )


def _steps(outliers: pd.DataFrame) -> tuple[Step, ...]:
    return tuple(
        Step(row.node, row.worker, row.phase, int(row.step), int(row.start_ns), int(row.duration_ns))
        for row in outliers.head(MAX_OUTLIERS).itertuples()
    )
