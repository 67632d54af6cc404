"""Two runs laid over each other: what is drawn is what was given, B moved, and what one lacks is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.figures.axes import View
from components.figures.overlaid import overlaid_histogram, overlaid_lines, run_colour, step_ecdf
from components.panels import EmptyView, FigureView
from data.frames.comparison import StepDistribution
from data.selection import Window
from tests import frames
from tests.drawn import words

VIEW = View(Window(frames.START_NS, frames.END_NS), origin_ns=frames.START_NS)


def test_b_is_moved_beside_a_and_both_keep_their_colours() -> None:
    a = frames.over_time("gpu", [("", "")])
    b = replace(a, start_ns=a.start_ns + 1000 * frames.S)
    view = overlaid_lines(a, b, -1000 * frames.S, VIEW)
    lines = [trace for trace in view.figure.data if trace.mode == "lines"]
    assert [trace.name for trace in lines] == ["A", "B"]
    assert lines[0].x0 == lines[1].x0
    assert [trace.line.color for trace in lines] == [run_colour("dark", "A"), run_colour("dark", "B")]


def test_the_scale_holds_both_runs() -> None:
    a = frames.over_time("network", [("", "")])
    a = replace(a, unit="bytes/s", mean=np.full_like(a.mean, 1e3), maximum=np.full_like(a.maximum, 1e3))
    b = replace(a, mean=np.full_like(a.mean, 5e8), maximum=np.full_like(a.maximum, 5e8))
    view = overlaid_lines(a, b, 0, VIEW)
    assert view.figure.layout.yaxis.range[1] >= 500
    assert "MB/s" in words(view.note)


def test_a_run_without_the_metric_is_named() -> None:
    assert "A has none" in words(overlaid_lines(None, frames.over_time("gpu", [("", "")]), 0, VIEW).note)
    assert "B has none" in words(overlaid_histogram(frames.metric_histogram(), None, VIEW).caption)


def test_the_histogram_is_in_shares_so_that_runs_of_unlike_length_compare() -> None:
    a = frames.metric_histogram("gpu", [frames.node_histogram(counts=np.eye(50, dtype=np.int64)[3] * 10, total=10)])
    b = frames.metric_histogram("gpu", [frames.node_histogram(counts=np.eye(50, dtype=np.int64)[3] * 999, total=999)])
    drawn = overlaid_histogram(a, b, VIEW).figure.data
    assert list(drawn[0].y) == list(drawn[1].y)
    assert drawn[0].y[3] == 100


def distribution(*durations_s: float) -> StepDistribution:
    values = np.sort(np.array(durations_s)) * 1e9
    return StepDistribution("Step:ModeKeys.TRAIN", len(values), np.linspace(0, 1, len(values)), values)


def test_the_share_of_steps_rises_to_all_of_them() -> None:
    view = step_ecdf(distribution(1.0, 2.0, 3.0), distribution(2.0, 4.0), VIEW)
    assert isinstance(view, FigureView)
    a, b = view.figure.data
    assert list(a.x) == pytest.approx([1, 2, 3])
    assert list(a.y) == [0, 50, 100]
    assert list(b.x) == pytest.approx([2, 4])
    assert "A: 3 steps, median 2 s" in words(view.caption)


def test_few_very_long_steps_do_not_squeeze_the_rest() -> None:
    view = step_ecdf(distribution(*([1.0] * 999), 500.0), None, VIEW)
    assert isinstance(view, FigureView)
    assert view.figure.layout.xaxis.range[1] < 5
    assert "not drawn" in words(view.note)


def test_without_steps_there_is_nothing_to_draw() -> None:
    assert isinstance(step_ecdf(None, None, VIEW), EmptyView)


def test_steps_that_all_take_as_long_are_drawn() -> None:
    view = step_ecdf(distribution(1.0, 1.0), distribution(1.0, 1.0), VIEW)
    assert isinstance(view, FigureView)
    left, right = view.figure.layout.xaxis.range
    assert left < 1 < right
