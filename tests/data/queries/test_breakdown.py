"""What steps are spent on, against plain Python that looks at every microsecond."""

from __future__ import annotations

import random
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from data.errors import MissingTable
from data.frames.framework import StepBreakdown
from data.insights.event_kinds import KINDS, RULES, SPAN, kind_of
from data.queries import breakdown
from data.selection import Selection, Window
from data.store import Store
from tests import framework, trees
from tests.framework import Event
from tests.stored import Stored, convert

ORDER = tuple(kind for kind, _ in KINDS)
PHASES = (
    ("DataLoaderIter", "GetNext"),
    ("Forward", "net"),
    ("Backward(post-forward)", "net"),
    ("HorovodAllreduce", "NCCL_ALLREDUCE"),
    ("gpu_functions-dev:0", "sgemm"),
    ("cpu_functions", "aten::add"),
    ("DataLoaderWorker", "fetch"),
    ("mine", "own"),
)


def some_events(seed: int) -> list[Event]:
    """Steps of two processes on a node and one on another, and work that overlaps them at its ends, too."""
    dice = random.Random(seed)
    found = []
    for node, worker in (("algo-1", "0"), ("algo-1", "1"), ("algo-2", "2")):
        start = dice.randrange(50)
        for _ in range(40):
            length = dice.randrange(20, 60)
            found.append(Event("step", "Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", start, length, "", worker, node))
            start += length + dice.randrange(0, 5)
    for _ in range(500):
        phase, name = dice.choice(PHASES)
        node, worker = dice.choice([("algo-1", "0"), ("algo-1", "1"), ("algo-2", "2"), ("algo-1", "9")])
        found.append(Event("", phase, name, dice.randrange(0, 2000), dice.randrange(0, 40), "", worker, node))
    return found


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return some_events(3)


@pytest.fixture(scope="module")
def stored(events: list[Event], tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("breakdown")
    framework.write(folder / "job", events)
    return convert(folder / "job", folder / "store")


def fetch(store: Store, selection: Selection) -> StepBreakdown:
    return store.fetch(breakdown.last_steps, selection, tuple(map(tuple, RULES)), ORDER)  # type: ignore[arg-type]


def expected(events: list[Event], window: tuple[int, int], nodes: tuple[str, ...], most: int) -> list[list[float]]:
    """Start, duration and parts of the last steps. All steps have the same number: the last ones belong together."""
    steps: dict[tuple[str, str], list[Event]] = {}
    for one in events:
        if one.role == "step" and window[0] <= one.start_us < window[1] and (not nodes or one.node in nodes):
            steps.setdefault((one.node, one.worker), []).append(one)
    together: dict[int, list[Event]] = {}
    for mine in steps.values():
        for again, one in enumerate(sorted(mine, key=lambda step: -step.start_us)):
            together.setdefault(again, []).append(one)
    places = sorted(together, key=lambda again: min(one.start_us for one in together[again]))[-most:]
    rows = []
    for again in places:
        group = together[again]
        parts = np.mean([parts_of(one, events) for one in group], axis=0)
        rows.append([min(one.start_us for one in group), float(np.mean([one.duration_us for one in group])), *parts])
    return rows


def parts_of(step: Event, events: list[Event]) -> list[float]:
    """Microseconds of a step for each kind: the first one that runs then on its process, or on one without steps."""
    taking = {(one.node, one.worker) for one in events if one.role == "step"}
    parts = [0.0] * len(ORDER)
    mine = [
        (kind_of(one.phase, "", one.name), one.start_us, one.end_us)
        for one in events
        if one.node == step.node and (one.worker == step.worker or (one.node, one.worker) not in taking)
    ]
    for moment in range(step.start_us, step.end_us):
        running = {kind for kind, start, end in mine if start <= moment < end} - {SPAN}
        if running:
            parts[min(ORDER.index(kind) for kind in running)] += 1
    return parts


@pytest.mark.parametrize("window", [None, (300, 1200), (500, 560)])
@pytest.mark.parametrize("nodes", [(), ("algo-1",), ("algo-2",)])
def test_each_instant_counts_once(
    stored: Stored, events: list[Event], window: tuple[int, int] | None, nodes: tuple[str, ...]
) -> None:
    span = window and Window(*((trees.START_US + one) * 1000 for one in window))
    found = fetch(stored.store(), Selection(stored.job_id, span or None, nodes))
    rows = expected(events, window or (0, 10**9), nodes, breakdown.LAST_STEPS)
    assert (found.start_ns // 1000 - trees.START_US).tolist() == [row[0] for row in rows]
    assert found.duration_ns / 1000 == pytest.approx([row[1] for row in rows])
    assert found.spent_ns / 1000 == pytest.approx(np.array([row[2:] for row in rows]))
    assert (found.spent_ns.sum(axis=1) <= found.duration_ns + 1e-6).all()


def test_fewer_steps_are_taken_where_they_hold_too_many_events(stored: Stored) -> None:
    with mock.patch.object(breakdown, "MOST_EVENTS", 150):
        found = fetch(stored.store(), Selection(stored.job_id))
    assert 1 <= len(found.step) < breakdown.LAST_STEPS


def test_a_window_without_steps_says_so(stored: Stored, tmp_path: Path) -> None:
    nowhere = Window((trees.START_US + 10**7) * 1000, (trees.START_US + 10**7 + 1) * 1000)
    with pytest.raises(MissingTable, match="No step starts"):
        fetch(stored.store(), Selection(stored.job_id, nowhere))
    framework.write(tmp_path / "job", [Event("", "Forward", "net", 5, 5)])
    bare = convert(tmp_path / "job", tmp_path / "store")
    with pytest.raises(MissingTable, match="no steps"):
        fetch(bare.store(), Selection(bare.job_id))
