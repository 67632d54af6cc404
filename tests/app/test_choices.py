"""Thresholds and mode as people ask for them: in an address, with flags, in a file; what is wrong is named."""

from __future__ import annotations

import pytest

from app.choices import of_assignments, of_query, of_values
from app.judgement import Choice
from data.frames.findings import Outcome
from data.insights.rule import Rule, Setting

RULES = (
    Rule(
        "First",
        "",
        "",
        (),
        (Setting("low", 5.0, "%", "", 0, 10), Setting("phase", "train", "", "")),
        lambda e, v: Outcome("n/a", ""),
    ),
    Rule("Second", "", "", (), (Setting("low", 1.0, "%", "", 0, 10),), lambda e, v: Outcome("n/a", "")),
)
NONE = Choice()


def asked(query, defaults=NONE):
    return of_query(query, RULES, defaults)


def test_an_address_moves_thresholds_and_mode():
    found = asked(
        {"First_low": "7", "Second_low": "0.25", "First_phase": "eval", "mode": "compat", "metric": "io_wait"}
    )
    assert found.refused == ()
    assert found.choice == Choice(
        "compat", (("First", "low", 7.0), ("First", "phase", "eval"), ("Second", "low", 0.25))
    )


def test_equal_choices_are_equal_whatever_their_order_and_defaults_are_left_out():
    one = asked({"First_low": "7", "Second_low": "2"}).choice
    other = asked({"Second_low": "2.0", "First_low": "7", "First_phase": "train"}).choice
    assert one == other
    assert asked({"First_low": "5"}).choice == NONE


@pytest.mark.parametrize(
    ("query", "name", "reason"),
    [
        ({"First_low": "11"}, "First.low", "it must be from 0 to 10"),
        ({"First_low": "-1"}, "First.low", "it must be from 0 to 10"),
        ({"First_low": "seven"}, "First.low", "it is no number"),
        ({"First_low": "nan"}, "First.low", "it is no number"),
        ({"First_low": "1e999"}, "First.low", "it is no number"),
        ({"First_low": ""}, "First.low", "it is no number"),
        ({"First_phase": " "}, "First.phase", "it must be a text of 1 to 100 characters"),
        ({"First_phase": "a\nb"}, "First.phase", "it must be a text of 1 to 100 characters"),
        ({"First_high": "1"}, "First.high", "First has no such parameter (it has: low, phase)"),
        ({"mode": "exact"}, "mode", "it must be fixed or compat"),
    ],
)
def test_what_cannot_be_used_is_named_and_left_at_its_default(query, name, reason):
    found = asked(query)
    assert found.choice == NONE
    assert [(one.name, one.reason) for one in found.refused] == [(name, reason)]
    assert found.refused[0].words.endswith(f"is not used: {reason}.")


def test_keys_of_other_pages_are_left_alone():
    assert asked({"Unknown_low": "1", "by_node": "x", "q": "words"}) == asked({})


def test_words_of_a_refusal_are_safe_to_show():
    words = asked({"First_low": "\u202e<b>" + "9" * 500}).refused[0].words
    assert "\u202e" not in words
    assert len(words) < 200


def test_the_server_s_defaults_hold_where_the_address_says_nothing():
    own = Choice("compat", (("First", "low", 7.0), ("Second", "low", 2.0)), "edition")
    assert asked({}, own).choice == own
    found = asked({"First_low": "5", "mode": "fixed"}, own).choice
    assert found == Choice("fixed", (("Second", "low", 2.0),), "edition")


def test_flags_are_written_with_a_point_and_an_equals_sign():
    found = of_assignments(["First.low=7", " First.phase = a=b "], "", RULES, NONE)
    assert found.choice == Choice("fixed", (("First", "low", 7.0), ("First", "phase", "a=b")))
    assert found.refused == ()
    assert of_assignments([], "compat", RULES, NONE).choice.mode == "compat"


@pytest.mark.parametrize("text", ["First.low", "First=7", "low=7", ""])
def test_flags_written_otherwise_are_refused(text):
    (refused,) = of_assignments([text], "", RULES, NONE).refused
    assert "Rule.parameter=value" in refused.reason


def test_flags_for_rules_that_do_not_exist_are_refused():
    (refused,) = of_assignments(["Third.low=7"], "", RULES, NONE).refused
    assert refused.reason == "there is no rule Third"
    (refused,) = of_assignments([], "other", RULES, NONE).refused
    assert refused.name == "mode"


def test_values_of_a_file_have_their_own_types():
    found = of_values([("First", "low", 7), ("Second", "low", True), ("First", "phase", "eval")], "compat", RULES)
    assert found.choice == Choice("compat", (("First", "low", 7.0), ("First", "phase", "eval")))
    assert [(one.name, one.reason) for one in found.refused] == [("Second.low", "it is no number")]
