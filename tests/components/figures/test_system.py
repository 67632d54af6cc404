"""Lines over time: one per group or a mean with a band, gaps left open, the peak where it is."""

import numpy as np
import pytest

from components.figures import system
from components.figures.axes import View
from data.frames import Peak
from data.selection import Window
from tests import frames
from tests.components.figures.plot import VIEW, WHOLE, assert_house_rules, everything, named, numbers


def words(view):
    return view.note[0].children


def legend(view):
    return [item.children[1] for item in view.note[1].children] if len(view.note) > 1 else []


def usage(frame, view=VIEW, devices="GPU"):
    return system.usage_over_time(frame, view, devices=devices)


def test_a_mean_with_its_band():
    view = usage(frames.over_time("gpu"))
    assert_house_rules(view.figure, time=True)
    band, mean = view.figure.data
    assert mean.name == "mean"
    assert numbers(mean.y)[0] == 10
    assert mean.x0 == "2020-12-04 22:39:21.000000"
    assert mean.dx == 2000
    assert (numbers(band.y).min(), numbers(band.y).max()) == pytest.approx((6.0, 65.8))
    assert band.fill == "toself"
    assert band.hoverinfo == "skip"
    assert mean.hovertemplate.endswith(" %</b><extra></extra>")
    assert mean.meta == {"tag": ""}
    assert view.figure.layout.yaxis.ticksuffix == " %"
    assert view.figure.layout.meta["unit"] == "%"
    assert words(view) == "%, 12 GPUs · one point per 2 s, exact extremes"
    assert legend(view) == ["lowest to highest", "mean"]
    assert view.caption == "Highest 65.8 % on algo-3 gpu2 at 22:46:01."


def test_gaps_stay_empty_in_line_and_band():
    figure = usage(frames.over_time("gpu", gap=(50, 60))).figure
    band, mean = figure.data
    assert np.isnan(numbers(mean.y)[50:60]).all()
    assert not np.isnan(numbers(mean.y)[[49, 60]]).any()
    assert mean.connectgaps is False
    # two closed shapes with one break between them: nothing is filled across the gap
    breaks = [index for index, stamp in enumerate(band.x) if stamp is None]
    assert len(breaks) == 1
    assert np.isnan(numbers(band.y)[breaks[0]])
    assert len(band.x) == 2 * 50 + 1 + 2 * (252 - 60)


def test_a_lonely_sample_between_gaps_is_a_point():
    frame = frames.over_time("gpu", bins=9)
    for values in (frame.mean, frame.minimum, frame.maximum):
        values[:, [3, 5]] = np.nan
    dots = usage(frame).figure.data[-1]
    assert dots.mode == "markers"
    assert np.flatnonzero(np.isfinite(numbers(dots.y))).tolist() == [4]


def test_the_busiest_core_is_a_line_of_its_own():
    view = usage(frames.over_time("cpu"), devices="core")
    highest = named(view.figure, "highest")
    assert highest.line.dash == "dot"
    assert numbers(highest.y).max() == pytest.approx(65.8)
    assert legend(view) == ["mean", "highest core"]
    assert "12 cores" in words(view)


def test_one_line_a_node_the_highest_stands_out():
    groups = [(node, "") for node in ("1", "2", "10")]
    view = usage(frames.over_time("gpu", groups))
    assert [trace.name for trace in view.figure.data] == ["1", "2", "10"]  # the last is drawn on top
    assert numbers(named(view.figure, "1").y)[0] == 10
    assert numbers(named(view.figure, "10").y)[0] == 20
    assert view.figure.data[-1].line.width > view.figure.data[0].line.width
    assert legend(view) == ["10, the highest", "others"]


def test_too_many_lines_are_cut_and_that_is_said():
    groups = [("algo-1", f"gpu{index}") for index in range(64)]
    view = usage(frames.over_time("gpu", groups))
    assert len(view.figure.data) == 24
    assert "the 24 highest of 64 lines" in words(view)
    assert view.figure.layout.hovermode == "closest"


def test_every_sample_is_said_to_be_every_sample():
    view = usage(frames.over_time("gpu", samples_per_bin=1.0, bin_ns=500_000_000))
    assert words(view).endswith("every sample, 500 ms apart")


def test_throughput_in_one_unit_with_directions():
    frame = frames.over_time("network", [("", "received"), ("", "sent")], peak=None)
    view = system.throughput_over_time(frame, VIEW, nodes=3)
    received, sent = named(view.figure, "received"), named(view.figure, "sent")
    assert numbers(received.y)[0] == pytest.approx(100)  # 10 x 1e7 bytes/s
    assert sent.line.dash == "dot"
    assert "MB/s" in received.hovertemplate
    assert words(view) == "MB/s · sum of 3 nodes · one point per 2 s, mean rate"
    assert legend(view) == ["received", "sent"]
    assert view.caption == "Highest 150 MB/s sent at 22:39:20, averaged over 2 s."


def test_the_highest_rate_is_a_sample_of_one_node():
    """Its value must not depend on how wide the chart is, and samples of different nodes are not taken together."""
    peak = Peak("algo-2", "sent", frames.START_NS + 30 * frames.S, 2.5e8)
    frame = frames.over_time("network", [("", "received"), ("", "sent")], peak=peak)
    caption = system.throughput_over_time(frame, VIEW, nodes=3).caption
    assert caption == "Highest sample of one node: 250 MB/s sent on algo-2 at 22:39:50."


def test_operations_have_no_byte_unit():
    view = system.throughput_over_time(frames.over_time("iops", peak=None, samples_per_bin=1.0), VIEW, nodes=1)
    assert words(view).startswith("operations/s")
    assert view.caption.startswith("Highest 20 operations/s at")


def test_memory_peak_is_marked_with_place_and_time():
    groups = [("algo-3", f"gpu{index}") for index in range(3)]
    frame = frames.over_time("gpu_memory", groups)
    frame.maximum[0] = 1
    view = system.memory_timeline(frame, VIEW)
    mark = view.figure.data[-1]
    assert mark.x == ("2020-12-04 22:46:01.000000",)
    assert mark.y == (65.8,)
    assert mark.text == ("<b>Peak 65.8 %</b> algo-3 gpu2 22:46:01",)
    assert named(view.figure, "algo-3 gpu2").line.width == 1.8
    assert view.caption.endswith("1 GPU of 12 never above 2 %.")
    limit = view.figure.data[-2]
    assert set(limit.y) == {100}


def test_a_peak_outside_the_window_is_not_drawn():
    early = View(Window(frames.START_NS, frames.START_NS + 60 * frames.S))
    figure = system.memory_timeline(frames.over_time("gpu_memory", [("algo-3", "gpu2")]), early).figure
    assert not [trace for trace in figure.data if trace.mode == "markers+text"]


def test_nothing_measured():
    frame = frames.over_time("gpu", gap=(0, 252), peak=None)
    view = usage(frame)
    assert view.caption == "Nothing was measured in this window."
    assert not [trace for trace in view.figure.data if trace.fill == "toself"]


def test_minimap_keeps_the_job_and_marks_the_window():
    brush = (frames.START_NS + 100 * frames.S, frames.START_NS + 200 * frames.S)
    figure = system.minimap(frames.over_time("cpu"), frames.over_time("gpu"), VIEW, brush)
    assert figure.layout.meta["whole"] is True
    assert list(figure.layout.xaxis.range) == ["2020-12-04 22:39:20.000000", "2020-12-04 22:47:43.000000"]
    assert figure.data[0].x[0] == "2020-12-04 22:41:00.000000"
    assert figure.data[0].x[-1] == "2020-12-04 22:42:40.000000"
    assert len(system.minimap(frames.over_time("cpu"), None, VIEW, None).data) == 2


@pytest.mark.parametrize("name", ["<b>bold</b>", '<a href="javascript:alert(1)">x</a>', "%{customdata}", "$x$"])
def test_names_from_files_are_text(name):
    groups = [(name, "gpu0"), ("b", "gpu0"), ("c", "gpu0")]
    for figure in (
        usage(frames.over_time("gpu", groups)).figure,
        system.memory_timeline(frames.over_time("gpu_memory", groups[::-1]), VIEW).figure,
    ):
        page = everything(figure)
        assert name.replace('"', '\\"') not in page


def test_arrays_are_sent_small():
    figure = usage(frames.over_time("gpu", [(node, "") for node in frames.NODES])).figure
    assert {trace.y.dtype for trace in figure.data} == {np.dtype("float32")}
    assert View(WHOLE).window.duration_ns == 503 * frames.S
