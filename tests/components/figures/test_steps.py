"""Step figures: counts per duration, quantiles, outliers by number, and where a click leads."""

import numpy as np
import pytest

from components.figures import steps
from components.figures.axes import count_axis
from tests import frames
from tests.components.figures.plot import VIEW, assert_house_rules, everything, numbers

TRAIN, EVAL = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_bars_hold_every_step(scale):
    view = steps.step_histogram(frames.step_histogram(scale), VIEW)
    assert_house_rules(view.figure, time=False)
    bars = view.figure.data[0]
    assert numbers(bars.y).sum() == 188
    tallest = int(numbers(bars.y).argmax())
    left = numbers(bars.x)[tallest] - numbers(bars.width)[tallest] * 0.55
    right = numbers(bars.x)[tallest] + numbers(bars.width)[tallest] * 0.55
    assert left < 1.55 < right
    assert (view.figure.layout.xaxis.type == "log") is (scale == "log")
    assert view.note == "TRAIN · 188 steps · 1 node · every step counted"


def test_axis_carries_the_unit():
    linear = steps.step_histogram(frames.step_histogram("linear"), VIEW).figure
    assert linear.layout.xaxis.ticksuffix == " s"
    logarithmic = steps.step_histogram(frames.step_histogram(), VIEW).figure
    assert list(logarithmic.layout.xaxis.ticktext)[:3] == ["1 s", "1.5 s", "2 s"]
    assert logarithmic.layout.meta["unit"] == "steps"


def test_short_steps_are_shown_in_milliseconds():
    frame = frames.step_histogram("linear")
    frame = frames.step_histogram(
        "linear",
        edges_ns=frame.edges_ns / 1000,
        p50_ns=1.55e6,
        p95_ns=1.92e6,
        p99_ns=2.4e6,
        outliers=(),
        outlier_count=0,
    )
    view = steps.step_histogram(frame, VIEW)
    assert view.figure.layout.xaxis.ticksuffix == " ms"
    assert view.caption.startswith("Median 1.55 ms, p95 1.92 ms, p99 2.4 ms. No step")


def test_quantile_lines():
    figure = steps.step_histogram(frames.step_histogram(), VIEW).figure
    lines = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines+text"]
    assert [trace.x[0] for trace in lines] == [1.55, 1.92, 2.4]
    assert [trace.text[1].strip() for trace in lines] == ["p50 <b>1.55 s</b>", "p95 <b>1.92 s</b>", "p99 <b>2.4 s</b>"]


def test_outliers_are_named_by_their_steps():
    view = steps.step_histogram(frames.step_histogram(), VIEW)
    marks = view.figure.data[-1]
    assert marks.text == ("step 0", "steps 61, 122")
    assert marks.x == pytest.approx((10.966842, 3.41))
    assert view.caption == (
        "Median 1.55 s, p95 1.92 s, p99 2.4 s. 3 outliers beyond mean + 3 σ, the longest 10.97 s (step 0)."
    )


def test_unknown_step_numbers_are_not_minus_one():
    frame = frames.step_histogram(outliers=(frames.step(-1),), outlier_count=1)
    view = steps.step_histogram(frame, VIEW)
    assert view.figure.data[-1].text == ("1 slow step",)
    assert "-1" not in view.caption


def test_phases_and_nodes_are_stacked_and_named():
    frame = frames.step_histogram(phases=[(TRAIN, "algo-1"), (EVAL, "algo-1"), (TRAIN, "algo-2")])
    view = steps.step_histogram(frame, VIEW)
    bars = [trace for trace in view.figure.data if trace.type == "bar"]
    assert [trace.name for trace in bars] == ["TRAIN algo-1", "EVAL algo-1", "TRAIN algo-2"]
    assert view.figure.layout.barmode == "stack"
    assert len({trace.marker.color for trace in bars}) == 3
    assert view.note.startswith("TRAIN, EVAL · 564 steps · 2 nodes")


def test_timeline_draws_each_step_once():
    view = steps.step_timeline(frames.step_timeline(), VIEW)
    assert_house_rules(view.figure, time=True)
    points, slow = view.figure.data
    assert len(points.x) + len(slow.x) == 188
    assert numbers(points.y)[0] == pytest.approx(1.57)
    assert points.x[0] == "2020-12-04T22:42:41.590000"
    assert slow.y == pytest.approx((10.966842, 3.4, 3.41))
    assert slow.text == ("<b>0</b>", "<b>61</b>", "<b>122</b>")
    assert view.note == "188 steps · each step is a point"
    assert view.figure.layout.yaxis.ticksuffix == " s"
    assert "Slowest: step 0 on algo-1, 10.97 s at 22:42:40." in view.caption


def test_a_click_on_an_outlier_has_a_window_to_go_to():
    slow = steps.step_timeline(frames.step_timeline(), VIEW).figure.data[-1]
    assert slow.meta == {"zoom": True}
    start, end = (int(value) for value in slow.customdata[0][:2])
    first = frames.START_NS + 200 * frames.S
    assert start == first - 5_483_421_000
    assert end == first + 10_966_842_000 + 5_483_421_000


def test_reduced_timeline_says_so():
    view = steps.step_timeline(frames.step_timeline(bin_ns=4 * frames.S, steps=5000, outlier_count=40), VIEW)
    assert view.note == "5,000 steps · longest step per 4 s"
    assert "The 3 longest of 40 outliers are marked." in view.caption
    assert "longest, " in view.figure.data[0].customdata[0][1]
    assert len(view.figure.data[0].x) == 188


def test_no_outlier():
    view = steps.step_timeline(frames.step_timeline(outliers=(), outlier_count=0), VIEW)
    assert view.caption == "No step stands out."
    assert len(view.figure.data) == 1
    assert "No step starts" in steps.step_timeline(
        frames.step_timeline(
            steps=0, outliers=(), outlier_count=0, group=np.zeros(0, np.int16), start_ns=np.zeros(0, np.int64),
            step=np.zeros(0, np.int64), duration_ns=np.zeros(0, np.int64), mean_ns=np.zeros(0),
        ),
        VIEW,
    ).caption  # fmt: skip


@pytest.mark.parametrize("name", ["<b>bold</b>", '<a href="javascript:alert(1)">x</a>', "a<br>b"])
def test_names_from_files_are_text(name):
    histogram = steps.step_histogram(frames.step_histogram(phases=[(name, name)]), VIEW)
    slow = (frames.step(3, node=name, phase=name),)
    timeline = steps.step_timeline(frames.step_timeline([(name, name)], outliers=slow), VIEW)
    for figure in (histogram.figure, timeline.figure):
        assert name.replace('"', '\\"') not in everything(figure)


def test_phase_names_are_short():
    assert steps.phase_name("Step:ModeKeys.TRAIN") == "TRAIN"
    assert steps.phase_name("train") == "train"
    assert steps.phase_name("odd.") == "odd."


@pytest.mark.parametrize(("most", "ticks"), [(1, {"dtick": 1}), (3, {"dtick": 1}), (40, {"nticks": 4})])
def test_how_many_there_are_is_told_in_whole_numbers(most, ticks):
    axis = count_axis(VIEW, most)
    assert {key: axis[key] for key in ticks} == ticks
    assert axis["range"][1] > most
