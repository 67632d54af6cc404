"""LoadBalancing: distances of histograms, which GPUs are compared, and what it wastes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from data.errors import MissingTable
from data.insights.rules.load_balancing import RULE, compat, distances, histogram, judge
from tests.data.insights.evidence import Given, node_ticks, ticks, values


def judged(*nodes: Any, **moved: float) -> Any:
    return judge(Given(ticks=ticks(*nodes)), values(RULE, **moved))


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((10, 0), (0, 10), 0.832555),
        ((8, 2), (2, 8), 0.439027),
        ((6, 4), (4, 6), 0.141900),
        ((5, 5), (5, 5), 0.0),
        ((100, 0), (0, 10), 0.832555),  # a longer series weighs no more
        ((0, 0), (0, 10), 0.0 + math.sqrt(math.log(2) / 2)),  # nothing against something
    ],
)
def test_distance(one: tuple[int, ...], two: tuple[int, ...], expected: float) -> None:
    """The vectors of the reference."""
    found = distances(np.array([one, two], float))
    assert found[0, 1] == pytest.approx(expected, abs=1e-6)
    assert found[1, 0] == found[0, 1]


def test_every_value_is_in_the_histogram() -> None:
    found = histogram(np.array([0, 1.9, 2, 50, 96, 97.9, 98, 98.1, 99, 100, 100.5, -1]))
    # 0, 1.9 and -1; 2; 50; 96 and 97.9; 98, 98.1, 99, 100 and 100.5
    assert {at: int(count) for at, count in enumerate(found) if count} == {0: 3, 1: 1, 25: 1, 48: 2, 49: 5}


def test_an_unused_gpu_is_named_and_its_time_is_wasted_as_far_as_the_others_use_theirs() -> None:
    found = judged(node_ticks(gpu=[[60.0] * 1200, [0.0] * 1200, [62.0] * 1200]), threshold=0.84)
    assert found.state == "no issue"  # nothing is that far apart
    found = judged(node_ticks(gpu=[[60.0] * 1200, [0.0] * 1200, [61.0] * 1200]))
    assert (found.state, found.points, found.violations) == ("issue", 3600, 2)
    assert "algo-1 gpu1 is at 0.0 % on average, gpu2 at 61.0 %" in found.text
    assert "Not used at all: algo-1 gpu1." in found.text
    assert [place.device for place in found.places] == ["gpu1"]
    # gpu1 leaves all of 600 s, the others 39.5 % of it.
    assert found.wasted_gpu_s == pytest.approx(600 * 0.605)


def test_equal_gpus_are_no_issue() -> None:
    found = judged(node_ticks(gpu=[[50.0, 80.0] * 600, [80.0, 50.0] * 600]))
    assert (found.state, found.violations) == ("no issue", 0)
    assert "0.00" in found.text


def test_a_distance_at_the_threshold_is_none() -> None:
    six_four, four_six = [10.0] * 720 + [50.0] * 480, [10.0] * 480 + [50.0] * 720
    node = node_ticks(gpu=[six_four, four_six])
    assert judged(node, threshold=0.1418).state == "issue"  # sqrt(0.6 ln 1.2 + 0.4 ln 0.8) is 0.14190
    assert judged(node, threshold=0.142).state == "no issue"


def test_the_highest_values_count() -> None:
    assert judged(node_ticks(gpu=[[97.0] * 1200, [99.0] * 1200])).state == "issue"


def test_unlike_ways_of_doing_as_much_waste_nothing() -> None:
    found = judged(node_ticks(gpu=[[50.0] * 1200, [0.0, 100.0] * 600]))
    assert (found.state, found.wasted_gpu_s) == ("issue", 0.0)
    assert len(found.places) == 2


def test_gpus_of_different_nodes_are_not_compared() -> None:
    one, two = node_ticks("algo-1", gpu=[[5.0] * 1200]), node_ticks("algo-2", gpu=[[90.0] * 1200])
    with pytest.raises(MissingTable, match="nothing to compare"):
        judged(one, two)


@pytest.mark.parametrize(("samples", "state"), [(1, "not enough data"), (1000, "not enough data"), (1001, "issue")])
def test_both_need_more_samples_than_the_patience(samples: int, state: str) -> None:
    assert judged(node_ticks(gpu=[[5.0] * samples, [90.0] * samples])).state == state
    short = [math.nan] * (1200 - samples) + [5.0] * samples
    assert judged(node_ticks(gpu=[short, [90.0] * 1200])).state == state


def test_a_node_with_too_few_samples_is_told_apart() -> None:
    found = judged(
        node_ticks("algo-1", gpu=[[5.0] * 1200, [90.0] * 1200]), node_ticks("algo-2", gpu=[[0.0] * 900, [90.0] * 900])
    )
    assert found.state == "issue"
    assert [place.node for place in found.places] == ["algo-1"]
    assert "GPUs of algo-2 have too few samples" in found.confidence
    assert "Not used at all: algo-2 gpu0." in found.text


def test_nothing_was_measured() -> None:
    assert judged(node_ticks(gpu=[[math.nan] * 1200] * 2)).state == "not enough data"
    assert judged(node_ticks(gpu=[[math.nan] * 1200, [4.0] * 1200, [4.0] * 1200])).state == "no issue"


def test_nothing_to_judge() -> None:
    for evidence in (Given(), Given(ticks=ticks()), Given(ticks=ticks(node_ticks(length=2000)))):
        for way in (judge, compat):
            with pytest.raises(MissingTable):
                way(evidence, values(RULE))


def test_the_original_never_finds_anything() -> None:
    node = node_ticks(gpu=[[5.0] * 1200, [math.nan] * 199 + [90.0] * 1001])
    found = compat(Given(ticks=ticks(node)), values(RULE))
    assert (found.state, found.triggered, found.violations, found.points) == ("no issue", 0, 0, 1001)
