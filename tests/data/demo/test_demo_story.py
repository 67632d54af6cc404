"""The figures of the story, counted from the raw files of the demo jobs."""

from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tests.data.demo import recount
from tests.data.demo.recount import CPU, GPU, Record


def durations_s(job: Path) -> dict[str, list[float]]:
    found = defaultdict(list)
    for step in recount.steps(job):
        found[f"{step.node}-{step.worker}"].append(step.duration_us / 1e6)
    return dict(found)


def span_s(rows: list[Record]) -> float:
    return rows[-1].time_s - rows[0].time_s


def device_mean_p95(rows: list[Record], dimension: str) -> dict[str, float]:
    ticks = recount.by_tick(rows, dimension)
    return {node: recount.p95([float(np.mean(v)) for v in ticks[node].values()]) for node in sorted(ticks)}


def test_a_has_the_machines_of_the_story(rows_a: list[Record]) -> None:
    devices = {(row.node, row.type, row.name) for row in rows_a if row.type in ("cpu", "gpu")}
    assert Counter((node, kind) for node, kind, _ in devices) == {
        (f"algo-{n}", kind): count for n in (1, 2, 3) for kind, count in (("cpu", 32), ("gpu", 4))
    }


def test_a_counts_of_ticks_and_gpu_records(rows_a: list[Record]) -> None:
    assert {n: len(t) for n, t in recount.by_tick(rows_a, CPU).items()} == {
        "algo-1": 1006,
        "algo-2": 1006,
        "algo-3": 1007,
    }
    assert {n: len(t) for n, t in recount.by_tick(rows_a, GPU).items()} == {
        "algo-1": 1001,
        "algo-2": 998,
        "algo-3": 1001,
    }


def test_a_percentiles_of_each_node(rows_a: list[Record]) -> None:
    assert device_mean_p95(rows_a, GPU) == {f"algo-{n}": 13.5 for n in (1, 2, 3)}
    assert device_mean_p95(rows_a, CPU) == pytest.approx({f"algo-{n}": 24.4 for n in (1, 2, 3)}, abs=0.004)


def test_a_bottlenecks_by_the_grouping_of_the_original(rows_a: list[Record]) -> None:
    counts = recount.snapshots(rows_a)
    assert (counts.points, counts.low_gpu, counts.cpu_bottlenecks) == (3019, 3000, 2129)
    assert round(100 * counts.cpu_bottlenecks / counts.points, 2) == 70.52
    assert counts.io_bottlenecks == 0


def test_a_bottlenecks_node_by_node_are_the_same(rows_a: list[Record]) -> None:
    nodes = recount.snapshots_by_node(rows_a)
    assert [nodes[n].points for n in sorted(nodes)] == [1006, 1006, 1007]
    assert sum(c.low_gpu for c in nodes.values()) == 3000
    assert sum(c.cpu_bottlenecks for c in nodes.values()) == 2129


def test_a_the_fourth_gpu_is_never_used(rows_a: list[Record]) -> None:
    for devices in recount.by_device(rows_a, GPU).values():
        assert set(devices["gpu3"]) == {0}
        assert all(max(devices[gpu]) > 10 for gpu in ("gpu0", "gpu1", "gpu2"))
        assert min(d for pair, d in recount.distances({"n": devices}).items() if "gpu3" in pair) > 0.2


def test_b_percentiles_and_samples(rows_b: list[Record]) -> None:
    assert device_mean_p95(rows_b, GPU) == {"algo-1": 46.0, "algo-2": 46.0}
    assert device_mean_p95(rows_b, CPU) == pytest.approx({"algo-1": 61.0, "algo-2": 61.0}, abs=0.004)
    counts = Counter((row.node, row.type, row.name, row.dimension) for row in rows_b)
    assert 980 < min(counts.values()) <= max(counts.values()) <= 1000


def test_b_misses_single_ticks_that_are_no_gap(rows_b: list[Record]) -> None:
    for ticks in recount.by_tick(rows_b, CPU).values():
        steps_s = np.diff(sorted(ticks))
        assert (steps_s > 0.9).sum() >= 5
        assert steps_s.max() < 3 * np.median(steps_s)


@pytest.mark.parametrize(("job", "seconds", "steps", "processes"), [("a", 503.0, 188, 9), ("b", 502.0, 244, 2)])
def test_duration_steps_and_loop_share(
    request: pytest.FixtureRequest, job: str, seconds: float, steps: int, processes: int
) -> None:
    rows: list[Record] = request.getfixturevalue(f"rows_{job}")
    folder: Path = request.getfixturevalue(f"job_{job}")
    found = recount.steps(folder)
    assert span_s(rows) == pytest.approx(seconds, abs=1e-6)
    assert list(Counter((s.node, s.worker) for s in found).values()) == [steps] * processes
    loop_s = (max(s.end_us for s in found) - min(s.start_us for s in found)) / 1e6
    assert round(100 * loop_s / seconds, 2) == 45.0
    assert rows[0].time_s < min(s.start_us for s in found) / 1e6
    assert max(s.end_us for s in found) / 1e6 < rows[-1].time_s
    for values in durations_s(folder).values():
        assert 1 <= len(recount.outliers(values)) < 10


def test_a_first_step_is_the_one_that_was_printed(job_a: Path) -> None:
    first = min(recount.steps(job_a), key=lambda step: step.start_us)
    assert (first.duration_us, first.number, first.phase) == (10_966_842, 0, "Step:ModeKeys.TRAIN")
    start, end = (datetime.fromtimestamp(us / 1e6, UTC) for us in (first.start_us, first.end_us))
    assert f"{start:%Y-%m-%d %H:%M:%S} {end:%H:%M:%S}" == "2020-12-04 22:44:14 22:44:25"


def test_exactly_the_rules_of_the_story_fire(
    job_a: Path, rows_a: list[Record], job_b: Path, rows_b: list[Record]
) -> None:
    three = {"LowGPUUtilization", "BatchSize", "CPUBottleneck"}
    assert recount.fired(rows_a, durations_s(job_a), fixed=False) == three
    assert recount.fired(rows_a, durations_s(job_a), fixed=True) == three | {"LoadBalancing"}
    assert recount.fired(rows_b, durations_s(job_b), fixed=False) == set()
    assert recount.fired(rows_b, durations_s(job_b), fixed=True) == set()


def test_gpu_memory_never_jumps(rows_a: list[Record], rows_b: list[Record]) -> None:
    for rows in (rows_a, rows_b):
        for devices in recount.by_device(rows, recount.GPU_MEMORY).values():
            for values in devices.values():
                assert max(recount.memory_growth(values, after=0)) < 5


@pytest.mark.parametrize("job", ["a", "b"])
def test_clocks_keep_apart_and_ticks_keep_together(request: pytest.FixtureRequest, job: str) -> None:
    rows: list[Record] = request.getfixturevalue(f"rows_{job}")
    begins: dict[str, float] = {}
    last: dict[str, float] = {}
    for row in rows:
        if row.time_s - begins.get(row.node, float("-inf")) > 0.1:
            others = [time_s for node, time_s in begins.items() if node != row.node]
            assert all(row.time_s - time_s >= 0.150 for time_s in others)
            assert all(row.time_s - time_s > 0.130 for node, time_s in last.items() if node != row.node)
            begins[row.node] = row.time_s
        assert row.time_s - begins[row.node] < 0.015
        last[row.node] = row.time_s


@pytest.mark.parametrize("job", ["a", "b"])
def test_no_record_lies_on_the_edge_of_a_scan(request: pytest.FixtureRequest, job: str) -> None:
    rows: list[Record] = request.getfixturevalue(f"rows_{job}")
    assert all(round(row.time_s * 1e6) % 60_000_000 for row in rows)
