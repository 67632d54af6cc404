"""How busy GPUs were by the kernels that traces recorded."""

from __future__ import annotations

import numpy as np

from data.coverage import covered
from data.errors import MissingTable
from data.frames.framework import GpuActivity
from data.names import natural_key
from data.queries.bins import window_of
from data.queries.lanes import column_edges
from data.selection import Selection
from data.store import Database

_BUSY = """
select node, device, start_ns, end_ns from read_parquet($files)
where start_ns < $end and end_ns > $start order by node, device, start_ns
"""


def gpu_activity(db: Database, selection: Selection, columns: int) -> GpuActivity:
    """Share of each column in which at least one kernel runs. Raises MissingTable where there are no kernels."""
    stored = db.job(selection.job)
    if not stored.manifest.kernels:
        raise MissingTable("No kernel was recorded for this job.")
    window = window_of(stored, selection)
    found = db.frame(_BUSY, files=[str(stored.folder / "gpu_busy.parquet")], start=window.start_ns, end=window.end_ns)
    if selection.nodes:
        found = found[found["node"].isin(selection.nodes)]
    edges = column_edges(window, max(-(-window.duration_ns // columns), 1))
    pairs = zip(found["node"], found["device"], strict=True)
    groups = sorted(set(pairs), key=lambda group: (natural_key(group[0]), natural_key(group[1])))
    rows = [found[(found["node"] == node) & (found["device"] == device)] for node, device in groups]
    busy = [covered(mine[["start_ns", "end_ns"]].to_numpy().T, edges) for mine in rows]
    share = np.array(busy).reshape(len(groups), len(edges) - 1) / np.diff(edges)
    return GpuActivity(
        groups=tuple((node, f"gpu{device}") for node, device in groups),
        start_ns=window.start_ns,
        column_ns=int(edges[1] - edges[0]),
        share=share.astype(np.float32),
        busy_ns=tuple(int(one.sum()) for one in busy),
        window_ns=window.duration_ns,
    )
