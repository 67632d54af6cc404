"""The stored operators against plain Python over the same events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from data.convert import operators
from tests import framework
from tests.framework import Event, own_us
from tests.stored import Stored, convert

NAMED = ("cpu", "gpu", "communication")
Group = tuple[str, str, str, str, str]


def expected(events: Sequence[Event]) -> dict[Group, tuple[Any, ...]]:
    """(role, node, worker, phase, name) -> count, total, self, longest, shortest, communication; microseconds."""
    own, groups = own_us(events), defaultdict(list)
    for one in events:
        if one.role:
            groups[one.role, one.node, one.worker, one.phase, one.name if one.role in NAMED else ""].append(one)
    return {
        group: (
            len(many),
            sum(one.duration_us for one in many),
            sum(own[one] for one in many) if group[0] == "cpu" else None,
            max(one.duration_us for one in many),
            min(one.duration_us for one in many),
            many[0].communication,
        )
        for group, many in groups.items()
    }


def stored(found: Stored) -> dict[Group, tuple[Any, ...]]:
    return {
        (row["role"], row["node"], row["worker"], row["phase"], row["name"]): (
            row["count"],
            row["total_ns"] // 1000,
            None if row["self_ns"] is None else row["self_ns"] // 1000,
            row["longest_ns"] // 1000,
            row["shortest_ns"] // 1000,
            row["communication"],
        )
        for row in found.table("operators")
    }


@pytest.mark.parametrize("stretch", [1 << 19, 40])
def test_operators_of_timelines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stretch: int) -> None:
    monkeypatch.setattr(operators, "STRETCH_EVENTS", stretch)
    events = framework.unlike(framework.some_timeline_events(seed=stretch))
    framework.write(tmp_path / "job", events)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert stored(found) == expected(events)
    assert found.manifest.operator_roles == tuple(sorted({one.role for one in events}))


@pytest.mark.parametrize("stretch", [1 << 19, 25])
def test_operators_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stretch: int) -> None:
    monkeypatch.setattr(operators, "STRETCH_EVENTS", stretch)
    events = framework.unlike(framework.some_trace_events(seed=stretch))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.pt.trace.json").write_bytes(framework.trace(events))
    found = convert(tmp_path / "run", tmp_path / "store")
    assert stored(found) == expected(events)
    assert found.manifest.operator_roles == ("cpu", "gpu")


def test_a_child_that_outlasts_its_parent_takes_no_more_than_there_is(tmp_path: Path) -> None:
    events = [
        Event("cpu", "cpu_op", "parent", 0, 100, "100", "0", "rank0"),
        Event("cpu", "cpu_op", "child", 60, 60, "100", "0", "rank0"),
        Event("gpu", "kernel", "k1", 0, 100, "7", "0", "rank0"),
        Event("gpu", "kernel", "k2", 50, 100, "7", "0", "rank0"),
    ]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.pt.trace.json").write_bytes(framework.trace(events))
    rows = {row["name"]: row for row in convert(tmp_path / "run", tmp_path / "store").table("operators")}
    times = {name: (row["total_ns"], row["self_ns"]) for name, row in rows.items()}
    assert times == {
        "parent": (100_000, 60_000),
        "child": (60_000, 60_000),
        "k1": (100_000, None),
        "k2": (100_000, None),
    }


def test_without_a_thread_nothing_is_said_of_self_times(tmp_path: Path) -> None:
    events = [Event("cpu", "cpu_functions", "aten::add", 0, 100), Event("cpu", "cpu_functions", "aten::mm", 10, 20)]
    framework.write(tmp_path / "job", events)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert [row["self_ns"] for row in found.table("operators")] == [None, None]


def test_a_job_without_events_has_no_operators(tmp_path: Path) -> None:
    framework.write(tmp_path / "job", [Event("step", "Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", 0, 10)])
    found = convert(tmp_path / "job", tmp_path / "store")
    assert [(row["role"], row["name"]) for row in found.table("operators")] == [("step", "")]
    assert found.manifest.operator_roles == ("step",)
