"""StragglingNode: a node that is slower step by step, and what is only noise."""

from __future__ import annotations

import numpy as np
import pytest

from data.errors import MissingTable
from data.insights.rules.straggling_node import RULE, judge
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks, values


def nodes_of(durations_s: dict[str, list[float]], every_s: float = 2.0) -> Given:
    """Steps that begin together every so often, and one GPU a node."""
    steps = [
        ("TRAIN", node, "0", number, START_NS + int(number * every_s * S), int(duration * S))
        for node, series in durations_s.items()
        for number, duration in enumerate(series)
    ]
    measured = ticks(*(node_ticks(node, gpu=[[50.0] * 10]) for node in durations_s))
    return Given(steps=step_records(steps), ticks=measured)


def test_a_node_that_is_always_slower_holds_the_others_up() -> None:
    found = judge(nodes_of({"a": [1.0] * 61, "b": [1.2] * 61, "c": [1.0] * 61}), values(RULE))
    assert found.state == "issue"
    assert [place.node for place in found.places] == ["b"]
    # The first step is left out: 60 steps of 0.2 s, for which two GPUs wait.
    assert found.wasted_gpu_s == pytest.approx(60 * 0.2 * 2)
    assert found.saved_s == pytest.approx(12)


def test_a_node_on_a_pace_of_its_own_keeps_nobody_waiting() -> None:
    steps = [("TRAIN", "a", "0", n, START_NS + n * S, S) for n in range(60)]
    steps += [("TRAIN", "b", "0", n, START_NS + 2 * n * S, 2 * S) for n in range(60)]
    found = judge(Given(steps=step_records(steps)), values(RULE))
    assert (found.state, found.wasted_gpu_s, found.saved_s) == ("issue", None, None)


@pytest.mark.parametrize(
    ("ratio", "threshold", "state"), [(1.1, 10, "no issue"), (1.11, 10, "issue"), (1.05, 4.9, "issue")]
)
def test_the_threshold_is_strict(ratio: float, threshold: float, state: str) -> None:
    evidence = nodes_of({"a": [1.0] * 60, "b": [ratio] * 60})
    assert judge(evidence, values(RULE, threshold=threshold)).state == state


def test_a_few_slow_steps_and_noise_are_no_straggler() -> None:
    noise = np.random.default_rng(7)
    series = {name: (1 + 0.3 * noise.random(400)).tolist() for name in "abcd"}
    series["a"][40:50] = [5.0] * 10
    assert judge(nodes_of(series), values(RULE)).state == "no issue"


@pytest.mark.parametrize(("steps", "state"), [(1, "not enough data"), (50, "not enough data"), (51, "issue")])
def test_nodes_must_share_enough_steps(steps: int, state: str) -> None:
    assert judge(nodes_of({"a": [1.0] * steps, "b": [2.0] * steps}), values(RULE)).state == state


def test_steps_without_a_number_cannot_be_compared() -> None:
    steps = [("TRAIN", node, "0", -1, START_NS + n * S, S) for node in "ab" for n in range(100)]
    assert judge(Given(steps=step_records(steps)), values(RULE)).state == "not enough data"


def test_a_step_that_was_taken_twice_is_left_out() -> None:
    steps = [("TRAIN", node, "0", n, START_NS + n * S, S) for node in "ab" for n in range(60)]
    steps += [("TRAIN", "b", "0", n, START_NS + (100 + n) * S, 9 * S) for n in range(5)]
    found = judge(Given(steps=step_records(steps)), values(RULE))
    assert (found.state, found.points) == ("no issue", 60 - 5 - 1)


def test_one_node_or_none_has_nobody_to_be_compared_with() -> None:
    for evidence in (Given(), nodes_of({"a": [1.0] * 60})):
        with pytest.raises(MissingTable):
            judge(evidence, values(RULE))
