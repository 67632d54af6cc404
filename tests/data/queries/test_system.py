"""Views of system metrics: every cell, line, count and quantile is what plain arithmetic makes of the raw rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data import schema
from data.errors import MissingTable
from data.frames import NO_DATA, USAGE_SUMMARY_COLUMNS, HeatmapRow
from data.queries import distribution, heatmap, system
from data.selection import Selection, Window
from tests import oracle, trees
from tests.data.queries.conftest import FIRST_US, Fleet
from tests.stored import convert

SECOND = 1_000_000
WINDOWS: dict[str, tuple[int, int] | None] = {
    "the whole job": None,
    "all of it and more": (-50 * SECOND, 400 * SECOND),
    "two minutes": (60 * SECOND, 180 * SECOND),
    "two minutes that begin anywhere": (61_234_567, 181_234_568),
    "half a minute": (100 * SECOND, 130 * SECOND),
    "half a minute that begins anywhere": (117_654_321, 146_000_001),
    "across the edge of a chunk": (125_100_000, 140_900_000),
    "across a gap": (140 * SECOND, 165 * SECOND),
    "one second": (50_250_000, 51_250_000),
    "a millisecond": (50_250_000, 50_251_000),
    "before the job": (-100 * SECOND, -70 * SECOND),
    "after the job": (500 * SECOND, 900 * SECOND),
}
COLUMNS = {
    "the whole job": (16, 21),
    "all of it and more": (16, 29),
    "two minutes": (4, 31),
    "two minutes that begin anywhere": (4, 31),
    "half a minute": (1, 30),
    "half a minute that begins anywhere": (0.5, 58),
    "across the edge of a chunk": (0.5, 32),
    "across a gap": (0.5, 50),
    "one second": (0.5, 3),
    "a millisecond": (0.5, 1),
    "before the job": (1, 30),
    "after the job": (16, 26),
}
"""Seconds a column, and columns, where 60 bins are the most; columns begin at multiples of their width."""

NARROW = {name: window for name, window in WINDOWS.items() if window is not None}
DEVICES = {"cpu": oracle.CPU, "gpu": oracle.GPU, "gpu_memory": oracle.GPU_MEMORY, "io_wait": oracle.IO_WAIT}
INTERVAL_NS = 500 * 10**6

Cells = dict[tuple[Any, int], list[float]]
"""(row, column) -> the samples that fall into it."""


def into_columns(samples: list[tuple[Any, int, float]], start_ns: int, bin_ns: int) -> Cells:
    """Samples (row, microsecond, value) by row and column; columns count from the view's first one."""
    found: Cells = defaultdict(list)
    for row, time_us, value in samples:
        found[row, (time_us * 1000 - start_ns) // bin_ns].append(value)
    return found


def at(cells: Cells, row: Any, column: int, bin_ns: int) -> list[float]:
    """The samples of a cell; a column shorter than 1.5 intervals borrows from one or two columns before it, where the
    next sample follows within three columns of that one.
    """
    here = cells.get((row, column), [])
    if here or bin_ns >= 1.5 * INTERVAL_NS:
        return here
    for back in (1, 2):
        for ahead in range(1, 4 - back):
            if cells.get((row, column - back)) and cells.get((row, column + ahead)):
                return cells[row, column - back]
    return []


def test_the_windows_reach_every_level(fleet: Fleet) -> None:
    """So that what follows tests what it means to test."""
    seen = set()
    for window in WINDOWS.values():
        found = fleet.store.fetch(heatmap.device_heatmap, fleet.select(window), "utilization", 1500)
        seen.add(round(found.samples_per_bin))
    assert {1, 8, 32} <= seen


@pytest.mark.parametrize("width_px", [60, 900])
@pytest.mark.parametrize("window", WINDOWS)
def test_heatmap(fleet: Fleet, window: str, width_px: int) -> None:
    found = fleet.store.fetch(heatmap.device_heatmap, fleet.select(WINDOWS[window]), "utilization", width_px)
    assert found.rows == tuple(
        HeatmapRow(node, device)
        for node, devices in (
            ("algo-1", ["gpu0", "gpu1", "cpu0", "cpu1", "cpu2"]),
            ("algo-2", ["cpu0", "cpu1"]),
            ("algo-10", ["gpu0", "cpu0"]),
        )
        for device in devices
    )
    seconds, columns = COLUMNS[window]
    assert found.bin_ns == seconds * 10**9
    assert found.maximum.shape == found.mean.shape == (9, columns)
    samples = [
        (HeatmapRow(row.node, row.name), row.time_us, row.value)
        for row in fleet.rows
        if row.dimension in (oracle.CPU, oracle.GPU)
    ]
    cells = into_columns(samples, found.start_ns, found.bin_ns)
    clamped = 0
    for number, row in enumerate(found.rows):
        for column in range(found.maximum.shape[1]):
            values = at(cells, row, column, found.bin_ns)
            if not values:
                assert (found.maximum[number, column], found.mean[number, column]) == (NO_DATA, NO_DATA)
                continue
            clamped += max(values) > 100 or min(values) < 0
            assert found.maximum[number, column] == percent(max(values))
            assert abs(int(found.mean[number, column]) - percent(math.fsum(values) / len(values))) <= 1
    assert found.clamped == clamped


@pytest.mark.parametrize(
    ("window", "width_px", "seconds", "columns"),
    [
        ("two minutes", 10, 2.5, 48),  # 241 bins, never into less than 60 columns
        ("two minutes", 60, 2.5, 48),
        ("two minutes", 100, 1.5, 81),
        ("two minutes", 240, 1, 120),
        ("two minutes", 241, 0.5, 240),
        ("two minutes", 900, 0.5, 240),
        ("the whole job", 60, 8, 41),  # 81 bins of the first level
        ("the whole job", 80, 8, 41),
        ("the whole job", 81, 4, 81),
        ("the whole job", 900, 4, 81),
    ],
)
def test_columns_are_as_wide_as_the_picture_allows(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, window: str, width_px: int, seconds: float, columns: int
) -> None:
    """With 400 bins at the most, so that it is the picture that is too narrow."""
    monkeypatch.setattr(schema, "MAX_BINS", 400)
    selection = fleet.select(WINDOWS[window])
    heat = fleet.store.fetch(heatmap.device_heatmap, selection, "utilization", width_px)
    assert (heat.bin_ns, heat.maximum.shape[1]) == (seconds * 10**9, columns)
    for by in ("all", "device"):
        lines = fleet.store.fetch(system.over_time, selection, "cpu", by, width_px)
        assert (lines.bin_ns, lines.mean.shape[1]) == (seconds * 10**9, columns)


def percent(value: float) -> int:
    return min(max(round(value), 0), 100)


@pytest.mark.parametrize("window", WINDOWS)
def test_columns_hold_the_whole_window(fleet: Fleet, window: str) -> None:
    selection = fleet.select(WINDOWS[window])
    found = fleet.store.fetch(heatmap.device_heatmap, selection, "io_wait", 700)
    start, end = whole(fleet) if selection.window is None else (selection.window.start_ns, selection.window.end_ns)
    assert found.start_ns <= start < found.start_ns + found.bin_ns
    assert found.start_ns + found.bin_ns * found.maximum.shape[1] >= end


def whole(fleet: Fleet) -> tuple[int, int]:
    return fleet.rows[0].time_us * 1000, fleet.rows[-1].time_us * 1000 + 1


@pytest.mark.parametrize("window", WINDOWS)
def test_means_of_nodes_in_the_window(fleet: Fleet, window: str) -> None:
    selection = fleet.select(WINDOWS[window])
    found = fleet.store.fetch(heatmap.device_heatmap, selection, "utilization", 900)
    for node in fleet.found.nodes:
        many = fleet.ticks[node]
        inside = [tick for tick in many if selection.window is None or holds(selection.window, tick.start_us)]
        for dimension, means in ((oracle.GPU, found.node_gpu_mean), (oracle.CPU, found.node_cpu_mean)):
            values = [value for tick in inside for value in tick.values(dimension)]
            if values:
                assert means[node] == pytest.approx(math.fsum(values) / len(values), rel=1e-9)
            else:
                assert math.isnan(means[node])


def holds(window: Window, time_us: int) -> bool:
    return window.start_ns <= time_us * 1000 < window.end_ns


LINES: dict[str, Callable[[oracle.Row], tuple[str, str] | None]] = {
    "memory": lambda row: (row.node, "") if row.name == "MemoryUsedPercent" else None,
    "iops": lambda row: (row.node, "") if row.name == "IOPS" else None,
    "throughput": lambda row: (
        (row.node, "read" if row.name.startswith("Read") else "written") if "Throughput" in row.name else None
    ),
    "network": lambda row: (
        (row.node, "received" if row.name.startswith("Rec") else "sent") if row.dimension == "Algorithm" else None
    ),
}


def by_device(metric: str) -> Callable[[oracle.Row], tuple[str, str] | None]:
    if metric in LINES:
        return LINES[metric]
    return lambda row: (row.node, row.name) if row.dimension == DEVICES[metric] else None


@pytest.mark.parametrize("metric", [*DEVICES, *LINES])
@pytest.mark.parametrize(
    "window", ["the whole job", "two minutes", "half a minute that begins anywhere", "across a gap"]
)
def test_lines_by_device(fleet: Fleet, metric: str, window: str) -> None:
    found = fleet.store.fetch(system.over_time, fleet.select(WINDOWS[window]), metric, "device", 900)
    key_of = by_device(metric)
    samples = [(key, row.time_us, row.value) for row in fleet.rows if (key := key_of(row)) is not None]
    assert set(found.groups) == {key for key, _, _ in samples}
    assert found.devices == len(found.groups)
    cells = into_columns(samples, found.start_ns, found.bin_ns)
    for number, group in enumerate(found.groups):
        for column in range(found.mean.shape[1]):
            values = at(cells, group, column, found.bin_ns)
            lines = (found.mean, found.minimum, found.maximum)
            assert_near([line[number, column] for line in lines], statistics(values))


def statistics(values: list[float]) -> list[float]:
    if not values:
        return [math.nan] * 3
    return [math.fsum(values) / len(values), min(values), max(values)]


def assert_near(found: list[Any], expected: list[float]) -> None:
    """Equal as far as single precision goes; nothing is nothing."""
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("by", ["node", "all"])
@pytest.mark.parametrize("metric", ["cpu", "gpu"])
@pytest.mark.parametrize("window", WINDOWS)
def test_lines_over_devices(fleet: Fleet, metric: str, by: str, window: str) -> None:
    """Per column the mean of all samples, the lowest and the highest, tick by tick."""
    found = fleet.store.fetch(system.over_time, fleet.select(WINDOWS[window]), metric, by, 700)
    groups = [(node, "") for node in fleet.found.nodes] if by == "node" else [("", "")]
    assert list(found.groups) == groups
    samples = [
        ((node if by == "node" else "", ""), tick.start_us, value)
        for node, many in fleet.ticks.items()
        for tick in many
        for value in tick.values(DEVICES[metric])
    ]
    cells = into_columns(samples, found.start_ns, found.bin_ns)
    for number, group in enumerate(groups):
        for column in range(found.mean.shape[1]):
            values = at(cells, group, column, found.bin_ns)
            lines = (found.mean, found.minimum, found.maximum)
            assert_near([line[number, column] for line in lines], statistics(values))


@pytest.mark.parametrize("by", ["node", "all"])
@pytest.mark.parametrize("window", ["the whole job", "two minutes", "across a gap", "half a minute"])
def test_memory_over_nodes(fleet: Fleet, by: str, window: str) -> None:
    found = fleet.store.fetch(system.over_time, fleet.select(WINDOWS[window]), "memory", by, 900)
    samples = [(row.node, row.time_us, row.value) for row in fleet.rows if row.name == "MemoryUsedPercent"]
    cells = into_columns(samples, found.start_ns, found.bin_ns)
    for number, (node, label) in enumerate(found.groups):
        assert label == ""
        for column in range(found.mean.shape[1]):
            nodes = [node] if by == "node" else fleet.found.nodes
            values = [value for one in nodes for value in at(cells, one, column, found.bin_ns)]
            lines = (found.mean, found.minimum, found.maximum)
            assert_near([line[number, column] for line in lines], statistics(values))


@pytest.mark.parametrize("metric", ["network", "throughput", "iops"])
@pytest.mark.parametrize("window", ["the whole job", "two minutes", "across a gap", "half a minute"])
def test_rates_of_all_nodes_add_up(fleet: Fleet, metric: str, window: str) -> None:
    """The sum of each node's mean rate; where a node that had begun and not ended says nothing, it is unknown."""
    found = fleet.store.fetch(system.over_time, fleet.select(WINDOWS[window]), metric, "all", 900)
    samples = [(key, row.time_us, row.value) for row in fleet.rows if (key := LINES[metric](row)) is not None]
    spans = {node: [row.time_us * 1000 for row in fleet.rows if row.node == node] for node in fleet.found.nodes}
    cells = into_columns(samples, found.start_ns, found.bin_ns)
    assert {node for node, _ in found.groups} == {""}
    known = 0
    for number, (_, label) in enumerate(found.groups):
        for column in range(found.mean.shape[1]):
            left = found.start_ns + column * found.bin_ns
            means, missing = [], False
            for node, span in spans.items():
                values = at(cells, (node, label), column, found.bin_ns)
                if values:
                    means.append(math.fsum(values) / len(values))
                elif span[0] <= left and left + found.bin_ns <= span[-1]:
                    missing = True
            expected = math.nan if missing or not means else math.fsum(means)
            known += not math.isnan(expected)
            assert_near([found.mean[number, column]], [expected])
    assert known


def test_a_node_in_a_gap_makes_the_sum_unknown(fleet: Fleet) -> None:
    found = fleet.store.fetch(system.over_time, fleet.select((155 * SECOND, 175 * SECOND)), "network", "all", 900)
    assert np.isnan(found.mean).all()
    alone = fleet.select((155 * SECOND, 175 * SECOND), "algo-1")
    assert not np.isnan(fleet.store.fetch(system.over_time, alone, "network", "all", 900).mean).any()


@pytest.mark.parametrize("by", ["all", "device"])
@pytest.mark.parametrize("metric", ["cpu", "gpu"])
@pytest.mark.parametrize("window", WINDOWS)
def test_the_peak_is_the_highest_sample_of_the_window(fleet: Fleet, metric: str, by: str, window: str) -> None:
    selection = fleet.select(WINDOWS[window])
    found = fleet.store.fetch(system.over_time, selection, metric, by, 900).peak
    rows = oracle.of(fleet.rows, DEVICES[metric])
    rows = [row for row in rows if selection.window is None or holds(selection.window, row.time_us)]
    if not rows:
        assert found is None
        return
    best = min(rows, key=lambda row: (-row.value, row.time_us))
    assert found is not None
    assert (found.value, found.time_ns) == (best.value, best.time_us * 1000)
    assert (found.node, found.device) == (best.node, best.name)


@pytest.mark.parametrize("metric", ["cpu", "gpu", "gpu_memory"])
@pytest.mark.parametrize("window", [*WINDOWS, "a whole chunk and its neighbours"])
def test_histograms(fleet: Fleet, metric: str, window: str) -> None:
    long = (-500 * SECOND, 600 * SECOND) if window not in WINDOWS else WINDOWS[window]
    selection = fleet.select(long)
    found = fleet.store.fetch(distribution.metric_histogram, selection, metric)
    rows = oracle.of(fleet.rows, DEVICES[metric])
    rows = [row for row in rows if selection.window is None or holds(selection.window, row.time_us)]
    assert [one.node for one in found.nodes] == [
        node for node in fleet.found.nodes if any(row.node == node for row in rows)
    ]
    for one in found.nodes:
        values = [row.value for row in rows if row.node == one.node]
        assert one.counts.tolist() == oracle.counts(values)
        assert (one.below, one.above) == (sum(v < 0 for v in values), sum(v > 100 for v in values))
        assert (one.zero, one.over_90, one.total) == (values.count(0.0), sum(v > 90 for v in values), len(values))
        assert (one.p50, one.p95) == pytest.approx((oracle.quantile(values, 0.5), oracle.quantile(values, 0.95)))
    values = [row.value for row in rows]
    expected = [oracle.quantile(values, share) if values else math.nan for share in (0.5, 0.95)]
    assert [found.p50, found.p95] == pytest.approx(expected, nan_ok=True)


def test_a_histogram_of_whole_chunks_in_a_long_job(tmp_path: Path) -> None:
    """Over 40 minutes, windows begin and end in, at and just beside the edges of chunks."""
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine(ticks=480, interval_us=5_000_000, gpus=0)))
    found = convert(tmp_path / "job", tmp_path / "store")
    rows = oracle.of(oracle.system_rows(tmp_path / "job"), oracle.CPU)
    assert any(value not in (None, round(value, 2)) for value in (row.value for row in rows))
    store = found.store()
    edge = (trees.START_US + 600 * SECOND) * 1000
    for start in (edge - 400 * 10**9, edge - 1000, edge, edge + 1000):
        for end in (edge + 2000, edge + 3 * 10**11, edge + 6 * 10**11 + 1000, edge + 9 * 10**11 - 1000, edge + 10**13):
            one = store.fetch(distribution.metric_histogram, Selection(found.job_id, Window(start, end)), "cpu")
            values = [row.value for row in oracle.between(rows, start, end)]
            assert [node.total for node in one.nodes] == ([len(values)] if values else [])
            if values:
                assert one.nodes[0].counts.tolist() == oracle.counts(values)
                assert one.p95 == pytest.approx(oracle.quantile(values, 0.95))


@pytest.mark.parametrize("window", WINDOWS)
def test_the_usage_summary(fleet: Fleet, window: str) -> None:
    selection = fleet.select(WINDOWS[window])
    found = fleet.store.fetch(system.usage_summary, selection)
    span = (0, 1 << 62) if selection.window is None else (selection.window.start_ns, selection.window.end_ns)
    expected = oracle.usage(fleet.ticks, *span)
    assert tuple(found.columns) == USAGE_SUMMARY_COLUMNS
    metrics = [name for name, _, _ in oracle.SUMMARY]
    order = [(node, metric) for node in fleet.found.nodes for metric in metrics if (node, metric) in expected]
    assert list(zip(found["node"], found["metric"], strict=True)) == order
    for row in found.to_dict("records"):
        unit, *numbers, many = expected[row["node"], row["metric"]]
        assert (row["unit"], row["ticks"]) == (unit, many)
        assert [row[name] for name in ("max", "p99", "p95", "p50", "min")] == pytest.approx(numbers, rel=1e-9)


@pytest.mark.parametrize("window", [None, (60 * SECOND, 180 * SECOND)])
def test_only_the_selected_nodes(fleet: Fleet, window: tuple[int, int] | None) -> None:
    """In the order of the job, whatever the order of the selection; names that the job does not have are nothing."""
    selection = fleet.select(window, "algo-10", "algo-1", "algo-99")
    store = fleet.store
    assert list(dict.fromkeys(store.fetch(system.usage_summary, selection)["node"])) == ["algo-1", "algo-10"]
    assert {row.node for row in store.fetch(heatmap.device_heatmap, selection, "utilization", 900).rows} == {
        "algo-1",
        "algo-10",
    }
    assert [one.node for one in store.fetch(distribution.metric_histogram, selection, "cpu").nodes] == [
        "algo-1",
        "algo-10",
    ]
    for metric in (*DEVICES, *LINES):
        groups = store.fetch(system.over_time, selection, metric, "device", 900).groups
        assert list(dict.fromkeys(node for node, _ in groups)) == ["algo-1", "algo-10"]
    both = store.fetch(system.over_time, selection, "gpu", "all", 900)
    assert both.devices == 3
    alone = fleet.select(window, "algo-10")
    peak = store.fetch(system.over_time, alone, "cpu", "all", 900).peak
    assert peak is not None
    assert peak.node == "algo-10"


def test_gaps_stay_empty_at_every_width(fleet: Fleet) -> None:
    """The middle of the 40 s that node 2 did not record."""
    start = FIRST_US * 1000 + 155 * 10**9
    for window in ((140 * SECOND, 200 * SECOND), (100 * SECOND, 240 * SECOND), None):
        for width_px in (60, 300, 1500):
            found = fleet.store.fetch(system.over_time, fleet.select(window, "algo-2"), "cpu", "all", width_px)
            inside = [
                column
                for column in range(found.mean.shape[1])
                if start <= found.start_ns + column * found.bin_ns
                and found.start_ns + (column + 1) * found.bin_ns <= start + 30 * 10**9
            ]
            assert np.isnan(found.mean[0, inside]).all()
            assert len(inside) or found.bin_ns > 15 * 10**9


def test_single_missing_ticks_are_no_gap(fleet: Fleet) -> None:
    """Tick 77 and ticks 200 and 201 of node 1 are missing: at half a second a column they are bridged."""
    for second in (38, 100):
        window = ((second - 8) * SECOND, (second + 8) * SECOND)
        found = fleet.store.fetch(system.over_time, fleet.select(window, "algo-1"), "cpu", "device", 1500)
        assert found.samples_per_bin == 1
        assert not np.isnan(found.mean).any()


@pytest.mark.parametrize("metric", ["gpu", "gpu_memory"])
def test_without_gpus_the_reason_is_said(fleet: Fleet, metric: str) -> None:
    selection = fleet.select(None, "algo-2")
    for query, arguments in (
        (system.over_time, (metric, "all", 900)),
        (system.over_time, (metric, "device", 900)),
        (distribution.metric_histogram, (metric,)),
    ):
        with pytest.raises(MissingTable, match="no GPU"):
            fleet.store.fetch(query, selection, *arguments)
    with pytest.raises(MissingTable, match="no GPU memory"):
        fleet.store.fetch(heatmap.device_heatmap, selection, "gpu_memory", 900)


def test_without_system_metrics_the_reason_is_said(tmp_path: Path) -> None:
    trees.write(tmp_path / "job", trees.step_files([trees.StepRecord(0, trees.START_US, 10)]))
    found = convert(tmp_path / "job", tmp_path / "store")
    selection = Selection(found.job_id)
    for query, arguments in (
        (system.usage_summary, ()),
        (heatmap.device_heatmap, ("utilization", 900)),
        (system.over_time, ("cpu", "all", 900)),
        (system.over_time, ("network", "all", 900)),
        (distribution.metric_histogram, ("cpu",)),
    ):
        with pytest.raises(MissingTable, match="no system metrics"):
            found.store().fetch(query, selection, *arguments)


def test_missing_kinds_of_rates_are_said(tmp_path: Path) -> None:
    records = [record for record in trees.machine(ticks=8) if record.type not in ("network", "i/o", "memory")]
    trees.write(tmp_path / "job", trees.metrics_files(records))
    found = convert(tmp_path / "job", tmp_path / "store")
    for metric in LINES:
        with pytest.raises(MissingTable, match="report no"):
            found.store().fetch(system.over_time, Selection(found.job_id), metric, "all", 900)


def test_many_cores_are_pooled_by_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heatmap, "MAX_HEATMAP_ROWS", 40)
    records = trees.machine(ticks=20, cores=20) + trees.machine("algo-2", ticks=20, cores=24, gpus=0)
    trees.write(tmp_path / "job", trees.metrics_files(records))
    found = convert(tmp_path / "job", tmp_path / "store")
    heat = found.store().fetch(heatmap.device_heatmap, Selection(found.job_id), "utilization", 900)
    assert [row.device for row in heat.rows if row.node == "algo-1"] == [
        "gpu0",
        "cpu0–2",
        "cpu3–5",
        "cpu6–8",
        "cpu9–11",
        "cpu12–14",
        "cpu15–17",
        "cpu18–19",
    ]
    assert len([row for row in heat.rows if row.node == "algo-2"]) == 8
    rows = oracle.of(oracle.system_rows(tmp_path / "job"), oracle.CPU, "algo-1")
    pooled = [(int(row.name[3:]) // 3, row.time_us, row.value) for row in rows]
    cells = into_columns(pooled, heat.start_ns, heat.bin_ns)
    for pool in range(7):
        for column in range(heat.maximum.shape[1]):
            values = at(cells, pool, column, heat.bin_ns)
            assert heat.maximum[1 + pool, column] == (percent(max(values)) if values else NO_DATA)


@pytest.mark.parametrize("metric", ["cpu", "gpu"])
@pytest.mark.parametrize("by", ["all", "node"])
def test_lines_over_devices_need_no_more_rows_than_they_draw(fleet: Fleet, metric: str, by: str) -> None:
    """However long a job is: a row a node and column, and those that the peak is looked up in."""
    store = fleet.found.store(row_cap=600)
    assert sum(len(many) for many in fleet.ticks.values()) > 2 * store.row_cap
    found = store.fetch(system.over_time, fleet.select(), metric, by, 60)
    assert found.mean.shape[1] <= 60


HOSTILE = ["<b>gpu</b>", "=1+1", "cpu0' or 1=1 --", "naïve\u202egpu", "%s {0}", "a,b;c"]


def test_hostile_names_come_back_as_they_are(tmp_path: Path) -> None:
    nodes = ["algo-<script>", "algo '; drop table x", "${node}"]
    records = [
        trees.Record(node, "cpu", name, oracle.CPU, trees.START_US + tick * 500_000, 50.0)
        for node in nodes
        for name in HOSTILE
        for tick in range(4)
    ]
    trees.write(
        tmp_path / "job",
        {trees.metrics_path(trees.START_US, "algo-1"): b"".join(record.line.encode() + b"\n" for record in records)},
    )
    found = convert(tmp_path / "job", tmp_path / "store")
    heat = found.store().fetch(heatmap.device_heatmap, Selection(found.job_id), "utilization", 900)
    assert {(row.node, row.device) for row in heat.rows} == {(node, name) for node in nodes for name in HOSTILE}
    lines = found.store().fetch(system.over_time, Selection(found.job_id, None, (nodes[1],)), "cpu", "device", 900)
    assert {device for _, device in lines.groups} == set(HOSTILE)


def test_nodes_of_different_intervals_share_a_view(few_bins: None, tmp_path: Path) -> None:
    """Columns are never shorter than the longest interval, so that no node looks as if it had gaps."""
    records = trees.machine(ticks=600, interval_us=100_000, cores=1, gpus=0)
    records += trees.machine("algo-2", ticks=60, interval_us=1_000_000, cores=1, gpus=0)
    trees.write(tmp_path / "job", trees.metrics_files(records))
    found = convert(tmp_path / "job", tmp_path / "store")
    rows = oracle.distinct(oracle.system_rows(tmp_path / "job"))
    for width_px in (60, 900):
        lines = found.store().fetch(system.over_time, Selection(found.job_id), "cpu", "device", width_px)
        assert lines.bin_ns % 10**9 == 0
        assert not np.isnan(lines.mean[:, :-1]).any()
        samples = [((row.node, row.name), row.time_us, row.value) for row in oracle.of(rows, oracle.CPU)]
        cells = into_columns(samples, lines.start_ns, lines.bin_ns)
        for number, group in enumerate(lines.groups):
            for column in range(lines.mean.shape[1]):
                if cells.get((group, column)):
                    assert lines.mean[number, column] == pytest.approx(np.mean(cells[group, column]), rel=1e-5)
