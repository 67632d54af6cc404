"""Operators and shares against plain Python over the same events: the whole job, windows, and some nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from data.errors import MissingTable
from data.frames.operators import OPERATORS_COLUMNS, TimeShare
from data.queries import operators, shares
from data.selection import Selection, Window
from data.store import Store
from tests import framework, trees
from tests.framework import Event, own_us
from tests.stored import convert

Span = tuple[int, int]
SIDES = ("cpu", "gpu", "communication")
WINDOWS: tuple[Span | None, ...] = (None, (0, 2000), (100, 400), (437, 438), (900, 1010))
NODES: tuple[tuple[str, ...], ...] = ((), ("algo-1",), ("algo-2", "algo-10"))


@dataclass(frozen=True)
class Framework:
    """A stored job and the events it was made of."""

    events: list[Event]
    store: Store
    job_id: str

    def select(self, window: Span | None, nodes: tuple[str, ...]) -> Selection:
        span = window and Window(*((trees.START_US + one) * 1000 for one in window))
        return Selection(self.job_id, span or None, nodes)

    def of(self, nodes: tuple[str, ...]) -> list[Event]:
        return [one for one in self.events if not nodes or one.node in nodes]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Framework:
    folder = tmp_path_factory.mktemp("framework")
    events = framework.unlike(framework.some_timeline_events(seed=11, many=600))
    events += _steps("algo-1", "0", 40, 100) + _steps("algo-10", "3", 55, 90)
    framework.write(folder / "job", events)
    found = convert(folder / "job", folder / "store")
    return Framework(events, found.store(), found.job_id)


def _steps(node: str, worker: str, first_us: int, length_us: int) -> list[Event]:
    """Eight training steps and two of evaluation, which overlaps the last of them."""
    found = []
    for at in range(8):
        found.append(_step("TRAIN", first_us + at * (length_us + 7), length_us, node, worker))
    last = found[-1].end_us
    return [*found, _step("EVAL", last - 5, 30, node, worker), _step("EVAL", last + 60, 30, node, worker)]


def _step(mode: str, start_us: int, duration_us: int, node: str, worker: str) -> Event:
    phase = f"Step:ModeKeys.{mode}"
    return Event("step", phase, phase, start_us, duration_us, worker=worker, node=node)


def expected_operators(events: Sequence[Event], window: Span | None) -> list[tuple[Any, ...]]:
    own = own_us(events, window)
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for one in events:
        if one.role in SIDES and one.inside(window) is not None:
            groups[one.role, one.name].append(one)
    totals = {key: sum(one.inside(window) or 0 for one in many) for key, many in groups.items()}
    sides = {side: sum(total for key, total in totals.items() if key[0] == side) for side in SIDES}
    rows = []
    for (side, name), many in groups.items():
        total = totals[side, name]
        rows.append(
            (
                side,
                name,
                any(one.communication for one in many),
                pytest.approx(100 * total / sides[side]) if sides[side] else None,
                total * 1000,
                len(many),
                pytest.approx(sum(one.duration_us for one in many) / len(many) * 1000),
                max(one.duration_us for one in many) * 1000,
                sum(own.get(one, 0) for one in many) * 1000 if side == "cpu" else None,
                tuple(sorted({one.node for one in many}, key=lambda node: int(node[5:]))),
                len({(one.node, one.worker) for one in many}),
            )
        )
    return sorted(rows, key=lambda row: (SIDES.index(row[0]), -row[4], row[1]))


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("window", WINDOWS)
def test_operators(job: Framework, window: Span | None, nodes: tuple[str, ...]) -> None:
    found = job.store.fetch(operators.by_name, job.select(window, nodes))
    assert tuple(found.columns) == OPERATORS_COLUMNS
    rows = [
        tuple(None if column == "self_ns" and row[column] != row[column] else row[column] for column in found)
        for row in found.astype({"self_ns": "Float64"}).astype({"self_ns": object}).to_dict("records")
    ]
    rows = [tuple(None if str(value) == "<NA>" else value for value in row) for row in rows]
    assert rows == expected_operators(job.of(nodes), window)


def test_whole_durations_would_be_wrong(job: Framework) -> None:
    """Events that a window cuts are in it with their part: the longest ones are far longer than this window."""
    window = (437, 438)
    found = job.store.fetch(operators.by_name, job.select(window, ()))
    running = [one for one in job.events if one.role in SIDES and one.inside(window)]
    assert max(one.duration_us for one in running) > 50
    assert found["total_ns"].sum() == 1000 * len(running)


def test_self_times_are_left_out_where_they_would_take_too_long(
    job: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "MOST_NESTED", 3)
    found = job.store.fetch(operators.by_name, job.select((100, 400), ()))
    assert found["self_ns"].isna().all()
    assert job.store.fetch(operators.by_name, job.select(None, ()))["self_ns"].notna().any()


def divided(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int, Any]]:
    """Names with their time and percent, the longest first."""
    totals: dict[str, int] = defaultdict(int)
    for name, part in pairs:
        totals[name] += part
    whole = sum(totals.values())
    longest = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return [(name, total * 1000, pytest.approx(100 * total / whole if whole else 0.0)) for name, total in longest]


def parts(found: Iterable[TimeShare]) -> list[tuple[str, int, float]]:
    return [(one.name, one.total_ns, one.percent) for one in found]


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("window", WINDOWS)
def test_shares(job: Framework, window: Span | None, nodes: tuple[str, ...]) -> None:
    found = job.store.fetch(shares.framework, job.select(window, nodes))
    inside = [(one, part) for one in job.of(nodes) if (part := one.inside(window)) is not None]

    def of(*roles: str, named: bool = False) -> list[tuple[str, int, Any]]:
        return divided((one.name if named else one.phase, part) for one, part in inside if one.role in roles)

    assert parts(found.sides) == of("cpu", "gpu")
    assert parts(found.general) == of("general", "forward", "backward")
    assert parts(found.communication) == of("communication", named=True)
    passes = {one.role for one, _ in inside} & {"forward", "backward"}
    if passes == {"forward", "backward"}:
        expected = {name: rest for name, *rest in divided((o.role, p) for o, p in inside if o.role in passes)}
        assert [(one.name, [one.total_ns, one.percent]) for one in found.passes] == [
            (name, expected[name]) for name in ("forward", "backward")
        ]
        assert not found.inner_passes
    gpu = [(one, part) for one, part in inside if one.role == "gpu"]
    spoken = sum(part for one, part in gpu if one.communication)
    if spoken:
        assert found.communication_percent == pytest.approx(100 * spoken / sum(part for _, part in gpu))


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("window", WINDOWS)
def test_steps_and_what_is_between(job: Framework, window: Span | None, nodes: tuple[str, ...]) -> None:
    found = job.store.fetch(shares.framework, job.select(window, nodes))
    steps = [one for one in job.of(nodes) if one.role == "step" and one.inside(window)]
    low, high = window or (0, 10**9)
    totals: dict[str, int] = defaultdict(int)
    span = others = 0
    for process in {(one.node, one.worker) for one in steps}:
        mine = [one for one in steps if (one.node, one.worker) == process]
        covered = {one: set(range(max(one.start_us, low), min(one.end_us, high))) for one in mine}
        every = set[int]().union(*covered.values())
        span += max(every) + 1 - min(every)
        others += max(every) + 1 - min(every) - len(every)
        for phase in {one.phase for one in mine}:
            totals[phase] += len(set[int]().union(*(covered[one] for one in mine if one.phase == phase)))
    expected = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    assert parts(found.steps) == (
        [(name, total * 1000, pytest.approx(100 * total / span)) for name, total in [*expected, ("", others)]]
        if steps
        else []
    )


def test_passes_of_submodules_stand_in_for_whole_ones(tmp_path: Path) -> None:
    events = [
        Event("forward_inner", "Forward-SubModuleInternal", "a", 0, 10),
        Event("backward_inner", "Backward-SubModuleInternal", "a", 10, 30),
    ]
    framework.write(tmp_path / "job", events)
    found = convert(tmp_path / "job", tmp_path / "store")
    answer = found.store().fetch(shares.framework, Selection(found.job_id))
    assert [(one.name, one.percent) for one in answer.passes] == [("forward", 25.0), ("backward", 75.0)]
    assert answer.inner_passes
    assert answer.general == ()


@pytest.mark.parametrize("window", [None, (0, 600)])
def test_a_trace(tmp_path: Path, window: Span | None) -> None:
    events = framework.unlike(framework.some_trace_events(seed=5))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.pt.trace.json").write_bytes(framework.trace(events))
    found = convert(tmp_path / "run", tmp_path / "store")
    traced = Framework(events, found.store(), found.job_id)
    answer = traced.store.fetch(shares.framework, traced.select(window, ()))
    inside = [(one, part) for one in events if (part := one.inside(window)) is not None]
    assert parts(answer.communication) == divided((one.name, part) for one, part in inside if one.communication)
    assert parts(answer.sides) == divided((one.phase, part) for one, part in inside if one.role in ("cpu", "gpu"))
    assert answer.general == answer.passes == answer.steps == ()
    table = traced.store.fetch(operators.by_name, traced.select(window, ()))
    assert set(table["name"][table["communication"]]) == {"ncclKernel_AllReduce", "void nccl_x"}


def test_nothing_in_a_window_and_nothing_at_all(job: Framework, tmp_path: Path) -> None:
    for query in (operators.by_name, shares.framework):
        with pytest.raises(MissingTable, match="window"):
            job.store.fetch(query, job.select((9000, 9001), ()))
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine("algo-1", ticks=3)))
    found = convert(tmp_path / "job", tmp_path / "store")
    for query in (operators.by_name, shares.framework):
        with pytest.raises(MissingTable, match="no events"):
            found.store().fetch(query, Selection(found.job_id))


def test_totals_of_the_whole_job(job: Framework) -> None:
    expected: dict[tuple[str, str, str], int] = defaultdict(int)
    for one in job.events:
        if one.role:
            expected[one.role, one.phase, one.name if one.role in SIDES else ""] += one.duration_us * 1000
    found = job.store.fetch(operators.totals, job.select(None, ()))
    assert {(one.role, one.phase, one.name): one.total_ns for one in found} == dict(expected)
    assert len(found) == len(expected)
