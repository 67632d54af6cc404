"""The story of the demo jobs through the converter and the queries; tests/data/demo counts it from the raw files."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from data.queries import jobs, steps, system
from data.selection import Selection
from data.sources import open_source
from data.store import Store
from tests.conftest import Demo

A, B = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512"
CPU_ONLY, RUNNING = "pt-tabular-cpu", "pt-bert-squad-running"


@pytest.fixture(scope="module")
def store(demo: Demo) -> Store:
    return Store(demo.store, [open_source(str(demo.source))])


@pytest.fixture(scope="module")
def ticks(demo: Demo, store: Store) -> dict[str, list[dict[str, Any]]]:
    """The stored ticks of A and B."""
    columns = "node, gpu_min, cpu_max, stamp_ns, stamp_cpu_max, stamp_gpu_min"

    def all_ticks(db: Any, job_id: str) -> list[dict[str, Any]]:
        path = db.job(job_id).file("ticks.parquet", "")
        found: list[dict[str, Any]] = db.frame(f"select {columns} from read_parquet($files)", files=[path]).to_dict(
            "records"
        )
        return found

    return {name: store.fetch(all_ticks, demo.job_ids[name]) for name in (A, B)}


def select(demo: Demo, name: str) -> Selection:
    return Selection(demo.job_ids[name])


@pytest.mark.parametrize(("name", "gpu", "cpu", "nodes"), [(A, 13.5, 24.4, 3), (B, 46.0, 61.0, 2)])
def test_p95_of_every_node(demo: Demo, store: Store, name: str, gpu: float, cpu: float, nodes: int) -> None:
    found = store.fetch(system.usage_summary, select(demo, name))
    for metric, expected in (("GPU", gpu), ("CPU", cpu)):
        p95 = found[found["metric"] == metric]["p95"]
        assert len(p95) == nodes
        assert p95.round(1).tolist() == [expected] * nodes
    rows = store.fetch(jobs.job_list, "", (), 0, 9).rows.set_index("name")
    assert (round(rows.loc[name, "gpu_p95"], 1), round(rows.loc[name, "cpu_p95"], 1)) == (gpu, cpu)


def test_ticks_of_a_node_by_node(ticks: dict[str, list[dict[str, Any]]]) -> None:
    """1,006, 1,006 and 1,007 ticks, of which 3,000 have GPU records, each with a GPU below 10 percent."""
    found = ticks[A]
    assert [count for _, count in sorted(Counter(row["node"] for row in found).items())] == [1006, 1006, 1007]
    with_gpu = [row for row in found if not np.isnan(row["gpu_min"])]
    assert [count for _, count in sorted(Counter(row["node"] for row in with_gpu).items())] == [1001, 998, 1001]
    assert sum(row["gpu_min"] < 10 for row in with_gpu) == 3000


def test_bottlenecks_of_a_by_the_ticks_of_each_node(ticks: dict[str, list[dict[str, Any]]]) -> None:
    bottlenecks = sum(row["gpu_min"] < 10 and row["cpu_max"] > 90 for row in ticks[A])
    assert bottlenecks == 2129
    assert round(100 * bottlenecks / len(ticks[A]), 2) == 70.52


def test_bottlenecks_of_a_by_the_grouping_across_nodes(ticks: dict[str, list[dict[str, Any]]]) -> None:
    """The stamps inside the ticks are enough to group as the original does."""
    stamps = sorted(
        (int(stamp), cpu, gpu)
        for row in ticks[A]
        for stamp, cpu, gpu in zip(row["stamp_ns"], row["stamp_cpu_max"], row["stamp_gpu_min"], strict=True)
    )
    start, points, low, busy = -(10**18), 0, set(), set()
    for stamp, cpu, gpu in stamps:
        if stamp - start > 20_000_000:
            start, points = stamp, points + 1
        if gpu < 10:
            low.add(start)
        if cpu > 90:
            busy.add(start)
    assert (points, len(low), len(low & busy)) == (3019, 3000, 2129)


def test_ticks_of_b_are_too_few_for_the_patience_of_the_rules(ticks: dict[str, list[dict[str, Any]]]) -> None:
    counts = Counter(row["node"] for row in ticks[B])
    assert len(counts) == 2
    assert all(980 < count <= 1000 for count in counts.values())


@pytest.mark.parametrize(("name", "seconds", "numbers", "processes"), [(A, 503.0, 188, 9), (B, 502.0, 244, 2)])
def test_steps_and_the_share_of_the_loop(
    demo: Demo, store: Store, name: str, seconds: float, numbers: int, processes: int
) -> None:
    found = store.fetch(jobs.times, select(demo, name))
    assert found.duration_ns == pytest.approx(seconds * 1e9, abs=1000)
    assert round(found.loop_percent or 0, 2) == 45.0
    assert (found.first_step, found.spot_gaps) == (0, ())
    header = store.fetch(jobs.header, select(demo, name))
    assert (header.step_count, header.step_numbers, header.step_processes) == (
        numbers * processes,
        numbers,
        processes,
    )
    histogram = store.fetch(steps.histogram, select(demo, name), "log")
    assert histogram.steps == numbers * processes
    assert all(0 < group.outliers < 10 * processes for group in histogram.groups)


def test_the_first_step_of_a(demo: Demo, store: Store) -> None:
    found = store.fetch(steps.timeline, select(demo, A), 1200)
    assert found.bin_ns == 0
    first = int(np.argmin(found.start_ns))
    assert (found.duration_ns[first], found.step[first]) == (10_966_842_000, 0)
    assert found.start_ns[first] == store.fetch(jobs.times, select(demo, A)).loop_start_ns


def test_machines(demo: Demo, store: Store) -> None:
    headers = {name: store.fetch(jobs.header, select(demo, name)) for name in demo.job_ids}
    assert {name: (len(one.nodes), one.cpus, one.gpus) for name, one in headers.items()} == {
        A: (3, 96, 12),
        B: (2, 16, 2),
        CPU_ONLY: (1, 16, 0),
        RUNNING: (2, 16, 2),
    }
    assert {name: one.status for name, one in headers.items()} == {
        A: "Completed",
        B: "Completed",
        CPU_ONLY: "Completed",
        RUNNING: "InProgress",
    }
    assert headers[CPU_ONLY].intervals_ns == (10**9,)


def test_the_fourth_gpu_of_a_is_never_used(demo: Demo, store: Store) -> None:
    found = store.fetch(system.over_time, select(demo, A), "gpu", "device", 1500)
    idle = {group for group, line in zip(found.groups, found.maximum, strict=True) if np.nanmax(line) == 0}
    assert idle == {(f"algo-{node}", "gpu3") for node in (1, 2, 3)}


def test_the_running_job_has_a_cut_line_and_a_gap(demo: Demo, store: Store) -> None:
    (problem,) = store.fetch(jobs.problems, select(demo, RUNNING)).to_dict("records")
    assert "cut off" in problem["message"]
    assert problem["lost_rows"] == 1
    (gap,) = store.fetch(jobs.gaps, select(demo, RUNNING)).to_dict("records")
    assert (gap["node"], gap["spot"]) == ("algo-2", False)
    assert gap["end_ns"] - gap["start_ns"] == pytest.approx(22.5e9, rel=0.01)


def test_the_other_jobs_are_whole(demo: Demo, store: Store) -> None:
    for name in (A, B, CPU_ONLY):
        assert store.fetch(jobs.problems, select(demo, name)).empty
        assert store.fetch(jobs.gaps, select(demo, name)).empty
