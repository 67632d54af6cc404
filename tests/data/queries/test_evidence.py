"""What rules judge by, read from a stored job, against plain Python over the raw records."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from data.errors import MissingTable
from data.frames.evidence import NodeTicks
from data.queries import evidence
from data.selection import Selection
from tests import oracle, trees
from tests.data.queries.conftest import Fleet
from tests.stored import convert

NODES = ("algo-1", "algo-2", "algo-10")


def device_values(many: list[oracle.Tick], dimension: str, device: str) -> list[float]:
    """The first value of a device in each tick, NaN where it has none."""
    found = []
    for tick in many:
        rows = [row for row in tick.rows if row.dimension == dimension and row.name == device]
        found.append(min(rows, key=lambda row: row.time_us).value if rows else math.nan)
    return found


def statistic(many: list[oracle.Tick], of: Callable[[oracle.Tick], float | None]) -> list[float]:
    return [math.nan if (value := of(tick)) is None else value for tick in many]


def test_ticks_of_every_node(fleet: Fleet) -> None:
    found = fleet.store.fetch(evidence.ticks, fleet.select())
    assert tuple(node.node for node in found.nodes) == NODES
    times = [row.time_us * 1000 for row in fleet.rows]
    assert (found.start_ns, found.end_ns) == (min(times), max(times))
    for node in found.nodes:
        many = fleet.ticks[node.node]
        assert node.tick_ns.tolist() == [tick.start_us * 1000 for tick in many]
        for name, of in (
            ("cpu_mean", lambda tick: tick.mean(oracle.CPU)),
            ("cpu_max", lambda tick: max(tick.values(oracle.CPU), default=None)),
            ("io_wait_max", lambda tick: max(tick.values(oracle.IO_WAIT), default=None)),
            ("memory", lambda tick: tick.memory),
        ):
            np.testing.assert_allclose(getattr(node, name), statistic(many, of), err_msg=name)


def test_devices_stand_in_columns(fleet: Fleet) -> None:
    found = {node.node: node for node in fleet.store.fetch(evidence.ticks, fleet.select()).nodes}
    assert {name: node.gpus for name, node in found.items()} == {
        "algo-1": ("gpu0", "gpu1"),
        "algo-2": (),
        "algo-10": ("gpu0",),
    }
    for node in found.values():
        assert node.gpu.shape == (len(node.tick_ns), len(node.gpus))
        _same(node, fleet)


def _same(node: NodeTicks, fleet: Fleet) -> None:
    many = fleet.ticks[node.node]
    for at, device in enumerate(node.gpus):
        np.testing.assert_array_equal(node.gpu[:, at], device_values(many, oracle.GPU, device))
    for at, device in enumerate(node.gpu_memories):
        np.testing.assert_array_equal(node.gpu_memory[:, at], device_values(many, oracle.GPU_MEMORY, device))


def test_a_gpu_that_starts_late_has_no_value_before(tmp_path: Path) -> None:
    records = trees.machine("algo-1", ticks=40, cores=1, gpus=2)
    late = [one for one in records if one.name != "gpu1" or one.time_us >= trees.START_US + 15_000_000]
    trees.write(tmp_path / "job", trees.metrics_files(late))
    stored = convert(tmp_path / "job", tmp_path / "store")
    (node,) = stored.store().fetch(evidence.ticks, Selection(stored.job_id)).nodes
    assert node.gpus == ("gpu0", "gpu1")
    assert not np.isnan(node.gpu[:, 0]).any()
    assert np.isnan(node.gpu[:, 1]).tolist() == [True] * 30 + [False] * 10


def test_exact_times_of_all_nodes_in_order(fleet: Fleet) -> None:
    found = fleet.store.fetch(evidence.stamps, fleet.select())
    times = sorted((row.time_us * 1000, found.nodes.index(row.node)) for row in fleet.rows)
    expected = sorted(set(times))
    assert sorted(zip(found.time_ns.tolist(), found.node.tolist(), strict=True)) == expected
    assert (np.diff(found.time_ns) >= 0).all()
    highest = {}
    for row in fleet.rows:
        if row.dimension == oracle.CPU:
            key = row.time_us * 1000, found.nodes.index(row.node)
            highest[key] = max(highest.get(key, -math.inf), row.value)
    known = ~np.isnan(found.cpu_max)
    keys = zip(found.time_ns[known].tolist(), found.node[known].tolist(), strict=True)
    assert dict(zip(keys, found.cpu_max[known].tolist(), strict=True)) == highest


def test_moments_over_all_nodes(fleet: Fleet) -> None:
    found = fleet.store.fetch(evidence.stamps, fleet.select())
    starts = set(oracle.tick_of(row.time_us for row in fleet.rows).values())
    assert sorted(starts) == (found.time_ns[found.begin] // 1000).tolist()


def test_without_system_metrics(tmp_path: Path) -> None:
    step = trees.StepRecord(1, trees.START_US, 1000)
    trees.write(tmp_path / "job", trees.step_files([step]))
    stored = convert(tmp_path / "job", tmp_path / "store")
    for query in (evidence.ticks, evidence.stamps):
        with pytest.raises(MissingTable, match="no system metrics"):
            stored.store().fetch(query, Selection(stored.job_id))
