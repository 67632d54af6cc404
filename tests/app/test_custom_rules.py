"""Rules of one's own: the documented example works, and what is wrong with a file is a finding, never the end."""

from __future__ import annotations

import os
import re
import sys

import numpy as np
import pytest

from app.custom_rules import PARTS, custom_rules, fingerprint
from app.judgement import StoredEvidence
from app.rulebook import judgement_of
from data.insights.evaluate import evaluate
from data.insights.evidence import Evidence
from data.insights.rules import RULES
from tests.conftest import ROOT
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, ticks

FINE = """
from data.frames.findings import Outcome
from data.insights.rule import Rule

RULE = Rule({name!r}, "Title", "Claim.", ("Advice.",), (), lambda evidence, values: {returns})
"""


def fine(name="Mine", returns='Outcome("no issue", "Fine.")'):
    return FINE.format(name=name, returns=returns)


@pytest.fixture
def folder(tmp_path):
    """Writes files into a folder of rules."""

    def write(**files):
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
        return tmp_path

    return write


def judged(path, evidence=None):
    found = evaluate(custom_rules(path, [rule.name for rule in RULES]), evidence or Given(ticks=ticks(node_ticks())))
    return {one.rule: (one.outcome.state, one.outcome.text) for one in found.findings}


def example():
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    section = text[text.index("## Your own rule") :]
    return re.search(r"^```python\n(.*?)^```", section, re.M | re.S)[1]


def test_the_documented_example_finds_full_memory(folder):
    (rule,) = custom_rules(folder(full_memory=example()), [])
    assert rule.origin == "custom"

    def outcome(memory, thresholds=()):
        evidence = Given(ticks=ticks(node_ticks("algo-1", memory=[50.0] * 100), node_ticks("algo-2", memory=memory)))
        (found,) = evaluate((rule,), evidence, thresholds).findings
        return found.outcome

    full = outcome([50.0] * 20 + [95.0] * 11 + [np.nan] * 69)
    assert (full.state, full.text) == ("issue", "Memory was above 90 % on 1 nodes.")
    assert full.points == 100 + 31
    (place,) = full.places
    assert (place.node, place.text) == ("algo-2", "highest 95.0 %")
    assert place.window == (START_NS + 10 * S, START_NS + 10 * S + 11 * S // 2)
    assert outcome([50.0] * 20 + [95.0] * 10).state == "no issue"
    assert outcome([95.0] * 10, [("FullMemory", "patience", 9.0)]).state == "issue"
    (nothing,) = evaluate((rule,), Given(ticks=ticks(node_ticks(length=10)))).findings
    assert nothing.outcome.state == "n/a"
    (absent,) = evaluate((rule,), Given()).findings
    assert (absent.outcome.state, absent.outcome.text) == ("n/a", "No ticks here.")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("def (:\n", "It could not be loaded: invalid syntax (line 1)."),
        ("\n\nraise ValueError('no')\n", "It could not be loaded: ValueError: no (line 3)."),
        ("import sys\nsys.exit(3)\n", "It could not be loaded: SystemExit: 3 (line 2)."),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found' (line 1)."),
        ("x = 1\n", "It defines no RULE."),
        ("RULE = 'rule'\n", "Its RULE is no Rule but a str."),
        (fine("LowGPUUtilization"), "Another rule has the name LowGPUUtilization already."),
        (fine("Low_GPU"), "must be letters and digits"),
        (fine("ü" * 3), "must be letters and digits"),
        (fine().replace('("Advice.",)', '"Advice."'), "must be texts"),
        (fine().replace('("Advice.",)', "(1,)"), "must be texts"),
        (fine().replace(", (), lambda", ", (1,), lambda"), "must have settings of Setting"),
    ],
)
def test_a_file_that_is_no_rule_is_a_finding_that_failed(folder, content, reason):
    found = judged(folder(broken=content, good=fine()))
    assert found["Mine"] == ("no issue", "Fine.")
    state, text = found["Broken"]
    assert state == "failed"
    assert reason in text


@pytest.mark.parametrize(
    ("returns", "reason"),
    [
        ("1 / 0", "This rule broke while it looked at the job: ZeroDivisionError: division by zero."),
        ("None", "This rule did not return an Outcome but a NoneType."),
        ('Outcome("perhaps", "Text.")', "cannot be used: Invalid enum value 'perhaps'"),
        ('Outcome("issue", None)', "cannot be used: Expected `str`, got `null`"),
        ('Outcome("issue", "Text.", advice="abc")', "cannot be used"),
        ('Outcome("issue", "Text.", points=object())', "cannot be used"),
        ("evidence._db", "evidence has no _db; its parts are header, times"),
    ],
)
def test_a_judge_that_fails_is_a_finding_that_failed(folder, returns, reason):
    state, text = judged(folder(mine=fine(returns=returns)))["Mine"]
    assert state == "failed"
    assert reason in text


def test_numbers_of_numpy_may_be_returned(folder):
    outcome = 'Outcome("issue", "Text.", evidence.ticks.nodes[0].tick_ns[0] * 0 + 7)'
    evidence = Given(ticks=ticks(node_ticks(gpu=[[1.0, 2.0]])))
    rules = custom_rules(folder(mine=fine(returns=outcome)), [])
    (found,) = evaluate(rules, evidence).findings
    assert (found.outcome.state, found.outcome.points, type(found.outcome.points)) == ("issue", 7, int)


def test_two_files_with_one_name_and_files_that_are_none(folder):
    path = folder(a=fine(), b=fine())
    (path / "notes.txt").write_text("x")
    (path / "c.py").mkdir()
    found = judged(path)
    assert found["Mine"][0] == "no issue"
    assert found["B"][1] == "Another rule has the name Mine already."
    assert found["C"][0] == "failed"
    assert len(found) == 3


def test_a_folder_that_is_not_there_is_a_finding_that_failed(tmp_path):
    assert judged(tmp_path / "gone")["CustomRules"][0] == "failed"
    assert fingerprint(tmp_path / "gone") == "unreadable"


def test_nothing_is_left_in_the_folder_and_a_broken_file_leaves_no_module(folder):
    before = set(sys.modules)
    path = folder(a=fine(), b="raise ValueError")
    custom_rules(path, [])
    assert sorted(one.name for one in path.iterdir()) == ["a.py", "b.py"]
    assert len(set(sys.modules) - before) == 1


def test_a_rule_sees_every_part_of_the_evidence_and_only_those():
    assert set(PARTS) == {name for name in dir(Evidence) if isinstance(getattr(Evidence, name), property)}
    assert all(hasattr(StoredEvidence, part) for part in PARTS)


def test_the_edition_changes_with_the_files(folder):
    plain = judgement_of(None, None)[0]
    path = folder(a=fine())
    first = judgement_of(path, None)[0]
    assert [rule.name for rule in first.rules] == [*(rule.name for rule in RULES), "Mine"]
    assert first.defaults.edition != plain.defaults.edition
    assert judgement_of(path, None)[0].defaults == first.defaults
    os.utime(path / "a.py", ns=(1, 1))
    assert judgement_of(path, None)[0].defaults.edition != first.defaults.edition
    second = judgement_of(folder(b=fine("Other")), None)[0]
    assert second.defaults.edition != first.defaults.edition


def test_a_profile_may_name_parameters_of_custom_rules(folder, tmp_path_factory):
    profile = tmp_path_factory.mktemp("profile") / "p.toml"
    profile.write_text("mode = 'compat'\n[FullMemory]\nlimit = 80\n[Gone]\nx = 1\n")
    judgement, refused = judgement_of(folder(full=example()), profile)
    assert judgement.defaults.mode == "compat"
    assert judgement.defaults.thresholds == (("FullMemory", "limit", 80.0),)
    assert [one.name for one in refused] == ["Gone.x"]
