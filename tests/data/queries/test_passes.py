"""Forward and backward passes, counted by plain Python."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from data.errors import MissingTable
from data.queries import passes
from data.selection import Selection, Window
from tests import framework, trees
from tests.framework import Event
from tests.stored import Stored, convert

PHASES = {"forward": "Forward", "backward": "Backward(post-forward)"}


def some_events() -> list[Event]:
    """A pass of each kind every 100 µs on two nodes, with passes of submodules inside and one that takes long."""
    dice = random.Random(8)
    found = []
    for node, worker in (("algo-1", "0"), ("algo-10", "1"), ("algo-2", "2")):
        for at in range(0, 4000, 100):
            long = 30 if at == 2000 and node == "algo-2" else 1
            for kind, phase in PHASES.items():
                length = long * dice.randrange(20, 30)
                found.append(Event(kind, phase, "net", at, length, "", worker, node))
                inner = f"{phase.partition('(')[0]}-SubModuleInternal"
                found.append(Event(f"{kind}_inner", inner, "layer", at, 5, "", worker, node))
    return found


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("passes")
    framework.write(folder / "job", some_events())
    return convert(folder / "job", folder / "store")


@pytest.mark.parametrize("which", ["forward", "backward"])
@pytest.mark.parametrize("window", [None, (500, 2500)])
@pytest.mark.parametrize("nodes", [(), ("algo-2",)])
def test_every_pass_is_counted_and_none_of_a_submodule(
    stored: Stored, which: passes.Pass, window: tuple[int, int] | None, nodes: tuple[str, ...]
) -> None:
    span = window and Window(*((trees.START_US + one) * 1000 for one in window))
    found = stored.store().fetch(passes.histogram, Selection(stored.job_id, span or None, nodes), "linear", which)
    first, last = window or (0, 10**9)
    mine = [one for one in some_events() if one.role == which and first <= one.start_us < last]
    mine = [one for one in mine if not nodes or one.node in nodes]
    took = np.array([1000 * one.duration_us for one in mine])
    assert found.steps == len(mine)
    assert [found.p50_ns, found.p95_ns, found.p99_ns] == pytest.approx(np.quantile(took, [0.5, 0.95, 0.99]))
    assert [group.node for group in found.groups] == [
        one for one in ("algo-1", "algo-2", "algo-10") if not nodes or one in nodes
    ]
    for group in found.groups:
        expected = [1000 * one.duration_us for one in mine if one.node == group.node]
        assert (group.phase, group.steps, group.counts.sum()) == (PHASES[which], len(expected), len(expected))
        assert group.mean_ns == pytest.approx(np.mean(expected))
    assert [(one.node, one.start_ns // 1000 - trees.START_US) for one in found.outliers] == [("algo-2", 2000)]
    assert found.outlier_count == 1


def test_annotations_of_pytorch_s_traces_count(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "user_annotation", "pid": 5, "tid": 5, "ts": 10, "dur": 3}
    names = ("## forward ##", "## forward:x ##", "DistributedDataParallel.forward")
    rows = [event | {"name": name} for name in names]
    trees.write(tmp_path / "job", {"a.pt.trace.json": json.dumps({"schemaVersion": 1, "traceEvents": rows}).encode()})
    stored = convert(tmp_path / "job", tmp_path / "store")
    found = stored.store().fetch(passes.histogram, Selection(stored.job_id), "log", "forward")
    assert [(group.phase, group.steps) for group in found.groups] == [("## forward ##", 1)]
    with pytest.raises(MissingTable, match="No backward pass"):
        stored.store().fetch(passes.histogram, Selection(stored.job_id), "log", "backward")
