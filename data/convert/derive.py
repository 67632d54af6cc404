"""What is derived from all parts of a job together: series statistics, coarser rollups, ticks, summary and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data import schema
from data.convert import parts
from data.convert.parts import Bins, SeriesMap
from data.convert.tables import write_table
from data.grouping import tick_starts
from data.manifest import level_file, part_file
from data.series import SUMMARY_METRICS, Metric, Series

SPOT_GAP_NS = 60 * 10**9
"""A gap common to all nodes and longer than this is shown as an interruption."""


def levels(folder: Path, part_ids: Sequence[int], series: SeriesMap) -> tuple[tuple[int, ...], Bins]:
    """Writes the whole job's rollups, each four times wider until it fits; their factors and the first of them."""
    loaded = [_bins(pq.read_table(folder / part_file(schema.Table.COARSE, part))) for part in part_ids]
    merged = parts.merge_bins(*(np.concatenate(column) for column in zip(*loaded, strict=True)))
    factor, first, factors = schema.ROLLUP_FACTORS[1], merged, [schema.ROLLUP_FACTORS[0]]
    while True:
        write_table(parts.rollup_table(merged), folder / level_file(factor), differences=("bin_ns",), plain=("sum",))
        factors.append(factor)
        width = int(series.interval_us.min()) * factor
        fits = (int(merged[1].max()) - int(merged[1].min())) // width + 1 <= schema.MAX_BINS
        if fits and factor >= schema.ROLLUP_FACTORS[-1]:
            return tuple(factors), first
        factor *= 4
        merged = parts.coarser(merged, series, factor)


def _bins(table: pa.Table) -> Bins:
    sid, bins, low, high, total, count = (table.column(name).to_numpy() for name in schema.ROLLUP.names)
    return sid, bins // 1000, low, high, total, count


def series_table(series: Sequence[Series], bins: Bins) -> pa.Table:
    """One row a series with its names and exact statistics, from the bins of any level."""
    sid, _, low, high, total, count = bins
    starts = np.flatnonzero(np.append(True, sid[1:] != sid[:-1]))
    present = sid[starts]
    size = len(series)
    columns = {
        name: _spread(values, present, size, kind)
        for name, values, kind in (
            ("count", np.add.reduceat(count.astype(np.int64), starts), pa.int64()),
            ("min", np.minimum.reduceat(low, starts), pa.float64()),
            ("max", np.maximum.reduceat(high, starts), pa.float64()),
            ("sum", np.add.reduceat(total, starts), pa.float64()),
        )
    }
    words = {
        name: pa.array([getattr(s, name) for s in series], pa.string())
        for name in ("node", "type", "name", "dimension", "metric", "device", "qualifier", "unit")
    }
    codes = pa.array([None if s.code is None else int(s.code) for s in series], pa.int8())
    return pa.table({"sid": pa.array(range(size), pa.int32()), **words, "code": codes, **columns})


def _spread(values: NDArray[np.float64], at: NDArray[np.int32], size: int, kind: pa.DataType) -> pa.Array:
    full = np.zeros(size, values.dtype)
    full[at] = values
    missing = np.ones(size, bool)
    missing[at] = False
    return pa.array(full, kind, mask=missing)


@dataclass(frozen=True)
class NodeTicks:
    """The ticks of a node: first stamps, nanoseconds, and the last stamp of each."""

    node: int
    first_ns: NDArray[np.int64]
    last_ns: NDArray[np.int64]

    @property
    def interval_ns(self) -> int:
        return int(np.median(np.diff(self.first_ns))) if len(self.first_ns) > 1 else 0


def ticks(folder: Path, part_ids: Sequence[int]) -> tuple[pa.Table, list[NodeTicks]]:
    """One row per node and tick, from the record groups of all parts."""
    stamps = _stamps(folder, part_ids)
    node, time_us = stamps.column("node").to_numpy(), stamps.column("time_us").to_numpy()
    starts, found = [], []
    for one in np.unique(node).tolist():
        left, right = np.searchsorted(node, [one, one + 1])
        begin = tick_starts(time_us[left:right], schema.TICK_TOLERANCE_NS // 1000)
        last = np.append(begin[1:], right - left) - 1
        starts.append(begin + left)
        found.append(NodeTicks(one, time_us[left:right][begin] * 1000, time_us[left:right][last] * 1000))
    begin = np.concatenate(starts) if starts else np.empty(0, np.int64)
    columns: dict[str, pa.Array] = {"node": pa.array(node[begin]), "tick_ns": pa.array(time_us[begin] * 1000)}
    columns |= _record_groups(stamps, time_us, begin)
    for metric in Metric:
        columns |= _tick_metric(stamps, metric, begin)
    for metric in (Metric.GPU, Metric.GPU_MEMORY):
        name = f"{metric.name.lower()}_values"
        columns[name] = _first_values(stamps.column(name).combine_chunks(), begin)
    return pa.table(columns), found


def _stamps(folder: Path, part_ids: Sequence[int]) -> pa.Table:
    """The record groups of all parts by node and time: parts follow each other in time and have that order inside."""
    pieces: dict[int, list[pa.Table]] = {}
    for part in sorted(part_ids):
        table = pq.read_table(folder / part_file(schema.Table.STAMPS, part))
        node = table.column("node").to_numpy()
        for one in np.flatnonzero(np.bincount(node)).tolist():
            left, right = np.searchsorted(node, [one, one + 1]).tolist()
            pieces.setdefault(one, []).append(table.slice(left, right - left))
    ordered = [piece for one in sorted(pieces) for piece in pieces[one]]
    return pa.concat_tables(ordered, promote_options="default").combine_chunks()


def _record_groups(stamps: pa.Table, time_us: NDArray[np.int64], begin: NDArray[np.int64]) -> dict[str, pa.Array]:
    """The stamps inside each tick with what the original's rules ask of them, as lists."""
    offsets = pa.array(np.append(begin, len(stamps)).astype(np.int32))
    groups = {"stamp_ns": pa.array(time_us * 1000)}
    groups |= {f"stamp_{name}": stamps.column(name).combine_chunks() for name in ("cpu_max", "io_wait_max", "gpu_min")}
    return {name: pa.ListArray.from_arrays(offsets, values) for name, values in groups.items()}


def _tick_metric(stamps: pa.Table, metric: Metric, begin: NDArray[np.int64]) -> dict[str, pa.Array]:
    name = metric.name.lower()
    total = _filled(stamps, f"{name}_sum", np.nan)
    absent = np.isnan(total)
    sums = np.add.reduceat(np.where(absent, 0.0, total), begin) if len(begin) else np.empty(0)
    seen = np.add.reduceat((~absent).astype(np.int64), begin) if len(begin) else np.empty(0, np.int64)
    missing = seen == 0
    if metric is Metric.NETWORK:
        return {name: pa.array(sums, mask=missing)}
    count = np.add.reduceat(_filled(stamps, f"{name}_count", 0), begin) if len(begin) else np.empty(0)
    if metric is Metric.MEMORY:
        return {name: pa.array(sums / np.maximum(count, 1), mask=missing)}
    low = np.minimum.reduceat(_filled(stamps, f"{name}_min", np.inf), begin) if len(begin) else np.empty(0)
    high = np.maximum.reduceat(_filled(stamps, f"{name}_max", -np.inf), begin) if len(begin) else np.empty(0)
    bins = stamps.column(f"{name}_histogram").combine_chunks().values.to_numpy().reshape(-1, schema.HISTOGRAM_BINS)
    histogram = np.add.reduceat(bins, begin, axis=0) if len(begin) else bins[:0]
    return {
        f"{name}_mean": pa.array(sums / np.maximum(count, 1), mask=missing),
        f"{name}_min": pa.array(low, mask=missing),
        f"{name}_max": pa.array(high, mask=missing),
        f"{name}_count": pa.array(count.astype(np.int32), mask=missing),
        f"{name}_histogram": pa.FixedSizeListArray.from_arrays(
            pa.array(histogram.ravel().astype(np.int32)), schema.HISTOGRAM_BINS
        ),
    }


def _filled(stamps: pa.Table, name: str, missing: float) -> NDArray[np.float64]:
    values: NDArray[np.float64] = pc.fill_null(stamps.column(name).cast(pa.float64()), missing).to_numpy()
    return values


def _first_values(lists: pa.ListArray, begin: NDArray[np.int64]) -> pa.Array:
    """Per tick the values by device: of the tick's stamps, the first that measured each; null where none did."""
    lengths = np.diff(lists.offsets.to_numpy())
    values = lists.flatten().to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths)
    device = np.arange(len(values)) - np.repeat(ends - lengths, lengths)
    tick = np.searchsorted(begin, np.repeat(np.arange(len(lengths)), lengths), side="right") - 1
    table = np.full((len(begin), int(lengths.max(initial=0))), np.nan)
    # Written backwards, so that of several values the first one stays.
    known = np.flatnonzero(~np.isnan(values))[::-1]
    table[tick[known], device[known]] = values[known]
    has = np.zeros(len(begin), bool)
    has[tick] = True
    offsets = np.concatenate([[0], np.cumsum(has * table.shape[1])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(table[has].ravel(), from_pandas=True))


def summary_table(tick_table: pa.Table, nodes: Sequence[str]) -> pa.Table:
    """Usage of each node over the whole job; metrics a node does not measure have no row."""
    rows: list[tuple[object, ...]] = []
    at = tick_table.column("node").to_numpy()
    columns = {name: _filled(tick_table, name, np.nan) for _, _, name in SUMMARY_METRICS}
    for position, node in enumerate(nodes):
        mine = at == position
        for metric, unit, name in SUMMARY_METRICS:
            values = columns[name][mine]
            values = values[~np.isnan(values)]
            if len(values):
                high, p99, p95, p50, low = np.quantile(values, [1, 0.99, 0.95, 0.5, 0]).tolist()
                rows.append((node, metric, unit, high, p99, p95, p50, low, len(values)))
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[]] * 9, schema=schema.SUMMARY)


def gaps_table(found: Sequence[NodeTicks], nodes: Sequence[str]) -> pa.Table:
    """Times without a record of a node, and which of them all nodes share."""
    gaps = {one.node: _gaps(one) for one in found}
    common = list(gaps[found[0].node]) if found else []
    for one in found[1:]:
        common = _overlaps(common, gaps[one.node])
    common = [(start, end) for start, end in common if end - start > SPOT_GAP_NS]
    rows = [
        (nodes[node], start, end, any(start < b and a < end for a, b in common))
        for node in sorted(gaps)
        for start, end in gaps[node]
    ]
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[]] * 4, schema=schema.GAPS)


def _gaps(one: NodeTicks) -> list[tuple[int, int]]:
    if not one.interval_ns:
        return []
    wide = np.flatnonzero(one.first_ns[1:] - one.last_ns[:-1] > schema.GAP_INTERVALS * one.interval_ns)
    return list(zip(one.last_ns[wide].tolist(), one.first_ns[wide + 1].tolist(), strict=True))


def _overlaps(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches that two ordered lists of intervals share."""
    shared, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            shared.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def histogram_table(folder: Path, part_ids: Sequence[int]) -> pa.Table:
    """The parts' counts of exact values, added up over the whole job."""
    tables = [
        pq.read_table(folder / part_file(schema.Table.HISTOGRAM, part), columns=["node", "metric", "value", "count"])
        for part in part_ids
    ]
    keys = ["node", "metric", "value"]
    added = pa.concat_tables(tables).group_by(keys).aggregate([("count", "sum")])
    added = added.rename_columns([*keys, "count"]) if added.column_names[-1] == "count_sum" else added
    return added.sort_by([(key, "ascending") for key in keys])


TREND_POINTS = 32


def gpu_trend(tick_table: pa.Table) -> tuple[float | None, ...]:
    """Mean GPU utilisation over the job in a few points, None where nothing was measured; () without GPUs."""
    mean = _filled(tick_table, "gpu_mean", np.nan)
    known = ~np.isnan(mean)
    if not known.any():
        return ()
    time_ns = tick_table.column("tick_ns").to_numpy()
    start, end = int(time_ns.min()), int(time_ns.max())
    at = np.minimum((time_ns - start) * TREND_POINTS // (end - start + 1), TREND_POINTS - 1)[known]
    count = np.bincount(at, minlength=TREND_POINTS)
    total = np.bincount(at, weights=mean[known], minlength=TREND_POINTS)
    return tuple(round(t / c, 2) if c else None for t, c in zip(total.tolist(), count.tolist(), strict=True))
