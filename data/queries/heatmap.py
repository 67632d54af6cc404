"""Utilisation of every device over time."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.frames import NO_DATA, Heatmap, HeatmapRow
from data.queries.bins import grid, resolution, selected_nodes, window_of
from data.queries.metrics import NO_SYSTEM, peak_of, series_of
from data.selection import Selection, Window
from data.series import Metric
from data.store import Database, StoredJob

HeatmapMetric = Literal["utilization", "gpu_memory", "io_wait"]

MAX_HEATMAP_ROWS = 300
"""More rows than this are pooled: eight groups of neighbouring cores a node (the highest core of a group counts)."""

POOLED_CORES = 8

_HEATMAP_METRICS: dict[str, tuple[Metric, ...]] = {
    "utilization": (Metric.GPU, Metric.CPU),
    "gpu_memory": (Metric.GPU_MEMORY,),
    "io_wait": (Metric.IO_WAIT,),
}


def device_heatmap(db: Database, selection: Selection, metric: HeatmapMetric, width_px: int) -> Heatmap:
    """One cell per device and column: the highest and the mean of its samples."""
    stored = db.job(selection.job)
    nodes, window = selected_nodes(stored, selection), window_of(stored, selection)
    series = series_of(stored, nodes, _HEATMAP_METRICS[metric])
    rows, row_of = _heatmap_rows(stored, series, nodes)
    at = resolution(stored, window, nodes, len(series), width_px)
    made = grid(db, stored, at, row_of, len(rows))
    gpu_means, cpu_means = _node_means(db, stored, nodes, selection.window)
    with np.errstate(invalid="ignore"):
        clamped = int(np.sum((made.maximum > 100) | (made.minimum < 0)))
    return Heatmap(
        metric=metric,
        rows=rows,
        start_ns=at.start_ns,
        bin_ns=at.column_ns,
        maximum=_percent_bytes(made.maximum),
        mean=_percent_bytes(made.mean),
        samples_per_bin=at.samples_per_column,
        node_gpu_mean=gpu_means,
        node_cpu_mean=cpu_means,
        clamped=clamped,
        peak=peak_of(db, stored, series["sid"], series["device"], at, made, window),
    )


def _heatmap_rows(
    stored: StoredJob, series: pd.DataFrame, nodes: tuple[str, ...]
) -> tuple[tuple[HeatmapRow, ...], NDArray[np.int64]]:
    """The rows, GPUs before cores on each node, and for every series id its row."""
    pool = len(series) > MAX_HEATMAP_ROWS
    devices: dict[tuple[str, int], list[tuple[str, int]]] = {}
    columns = (series[name].tolist() for name in ("node", "code", "device", "sid"))
    for node, code, device, sid in zip(*columns, strict=True):
        devices.setdefault((node, int(code)), []).append((device, sid))
    rows: list[HeatmapRow] = []
    row_of: NDArray[np.int64] = np.full(len(stored.series()), -1)
    for node in nodes:
        for metric in (Metric.GPU, Metric.GPU_MEMORY, Metric.CPU, Metric.IO_WAIT):
            mine = devices.get((node, int(metric)), [])
            size = -(-len(mine) // POOLED_CORES) if pool and mine and metric in (Metric.CPU, Metric.IO_WAIT) else 1
            for start in range(0, len(mine), size):
                group = mine[start : start + size]
                first, last = group[0][0], group[-1][0]
                row_of[[sid for _, sid in group]] = len(rows)
                rows.append(HeatmapRow(node, first if len(group) == 1 else f"{first}–{last.removeprefix('cpu')}"))
    return tuple(rows), row_of


def _percent_bytes(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Percent as bytes for drawing: rounded, clamped to 0..100, NO_DATA where missing."""
    missing = np.isnan(values)
    rounded = np.clip(np.rint(np.where(missing, 0, values)), 0, 100).astype(np.uint8)
    rounded[missing] = NO_DATA
    return rounded


def _node_means(
    db: Database, stored: StoredJob, nodes: tuple[str, ...], window: Window | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Per node the exact mean of all GPU and of all CPU samples; NaN where a node has none."""
    if window is None:
        series = stored.series()
        added = series.groupby(["code", "node"])[["sum", "count"]].sum()
        means = added["sum"] / added["count"]
        return (
            {node: float(means.get((int(Metric.GPU), node), np.nan)) for node in nodes},
            {node: float(means.get((int(Metric.CPU), node), np.nan)) for node in nodes},
        )
    found = db.frame(
        "select node, sum(gpu_mean * gpu_count) / sum(gpu_count) as gpu, sum(cpu_mean * cpu_count) / sum(cpu_count)"
        " as cpu from read_parquet($files) where tick_ns >= $start and tick_ns < $end group by node",
        files=[stored.file("ticks.parquet", NO_SYSTEM)],
        start=window.start_ns,
        end=window.end_ns,
    ).set_index("node")
    names = [node.name for node in stored.manifest.nodes]
    at = [names[one] for one in found.index.tolist()]
    gpu, cpu = (dict(zip(at, found[name].tolist(), strict=True)) for name in ("gpu", "cpu"))
    return {node: gpu.get(node, np.nan) for node in nodes}, {node: cpu.get(node, np.nan) for node in nodes}
