"""Budgets: broken beyond noise only, and readable or refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from data.errors import InsightsError
from data.frames.comparison import SINGLE, TESTED, Row
from data.insights.comparison.budget import KEYS, check
from data.insights.comparison.verdict import rows
from tests.data.insights.comparison import test_verdict

SLOWER = Row("step_time", "TRAIN", "Step time", "s", 1.0, 1.05, "lower", "worse", 0.03, 0.07, 0.02, TESTED, "")


@pytest.mark.parametrize(
    ("budget", "broken"),
    [
        ("step_time>3%", True),
        ("step_time > 5.5 %", False),
        ("step_time>0.04", True),
        ("step_time>0.06", False),
        ("step_time<3%", False),
        ("step_time<-1%", False),
    ],
)
def test_a_budget_is_held_against_the_change(budget: str, broken: bool) -> None:
    (found,) = check([budget], [SLOWER])
    assert found.broken is broken


def test_noise_never_breaks_a_budget() -> None:
    (found,) = check(["step_time>3%"], [replace(SLOWER, verdict="no detectable difference")])
    assert not found.broken
    assert "no detectable difference" in found.text


def test_figures_that_are_one_value_each_are_taken_as_they_are() -> None:
    cost = Row("cost", "", "Cost", "USD", 10.0, 12.0, "lower", "higher", *(math.nan,) * 3, SINGLE, "")
    assert [found.broken for found in check(["cost>10%", "cost>3", "cost<-1"], [cost])] == [True, False, False]


def test_every_phase_is_held_to_it() -> None:
    other = replace(SLOWER, phase="EVAL", b=1.0)
    assert [found.broken for found in check(["step_time>3%"], [SLOWER, other])] == [True, False]


def test_what_cannot_be_known_breaks_nothing_and_is_said() -> None:
    unknown = replace(SLOWER, b=math.nan, verdict="cannot be judged", note="One of them has no values.")
    for given in ([unknown], []):
        (found,) = check(["step_time>3%"], given)
        assert not found.broken
        assert found.text


@pytest.mark.parametrize("budget", ["", "step_time", "speed>3%", "step_time>x", "step_time>3%;rm", "STEP_TIME>3%"])
def test_a_budget_that_nobody_can_read_is_refused(budget: str) -> None:
    with pytest.raises(InsightsError):
        check([budget], [SLOWER])


def test_every_figure_can_have_a_budget() -> None:
    run = test_verdict.run({"steps": test_verdict.steps_of(test_verdict.noisy(1))})
    assert {row.key for row in rows(run, run)} <= set(KEYS)
