"""Steps as the processes took them, what follows what, and windows without overlaps, each against plain Python."""

from __future__ import annotations

import random

import numpy as np

from data.frames.findings import Place
from data.insights.capacity import covered_s, disjoint
from data.insights.places import largest, worst_apart
from data.insights.step_series import by_phase, by_process, processes_by_node
from data.insights.unused import unused_gpus
from tests.data.insights.evidence import START_NS, S, node_ticks, step_records


def test_series_hold_every_step_of_their_process_and_phase() -> None:
    dice = random.Random(9)
    rows = [
        (dice.choice("TEP"), dice.choice(["a", "b"]), dice.choice("012"), dice.randrange(50), START_NS + at * S, at)
        for at in dice.sample(range(10_000), 400)
    ]
    phases = by_phase(step_records(rows))
    for series, key in ((phases, lambda row: row[:3]), (by_process(phases), lambda row: ("", *row[1:3]))):
        found = {
            (one.phase if len(series) > 6 else "", one.node, one.worker): list(
                zip(one.step.tolist(), one.start_ns.tolist(), one.duration_ns.tolist(), strict=True)
            )
            for one in series
        }
        expected: dict[tuple[str, ...], list[tuple[int, int, int]]] = {}
        for row in sorted(rows, key=lambda row: row[4]):
            expected.setdefault(tuple(key(row)), []).append(row[3:])
        assert found == expected
    assert processes_by_node(phases) == {"a": 3, "b": 3}


def test_no_steps_make_no_series() -> None:
    assert by_phase(step_records([])) == ()
    assert by_process(()) == ()


def test_a_step_follows_the_last_of_its_phase() -> None:
    numbers = [("T", 0), ("T", 1), ("E", 7), ("E", 9), ("T", 2), ("T", 4), ("T", 0), ("T", -1), ("T", 8)]
    rows = [(phase, "a", "0", number, START_NS + at * S, 1) for at, (phase, number) in enumerate(numbers)]
    (one,) = by_process(by_phase(step_records(rows)))
    assert one.follows.tolist() == [True, True, False, True, False, True, True, True]


def test_windows_without_overlaps_cover_the_same() -> None:
    dice = random.Random(5)
    windows = [(at, at + dice.randrange(0, 40)) for at in (dice.randrange(1000) for _ in range(120))]
    covered = {moment for start, end in windows for moment in range(start, end)}
    start, end = (np.array(column, np.int64) for column in zip(*windows, strict=True))
    first, last = disjoint(start, end)
    assert (first[1:] > last[:-1]).all()
    assert {moment for a, b in zip(first.tolist(), last.tolist(), strict=True) for moment in range(a, b)} == covered
    assert covered_s(start, end) == len(covered) / 1e9
    assert covered_s(start[:0], end[:0]) == 0


def test_unused_time_of_gpus_between_two_moments() -> None:
    # Two GPUs, one half used and one not measured at first; ticks of half a second.
    unused = unused_gpus(node_ticks(gpu=[[50.0] * 4, [float("nan"), float("nan"), 0.0, 120.0]]))
    start = np.array([START_NS, START_NS + S // 4, START_NS + S, START_NS - 9 * S])
    end = np.array([START_NS + S, START_NS + S // 2, START_NS + 3 * S // 2, START_NS + 9 * S])
    assert unused.between(start, end).tolist() == [0.5, 0.125, 0.75, 1.5]
    nothing = unused_gpus(node_ticks(length=4))
    assert nothing.between(start, end).tolist() == [0, 0, 0, 0]


def test_the_largest_and_those_apart() -> None:
    assert largest(np.array([3, 9, 1, 9, 4, 9, 0, 2])) == [1, 3, 5, 4, 0]
    assert largest(np.array([1, 2])) == [1, 0]
    windows = [(0, 10), (5, 15), (10, 20), (30, 40), (39, 50), (60, 70), (80, 90), (100, 110)]
    places = [Place("a", "", window, "") for window in windows]
    kept = worst_apart([*places[:2], Place("b", "", (5, 15), ""), *places[2:]])
    assert [(place.node, place.window) for place in kept] == [
        ("a", (0, 10)), ("b", (5, 15)), ("a", (10, 20)), ("a", (30, 40)), ("a", (60, 70)),
    ]  # fmt: skip
