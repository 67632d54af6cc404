"""StepGap: what lies between steps, what was not recorded, and how it differs from long steps."""

from __future__ import annotations

import random
from typing import Any

import pytest

from data.errors import MissingTable
from data.insights.rules import step_outlier
from data.insights.rules.step_gap import RULE, judge
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks, values

TRAIN, EVAL = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"
MS = S // 1000


def rows(
    gaps_ms: list[int], node: str = "algo-1", worker: str = "0", took_ms: int = 900, numbers: list[int] | None = None
) -> list[Any]:
    """Steps of equal length, each with the gap that follows it."""
    found, at = [], START_NS
    for number, gap in enumerate(gaps_ms):
        found.append((TRAIN, node, worker, numbers[number] if numbers else number, at, took_ms * MS))
        at += (took_ms + gap) * MS
    return found


def judged(steps: list[Any], **parts: Any) -> Any:
    return judge(Given(steps=step_records(steps), **parts), values(RULE))


def test_many_small_gaps_add_up() -> None:
    # 100 steps of 0.9 s with 0.3 s between them: 29.7 of 119.7 s.
    found = judged(rows([300] * 100), ticks=ticks(node_ticks(gpu=[[20.0] * 240] * 2)))
    assert (found.state, found.points, found.violations) == ("issue", 99, 0)
    assert found.figures[0].value == pytest.approx(100 * 29.7 / 119.7)
    assert found.saved_s == pytest.approx(29.7)
    assert found.wasted_gpu_s == pytest.approx(29.7 * 0.8 * 2)
    assert "every step" in found.advice[0]


def test_few_large_gaps_are_listed_longest_first() -> None:
    gaps = [0] * 100
    gaps[20], gaps[60] = 20_000, 30_000
    found = judged(rows(gaps))
    assert (found.state, found.violations) == ("issue", 2)
    begins = [START_NS + (21 * 900) * MS, START_NS + (61 * 900 + 20_000) * MS]
    assert [place.window for place in found.places[:2]] == [
        (begins[1], begins[1] + 30 * S),
        (begins[0], begins[0] + 20 * S),
    ]
    assert found.places[0].text == "30 s between steps 60 and 61"
    assert "large gaps" in found.advice[0]


def test_the_threshold_itself_is_allowed() -> None:
    # 99 gaps of 100 ms and 100 steps of 891 ms: 9.9 of 99 s.
    steps = rows([100] * 100, took_ms=891)
    assert judged(steps).state == "no issue"
    given = Given(steps=step_records(steps))
    assert judge(given, values(RULE, threshold=9.99)).state == "issue"


def test_long_steps_are_no_gaps_and_gaps_are_no_outliers() -> None:
    gaps = rows([9000 if at % 10 == 5 else 0 for at in range(300)])
    assert judged(gaps).state == "issue"
    outliers = step_outlier.judge(Given(steps=step_records(gaps)), values(step_outlier.RULE))
    assert (outliers.state, outliers.figures[0].value) == ("no issue", 0)
    long, at = [], START_NS
    for number in range(300):
        took = 10 * S if number % 20 == 5 else S
        long.append((TRAIN, "algo-1", "0", number, at, took))
        at += took
    assert judged(long).state == "no issue"
    assert step_outlier.judge(Given(steps=step_records(long)), values(step_outlier.RULE)).state == "issue"


def test_steps_that_were_not_recorded_are_no_gap() -> None:
    numbers = [at if at < 50 else at + 1000 for at in range(100)]
    gaps = [0] * 100
    gaps[49] = 900_000
    found = judged(rows(gaps, numbers=numbers))
    assert (found.state, found.points) == ("no issue", 98)
    again = judged(rows(gaps, numbers=[at % 50 for at in range(100)]))
    assert again.state == "issue"  # numbers that begin again are a new epoch
    unknown = judged(rows(gaps, numbers=[-1] * 100))
    assert unknown.state == "issue"


def test_what_another_phase_fills_is_no_gap() -> None:
    steps = rows([900] * 50)
    filled = [(EVAL, node, worker, number, at + took, 900 * MS) for _, node, worker, number, at, took in steps]
    assert judged(steps).state == "issue"
    assert judged(steps + filled).state == "no issue"


def test_processes_of_a_node_share_its_gpus() -> None:
    both = rows([300] * 100) + rows([300] * 100, worker="1")
    found = judged(both, ticks=ticks(node_ticks(gpu=[[0.0] * 240] * 4)))
    assert found.wasted_gpu_s == pytest.approx(29.7 * 4)
    assert len(found.tables[0].rows) == 2
    assert len(found.places) == len({place.window for place in found.places})


def test_without_gpus_nodes_wait() -> None:
    assert judged(rows([300] * 100), ticks=ticks(node_ticks(length=9))).wasted_node_s == pytest.approx(29.7)
    assert judged(rows([300] * 100)).wasted_node_s is None


@pytest.mark.parametrize(("count", "state"), [(1, "not enough data"), (20, "not enough data"), (21, "issue")])
def test_few_steps_are_not_enough(count: int, state: str) -> None:
    assert judged(rows([500] * count)).state == state


def test_a_process_with_few_steps_does_not_hide_the_others() -> None:
    found = judged(rows([300] * 100) + rows([0] * 3, node="algo-2"))
    assert found.state == "issue"
    assert "1 of 2" in found.confidence


def test_no_steps() -> None:
    with pytest.raises(MissingTable):
        judge(Given(), values(RULE))


def test_steps_that_overlap_against_plain_python() -> None:
    dice = random.Random(11)
    steps, at = [], START_NS
    for number in range(400):
        at += dice.randrange(1, 900) * MS
        steps.append((TRAIN, "a", "0", number, at, dice.randrange(1, 900) * MS))
    inside, reached = 0, steps[0][4]
    for *_, start, took in steps:
        inside += max(start + took - max(start, reached), 0)
        reached = max(reached, start + took)
    whole = reached - steps[0][4]
    assert judged(steps).figures[0].value == pytest.approx(100 * (whole - inside) / whole)
