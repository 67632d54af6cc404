"""Operators of two runs as a table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from components.operator_changes import SHOWN, operator_changes
from data.frames.comparison import OperatorChange
from tests.drawn import said, words

HOSTILE = "<b>x</b>\u202e"


def change(name: str = "aten::mm", verdict: Any = "slower", **changes: Any) -> OperatorChange:
    return replace(OperatorChange("cpu", name, verdict, 2, 3, 1e6, 2e6, 2_000_000, 6_000_000), **changes)


def test_calls_times_and_verdict_are_shown() -> None:
    text = words(operator_changes([change()]))
    for expected in ("aten::mm", "CPU", "1 ms", "2 ms", "6 ms", "slower", "1 slower"):
        assert expected in text


def test_a_run_without_it_shows_nothing_and_no_zero() -> None:
    added = change(verdict="added", count_a=0, mean_a_ns=math.nan, total_a_ns=0)
    assert words(operator_changes([added])).count("n/a") == 3


def test_names_are_plain_and_the_list_has_an_end() -> None:
    table = operator_changes([change(HOSTILE)] * (SHOWN + 5))
    assert "\u202e" not in said(table)
    assert f"the {SHOWN} with the largest change" in words(table)
    assert words(table).count("<b>x</b>") == SHOWN
