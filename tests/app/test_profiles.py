"""Profiles: what is written can be read again, what does not exist is named, and a file that is none says so."""

from __future__ import annotations

import tomllib

import pytest

from app.judgement import Choice
from app.profiles import profile_text, read_profile
from app.settings import SettingsError
from data.insights.evaluate import evaluate
from data.insights.rules import RULES
from tests import frames
from tests.data.insights.evidence import Given


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "profile.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_profile_is_a_mode_and_a_table_for_each_rule():
    text = profile_text(frames.findings(frames.finding("B"), frames.finding("A"), mode="compat"))
    assert tomllib.loads(text) == {
        "mode": "compat",
        "A": {"threshold_p95": 60, "window": 500},
        "B": {"threshold_p95": 60, "window": 500},
    }
    assert text.index("[A]") < text.index("[B]")
    assert "60.0" not in text


def test_what_was_saved_is_read_again(written):
    choice = Choice("fixed", (("LowGPUUtilization", "threshold_p95", 60.5), ("StoppedGPU", "seconds", 30.0)))
    text = profile_text(evaluate(RULES, Given(), choice.thresholds))
    asked = read_profile(written(text), RULES)
    assert asked.choice == choice
    assert asked.refused == ()


def test_unknown_rules_and_parameters_are_named_and_the_rest_counts(written):
    path = written("mode = 'other'\nstray = 1\n[LowGPUUtilization]\nwindow = 400\nnone = 1\n[Nobody]\nlow = 1\n")
    asked = read_profile(path, RULES)
    assert asked.choice == Choice("fixed", (("LowGPUUtilization", "window", 400.0),))
    assert [one.name for one in asked.refused] == ["stray", "LowGPUUtilization.none", "Nobody.low", "mode"]


def test_an_empty_file_changes_nothing(written):
    assert read_profile(written(b"\xef\xbb\xbf"), RULES).choice == Choice()


@pytest.mark.parametrize("content", [b"not = toml = at all", b"\xff\xfe", b"[open", b"a = 1\n" * 300_000])
def test_a_file_that_is_no_profile_says_so(written, content):
    with pytest.raises(SettingsError):
        read_profile(written(content), RULES)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read: no such file"):
        read_profile(tmp_path / "gone.toml", RULES)
