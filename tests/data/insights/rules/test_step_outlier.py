"""StepOutlier: the reference's vectors, modes, warm-up, waste, and the scans of the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from data.errors import MissingTable
from data.frames.evidence import StepRecords
from data.insights.rules.step_outlier import RULE, compat, judge, outliers_by_scan
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks, values

TRAIN, EVAL = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"


def rows(
    seconds: Sequence[float], node: str = "algo-1", worker: str = "0", phase: str = TRAIN, start_ns: int = START_NS
) -> list[Any]:
    """Steps one after the other without a gap."""
    found, at = [], start_ns
    for number, length in enumerate(seconds):
        found.append((phase, node, worker, number, at, round(length * S)))
        at += round(length * S)
    return found


def steps(seconds: Sequence[float], **where: Any) -> StepRecords:
    return step_records(rows(seconds, **where))


def figure(found: Any, name: str) -> float:
    return next(one.value for one in found.figures if one.name == name)


@pytest.mark.parametrize(
    ("seconds", "mean", "cut", "outliers"),
    [
        ([1.0] * 100 + [5.0], 1.039604, 2.227723, 1),
        ([1.0] * 195 + [3.0] * 5 + [10.0], 1.094527, 3.202125, 1),
    ],
)
def test_the_vectors_of_the_reference(seconds: list[float], mean: float, cut: float, outliers: int) -> None:
    found = judge(Given(steps=steps(seconds)), values(RULE))
    assert (found.state, figure(found, "most outliers of a process")) == ("no issue", outliers)
    assert (figure(found, "its mean"), figure(found, "its limit")) == pytest.approx((mean, cut), abs=1e-6)
    assert compat(Given(steps=steps(seconds)), values(RULE)).triggered == 0
    assert judge(Given(steps=steps(seconds)), values(RULE, n_outliers=0)).state == "issue"


def test_many_outliers_are_an_issue_and_each_counts_once() -> None:
    # 11 of 1,111 steps at 11 s: mean (1100 + 121) / 1111 s, variance 100 * 11 * 1100 / 1111**2.
    seconds = ([1.0] * 100 + [11.0]) * 11
    given = Given(steps=steps(seconds), ticks=ticks(node_ticks(gpu=[[50.0] * 10] * 4)))
    found = judge(given, values(RULE))
    mean = 1221 / 1111
    assert (found.state, found.violations, found.triggered, found.points) == ("issue", 11, 1, 1111)
    assert figure(found, "its limit") == pytest.approx(mean + 3 * (100 * 11 * 1100 / 1111**2) ** 0.5)
    assert found.wasted_gpu_s == pytest.approx(11 * (11 - mean) * 4)
    assert found.saved_s == pytest.approx(11 * (11 - mean))
    place = found.places[0]
    assert (place.node, place.metric, place.window) == ("algo-1", "steps", (START_NS + 100 * S, START_NS + 111 * S))
    assert judge(given, values(RULE, n_outliers=11)).state == "no issue"


def test_processes_that_are_late_together_cost_their_node_the_time_once() -> None:
    seconds = ([1.0] * 100 + [11.0]) * 11
    both = step_records(rows(seconds) + rows(seconds, worker="1"))
    alone = judge(Given(steps=steps(seconds), ticks=ticks(node_ticks(gpu=[[0.0]]))), values(RULE))
    found = judge(Given(steps=both, ticks=ticks(node_ticks(gpu=[[0.0]]))), values(RULE))
    assert (found.violations, found.triggered) == (22, 2)
    assert found.wasted_gpu_s == pytest.approx(alone.wasted_gpu_s)


def test_without_gpus_the_node_s_time_is_wasted() -> None:
    seconds = ([1.0] * 100 + [11.0]) * 11
    for given in (Given(steps=steps(seconds)), Given(steps=steps(seconds), ticks=ticks(node_ticks(length=3)))):
        found = judge(given, values(RULE))
        assert (found.wasted_gpu_s, found.wasted_node_s) == (None, pytest.approx(11 * (11 - 1221 / 1111)))


def test_first_steps_are_named_and_not_wasted() -> None:
    warm = judge(Given(steps=steps([11.0] * 12 + [1.0] * 1200)), values(RULE))
    assert (warm.state, warm.violations, warm.wasted_node_s) == ("issue", 12, 0)
    assert "12 of them are the first" in warm.text
    assert "warm-up" in warm.places[0].text


@pytest.mark.parametrize("mode", ["TRAIN", "train", "ModeKeys.TRAIN", TRAIN])
def test_a_mode_restricts_to_its_phase(mode: str) -> None:
    uneven = ([1.0] * 100 + [11.0]) * 11
    both = Given(steps=step_records(rows(uneven, phase=EVAL) + rows([1.0] * 200, start_ns=START_NS + 10**13)))
    assert judge(both, values(RULE)).state == "issue"
    assert judge(both, values(RULE, mode=mode)).state == "no issue"
    with pytest.raises(MissingTable):
        judge(both, values(RULE, mode="PREDICT"))


@pytest.mark.parametrize(("count", "state"), [(1, "not enough data"), (100, "not enough data"), (101, "no issue")])
def test_nobody_is_judged_by_a_hundred_steps(count: int, state: str) -> None:
    assert judge(Given(steps=steps([1.0] * count)), values(RULE)).state == state


def test_equal_steps_and_no_steps() -> None:
    assert judge(Given(steps=steps([0.1] * 500)), values(RULE)).state == "no issue"
    for mode in (judge, compat):
        with pytest.raises(MissingTable):
            mode(Given(), values(RULE))


def test_a_node_with_few_steps_is_not_hidden() -> None:
    uneven = ([1.0] * 100 + [11.0]) * 11
    found = judge(Given(steps=step_records(rows(uneven) + rows([1.0] * 9, node="algo-2"))), values(RULE))
    assert found.state == "issue"
    assert "1 of 2" in found.confidence


def test_compat_counts_all_outliers_again_in_every_scan() -> None:
    # After ten minutes of 0.5 s steps come 11 of 60 s, then 1 s steps for three minutes.
    seconds = [0.5] * 1200 + [60.0] * 11 + [1.0] * 180
    found = compat(Given(steps=steps(seconds)), values(RULE))
    start, done = np.cumsum([0, *seconds[:-1]]), 0
    expected = []
    while done * 60 < sum(seconds):
        done += 1
        seen = np.array(seconds)[start <= done * 60]
        late = int((seen > seen.mean() + 3 * seen.std()).sum()) if len(seen) > 100 else 0
        expected.append(late if late > 10 else 0)
    assert (found.violations, found.triggered) == (sum(expected), sum(one > 0 for one in expected))
    assert found.triggered > 1
    assert found.points == len(seconds)


def test_compat_looks_at_the_original_s_phases_only() -> None:
    other = steps(([1.0] * 100 + [11.0]) * 11, phase="ProfilerStep")
    assert compat(Given(steps=other), values(RULE)).points == 0
    assert compat(Given(steps=other), values(RULE, mode="Profiler")).triggered > 0


def test_outliers_by_scan_are_those_counted_one_by_one() -> None:
    rng = np.random.default_rng(7)
    seconds = rng.lognormal(0, 1, 3000)
    seen = np.sort(rng.integers(1, 3001, 400))
    expected = [int((seconds[:n] > seconds[:n].mean() + 2 * seconds[:n].std()).sum()) for n in seen.tolist() if n > 100]
    assert outliers_by_scan(seconds, seen, 2).tolist() == expected
