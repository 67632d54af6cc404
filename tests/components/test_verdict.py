"""The verdict on a job's data and its figures."""

from __future__ import annotations

from typing import Any

from components import levels
from components import verdict as shown
from data.insights.quality import verdict
from data.insights.statement import Level
from tests import quality as built
from tests.drawn import words


def figures(**changes: Any) -> dict[str, str]:
    """Name of a key figure -> all its words."""
    strip = shown.figures_strip(changes.pop("quality", built.quality()), changes.pop("coverage", built.coverage()))
    return {words(card.children[0]): words(card.children[1:]) for card in strip.children}


def test_key_figures_of_a_clean_job() -> None:
    assert figures() == {
        "Files read": "61 38.4 MB",
        "Records read": "236,214 5,036 events, 188 steps",
        "Records lost": "0 nothing was lost",
        "Events left out": "0 none",
        "Duplicates dropped": "0 no copies of files",
        "Time covered": "100.0 % all nodes",
        "In the store": "1.92 MB 20.0 times smaller",
    }


def test_key_figures_of_a_damaged_one() -> None:
    kinds = built.kind(lost_rows=281, damaged=11), built.kind("pythontimeline", left_out=4, copies=1)
    found = figures(quality=built.quality(*kinds, duplicates=1440), coverage=built.coverage([(1, 100, 100.2, "gap")]))
    assert found["Records lost"] == "281 in 11 files"
    assert found["Events left out"] == "4 no usable time or duration"
    assert found["Duplicates dropped"] == "1,440 1 copy of files left out"
    assert found["Time covered"] == "99.9 % lowest node, algo-2"  # 99.96: never rounded to a whole that it is not


def test_what_cannot_be_known_is_missing() -> None:
    assert figures(coverage=built.coverage(names=()))["Time covered"] == "n/a no system metrics"


def test_levels_are_told_by_sign_and_word() -> None:
    signs = {sign for sign, _ in levels.SIGNS.values()}
    assert len(signs) == len(levels.SIGNS) == len(Level)
    line = shown.verdict_line(verdict(built.quality(built.kind(lost_rows=3, damaged=1)), built.coverage()))
    assert words(line).startswith("◆ Warning 3 records of")
