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

_GPUS = "select distinct node, device from read_parquet($files)"
_BUSY = """
select gpu, start_ns, end_ns
from read_parquet($files)
join (select unnest($nodes) as node, unnest($devices) as device, unnest($numbers) as gpu) using (node, device)
where start_ns < $end and end_ns > $start order by gpu, start_ns
"""
"""GPUs as numbers: their names, row by row, would cost several times the query."""


def gpu_activity(db: Database, selection: Selection, columns: int) -> GpuActivity:
    """Share of each column in which at least one kernel runs. Raises MissingTable where there are no kernels."""
    stored = db.job(selection.job)
    if not stored.manifest.kernels:
        raise MissingTable("No kernel was recorded for this job.")
    window = window_of(stored, selection)
    files = [str(stored.folder / "gpu_busy.parquet")]
    every = db.frame(_GPUS, files=files).itertuples(index=False, name=None)
    gpus = sorted(
        (gpu for gpu in every if not selection.nodes or gpu[0] in selection.nodes),
        key=lambda gpu: (natural_key(gpu[0]), natural_key(gpu[1])),
    )
    nodes, devices = [node for node, _ in gpus], [device for _, device in gpus]
    span = {"start": window.start_ns, "end": window.end_ns, "numbers": list(range(len(gpus)))}
    found = db.columns(_BUSY, files=files, nodes=nodes, devices=devices, **span)
    edges = column_edges(window, max(-(-window.duration_ns // columns), 1))
    present = np.unique(found["gpu"]).tolist()
    groups = [gpus[gpu] for gpu in present]
    rows = [found["gpu"] == gpu for gpu in present]
    busy = [covered(np.stack([found["start_ns"][mine], found["end_ns"][mine]]), edges) for mine in rows]
    share = np.array(busy).reshape(len(groups), len(edges) - 1) / np.diff(edges)
    return GpuActivity(
        groups=tuple((node, f"gpu{device}") for node, device in groups),
        start_ns=window.start_ns,
        column_ns=int(edges[1] - edges[0]),
        share=share.astype(np.float32),
        busy_ns=tuple(int(one.sum()) for one in busy),
        window_ns=window.duration_ns,
    )
