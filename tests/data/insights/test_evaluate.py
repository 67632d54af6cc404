"""All rules over a job: order, severity, parameters in force, and rules that break or lack their data."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from data.errors import MissingTable
from data.frames.findings import Outcome
from data.insights.evaluate import evaluate
from data.insights.rule import ORIGINAL, OURS, Judge, Rule, Setting
from data.insights.rules import RULES
from tests.data.insights.evidence import Given, node_ticks, ticks

HUNDRED_S = Given(ticks=ticks(node_ticks(gpu=[[50.0] * 200])))
"""One GPU for a hundred seconds."""


def rule(name: str, judge: Judge, origin: str = OURS, compat: Judge | None = None) -> Rule:
    return Rule(
        name, name, "claim", ("do this",), (Setting("limit", 5.0, "%", "a limit", 1, 10),), judge, compat, origin
    )


def says(**parts: Any) -> Judge:
    return lambda evidence, values: Outcome(**{"state": "issue", "text": f"limit {values['limit']:g}"} | parts)


def test_issues_come_first_and_the_most_wasteful_before_the_rest() -> None:
    rules = (
        rule("fine", says(state="no issue")),
        rule("small", says(wasted_gpu_s=1.0)),
        rule("unknown", says()),
        rule("large", says(wasted_gpu_s=30.0)),
        rule("thin", says(state="not enough data")),
    )
    found = evaluate(rules, HUNDRED_S)
    assert [one.rule for one in found.findings] == ["large", "small", "unknown", "thin", "fine"]
    assert [one.severity for one in found.findings] == ["high", "low", "low", "", ""]
    assert [one.rule for one in found.issues] == ["large", "small", "unknown"]
    assert (found.gpu_s, found.node_s) == (100.0, 100.0)
    assert found.findings[0].share == pytest.approx(0.3)


def test_more_than_all_is_not_wasted() -> None:
    assert evaluate((rule("all", says(wasted_gpu_s=1000.0)),), HUNDRED_S).findings[0].share == 1.0


def test_a_moved_threshold_is_in_force_and_bounded() -> None:
    def text(value: float | str) -> str:
        return evaluate((rule("r", says()),), HUNDRED_S, [("r", "limit", value)]).findings[0].outcome.text

    assert [text(value) for value in (7, 0, 99, float("nan"), "seven")] == [
        "limit 7", "limit 1", "limit 10", "limit 5", "limit 5",
    ]  # fmt: skip


def test_a_rule_without_its_data_says_why() -> None:
    def lacking(evidence: Any, values: Any) -> Outcome:
        raise MissingTable("No GPU was recorded.", "Choose another instance.")

    (found,) = evaluate((rule("r", lacking),), HUNDRED_S).findings
    assert (found.outcome.state, found.outcome.text) == ("n/a", "No GPU was recorded. Choose another instance.")


def test_a_rule_that_breaks_does_not_take_the_others_along(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        found = evaluate((rule("broken", lambda evidence, values: 1 // 0), rule("r", says())), HUNDRED_S)
    assert [(one.rule, one.outcome.state) for one in found.findings] == [("r", "issue"), ("broken", "failed")]


def test_compat_has_the_original_rules_only() -> None:
    rules = (rule("ours", says()), rule("theirs", says(), ORIGINAL, says(text="as it was")))
    (found,) = evaluate(rules, HUNDRED_S, mode="compat").findings
    assert (found.rule, found.outcome.text) == ("theirs", "as it was")


def test_a_job_without_anything_is_judged_by_every_rule_and_has_no_issue() -> None:
    found = evaluate(RULES, Given())
    assert {one.outcome.state for one in found.findings} <= {"n/a", "not enough data"}
    assert (found.gpu_s, found.node_s) == (None, None)
