"""The waterfall of two mean steps: bars that follow on each other, and an axis that says where it begins."""

from __future__ import annotations

from typing import Any

import pytest

from components.figures.axes import View
from components.figures.waterfall import step_waterfall
from data.frames.comparison import Part, Waterfall
from data.selection import Window
from tests.drawn import words

VIEW = View(Window(0, 1))


def drawn(a_s: float, b_s: float, *parts: tuple[str, float, float]) -> Any:
    found = tuple(Part(key, key, a, b) for key, a, b in parts)
    return step_waterfall(Waterfall("TRAIN", "TRAIN", a_s, b_s, found, 30, 20), VIEW)


def test_each_bar_begins_where_the_one_before_ended() -> None:
    view = drawn(1.0, 0.7, ("data_loading", 0.5, 0.1), ("gpu", 0.3, 0.4), ("unexplained", 0.2, 0.2))
    (bar,) = view.figure.data
    assert list(bar.base) == pytest.approx([0, 0.6, 0.6, 0.7, 0])
    assert list(bar.x) == pytest.approx([1.0, 0.4, 0.1, 0.0, 0.7])
    assert bar.y[0] == "A: mean step"
    assert [list(bar.text)[at] for at in (1, 2)] == ["−400 ms", "+100 ms"]


def test_longer_and_shorter_have_their_own_colours() -> None:
    (bar,) = drawn(1.0, 1.0, ("data_loading", 0.1, 0.4), ("gpu", 0.9, 0.6)).figure.data
    colours = list(bar.marker.color)
    assert (colours[1], colours[2]) == (VIEW.colours.bad, VIEW.colours.good)


def test_the_axis_begins_at_0_unless_the_parts_would_vanish_and_then_it_says_so() -> None:
    wide = drawn(1.0, 0.4, ("gpu", 1.0, 0.4))
    assert wide.figure.layout.xaxis.range[0] == 0
    assert "begins" not in words(wide.note)
    thin = drawn(1.0, 1.02, ("gpu", 1.0, 1.02))
    assert 0.9 < thin.figure.layout.xaxis.range[0] < 1.0
    assert "the axis begins at" in words(thin.note)


def test_the_caption_names_what_changed_most() -> None:
    assert "−600 ms: GPU only −600 ms" in words(drawn(1.0, 0.4, ("gpu", 1.0, 0.4)).caption)


def test_equal_runs_and_steps_without_length_are_drawn() -> None:
    assert "nothing differs" in words(drawn(1.0, 1.0, ("gpu", 1.0, 1.0)).caption)
    assert drawn(0.0, 0.0).figure.layout.xaxis.range[1] > 0
