"""The phases of a job: their shares, their order in time, and interruptions over them."""

import pytest

from components.figures import phases
from components.figures.axes import View
from tests import frames
from tests.components.figures.plot import VIEW, WHOLE, assert_house_rules, everything


def test_donut_shows_the_three_parts():
    figure = phases.phase_donut(frames.job_times(), VIEW)
    assert_house_rules(figure, time=False)
    (pie,) = figure.data
    assert list(pie.labels) == ["Initialization", "Training loop", "Finalization"]
    assert list(pie.values) == pytest.approx([200, 300, 3])
    assert list(pie.customdata) == ["3m 20s 000ms", "5m 0s 000ms", "3s 000ms"]
    assert figure.layout.annotations[0].text == "<b>8m 23s</b>"
    assert pie.sort is False


def test_progress_is_one_bar_in_order_of_time():
    view = phases.training_progress(frames.job_times(), VIEW)
    assert_house_rules(view.figure, time=False)
    bars = view.figure.data
    assert [bar.name for bar in bars] == ["Initialization", "Training loop", "Finalization"]
    assert bars[1].base == ("2020-12-04 22:42:40.000000",)
    assert bars[1].x == (300_000,)  # milliseconds
    assert [note.text for note in view.figure.layout.annotations] == [
        "Initialization 3m 20s", "Training loop 5m 00s", "Finalization 3 s",
    ]  # fmt: skip
    assert view.caption == ""
    assert view.note == "UTC"


def test_spot_interruptions_are_hatched_over_the_bar():
    gap = (frames.START_NS + 250 * frames.S, frames.START_NS + 340 * frames.S)
    view = phases.training_progress(frames.job_times(spot_gaps=(gap,)), VIEW)
    spot = view.figure.data[-1]
    assert spot.name == "Spot interruption"
    assert spot.marker.pattern.shape == "/"
    assert spot.base == ("2020-12-04 22:43:30.000000",)
    assert spot.x == (90_000,)
    assert view.caption == "1 spot interruption, 1m 30s in all: no node reported anything."


def test_without_steps_there_are_no_phases_but_a_reason():
    times = frames.job_times_without_steps()
    assert phases.phases(times) == ()
    view = phases.training_progress(times, VIEW)
    assert [bar.name for bar in view.figure.data] == ["Recorded"]
    assert view.caption == "Phases are unknown: no step was recorded"


def test_a_late_first_step_makes_initialization_an_upper_bound():
    view = phases.training_progress(frames.job_times(first_step=40), VIEW)
    assert "first recorded step is 40" in view.caption


def test_a_loop_that_ends_after_the_last_sample():
    times = frames.job_times(
        loop_end_ns=frames.END_NS + frames.S, loop_duration_ns=304 * frames.S, finalization_ns=frames.S
    )
    parts = phases.phases(times)
    assert parts[-1].start_ns == frames.END_NS
    assert parts[-1].duration_ns == frames.S


def test_local_time():
    view = phases.training_progress(frames.job_times(), View(WHOLE, "light", 60))
    assert view.note == "UTC+01:00"
    assert view.figure.data[0].base == ("2020-12-04 23:39:20.000000",)


def test_reasons_from_files_stay_plain():
    view = phases.training_progress(frames.job_times_without_steps(steps_reason="<b>x</b>"), VIEW)
    assert "<b>x" not in everything(view.figure)
