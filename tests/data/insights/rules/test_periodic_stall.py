"""PeriodicStall: found with its period and cost, and not found in noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import StepRecords
from data.frames.findings import Outcome
from data.insights.rules.periodic_stall import RULE, judge
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks, values

TRAIN = "Step:ModeKeys.TRAIN"
Lengths = NDArray[np.float64]


def steps(*processes: Lengths, gap_s: Lengths | None = None, number: Callable[[int], int] = int) -> StepRecords:
    """Processes of one node with steps of these lengths, each followed by its gap."""
    rows = []
    for worker, lengths in enumerate(processes):
        gaps = np.zeros(len(lengths)) if gap_s is None else gap_s
        begin = START_NS + np.append(0, np.cumsum(lengths + gaps)[:-1] * S).astype(np.int64)
        rows += [
            (TRAIN, "a", str(worker), number(at), int(begin[at]), int(lengths[at] * S)) for at in range(len(lengths))
        ]
    return step_records(rows)


def judged(records: StepRecords, **moved: float) -> Outcome:
    return judge(Given(steps=records), values(RULE, **moved))


def figures(found: Outcome) -> dict[str, float]:
    return {one.name: one.value for one in found.figures}


def stalling(count: int, every: int, extra: float = 5.0) -> Lengths:
    lengths = np.ones(count)
    lengths[every - 1 :: every] += extra
    return lengths


def test_long_steps_at_a_regular_distance() -> None:
    found = judged(steps(stalling(400, 40)))
    # Each stall takes 5 s more; the last of the ten steps has no step after it.
    assert (found.state, found.violations, found.points) == ("issue", 9, 399)
    said = figures(found)
    assert (said["period"], said["cost of a stall"]) == (40, pytest.approx(5))
    assert said["period in time"] == pytest.approx(45)
    assert said["distances that are the period"] == 100
    assert found.saved_s == pytest.approx(9 * 5)
    assert "mostly in the steps" in found.text
    begin = START_NS + 39 * S
    assert found.places[0].window == (begin, begin + 6 * S)


def test_pauses_after_steps_at_a_regular_distance() -> None:
    gaps = stalling(400, 40) - 1
    given = Given(steps=steps(np.ones(400), gap_s=gaps), ticks=ticks(node_ticks("a", gpu=[[60.0] * 1000] * 2)))
    found = judge(given, values(RULE))
    assert "mostly between steps" in found.text
    # In each window of 6 s two GPUs leave 40 % of 6 s unused: 4.8 GPU-seconds, less than the 10 they lose.
    assert found.wasted_gpu_s == pytest.approx(9 * 4.8)


def test_what_gpus_do_meanwhile_bounds_the_waste() -> None:
    for percent, wasted in ((0.0, 9 * 10), (100.0, 0)):
        gpus = ticks(node_ticks("a", gpu=[[percent] * 1200] * 2))
        found = judge(Given(steps=steps(stalling(400, 40)), ticks=gpus), values(RULE))
        assert found.wasted_gpu_s == pytest.approx(wasted)
    alone = judge(Given(steps=steps(stalling(400, 40)), ticks=ticks(node_ticks("a", length=9))), values(RULE))
    assert alone.wasted_node_s == pytest.approx(45)


def test_a_stall_may_take_some_steps() -> None:
    lengths = stalling(400, 40)
    lengths[40::40] += 2
    found = judged(steps(lengths))
    assert (found.violations, figures(found)["cost of a stall"]) == (9, pytest.approx(7))


def test_by_the_clock_though_steps_differ() -> None:
    """A checkpoint every hundred seconds, with steps that get three times as fast on the way."""
    rng = np.random.default_rng(2)
    lengths, passed, done = [], 0.0, 0
    for at in range(3000):
        length = (1.5 if at % 400 < 200 else 0.5) * rng.uniform(0.95, 1.05)
        if passed // 100 > done:
            done, length = int(passed // 100), length + 20
        lengths.append(length)
        passed += length
    found = judged(steps(np.array(lengths)))
    assert found.state == "issue"
    assert figures(found)["period in time"] == pytest.approx(100, abs=3)


def test_most_processes_together_prove_what_one_alone_does_not() -> None:
    few = stalling(220, 40)
    alone = judged(steps(few, *(np.ones(220) for _ in range(30))))
    assert alone.state == "no issue"
    together = judged(steps(*(few for _ in range(31))))
    assert (together.state, together.triggered) == ("issue", 31)


def test_all_processes_are_charged_their_part() -> None:
    both = Given(
        steps=steps(stalling(400, 40), stalling(400, 40)), ticks=ticks(node_ticks("a", gpu=[[0.0] * 1200] * 2))
    )
    assert judge(both, values(RULE)).wasted_gpu_s == pytest.approx(9 * 10)


def test_a_rarer_and_longer_stall_is_found_among_irregular_ones() -> None:
    rng = np.random.default_rng(4)
    lengths = stalling(1000, 100, 30) + (rng.random(1000) < 0.05)
    found = judged(steps(lengths))
    assert figures(found)["period"] == 100


@pytest.mark.parametrize(
    ("moved", "state"),
    [
        ({"threshold": 499}, "issue"),
        ({"threshold": 500}, "no issue"),  # exactly five times longer
        ({"occurrences": 9}, "issue"),
        ({"occurrences": 10}, "no issue"),
        ({"share": 10}, "issue"),  # 45 of 444 s
        ({"share": 10.2}, "no issue"),
        ({"patience": 399}, "issue"),
        ({"patience": 400}, "not enough data"),
    ],
)
def test_the_edges(moved: dict[str, float], state: str) -> None:
    assert judged(steps(stalling(400, 40)), **moved).state == state


def test_steps_that_are_missing_hide_what_lies_between() -> None:
    """A profiler that records forty steps, leaves out a thousand, and so on, makes no stalls."""
    gaps = stalling(400, 40, 900) - 1
    recorded = steps(np.ones(400), gap_s=gaps, number=lambda at: at + at // 40 * 1000)
    assert judged(recorded).state == "no issue"
    assert judged(steps(np.ones(400), gap_s=gaps)).state == "issue"


def test_other_phases_are_what_comes_between() -> None:
    """An evaluation after every 40 steps is a pause of training, and training is no pause of evaluations."""
    rows, at = [], START_NS
    for number in range(400):
        rows.append((TRAIN, "a", "0", number, at, S))
        at += S
        for _ in range(10 if number % 40 == 39 else 0):
            rows.append(("Step:ModeKeys.EVAL", "a", "0", len(rows), at, S // 2))
            at += S // 2
    found = judged(step_records(rows))
    assert (found.triggered, found.points, figures(found)["period"]) == (1, 399, 40)


def renewal(distance: Callable[[Any], int]) -> Callable[[Any], Lengths]:
    def lengths(rng: Any) -> Lengths:
        found, at = rng.normal(1, 0.02, 300), 0
        while (at := at + max(distance(rng), 1)) < 300:
            found[at] += 5
        return np.asarray(found)

    return lengths


def wandering(rng: Any) -> Lengths:
    found = rng.normal(0, 1, 300)
    for at in range(1, 300):
        found[at] = 0.9 * found[at - 1] + 0.44 * found[at]
    return np.exp(0.6 * found)


NOISE: dict[str, Callable[[Any], Lengths]] = {
    "log-normal": lambda rng: rng.lognormal(0, 0.5, 300),
    "heavy-tailed": lambda rng: 1 + rng.pareto(2.5, 300),
    "rare spikes": lambda rng: 1 + 5.0 * (rng.random(300) < 0.03),
    "frequent spikes": lambda rng: 1 + 5.0 * (rng.random(300) < 0.15),
    "correlated": wandering,
    "even but not regular": renewal(lambda rng: int(rng.gamma(4, 8))),
    "bursts": renewal(lambda rng: 4 if rng.random() < 0.7 else int(rng.integers(40, 200))),
}


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_not_periodic(name: str) -> None:
    alarms = sum(judged(steps(NOISE[name](np.random.default_rng(seed)))).state == "issue" for seed in range(100))
    assert alarms <= 1


@pytest.mark.parametrize("count", [1, 2, 50])
def test_few_steps_are_not_enough(count: int) -> None:
    assert judged(steps(stalling(count, 5))).state == "not enough data"


def test_equal_steps_and_no_steps() -> None:
    assert judged(steps(np.ones(500))).state == "no issue"
    assert judged(steps(np.zeros(500))).state == "no issue"
    with pytest.raises(MissingTable):
        judge(Given(), values(RULE))
