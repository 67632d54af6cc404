"""System metrics: lines over time, and the usage summary."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames import (
    USAGE_SUMMARY_COLUMNS,
    OverTime,
    UsageSummary,
)
from data.queries.bins import Grid, Resolution, cells, grid, resolution, selected_nodes, window_of
from data.queries.metrics import CODES, NO_SYSTEM, peak_of, series_of
from data.selection import Selection, Window
from data.series import SUMMARY_METRICS
from data.store import Database, StoredJob

LineMetric = Literal["cpu", "gpu", "gpu_memory", "memory", "network", "io_wait", "iops", "throughput"]
Grouping = Literal["all", "node", "device"]


def usage_summary(db: Database, selection: Selection) -> UsageSummary:
    """One row per node and metric: quantiles over ticks of the mean over devices (linear interpolation)."""
    stored = db.job(selection.job)
    nodes = selected_nodes(stored, selection)
    if selection.window is None:
        frame = db.frame("select * from read_parquet($files)", files=[stored.file("summary.parquet", NO_SYSTEM)])
        return UsageSummary(frame[frame["node"].isin(nodes)].reset_index(drop=True))
    positions = {node.name: at for at, node in enumerate(stored.manifest.nodes)}
    ticks = db.frame(
        "select node, network, gpu_mean, cpu_mean, memory, gpu_memory_mean, io_wait_mean from read_parquet($files)"
        " where tick_ns >= $start and tick_ns < $end",
        files=[stored.file("ticks.parquet", NO_SYSTEM)],
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


def over_time(db: Database, selection: Selection, metric: LineMetric, by: Grouping, width_px: int) -> OverTime:
    """Lines: one value per group and column."""
    stored = db.job(selection.job)
    nodes, window = selected_nodes(stored, selection), window_of(stored, selection)
    if metric in CODES and by != "device":
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
        peak=peak_of(db, stored, series["sid"], labels, at, made, window),
    )


def _from_ticks(
    db: Database, stored: StoredJob, nodes: tuple[str, ...], window: Window, metric: str, by: Grouping, width_px: int
) -> OverTime:
    """Mean, lowest and highest device per column, for all nodes together or for each."""
    series = series_of(stored, nodes, (CODES[metric],))
    at = resolution(stored, window, nodes, len(nodes), width_px)
    origin = at.read_window.start_ns
    found = db.columns(
        f"select node, (tick_ns - $start) // $column as at, min(tick_ns) as first, max(tick_ns) as last,"
        f" min({metric}_min) as low, max({metric}_max) as high,"
        f" sum({metric}_mean * {metric}_count) as total, sum({metric}_count)::bigint as many"
        f" from read_parquet($files) where tick_ns >= $start and tick_ns < $end and {metric}_count > 0 group by all",
        files=[stored.file("ticks.parquet", NO_SYSTEM)],
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
        (found["first"], found["last"]),
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
        peak=peak_of(db, stored, series["sid"], series["device"], at, made, window),
    )


def _line_series(stored: StoredJob, nodes: tuple[str, ...], metric: str) -> tuple[pd.DataFrame, list[str], str]:
    """The series of a metric, a label for each within its node, and their unit."""
    if metric in CODES:
        found = series_of(stored, nodes, (CODES[metric],))
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
