"""One part of a job: the system records of a quarter of an hour or so, and everything that is derived from just them.

A part is built from rows in memory in one go: sorted, exact duplicates dropped, then raw rows, first rollup, histogram
and the record groups of ticks. Parts do not depend on each other: a new or changed file rebuilds only those it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from data import schema
from data.quantiles import count_values
from data.readers.sagemaker_system import SystemRows
from data.series import DEVICE_METRICS, PERCENT_METRICS, Metric, Series

DEVICE_HISTOGRAMS = tuple(f"{metric.name.lower()}_histogram" for metric in DEVICE_METRICS)
"""Columns of record groups and ticks."""


@dataclass(frozen=True)
class SeriesMap:
    """What the builder needs to know of each series, by its number."""

    node: NDArray[np.int16]  # position of the node in natural order
    metric: NDArray[np.int8]  # Metric, -1 for none
    interval_us: NDArray[np.int64]  # nominal sampling interval of its node
    device: NDArray[np.int16]  # position among the node's devices of that metric

    @classmethod
    def of(cls, series: Sequence[Series], nodes: Sequence[str], interval_us: dict[str, int]) -> SeriesMap:
        position = {node: at for at, node in enumerate(nodes)}
        seen: dict[tuple[str, int], int] = {}
        device = []
        for one in series:
            key = (one.node, -1 if one.code is None else int(one.code))
            device.append(seen.get(key, 0))
            seen[key] = device[-1] + 1
        return cls(
            np.array([position[s.node] for s in series], np.int16),
            np.array([-1 if s.code is None else int(s.code) for s in series], np.int8),
            np.array([interval_us[s.node] for s in series], np.int64),
            np.array(device, np.int16),
        )


@dataclass(frozen=True)
class Part:
    """The tables of a part, ready to be written, and what was dropped on the way."""

    raw: pa.Table
    rollup: pa.Table
    coarse: pa.Table  # the second level, partial where a bin crosses the part's edge
    histogram: pa.Table
    stamps: pa.Table
    duplicates: int
    duplicate_files: tuple[int, ...]


def build(rows: SystemRows, series: SeriesMap) -> Part:
    """Builds a part from its rows; `rows.file` holds file ids."""
    rows, chunk, duplicates, duplicate_files = _sorted_without_duplicates(rows)
    rollup = _rollup(rows, chunk, series, schema.ROLLUP_FACTORS[0])
    coarse = coarser(rollup, series, schema.ROLLUP_FACTORS[1])
    return Part(
        raw=pa.table([rows.sid, rows.time_us * 1000, rows.value, rows.file], schema=schema.RAW),
        rollup=rollup_table(rollup),
        coarse=rollup_table(coarse),
        histogram=_histogram(rows, chunk, series),
        stamps=_stamps(rows, series),
        duplicates=duplicates,
        duplicate_files=duplicate_files,
    )


def _sorted_without_duplicates(rows: SystemRows) -> tuple[SystemRows, NDArray[np.int64], int, tuple[int, ...]]:
    """Rows by (chunk, series, time, value), each distinct record once, kept from the file with the lowest id."""
    chunk_us = schema.CHUNK_NS // 1000
    first_chunk = int(rows.time_us.min()) // chunk_us
    chunk = rows.time_us // chunk_us
    key = (chunk - first_chunk) << 52 | rows.sid.astype(np.int64) << 29 | (rows.time_us - chunk * chunk_us)
    order = np.argsort(key)
    in_order = key[order]
    ties = in_order[1:] == in_order[:-1]
    if not ties.any():
        return rows.where(order), chunk[order], 0, ()
    order = np.lexsort((rows.file, rows.value, key))
    value, file = rows.value[order], rows.file[order]
    again = np.zeros(len(order), bool)
    again[1:] = ties & (value[1:] == value[:-1])
    involved = np.unique(np.concatenate([file[again], file[:-1][again[1:]]]))
    keep = order[~again]
    return rows.where(keep), chunk[keep], int(again.sum()), tuple(involved.tolist())


Bins = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
]
"""sid, bin start (microseconds), min, max, sum, count."""


def coarser(bins: Bins, series: SeriesMap, factor: int) -> Bins:
    """The same bins made wider: `factor` sampling intervals of their series."""
    width = series.interval_us[bins[0]] * factor
    return merge_bins(bins[0], bins[1] // width * width, *bins[2:])


def _rollup(rows: SystemRows, chunk: NDArray[np.int64], series: SeriesMap, factor: int) -> Bins:
    width = series.interval_us[rows.sid] * factor
    bins = rows.time_us // width * width
    starts = _starts(chunk, rows.sid, bins)
    count = np.diff(np.append(starts, len(rows))).astype(np.int32)
    return merge_bins(
        rows.sid[starts],
        bins[starts],
        np.minimum.reduceat(rows.value, starts),
        np.maximum.reduceat(rows.value, starts),
        np.add.reduceat(rows.value, starts),
        count,
    )


def merge_bins(
    sid: NDArray[np.int32],
    bins: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    total: NDArray[np.float64],
    count: NDArray[np.int32],
) -> Bins:
    """Partial bins of the same series and start made one, ordered by series and start."""
    order = np.lexsort((bins, sid))
    sid, bins = sid[order], bins[order]
    starts = _starts(sid, bins)
    return (
        sid[starts],
        bins[starts],
        np.minimum.reduceat(low[order], starts),
        np.maximum.reduceat(high[order], starts),
        np.add.reduceat(total[order], starts),
        np.add.reduceat(count[order], starts).astype(np.int32),
    )


def rollup_table(bins: Bins) -> pa.Table:
    """Bins as the stored table, in nanoseconds."""
    sid, start, low, high, total, count = bins
    return pa.table([sid, start * 1000, low, high, total, count], schema=schema.ROLLUP)


def _starts(*keys: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int64]:
    """Positions where any of the sorted keys changes, the first one included."""
    changed = np.zeros(len(keys[0]), bool)
    changed[:1] = True
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changed)


def _histogram(rows: SystemRows, chunk: NDArray[np.int64], series: SeriesMap) -> pa.Table:
    """How often each exact value occurred, per node, percentage metric and chunk."""
    n_metric, n_node = len(Metric), int(series.node.max()) + 1
    is_percent = np.isin(series.metric, [int(m) for m in PERCENT_METRICS])
    of_series = np.where(is_percent, series.node.astype(np.int64) * n_metric + series.metric, -1)
    group = of_series[rows.sid]
    wanted = group >= 0
    if not wanted.any():
        return pa.table([[]] * len(schema.HISTOGRAM), schema=schema.HISTOGRAM)
    chunks = chunk[wanted]
    first = int(chunks.min())
    groups, values, numbers = count_values((chunks - first) * (n_node * n_metric) + group[wanted], rows.value[wanted])
    columns = [
        (groups // n_metric % n_node).astype(np.int16),
        (groups % n_metric).astype(np.int8),
        groups // n_metric // n_node + first,
        values,
        numbers,
    ]
    return pa.table(columns, schema=schema.HISTOGRAM)


def _stamps(rows: SystemRows, series: SeriesMap) -> pa.Table:
    """Record groups: per node and exact stamp of any record, the statistics over devices of each metric seen there."""
    metric, value = series.metric[rows.sid], rows.value
    stamps, at = _distinct_stamps(series.node[rows.sid], rows.time_us)
    size = len(stamps[0])
    columns: dict[str, pa.Array | NDArray[np.float64]] = {"node": stamps[0], "time_us": stamps[1]}
    for one in Metric:
        mine = np.flatnonzero(metric == int(one))
        columns |= _metric_columns(one, at[mine], value[mine], size)
    devices = series.device[rows.sid]
    for one in (Metric.GPU, Metric.GPU_MEMORY):
        mine = np.flatnonzero(metric == int(one))
        columns[f"{one.name.lower()}_values"] = _device_lists(at[mine], devices[mine], value[mine], size)
    return pa.table(columns)


def _distinct_stamps(
    node: NDArray[np.int16], time_us: NDArray[np.int64]
) -> tuple[tuple[NDArray[np.int16], NDArray[np.int64]], NDArray[np.int64]]:
    """The distinct (node, stamp) pairs in order, and for each row which of them it belongs to."""
    nodes, stamps, offset = [], [], 0
    at = np.empty(len(node), np.int64)
    for one in np.flatnonzero(np.bincount(node)).tolist():
        mine = np.flatnonzero(node == one)
        times = time_us[mine]
        distinct = np.sort(times[_starts(times)])
        distinct = distinct[_starts(distinct)]
        at[mine] = offset + np.searchsorted(distinct, times)
        nodes.append(np.full(len(distinct), one, np.int16))
        stamps.append(distinct)
        offset += len(distinct)
    if not nodes:
        return (np.empty(0, np.int16), np.empty(0, np.int64)), at
    return (np.concatenate(nodes), np.concatenate(stamps)), at


def _metric_columns(
    metric: Metric, at: NDArray[np.int64], value: NDArray[np.float64], size: int
) -> dict[str, pa.Array | NDArray[np.float64]]:
    name = metric.name.lower()
    count = np.bincount(at, minlength=size).astype(np.int32)
    missing = count == 0
    total = np.bincount(at, weights=value, minlength=size).astype(np.float64)
    columns: dict[str, pa.Array | NDArray[np.float64]] = {
        f"{name}_sum": pa.array(total, mask=missing),
        f"{name}_count": pa.array(count, mask=missing),
    }
    if metric not in DEVICE_METRICS:
        return columns
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, at, value)
    np.maximum.at(high, at, value)
    columns[f"{name}_min"] = pa.array(low, mask=missing)
    columns[f"{name}_max"] = pa.array(high, mask=missing)
    columns[f"{name}_histogram"] = _device_histogram(at, value, size)
    return columns


def _device_histogram(at: NDArray[np.int64], value: NDArray[np.float64], size: int) -> pa.Array:
    bins = np.clip(np.floor(value / 5), 0, schema.HISTOGRAM_BINS - 1).astype(np.int64)
    counts = np.bincount(at * schema.HISTOGRAM_BINS + bins, minlength=size * schema.HISTOGRAM_BINS)
    return pa.FixedSizeListArray.from_arrays(pa.array(counts, pa.int32()), schema.HISTOGRAM_BINS)


def _device_lists(at: NDArray[np.int64], device: NDArray[np.int16], value: NDArray[np.float64], size: int) -> pa.Array:
    """Per stamp the values by device, null where a device has none; an empty list where no device has one."""
    if not len(at):
        return pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], pa.float64()))
    width = int(device.max()) + 1
    table = np.full((size, width), np.nan)
    table[at, device] = value
    filled = np.zeros(size, bool)
    filled[at] = True
    offsets = np.concatenate([[0], np.cumsum(filled * width)]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(table[filled].ravel(), from_pandas=True))
