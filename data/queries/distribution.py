"""How often each level of a metric occurred; exact on all samples of the window."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from data import schema
from data.frames import MetricHistogram, NodeHistogram
from data.quantiles import count_values, weighted_quantiles
from data.queries.bins import raw_rows, selected_nodes
from data.queries.metrics import CODES, NO_SYSTEM, series_of
from data.selection import Selection, Window
from data.series import Metric
from data.store import Database, StoredJob

HistogramMetric = Literal["cpu", "gpu", "gpu_memory"]


def metric_histogram(db: Database, selection: Selection, metric: HistogramMetric) -> MetricHistogram:
    """How often each level occurred, per node, over every device sample of the window; exact."""
    stored = db.job(selection.job)
    nodes = selected_nodes(stored, selection)
    series_of(stored, nodes, (CODES[metric],))
    node, value, count = _value_counts(db, stored, selection.window, CODES[metric])
    order = np.argsort(value)
    node, value, count = node[order], value[order], count[order]
    positions = {one.name: at for at, one in enumerate(stored.manifest.nodes)}
    chosen = np.isin(node, [positions[one] for one in nodes])
    p50, p95 = weighted_quantiles(value[chosen], count[chosen], (0.5, 0.95))
    by_node = [(one, node == positions[one]) for one in nodes]
    found = (_node_histogram(one, value[mine], count[mine]) for one, mine in by_node if mine.any())
    return MetricHistogram(metric, tuple(found), p50, p95)


def _node_histogram(node: str, value: NDArray[np.float64], count: NDArray[np.int64]) -> NodeHistogram:
    """Counts of one node from its values, ascending."""
    inside = (value >= 0) & (value <= 100)
    bins = np.minimum(value[inside] // 2, 49).astype(np.int64)
    p50, p95 = weighted_quantiles(value, count, (0.5, 0.95))
    return NodeHistogram(
        node=node,
        counts=np.bincount(bins, weights=count[inside], minlength=50).astype(np.int64),
        below=int(count[value < 0].sum()),
        above=int(count[value > 100].sum()),
        zero=int(count[value == 0].sum()),
        over_90=int(count[value > 90].sum()),
        total=int(count.sum()),
        p50=p50,
        p95=p95,
    )


Counted = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]
"""Node position, value, count; a pair of node and value may come more than once."""


def _value_counts(db: Database, stored: StoredJob, window: Window | None, metric: Metric) -> Counted:
    """Counts of exact values by node: stored chunks where the window holds them whole, raw rows at its edges."""
    if window is None:
        return _stored_counts(db, [stored.file("histogram.parquet", NO_SYSTEM)], metric, "true")
    chunk = schema.CHUNK_NS
    first, last = -(-window.start_ns // chunk), window.end_ns // chunk
    edges = [(window.start_ns, window.end_ns)]
    found: list[Counted] = []
    if first < last:
        edges = [(window.start_ns, first * chunk), (last * chunk, window.end_ns)]
        files = stored.part_files(schema.Table.HISTOGRAM, window)
        found.append(_stored_counts(db, files, metric, f"chunk >= {first} and chunk < {last}"))
    found += [_raw_counts(db, stored, Window(start, end), metric) for start, end in edges if end > start]
    node, value, count = (np.concatenate(column) for column in zip(*found, strict=True))
    return node, value, count


def _stored_counts(db: Database, files: list[str], metric: Metric, condition: str) -> Counted:
    if not files:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64)
    found = db.columns(
        f"select node, value, count from read_parquet($files) where metric = $metric and {condition}",
        files=files,
        metric=int(metric),
    )
    return found["node"], found["value"], found["count"]


def _raw_counts(db: Database, stored: StoredJob, window: Window, metric: Metric) -> Counted:
    series = stored.series()
    series = series[series["code"] == int(metric)]
    position = {node.name: at for at, node in enumerate(stored.manifest.nodes)}
    node_of: NDArray[np.int64] = np.full(len(stored.series()), -1)
    node_of[series["sid"].to_numpy()] = [position[name] for name in series["node"]]
    rows = raw_rows(db, stored, window, series["sid"].to_numpy(np.int64), "sid, value")
    node = node_of[rows["sid"]]
    return count_values(node[node >= 0], rows["value"][node >= 0].astype(np.float64))
