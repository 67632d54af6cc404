"""LowGPUUtilization: when it fires, when it does not, and when it cannot tell."""

from __future__ import annotations

import math

import pytest

from data.errors import MissingTable
from data.insights.rules.low_gpu_utilization import RULE, compat, judge
from tests.data.insights.evidence import Given, node_ticks, ticks, values


def test_a_gpu_that_stays_below_the_threshold_is_an_issue() -> None:
    # 1,201 samples are 600 s, ten scans: the ninth sees 1,081 of them, the tenth all.
    found = judge(Given(ticks=ticks(node_ticks(gpu=[[40.0] * 1201]))), values(RULE))
    assert found.state == "issue"
    assert found.violations == found.triggered == 2
    assert (found.places[0].node, found.places[0].device) == ("algo-1", "gpu0")
    # Two windows of 500, up to sample 1,081 and up to 1,201: 620 samples, each half a second, 60 % of it idle.
    assert found.wasted_gpu_s == pytest.approx(620 * 0.5 * 0.6)


def test_a_busy_gpu_is_no_issue() -> None:
    found = judge(Given(ticks=ticks(node_ticks(gpu=[[95.0] * 1201]))), values(RULE))
    assert (found.state, found.violations, found.points) == ("no issue", 0, 1201)


def test_a_p95_at_the_threshold_is_no_violation() -> None:
    exact = Given(ticks=ticks(node_ticks(gpu=[[70.0] * 1201])))
    assert judge(exact, values(RULE)).state == "no issue"
    assert judge(exact, values(RULE, threshold_p95=70.001)).state == "issue"


def test_a_gpu_between_busy_and_idle_swings() -> None:
    found = judge(Given(ticks=ticks(node_ticks(gpu=[[100.0, 100.0, 100.0, 0.0] * 301]))), values(RULE))
    assert found.state == "issue"
    assert "idle in between" in found.places[0].text


@pytest.mark.parametrize(("samples", "state"), [(1, "not enough data"), (1000, "not enough data"), (1001, "issue")])
def test_nobody_is_judged_before_the_patience_is_exceeded(samples: int, state: str) -> None:
    assert judge(Given(ticks=ticks(node_ticks(gpu=[[1.0] * samples]))), values(RULE)).state == state


def test_missing_samples_are_not_counted() -> None:
    column = [1.0, math.nan] * 900
    assert judge(Given(ticks=ticks(node_ticks(gpu=[column]))), values(RULE)).state == "not enough data"
    nothing = Given(ticks=ticks(node_ticks(gpu=[[math.nan] * 1200])))
    assert judge(nothing, values(RULE)).state == "not enough data"


def test_without_gpus_and_without_ticks_there_is_nothing_to_judge() -> None:
    for evidence in (Given(), Given(ticks=ticks(node_ticks(length=2000))), Given(ticks=ticks())):
        with pytest.raises(MissingTable):
            judge(evidence, values(RULE))


def test_one_node_without_gpus_does_not_hide_the_other() -> None:
    both = ticks(node_ticks("algo-1", length=1201), node_ticks("algo-2", gpu=[[3.0] * 1201]))
    assert [place.node for place in judge(Given(ticks=both), values(RULE)).places] == ["algo-2"]


def test_compat_counts_the_samples_of_the_last_gpu() -> None:
    both = ticks(node_ticks("algo-1", gpu=[[3.0] * 1201]), node_ticks("algo-2", gpu=[[3.0] * 1101]))
    found = compat(Given(ticks=both), values(RULE))
    assert (found.points, found.triggered) == (1101, 2 + 2)
