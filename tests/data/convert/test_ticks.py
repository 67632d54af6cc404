"""Ticks, and what rests on them: statistics over devices, the usage summary, gaps, the trend."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import schema
from data.grouping import tick_starts
from tests import oracle, trees
from tests.stored import Stored, close, convert, write_job

SECOND = 1_000_000
SNAPSHOTS_S = [0, 0.00007, 0.0046, 0.015, 0.019, 0.021, 0.5, 0.5004, 0.515, 0.5199, 0.5201]
"""The published vector, with its starts."""
STARTS_S = [0, 0.021, 0.5, 0.5201]


def test_the_published_snapshots() -> None:
    stamps = np.array([round(one * SECOND) for one in SNAPSHOTS_S])
    starts = stamps[tick_starts(stamps, oracle.TICK_US)]
    assert starts.tolist() == [round(one * SECOND) for one in STARTS_S]


def test_exactly_20_ms_is_still_the_same_tick() -> None:
    stamps = np.array([0, 20_000, 20_001, 40_001, 40_002])
    assert stamps[tick_starts(stamps, oracle.TICK_US)].tolist() == [0, 20_001, 40_002]


@settings(max_examples=200)
@given(st.lists(st.integers(0, 15_000), max_size=60))
def test_ticks_of_any_stamps(steps: list[int]) -> None:
    stamps = np.unique(np.cumsum(steps).astype(np.int64)) if steps else np.empty(0, np.int64)
    starts = stamps[tick_starts(stamps, oracle.TICK_US)].tolist()
    assert starts == sorted(set(oracle.tick_of(stamps.tolist()).values()))


def test_the_published_snapshots_in_a_stored_job(tmp_path: Path) -> None:
    """Every stamp becomes a record group inside its tick."""
    records = [
        trees.Record("algo-1", *trees.cpu(0), trees.START_US + round(one * SECOND), float(at))
        for at, one in enumerate(SNAPSHOTS_S)
    ]
    write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store").ticks()
    assert [row["tick_ns"] for row in found] == [(trees.START_US + round(s * SECOND)) * 1000 for s in STARTS_S]
    assert [len(row["stamp_ns"]) for row in found] == [5, 1, 4, 1]
    assert [row["cpu_mean"] for row in found] == [2, 5, 7.5, 10]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stored, list[oracle.Row]]:
    """Three nodes: GPUs with stamps of their own inside a tick, one that starts late, one node without any."""
    job = tmp_path_factory.mktemp("ticks") / "job"
    records = [
        record
        for record in trees.machine("algo-1", ticks=700, cores=3, gpus=3, interval_us=1_000_000)
        if record.name != "gpu1" or record.time_us > trees.START_US + 30 * SECOND
    ]
    records += trees.machine("algo-2", start_us=trees.START_US + 166_000, ticks=90, cores=2, gpus=0, skip=range(40, 60))
    records += trees.machine("algo-10", start_us=trees.START_US + 333_000, ticks=90, cores=1, gpus=1)
    rows = write_job(job, records)
    return convert(job, job.parent / "store"), rows


def by_tick(rows: list[oracle.Row]) -> dict[tuple[str, int], oracle.Tick]:
    return {(node, tick.start_us * 1000): tick for node, many in oracle.ticks(rows).items() for tick in many}


DIMENSIONS = {"cpu": oracle.CPU, "io_wait": oracle.IO_WAIT, "gpu": oracle.GPU, "gpu_memory": oracle.GPU_MEMORY}


def test_one_row_a_node_and_tick(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    expected = by_tick(rows)
    order = [(row["node"], row["tick_ns"]) for row in found.ticks()]
    assert order == sorted(expected, key=lambda key: (found.nodes.index(key[0]), key[1]))
    assert [node.ticks for node in found.manifest.nodes] == [
        sum(node == name for node, _ in expected) for name in found.nodes
    ]


@pytest.mark.parametrize("metric", DIMENSIONS)
def test_statistics_over_the_devices_of_a_tick(three: tuple[Stored, list[oracle.Row]], metric: str) -> None:
    found, rows = three
    expected = by_tick(rows)
    for row in found.ticks():
        values = expected[row["node"], row["tick_ns"]].values(DIMENSIONS[metric])
        if not values:
            assert [row[f"{metric}_{name}"] for name in ("mean", "min", "max", "count")] == [None] * 4
            assert sum(row[f"{metric}_histogram"]) == 0
            continue
        assert (row[f"{metric}_min"], row[f"{metric}_max"]) == (min(values), max(values))
        assert row[f"{metric}_count"] == len(values)
        assert row[f"{metric}_mean"] == pytest.approx(math.fsum(values) / len(values), rel=1e-12)
        bins = [0] * schema.HISTOGRAM_BINS
        for value in values:
            bins[min(max(math.floor(value / 5), 0), 20)] += 1
        assert row[f"{metric}_histogram"] == bins


def test_memory_and_network_of_a_tick(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    expected = by_tick(rows)
    for row in found.ticks():
        tick = expected[row["node"], row["tick_ns"]]
        assert close(row["memory"], tick.memory)
        assert close(row["network"], tick.network)


def test_record_groups_inside_a_tick(three: tuple[Stored, list[oracle.Row]]) -> None:
    """What the original's grouping across nodes needs: each stamp with its busiest core and its laziest GPU."""
    found, rows = three
    expected = by_tick(rows)
    for row in found.ticks():
        tick = expected[row["node"], row["tick_ns"]]
        assert [one // 1000 for one in row["stamp_ns"]] == tick.stamps_us
        for at, stamp in enumerate(tick.stamps_us):
            mine = [one for one in tick.rows if one.time_us == stamp]
            for name, dimension, choose in (
                ("cpu_max", oracle.CPU, max),
                ("io_wait_max", oracle.IO_WAIT, max),
                ("gpu_min", oracle.GPU, min),
            ):
                values = [one.value for one in mine if one.dimension == dimension]
                assert row[f"stamp_{name}"][at] == (choose(values) if values else None)


@pytest.mark.parametrize("metric", ["gpu", "gpu_memory"])
def test_values_by_gpu(three: tuple[Stored, list[oracle.Row]], metric: str) -> None:
    found, rows = three
    expected = by_tick(rows)
    gpus = {"algo-1": 3, "algo-2": 0, "algo-10": 1}
    for row in found.ticks():
        values: list[float | None] = [None] * 3
        for one in expected[row["node"], row["tick_ns"]].rows:
            if one.dimension == DIMENSIONS[metric]:
                values[int(one.name.removeprefix("gpu"))] = one.value
        stored: list[Any] = row[f"{metric}_values"]
        assert stored[: gpus[row["node"]]] == values[: gpus[row["node"]]]
        assert all(one is None for one in stored[gpus[row["node"]] :])


def test_of_two_values_of_a_gpu_in_a_tick_the_first_one_counts(tmp_path: Path) -> None:
    at = trees.START_US
    records = [
        trees.Record("algo-1", *trees.gpu(0), at, 1.0),
        trees.Record("algo-1", *trees.gpu(1), at + 5_000, 2.0),
        trees.Record("algo-1", *trees.gpu(0), at + 10_000, 3.0),
        trees.Record("algo-1", *trees.gpu(1), at + 500_000, 4.0),
    ]
    write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store").ticks()
    assert [row["gpu_values"] for row in found] == [[1.0, 2.0], [None, 4.0]]
    assert [row["gpu_count"] for row in found] == [3, 1]


def test_a_tick_across_the_edge_of_a_part(tmp_path: Path) -> None:
    """Stamps 10 ms before and after the edge are one tick, although they are stored in different parts."""
    found = convert_around(tmp_path, trees.START_US // 900_000_000 * 900_000_000 + 900_000_000)
    assert len(found.manifest.parts) == 2
    assert [(row["cpu_count"], len(row["stamp_ns"])) for row in found.ticks()] == [(1, 1), (2, 2), (1, 1)]


def convert_around(tmp_path: Path, edge_us: int) -> Stored:
    stamps = [edge_us - 500_000, edge_us - 10_000, edge_us + 9_000, edge_us + 500_000]
    write_job(tmp_path / "job", [trees.Record("algo-1", *trees.cpu(0), stamp, 50.0) for stamp in stamps])
    return convert(tmp_path / "job", tmp_path / "store")


def test_memory_with_two_values_is_their_mean(tmp_path: Path) -> None:
    at = trees.START_US
    records = [trees.Record("algo-1", *trees.MEMORY, at + delay, value) for delay, value in ((0, 10), (0, 20), (9, 60))]
    write_job(tmp_path / "job", records)
    assert [row["memory"] for row in convert(tmp_path / "job", tmp_path / "store").ticks()] == [30.0]


def test_the_usage_summary_of_every_node(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    expected = oracle.usage(oracle.ticks(rows))
    metrics = [name for name, _, _ in oracle.SUMMARY]
    stored = found.table("summary")
    order = [(node, metric) for node in found.nodes for metric in metrics if (node, metric) in expected]
    assert [(row["node"], row["metric"]) for row in stored] == order
    for row in stored:
        unit, *numbers, many = expected[row["node"], row["metric"]]
        assert (row["unit"], row["ticks"]) == (unit, many)
        found_numbers = [row[name] for name in ("max", "p99", "p95", "p50", "min")]
        assert found_numbers == pytest.approx(numbers, rel=1e-12)


def test_the_highest_node_speaks_for_the_job(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    usage = oracle.usage(oracle.ticks(rows))
    assert found.manifest.gpu_p95 == pytest.approx(max(usage[node, "GPU"][3] for node in ("algo-1", "algo-10")))
    assert found.manifest.cpu_p95 == pytest.approx(max(usage[node, "CPU"][3] for node in found.nodes))


def test_the_trend_is_the_mean_of_each_stretch(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    many = [tick for ticks in oracle.ticks(rows).values() for tick in ticks]
    start = min(tick.start_us for tick in many)
    length = max(tick.start_us for tick in many) - start
    expected: list[list[float]] = [[] for _ in range(32)]
    for tick in many:
        mean = tick.mean(oracle.GPU)
        if mean is not None:
            expected[min((tick.start_us - start) * 32 // length, 31)].append(mean)
    trend = [None if not one else round(sum(one) / len(one), 2) for one in expected]
    assert found.manifest.gpu_trend == pytest.approx(trend, abs=0.011)


def test_without_gpus_there_is_no_trend_and_no_p95(tmp_path: Path) -> None:
    write_job(tmp_path / "job", trees.machine(gpus=0, ticks=8))
    manifest = convert(tmp_path / "job", tmp_path / "store").manifest
    assert (manifest.gpu_p95, manifest.gpu_trend) == (None, ())
    assert manifest.cpu_p95 is not None


def stored_gaps(found: Stored) -> list[tuple[str, int, int, bool]]:
    return sorted(
        (row["node"], row["start_ns"] // 1000, row["end_ns"] // 1000, row["spot"]) for row in found.table("gaps")
    )


@pytest.mark.parametrize(
    ("skips", "spots"),
    [
        ({"algo-1": [range(12, 15)]}, 0),  # 8 s: more than three intervals
        ({"algo-1": [range(12, 14)]}, 0),  # 6 s: about three intervals, with the jitter of the clock
        ({"algo-1": [range(12, 13)], "algo-2": [range(20, 21)]}, 0),  # single ticks missing are no gap
        ({"algo-1": [range(12, 47)], "algo-2": [range(7, 25)]}, 0),  # common, but for less than 30 s
        ({"algo-1": [range(12, 47)], "algo-2": [range(14, 49)]}, 2),
        ({"algo-1": [range(5, 82)], "algo-2": [range(2, 38), range(42, 80)]}, 3),  # one stretch meets two
        ({"algo-1": [range(5, 82)], "algo-2": [range(2, 38), range(42, 45)]}, 2),
    ],
)
def test_gaps(tmp_path: Path, skips: dict[str, list[range]], spots: int) -> None:
    rows = write_job(tmp_path / "job", trees.pausing(skips))
    found = stored_gaps(convert(tmp_path / "job", tmp_path / "store"))
    assert found == oracle.gaps(rows)
    assert sum(spot for _, _, _, spot in found) == spots


def test_a_node_without_a_gap_rules_out_an_interruption(tmp_path: Path) -> None:
    records = trees.machine(ticks=300, cores=1, gpus=0, skip=range(50, 250))
    records += trees.machine("algo-2", ticks=300, cores=1, gpus=0)
    rows = write_job(tmp_path / "job", records)
    (gap,) = stored_gaps(convert(tmp_path / "job", tmp_path / "store"))
    assert [gap] == oracle.gaps(rows)
    assert gap[3] is False


def test_gaps_are_judged_by_each_nodes_own_interval(tmp_path: Path) -> None:
    records = trees.machine(ticks=200, interval_us=100_000, cores=1, gpus=0, skip=range(50, 60))
    records += trees.machine("algo-2", ticks=20, interval_us=1_000_000, cores=1, gpus=0, skip=range(5, 7))
    rows = write_job(tmp_path / "job", records)
    found = stored_gaps(convert(tmp_path / "job", tmp_path / "store"))
    assert found == oracle.gaps(rows)
    assert {node for node, _, _, _ in found} == {"algo-1"}
