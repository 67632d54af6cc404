"""System metrics: heatmaps, lines over time, histograms and the usage summary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data import schema
from data.errors import MissingTable
from data.frames import (
    NO_DATA,
    USAGE_SUMMARY_COLUMNS,
    Heatmap,
    HeatmapRow,
    MetricHistogram,
    NodeHistogram,
    OverTime,
    Peak,
    UsageSummary,
)
from data.quantiles import count_values, weighted_quantiles
from data.queries.bins import Grid, Resolution, cells, grid, raw_rows, resolution, selected_nodes, window_of
from data.selection import Selection, Window
from data.series import SUMMARY_METRICS, Metric
from data.store import Database, StoredJob

HeatmapMetric = Literal["utilization", "gpu_memory", "io_wait"]
LineMetric = Literal["cpu", "gpu", "gpu_memory", "memory", "network", "io_wait", "iops", "throughput"]
HistogramMetric = Literal["cpu", "gpu", "gpu_memory"]
Grouping = Literal["all", "node", "device"]

MAX_HEATMAP_ROWS = 300
"""More rows than this are pooled: eight groups of neighbouring cores a node (the highest core of a group counts)."""

POOLED_CORES = 8

_HEATMAP_METRICS: dict[str, tuple[Metric, ...]] = {
    "utilization": (Metric.GPU, Metric.CPU),
    "gpu_memory": (Metric.GPU_MEMORY,),
    "io_wait": (Metric.IO_WAIT,),
}
_CODES = {"cpu": Metric.CPU, "gpu": Metric.GPU, "gpu_memory": Metric.GPU_MEMORY, "io_wait": Metric.IO_WAIT}
_NO_SYSTEM = "This job has no system metrics."
_MISSING = {
    Metric.GPU: "This job's nodes report no GPUs.",
    Metric.GPU_MEMORY: "This job's nodes report no GPU memory.",
    Metric.CPU: "This job's nodes report no CPU utilisation.",
    Metric.IO_WAIT: "This job's nodes report no I/O wait.",
}


def usage_summary(db: Database, selection: Selection) -> UsageSummary:
    """One row per node and metric: quantiles over ticks of the mean over devices (linear interpolation)."""
    stored = db.job(selection.job)
    nodes = selected_nodes(stored, selection)
    if selection.window is None:
        frame = db.frame("select * from read_parquet($files)", files=[stored.file("summary.parquet", _NO_SYSTEM)])
        return UsageSummary(frame[frame["node"].isin(nodes)].reset_index(drop=True))
    positions = {node.name: at for at, node in enumerate(stored.manifest.nodes)}
    ticks = db.frame(
        "select node, network, gpu_mean, cpu_mean, memory, gpu_memory_mean, io_wait_mean from read_parquet($files)"
        " where tick_ns >= $start and tick_ns < $end",
        files=[stored.file("ticks.parquet", _NO_SYSTEM)],
        start=selection.window.start_ns,
        end=selection.window.end_ns,
    )
    rows = []
    for node in nodes:
        mine = ticks[ticks["node"] == positions[node]]
        for metric, unit, column in SUMMARY_METRICS:
            values = mine[column].dropna().to_numpy(float)
            if len(values):
                rows.append((node, metric, unit, *np.quantile(values, [1, 0.99, 0.95, 0.5, 0]).tolist(), len(values)))
    return UsageSummary(pd.DataFrame(rows, columns=list(USAGE_SUMMARY_COLUMNS)))


def heatmap(db: Database, selection: Selection, metric: HeatmapMetric, width_px: int) -> Heatmap:
    """One cell per device and column: the highest and the mean of its samples."""
    stored = db.job(selection.job)
    nodes, window = selected_nodes(stored, selection), window_of(stored, selection)
    series = _series(stored, nodes, _HEATMAP_METRICS[metric])
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
        peak=_peak(db, stored, series["sid"], series["device"], at, made, window),
    )


def over_time(db: Database, selection: Selection, metric: LineMetric, by: Grouping, width_px: int) -> OverTime:
    """Lines: one value per group and column."""
    stored = db.job(selection.job)
    nodes, window = selected_nodes(stored, selection), window_of(stored, selection)
    if metric in _CODES and by != "device":
        return _from_ticks(db, stored, nodes, window, metric, by, width_px)
    series, labels, unit = _line_series(stored, nodes, metric)
    keys = [_group(node, label, by, metric) for node, label in zip(series["node"], labels, strict=True)]
    groups = tuple(dict.fromkeys(keys))
    position = {key: at for at, key in enumerate(groups)}
    at = resolution(stored, window, nodes, len(series), width_px)
    total_rows = np.full(len(stored.series()), -1)
    total_rows[series["sid"].to_numpy()] = np.arange(len(series))
    made = grid(db, stored, at, total_rows, len(series))
    owner = np.array([position[key] for key in keys])
    if unit == "%":
        mean, low, high = _merged(made, owner, len(groups))
    else:
        mean, low, high = _summed(made, owner, len(groups), _alive(stored, series, at))
    return OverTime(
        metric=metric,
        unit=unit,
        groups=groups,
        start_ns=at.start_ns,
        bin_ns=at.column_ns,
        mean=mean,
        minimum=low,
        maximum=high,
        samples_per_bin=at.samples_per_column,
        devices=len(series),
        peak=_peak(db, stored, series["sid"], labels, at, made, window),
    )


def histogram(db: Database, selection: Selection, metric: HistogramMetric) -> MetricHistogram:
    """How often each level occurred, per node, over every device sample of the window; exact."""
    stored = db.job(selection.job)
    nodes = selected_nodes(stored, selection)
    _series(stored, nodes, (_CODES[metric],))
    node, value, count = _value_counts(db, stored, selection.window, _CODES[metric])
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
        return _stored_counts(db, [stored.file("histogram.parquet", _NO_SYSTEM)], metric, "true")
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


def _series(stored: StoredJob, nodes: tuple[str, ...], metrics: tuple[Metric, ...]) -> pd.DataFrame:
    """The series of some metrics on some nodes. Raises MissingTable where there is none."""
    series = stored.series()
    found = series[series["code"].isin([int(m) for m in metrics]) & series["node"].isin(nodes)]
    if found.empty:
        raise MissingTable(_MISSING[metrics[0]])
    return found


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
        files=[stored.file("ticks.parquet", _NO_SYSTEM)],
        start=window.start_ns,
        end=window.end_ns,
    ).set_index("node")
    names = [node.name for node in stored.manifest.nodes]
    at = [names[one] for one in found.index.tolist()]
    gpu, cpu = (dict(zip(at, found[name].tolist(), strict=True)) for name in ("gpu", "cpu"))
    return {node: gpu.get(node, np.nan) for node in nodes}, {node: cpu.get(node, np.nan) for node in nodes}


def _from_ticks(
    db: Database, stored: StoredJob, nodes: tuple[str, ...], window: Window, metric: str, by: Grouping, width_px: int
) -> OverTime:
    """Mean, lowest and highest device per column, for all nodes together or for each."""
    series = _series(stored, nodes, (_CODES[metric],))
    at = resolution(stored, window, nodes, len(nodes), width_px)
    origin = at.read_window.start_ns
    found = db.columns(
        f"select node, (tick_ns - $start) // $column as at, min({metric}_min) as low, max({metric}_max) as high,"
        f" sum({metric}_mean * {metric}_count) as total, sum({metric}_count)::bigint as many"
        f" from read_parquet($files) where tick_ns >= $start and tick_ns < $end and {metric}_count > 0 group by all",
        files=[stored.file("ticks.parquet", _NO_SYSTEM)],
        start=origin,
        end=at.read_window.end_ns,
        column=at.column_ns,
    )
    group_of = np.full(len(stored.manifest.nodes), -1)
    groups = tuple((node, "") for node in nodes) if by == "node" else (("", ""),)
    for position, node in enumerate(stored.manifest.nodes):
        if node.name in nodes:
            group_of[position] = nodes.index(node.name) if by == "node" else 0
    made = cells(
        at,
        len(groups),
        group_of[found["node"]],
        origin + found["at"] * at.column_ns,
        found["low"],
        found["high"],
        found["total"],
        found["many"],
    )
    return OverTime(
        metric=metric,
        unit="%",
        groups=groups,
        start_ns=at.start_ns,
        bin_ns=at.column_ns,
        mean=made.mean.astype(np.float32),
        minimum=made.minimum.astype(np.float32),
        maximum=made.maximum.astype(np.float32),
        samples_per_bin=at.samples_per_column,
        devices=len(series),
        peak=_peak(db, stored, series["sid"], series["device"], at, made, window),
    )


def _line_series(stored: StoredJob, nodes: tuple[str, ...], metric: str) -> tuple[pd.DataFrame, list[str], str]:
    """The series of a metric, a label for each within its node, and their unit."""
    if metric in _CODES:
        found = _series(stored, nodes, (_CODES[metric],))
        return found, found["device"].tolist(), "%"
    series = stored.series()
    series = series[series["node"].isin(nodes)]
    words = {
        "memory": ({"MemoryUsedPercent": ""}, "%", "memory use"),
        "iops": ({"IOPS": ""}, "operations/s", "disk operations"),
        "throughput": (
            {"ReadThroughputInBytesPerSecond": "read", "WriteThroughputInBytesPerSecond": "written"},
            "bytes/s",
            "disk throughput",
        ),
        "network": (
            {"ReceiveBytesPerSecond": "received", "TransmitBytesPerSecond": "sent"},
            "bytes/s",
            "network traffic",
        ),
    }
    labels, unit, name = words[metric]
    found = series[series["metric"].isin(labels)]
    if metric == "network":
        found = found[found["qualifier"] == "Algorithm"] if (found["qualifier"] == "Algorithm").any() else found
    if found.empty:
        raise MissingTable(f"This job's nodes report no {name}.")
    return found, [labels[one] for one in found["metric"]], unit


def _group(node: str, label: str, by: Grouping, metric: str) -> tuple[str, str]:
    """What a series is drawn as: throughputs keep their direction however they are grouped."""
    directed = metric in ("network", "throughput")
    if by == "all":
        return ("", label if directed else "")
    return (node, label if directed or by == "device" else "")


def _merged(
    made: Grid, owner: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Percentages of each group's series as one: the mean over all samples, the lowest and the highest."""
    shape = (groups, made.count.shape[1])
    if groups == len(owner):
        return made.mean.astype(np.float32), made.minimum.astype(np.float32), made.maximum.astype(np.float32)
    mean, low, high = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    for group in range(groups):
        mine = owner == group
        count = made.count[mine]
        some = count.any(axis=0)
        mean[group, some] = np.nansum(made.total[mine][:, some], axis=0) / count[:, some].sum(axis=0)
        low[group, some] = np.nanmin(made.minimum[mine][:, some], axis=0)
        high[group, some] = np.nanmax(made.maximum[mine][:, some], axis=0)
    return mean.astype(np.float32), low.astype(np.float32), high.astype(np.float32)


def _summed(
    made: Grid, owner: NDArray[np.int64], groups: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Rates of each group's series added up, column by column.

    Where a series that is `alive` (its node had begun and not yet ended) has no value, the sum is unknown, not less.
    Lowest and highest are those of the samples for a single series; for a sum they are the sum itself, since the
    extremes of its parts need not fall together.
    """
    if groups == len(owner):
        return made.mean.astype(np.float32), made.minimum.astype(np.float32), made.maximum.astype(np.float32)
    present = made.count > 0
    total = np.full((groups, made.count.shape[1]), np.nan)
    for group in range(groups):
        mine = owner == group
        known = present[mine].any(axis=0) & ~(alive[mine] & ~present[mine]).any(axis=0)
        total[group, known] = np.nansum(made.mean[mine][:, known], axis=0)
    found = total.astype(np.float32)
    return found, found, found


def _alive(stored: StoredJob, series: pd.DataFrame, at: Resolution) -> NDArray[np.bool_]:
    """Per series and column, whether the column lies whole between the first and the last record of its node."""
    span = {node.name: (node.start_ns, node.end_ns) for node in stored.manifest.nodes}
    starts, ends = (np.array([span[node][side] for node in series["node"]])[:, None] for side in (0, 1))
    left = at.start_ns + np.arange(at.columns) * at.column_ns
    alive: NDArray[np.bool_] = (left >= starts) & (left + at.column_ns <= ends)
    return alive


def _peak(
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
