"""The heatmap: rows of different heights, holes where nothing was measured, names and means where the pointer is."""

import json

import numpy as np
import pytest

from components.figures import heatmap, rows
from components.figures.axes import View
from data.frames import NO_DATA, Peak
from data.selection import Window
from tests import frames
from tests.components.figures.plot import VIEW, WHOLE, assert_house_rules, everything


def cells_of(figure):
    return [trace for trace in figure.data if trace.type == "heatmap"]


def stacked(figure, name):
    """The rows of all blocks, one below the other."""
    return np.concatenate([np.asarray(getattr(trace, name)) for trace in cells_of(figure)])


def test_cells_stand_at_their_values_and_times():
    frame = frames.heatmap()
    figure = heatmap.utilization_heatmap(frame, VIEW).figure
    assert_house_rules(figure, time=True)
    cells = figure.data[0]
    z = stacked(figure, "z")
    assert len(z) == 3 * 36
    # device 5 of the second node (row 41 of the frame), second 100
    assert z[41, 100] == (41 * 7 + 100) % 101
    assert stacked(figure, "customdata")[41, 100] == (41 * 7 + 100) % 101 // 2
    assert cells.x0 == "2020-12-04 22:39:20.500000"  # the middle of the first column of 1 s
    assert cells.dx == 1000
    assert (cells.zmin, cells.zmax) == (0, 100)
    assert list(figure.layout.xaxis.range) == ["2020-12-04 22:39:20.000000", "2020-12-04 22:47:43.000000"]


def test_a_gap_is_a_hole_and_never_zero():
    frame = frames.heatmap(gap=(100, 130))
    figure = heatmap.utilization_heatmap(frame, VIEW).figure
    z = stacked(figure, "z")
    last_node = z[-36:]
    assert np.isnan(last_node[:, 100:130]).all()
    assert not np.isnan(last_node[:, 99]).any()
    assert not np.isnan(last_node[:, 130]).any()
    assert figure.data[0].hoverongaps is False
    assert np.nanmax(z) <= 100


def test_gpus_are_tall_cores_thin_and_nodes_have_a_title_line():
    plan = rows.row_plan(frames.heatmap(nodes=("a",)).rows)
    heights = np.diff(plan.edges)
    assert heights.tolist() == [20, *[12] * 4, 2, *[3] * 32]
    assert plan.titles == (("a", 0.0),)
    assert plan.height == 20 + 48 + 2 + 96
    pooled = rows.row_plan(frames.heatmap(nodes=("a",), pooled=4).rows)
    assert np.diff(pooled.edges).tolist() == [20, *[12] * 4, 2, *[6] * 8]


def test_rows_of_one_height_are_one_picture():
    plan = rows.row_plan(frames.heatmap(nodes=("a", "b")).rows)
    found = [(one.first, one.last, one.top, one.row_px) for one in rows.blocks(plan)]
    assert found == [(0, 4, 20, 12), (4, 36, 70, 3), (36, 40, 186, 12), (40, 72, 236, 3)]


def test_a_job_without_gpus_has_no_gpu_rows():
    frame = frames.heatmap(nodes=("a",), gpus=0)
    figure = heatmap.utilization_heatmap(frame, VIEW).figure
    assert len(stacked(figure, "z")) == 32
    assert not [note for note in figure.layout.annotations if "GPU" in note.text]
    assert [note.text for note in figure.layout.annotations] == ["<b>a</b>", "CPU mean 18.3 %"]


def test_the_pointer_reads_node_device_time_and_both_values():
    figure = heatmap.utilization_heatmap(frames.heatmap(), VIEW).figure
    assert figure.layout.yaxis.ticktext[0] == "algo-1 gpu0"
    assert figure.layout.yaxis.ticktext[-1] == "algo-3 cpu31"
    assert figure.layout.yaxis.showticklabels is False
    template = figure.data[0].hovertemplate
    assert "%{y}" in template
    assert "%{x} ± 500 ms" in template
    assert "%{z:.0f} %" in template
    assert "%{customdata} %" in template
    # every row has a name exactly at its middle, which is how the name is found
    middles = [trace.y0 + trace.dy * at for trace in cells_of(figure) for at in range(len(trace.z))]
    assert middles == list(figure.layout.yaxis.tickvals)


def test_the_note_says_what_a_column_is():
    view = heatmap.utilization_heatmap(frames.heatmap(), VIEW)
    assert view.note == "one column = 1 s, highest of 2 samples · mean on hover"
    raw = heatmap.utilization_heatmap(frames.heatmap(samples_per_bin=1.0, bin_ns=500_000_000), VIEW)
    assert raw.note == "one column = 500 ms · every sample"
    memory = heatmap.utilization_heatmap(frames.heatmap(metric="gpu_memory"), VIEW)
    assert memory.note.startswith("GPU memory in use")


def test_the_caption_names_the_highest_sample():
    quiet = np.full((36, 503), 3, np.uint8)
    quiet[7, 60] = 91
    peak = Peak("a<b>", "cpu3", frames.START_NS + 60 * frames.S, 90.75)
    frame = frames.heatmap(nodes=("a<b>",), maximum=quiet, mean=quiet, clamped=2, peak=peak)
    caption = heatmap.utilization_heatmap(frame, VIEW).caption
    assert caption == (
        "The busiest device reached 90.8 %, first a<b> cpu3 at 22:40:20. 2 cells outside 0 to 100 drawn at the edge of "
        "the scale."
    )
    nothing = frames.heatmap(nodes=("a",), maximum=np.full((36, 503), NO_DATA, np.uint8))
    assert "Nothing was measured" in heatmap.utilization_heatmap(nothing, VIEW).caption


def test_the_scale_follows_the_theme_and_high_stands_out():
    frame = frames.heatmap()
    dark = heatmap.utilization_heatmap(frame, VIEW).figure.data[0].colorscale
    light = heatmap.utilization_heatmap(frame, View(WHOLE, "light")).figure.data[0].colorscale
    assert dark[-1][1] == "#fbf8c8"
    assert light[-1][1] == "#15265d"


def test_local_time_shifts_axis_and_cells_alike():
    figure = heatmap.utilization_heatmap(frames.heatmap(), View(WHOLE, offset_minutes=60)).figure
    assert figure.data[0].x0.startswith("2020-12-04 23:39:20.5")
    assert figure.layout.xaxis.range[0].startswith("2020-12-04 23:39:20")


@pytest.mark.parametrize(
    ("node", "markup"),
    [
        ("<b>bold</b>", "<b>bold"),
        ('<a href="javascript:alert(1)">x</a>', "<a "),
        ("$\\href{x}{y}$", "$\\href"),
        ("%{meta}", "%{meta}"),
    ],
)
def test_names_from_files_are_text(node: str, markup: str) -> None:
    """In all that is drawn; the page's own script reads the rows of `meta`, where names are as they are."""
    figure = heatmap.utilization_heatmap(frames.heatmap(nodes=(node,)), VIEW).figure
    content = json.loads(everything(figure))
    names = content["layout"]["meta"].pop("rows")
    assert {name for name, _ in names} == {node}
    assert json.dumps(markup)[1:-1] not in json.dumps(content, ensure_ascii=False)


def test_labels_that_look_like_numbers_stay_text_in_order():
    figure = heatmap.utilization_heatmap(frames.heatmap(nodes=("1", "2", "10"), gpus=0, cores=1), VIEW).figure
    assert list(figure.layout.yaxis.ticktext) == ["1 cpu0", "2 cpu0", "10 cpu0"]


def test_many_nodes_fit_a_screen():
    frame = frames.heatmap(nodes=[f"algo-{n}" for n in range(1, 9)], gpus=8, cores=96, pooled=12, bins=600)
    view = heatmap.utilization_heatmap(frame, View(Window(frames.START_NS, frames.START_NS + 600 * frames.S)))
    assert len(stacked(view.figure, "z")) == 8 * 16
    assert view.height < 1500
    assert len(view.figure.to_json()) < 1_000_000
    assert abs(rows.expected_height(8, 64, 768) - view.height) < 40
