"""What became of each finding between two runs."""

from __future__ import annotations

import pytest

from data.frames.findings import Findings
from data.insights.comparison.findings import finding_changes
from tests import frames


def judged(**states: str) -> Findings:
    return frames.findings(
        *(frames.finding(rule, outcome=frames.outcome(state=state)) for rule, state in states.items())
    )


@pytest.mark.parametrize(
    ("a", "b", "change"),
    [
        ("issue", "no issue", "fixed"),
        ("issue", "issue", "still there"),
        ("no issue", "issue", "new"),
        ("not enough data", "issue", "not judged in A"),
        ("n/a", "issue", "not judged in A"),
        ("issue", "not enough data", "cannot be judged in B"),
        ("issue", "failed", "cannot be judged in B"),
        ("issue", "n/a", "without object in B"),
        ("no issue", "n/a", "no issue"),
        ("no issue", "no issue", "no issue"),
    ],
)
def test_every_pair_of_states(a: str, b: str, change: str) -> None:
    (found,) = finding_changes(judged(r=a), judged(r=b))
    assert found.change == change


def test_what_is_new_comes_first_and_what_was_fixed_last_but_for_the_rest() -> None:
    a = judged(fine="no issue", gone="issue", stays="issue", comes="no issue")
    b = judged(fine="no issue", gone="no issue", stays="issue", comes="issue")
    assert [one.rule for one in finding_changes(a, b)] == ["comes", "stays", "gone", "fine"]


def test_a_rule_that_only_one_run_was_judged_by() -> None:
    changes = {one.rule: one for one in finding_changes(judged(old="issue"), judged(custom="issue"))}
    assert changes["old"].change == "without object in B"
    assert changes["old"].b is None
    assert changes["custom"].change == "not judged in A"


def test_summaries_are_no_findings() -> None:
    assert finding_changes(judged(usage="summary"), judged(usage="summary")) == ()
