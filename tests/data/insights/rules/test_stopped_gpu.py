"""StoppedGPU: never used, stopped, silent; and all the cases in which nothing is wrong."""

from __future__ import annotations

import math

import pytest

from data.errors import MissingTable
from data.insights.rules.stopped_gpu import RULE, judge
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, ticks, values

BUSY, IDLE = [80.0] * 600, [0.0] * 600
"""Five minutes, two samples a second."""


def test_a_gpu_that_does_nothing_beside_a_busy_one() -> None:
    found = judge(Given(ticks=ticks(node_ticks(gpu=[BUSY, IDLE]))), values(RULE))
    (place,) = found.places
    assert (found.state, place.device, place.window) == ("issue", "gpu1", (START_NS, START_NS + 300 * S))
    assert found.wasted_gpu_s == pytest.approx(300)


def test_a_gpu_that_stops_is_wasted_from_then_on_while_the_others_work() -> None:
    stops = [80.0] * 200 + [0.0] * 400
    others_end = [80.0] * 500 + [0.0] * 100
    found = judge(Given(ticks=ticks(node_ticks("a", gpu=[stops]), node_ticks("b", gpu=[others_end]))), values(RULE))
    (place,) = found.places
    assert (place.node, place.window) == ("a", (START_NS + 100 * S, START_NS + 250 * S))
    assert found.wasted_gpu_s == pytest.approx(150)


def test_a_gpu_without_records_is_named_and_nothing_is_said_to_be_wasted() -> None:
    silent = [80.0] * 200 + [math.nan] * 400
    found = judge(Given(ticks=ticks(node_ticks(gpu=[silent, BUSY]))), values(RULE))
    assert found.state == "issue"
    assert "no record" in found.places[0].text
    assert found.wasted_gpu_s == 0


@pytest.mark.parametrize(
    "columns",
    [
        [BUSY, BUSY],
        [IDLE, IDLE],  # nothing stands out
        [IDLE],
        [BUSY, [80.0] * 500 + [0.0] * 100],  # 50 s are under the minute that is asked for
        [BUSY, [0.0] * 500 + [80.0] * 100],  # late, but it works
    ],
)
def test_nothing_is_wrong(columns: list[list[float]]) -> None:
    assert judge(Given(ticks=ticks(node_ticks(gpu=columns))), values(RULE)).state == "no issue"


def test_exactly_the_shortest_stretch_counts() -> None:
    evidence = Given(ticks=ticks(node_ticks(gpu=[BUSY, [80.0] * 480 + [0.0] * 120])))
    assert judge(evidence, values(RULE, seconds=60)).state == "issue"
    assert judge(evidence, values(RULE, seconds=60.5)).state == "no issue"


def test_rest_may_be_more_than_nothing() -> None:
    evidence = Given(ticks=ticks(node_ticks(gpu=[BUSY, [1.0] * 600])))
    assert judge(evidence, values(RULE)).state == "no issue"
    assert judge(evidence, values(RULE, at_rest=1)).state == "issue"


def test_one_sample_and_missing_ones_are_not_enough() -> None:
    for columns in ([[0.0], [80.0]], [[math.nan] * 99 + [0.0], [80.0] * 99 + [math.nan]]):
        assert judge(Given(ticks=ticks(node_ticks(gpu=columns))), values(RULE)).state == "not enough data"


def test_without_any_gpu_there_is_nothing_to_judge() -> None:
    nothing = [[math.nan] * 600]
    for evidence in (Given(), Given(ticks=ticks(node_ticks(length=600))), Given(ticks=ticks(node_ticks(gpu=nothing)))):
        with pytest.raises(MissingTable):
            judge(evidence, values(RULE))


def test_a_node_without_gpus_does_not_disturb() -> None:
    both = ticks(node_ticks("a", length=600), node_ticks("b", gpu=[BUSY, IDLE]))
    assert [place.node for place in judge(Given(ticks=both), values(RULE)).places] == ["b"]
