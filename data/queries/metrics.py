"""Which series a metric means, why there may be none, and the highest of their samples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from data import schema
from data.errors import MissingTable
from data.frames import Peak
from data.queries.bins import Grid, Resolution, raw_rows
from data.selection import Window
from data.series import Metric
from data.store import Database, StoredJob

CODES = {"cpu": Metric.CPU, "gpu": Metric.GPU, "gpu_memory": Metric.GPU_MEMORY, "io_wait": Metric.IO_WAIT}
NO_SYSTEM = "This job has no system metrics."
MISSING = {
    Metric.GPU: "This job's nodes report no GPUs.",
    Metric.GPU_MEMORY: "This job's nodes report no GPU memory.",
    Metric.CPU: "This job's nodes report no CPU utilisation.",
    Metric.IO_WAIT: "This job's nodes report no I/O wait.",
}


def series_of(stored: StoredJob, nodes: tuple[str, ...], metrics: tuple[Metric, ...]) -> pd.DataFrame:
    """The series of some metrics on some nodes. Raises MissingTable where there is none."""
    series = stored.series()
    found = series[series["code"].isin([int(m) for m in metrics]) & series["node"].isin(nodes)]
    if found.empty:
        raise MissingTable(MISSING[metrics[0]])
    return found


def peak_of(
    db: Database,
    stored: StoredJob,
    sids: Iterable[int],
    labels: Iterable[str],
    at: Resolution,
    made: Grid,
    window: Window,
) -> Peak | None:
    """The highest sample of the window and the earliest of equals, whatever the resolution.

    Looked for in the columns with the highest maxima; those at the edges may owe theirs to a sample outside.
    """
    device = dict(zip(sids, labels, strict=True))
    ids = np.array(sorted(device), np.int64)
    highest = np.where(made.count > 0, made.maximum, -np.inf).max(axis=0, initial=-np.inf)
    best: tuple[float, int, int] | None = None
    for column in np.argsort(-highest, kind="stable").tolist():
        if not np.isfinite(highest[column]) or (best is not None and best[0] >= highest[column]):
            break
        start = at.start_ns + column * at.column_ns
        around = (max(start, window.start_ns), min(start + at.column_ns + schema.TICK_TOLERANCE_NS, window.end_ns))
        if around[0] >= around[1]:
            continue
        found = raw_rows(db, stored, Window(*around), ids)
        wanted = np.flatnonzero(np.isin(found["sid"], ids))
        if len(wanted):
            one = wanted[np.lexsort((found["sid"][wanted], found["time_ns"][wanted], -found["value"][wanted]))[0]]
            candidate = float(found["value"][one]), int(found["time_ns"][one]), int(found["sid"][one])
            best = candidate if best is None or candidate[0] > best[0] else best
    if best is None:
        return None
    value, time_ns, sid = best
    return Peak(str(stored.series()["node"].iloc[sid]), str(device[sid]), time_ns, value)
