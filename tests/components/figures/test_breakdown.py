"""What steps are spent on: bars that add up, the rest in sight, and the order of precedence in words."""

from __future__ import annotations

import numpy as np
import pytest

from components.figures import activity, breakdown
from components.figures.kinds import WORDS, kind_colour
from data.insights.event_kinds import KINDS
from tests import frames
from tests.components.figures.plot import VIEW, assert_house_rules, everything, named, numbers
from tests.drawn import words


def test_every_bar_is_as_high_as_its_step() -> None:
    view = breakdown.step_breakdown(frames.step_breakdown(), VIEW)
    assert_house_rules(view.figure, time=False)
    heights = np.sum([numbers(trace.y) for trace in view.figure.data], axis=0)
    assert heights == pytest.approx([100, 120, 110], rel=1e-5)
    assert view.figure.layout.barmode == "stack"
    assert view.figure.layout.meta["unit"] == "ms"


def test_what_no_event_covers_is_hatched_and_kinds_without_time_are_left_out() -> None:
    figure = breakdown.step_breakdown(frames.step_breakdown(), VIEW).figure
    assert [trace.name for trace in figure.data] == ["data loading", "backward", "not covered by any event"]
    rest = named(figure, "not covered by any event")
    assert rest.marker.pattern.shape == "/"
    assert numbers(rest.y) == pytest.approx([10, 12, 11], rel=1e-5)


def test_a_number_that_comes_again_is_a_bar_of_its_own() -> None:
    figure = breakdown.step_breakdown(frames.step_breakdown(), VIEW).figure
    assert list(figure.data[0].x) == ["7", "8", "8 (2)"]
    assert figure.layout.xaxis.type == "category"


def test_the_words() -> None:
    view = breakdown.step_breakdown(frames.step_breakdown(), VIEW)
    note = words(view.note)
    assert "TRAIN · last 3 steps" in note
    assert note.endswith("data loading backward not covered by any event")
    assert view.caption == (
        "Of these steps: backward 60.0 %, data loading 30.0 %, not covered by any event 10.0 %. "
        "Where several run at once, an instant counts for the first of: data loading, backward."
    )
    several = breakdown.step_breakdown(frames.step_breakdown(processes=np.array([2, 2, 1]), step_count=5), VIEW)
    assert "TRAIN · 3 steps · mean of 2 processes" in words(several.note)


def test_every_kind_has_words_and_a_colour_of_its_own() -> None:
    for theme in ("dark", "light"):
        colours = [kind_colour(theme, kind) for kind, _ in KINDS]
        assert len(set(colours)) == len(KINDS)
    assert all(kind in WORDS for kind, _ in KINDS)


def test_gpu_activity_says_what_it_is_not() -> None:
    view = activity.gpu_activity(frames.gpu_activity(), VIEW)
    assert_house_rules(view.figure, time=True)
    assert numbers(view.figure.data[0].y).tolist() == [0, 100] * 5
    assert "from kernels, not the driver's utilization" in str(view.note)
    assert view.caption == "At least one kernel runs on rank0 gpu0 50.0 % (4m 10s) of this window."


def test_many_gpus_are_cut_to_the_busiest() -> None:
    groups = tuple((f"rank{at}", "gpu<b>") for at in range(30))
    view = activity.gpu_activity(frames.gpu_activity(groups), VIEW)
    assert len(view.figure.data) == activity.MAX_LINES
    assert "the 24 busiest of 30 GPUs" in str(view.note)
    assert "<b>" not in everything(view.figure).replace("<b>%{y:.1f} %</b>", "")
