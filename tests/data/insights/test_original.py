"""The original's report beside ours: agreement, other parameters, and differences that are known."""

from __future__ import annotations

from typing import Any

from data.frames.original import OriginalReport
from data.insights.original import original_verdict
from tests import frames


def report(rule: str = "LowGPUUtilization", triggered: int | None = 8, **changes: Any) -> OriginalReport:
    fields: dict[str, Any] = {"violations": 8, "datapoints": 1001, "parameters": (), "details": ""} | changes
    return OriginalReport(rule=rule, triggered=triggered, path="x.json", modified_ns=0, **fields)


def test_both_found_an_issue() -> None:
    found = original_verdict(report(), frames.finding())
    assert found.agrees
    assert found.text == "issue found, triggered 8 times, 8 violations, 1,001 points looked at"
    assert found.reasons == ()


def test_a_fault_of_the_original_is_named() -> None:
    found = original_verdict(report("LoadBalancing", 0), frames.finding("LoadBalancing"))
    assert not found.agrees
    assert "never trigger" in " ".join(found.reasons)


def test_other_parameters_are_named_and_equal_ones_are_not() -> None:
    given = (("threshold_p95", "70"), ("window", "500"), ("mode", "None"))
    found = original_verdict(report(triggered=0, parameters=given), frames.finding())
    assert found.reasons == ("It was made with other parameters: threshold_p95 70.",)


def test_too_few_samples_is_not_the_same_as_no_issue() -> None:
    thin = frames.finding(outcome=frames.outcome(state="not enough data"))
    assert not original_verdict(report(triggered=1), thin).agrees
    assert "too few samples" in " ".join(original_verdict(report(triggered=1), thin).reasons)


def test_a_report_that_does_not_say_agrees_with_nothing() -> None:
    found = original_verdict(report(triggered=None, violations=None, datapoints=None), frames.finding())
    assert (found.text, found.agrees) == ("no issue found", False)
