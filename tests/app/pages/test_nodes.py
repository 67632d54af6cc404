"""The Nodes tab: which panels a job gets, what each asks for, and what it draws or says instead."""

import numpy as np
import pytest

from app import framework
from app.pages import nodes
from app.urls import Address
from components.panels import EmptyView, FigureView
from data.errors import MissingTable
from data.selection import Selection, Window
from tests import frames
from tests.app.pages.looking import FakeFetch, request
from tests.drawn import components, ids, words

WINDOW = Window(frames.START_NS + 10 * frames.S, frames.START_NS + 20 * frames.S)


def fetch(**changes):
    answers = {
        "jobs_header": frames.job_header(),
        "heatmap_device_heatmap": frames.heatmap(),
        "system_over_time": lambda selection, metric, by, width: frames.over_time(metric),
        "distribution_metric_histogram": lambda selection, metric: frames.metric_histogram(metric),
        "steps_histogram": lambda selection, scale: frames.step_histogram(scale),
        "steps_timeline": frames.step_timeline(),
        **changes,
    }
    return FakeFetch(**answers)


def layout(**changes):
    return nodes.layout(Address(Selection("run-a-1a2b3c4d"), "nodes"), frames.job_header(**changes))


DRAWINGS = {
    "heatmap": nodes.draw_heatmap,
    "gpu": lambda fetch, request: nodes.draw_usage(fetch, request, "gpu"),
    "cpu": lambda fetch, request: nodes.draw_usage(fetch, request, "cpu"),
    "memory": lambda fetch, request: nodes.draw_usage(fetch, request, "memory"),
    "io_wait": lambda fetch, request: nodes.draw_usage(fetch, request, "io_wait"),
    "gpu_memory": nodes.draw_gpu_memory,
    "network": lambda fetch, request: nodes.draw_throughput(fetch, request, "network"),
    "throughput": lambda fetch, request: nodes.draw_throughput(fetch, request, "throughput"),
    "iops": lambda fetch, request: nodes.draw_throughput(fetch, request, "iops"),
    "step_timeline": nodes.draw_step_timeline,
}


def test_layout_has_every_panel_once():
    found = ids(layout())
    assert len(found) == len(set(found))
    for panel in nodes.Id:
        assert panel in found or f"{panel}-body" in found
        assert f"{panel}-request" in found


def test_a_job_without_gpus_says_so_instead_of_empty_charts():
    page = layout(gpus=0)
    found = ids(page)
    for panel in (nodes.Id.GPU, nodes.Id.GPU_MEMORY, nodes.Id.GPU_HISTOGRAM, nodes.Id.GPU_MEMORY_HISTOGRAM):
        assert panel not in found
    assert nodes.Id.CPU in found
    assert "n/a No GPU was recorded for this job." in words(page)
    assert "gpu_memory" not in [getattr(part, "data-query-value", None) for part in components(page)]


ALLOCATORS = (nodes.Id.GPU_ALLOCATOR, nodes.Id.CPU_ALLOCATOR)


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize(
    ("kinds", "present"), [(("cpu",), [False, True]), (("cuda", "xpu"), [True, False]), (("cpu", "hip"), [True, True])]
)
def test_allocators_have_panels_for_what_they_recorded(kinds, present, measured):
    found = ids(layout(memory_kinds=kinds, measured=measured))
    assert [panel in found for panel in ALLOCATORS] == present


@pytest.mark.parametrize("measured", [True, False])
def test_a_job_without_memory_records_says_how_to_get_them(measured):
    page = layout(memory_kinds=(), measured=measured)
    assert not set(ALLOCATORS) & set(ids(page))
    assert "n/a No record of a memory allocator in this job." in words(page)
    assert "profile_memory=True" in words(page)
    assert "profile_memory" not in words(layout(memory_kinds=(), events=0, measured=measured))


def test_allocators_are_asked_for_their_own_devices():
    asked = fetch(memory_over_time=frames.allocated_memory())
    view = nodes.draw_allocated(asked, request(WINDOW), "gpu")
    assert view.figure.layout.meta["time"] is True
    (arguments,) = [arguments for name, arguments in asked.asked if name == "memory_over_time"]
    assert (arguments[0].window, arguments[1]) == (WINDOW, "gpu")
    nothing = nodes.draw_allocated(fetch(memory_over_time=frames.allocated_memory([])), request(WINDOW), "gpu")
    assert isinstance(nothing, EmptyView)


def test_a_job_without_steps_says_so():
    page = layout(step_count=0)
    assert nodes.Id.STEP_HISTOGRAM not in ids(page)
    assert "n/a No training step was recorded for this job." in words(page)


@pytest.mark.parametrize("name", DRAWINGS)
def test_charts_over_time_show_exactly_the_window(name):
    view = DRAWINGS[name](fetch(), request(WINDOW, search="?from=1&to=2"))
    assert isinstance(view, FigureView)
    assert list(view.figure.layout.xaxis.range) == ["2020-12-04 22:39:30.000000", "2020-12-04 22:39:40.000000"]
    assert view.figure.layout.meta["time"] is True
    assert view.note
    assert view.caption


@pytest.mark.parametrize("name", DRAWINGS)
def test_without_a_window_the_axis_spans_the_job(name):
    view = DRAWINGS[name](fetch(), request())
    assert list(view.figure.layout.xaxis.range) == ["2020-12-04 22:39:20.000000", "2020-12-04 22:47:43.000000"]


def test_queries_get_the_selection_and_the_width_of_the_plot():
    asked = fetch()
    nodes.draw_heatmap(asked, request(WINDOW, ("algo-2",), query={"metric": "io_wait"}))
    (arguments,) = [arguments for name, arguments in asked.asked if name == "heatmap_device_heatmap"]
    assert arguments == (Selection("run-a-1a2b3c4d", WINDOW, ("algo-2",)), "io_wait", 460)


@pytest.mark.parametrize(
    ("query", "expected"),
    [({}, "all"), ({"by": "node"}, "node"), ({"by": "device"}, "device"), ({"by": "'; drop"}, "all")],
)
def test_lines_are_chosen_by_the_address_from_what_is_known(query, expected):
    asked = fetch()
    nodes.draw_usage(asked, request(query=query), "gpu")
    assert asked.asked[0][1][2] == expected


def test_unknown_values_in_the_address_fall_back():
    asked = fetch()
    nodes.draw_heatmap(asked, request(query={"metric": "passwords"}))
    assert [arguments[1] for name, arguments in asked.asked if name == "heatmap_device_heatmap"] == ["utilization"]
    nodes.draw_step_histogram(asked, request(query={"scale": "cubic"}))
    assert [arguments[1] for name, arguments in asked.asked if name == "steps_histogram"] == ["log"]


def test_a_heatmap_of_very_many_nodes_is_cut_and_says_so():
    names = tuple(f"algo-{number}" for number in range(1, 101))
    asked = fetch(jobs_header=frames.job_header(nodes=names, gpus=800, cpus=9600))
    view = nodes.draw_heatmap(asked, request())
    (arguments,) = [arguments for name, arguments in asked.asked if name == "heatmap_device_heatmap"]
    assert arguments[0].nodes == names[:16]
    assert "The first 16 of 100 nodes are drawn" in view.caption


def test_histograms_and_steps_are_not_over_time():
    histogram = nodes.draw_histogram(fetch(), request(WINDOW), "cpu")
    steps = nodes.draw_step_histogram(fetch(), request(WINDOW, query={"scale": "linear"}))
    assert histogram.figure.layout.meta["time"] is False
    assert steps.figure.layout.meta["time"] is False
    assert steps.figure.layout.xaxis.type is None


@pytest.mark.parametrize(
    ("draw", "answers"),
    [
        (DRAWINGS["heatmap"], {"heatmap_device_heatmap": frames.heatmap(nodes=())}),
        (DRAWINGS["step_timeline"], {"steps_timeline": frames.step_timeline(steps=0)}),
        (nodes.draw_step_histogram, {"steps_histogram": frames.step_histogram(steps=0)}),
        (
            lambda fetch, request: nodes.draw_histogram(fetch, request, "gpu"),
            {"distribution_metric_histogram": frames.metric_histogram(nodes=[])},
        ),
    ],
)
def test_an_empty_window_says_how_to_leave_it(draw, answers):
    view = draw(fetch(**answers), request(WINDOW))
    assert isinstance(view, EmptyView)
    assert "in this window" in view.reason
    assert "0" in view.hint


def test_missing_data_travel_to_the_panel():
    with pytest.raises(MissingTable):
        nodes.draw_gpu_memory(fetch(system_over_time=MissingTable("no GPU")), request())


def test_minimap_shows_the_whole_job_and_lives_without_gpus():
    def over_time(selection, metric, by, width):
        assert selection.window is None
        return MissingTable("no GPU") if metric == "gpu" else frames.over_time(metric)

    view = nodes.draw_minimap(fetch(system_over_time=over_time), request(WINDOW))
    assert list(view.figure.layout.xaxis.range) == ["2020-12-04 22:39:20.000000", "2020-12-04 22:47:43.000000"]
    assert view.figure.data[0].x[0] == "2020-12-04 22:39:30.000000"


def test_throughput_says_whose_sum_it_is():
    view = nodes.draw_throughput(fetch(), request(), "network")
    assert "sum of 3 nodes" in words(view.note)
    view = nodes.draw_throughput(fetch(), request(nodes=("algo-1",)), "network")
    assert "sum of" not in words(view.note)


def test_local_time_and_theme_reach_the_figure():
    view = nodes.draw_heatmap(fetch(), request(WINDOW, theme="light", offset_minutes=60))
    assert view.figure.layout.xaxis.range[0] == "2020-12-04 23:39:30.000000"
    assert view.figure.data[0].colorscale[-1][1] == "#15265d"


def test_a_job_of_traces_alone_has_no_empty_charts():
    page = layout(measured=False, gpus=0, cpus=0, interval_ns=0, intervals_ns=())
    found = ids(page)
    assert [one for one in found if "histogram" in one and "step" not in one] == []
    assert nodes.Id.HEATMAP not in found
    assert nodes.Id.LANES in found
    assert nodes.Id.ACTIVITY in found
    assert "This job has no system metrics, only traces of its framework." in words(page)
    assert "Heatmap shows" not in words(page)


def test_a_job_without_events_says_so():
    page = layout(events=0, kernels=0)
    assert nodes.Id.LANES not in ids(page)
    assert "n/a No framework event was recorded for this job." in words(page)
    assert nodes.Id.ACTIVITY not in ids(layout(kernels=0))
    assert nodes.Id.BREAKDOWN not in ids(layout(step_count=0))


def framework_fetch(**changes):
    answers = {
        "lanes_over_time": frames.lanes(),
        "lanes_longest": frames.event_list(),
        "breakdown_last_steps": frames.step_breakdown(),
        "activity_gpu_activity": frames.gpu_activity(),
    }
    return fetch(**answers | changes)


@pytest.mark.parametrize("draw", [framework.draw_lanes, framework.draw_activity])
def test_framework_charts_over_time_show_exactly_the_window(draw):
    view = draw(framework_fetch(), request(WINDOW))
    assert list(view.figure.layout.xaxis.range) == ["2020-12-04 22:39:30.000000", "2020-12-04 22:39:40.000000"]
    assert view.figure.layout.meta["time"] is True


def test_events_are_asked_for_by_the_address():
    asked = framework_fetch()
    body = framework.draw_events(
        asked, request(WINDOW, query={"events": "1607121561000-1607121562000/algo-1/For%2Fward"})
    )
    (arguments,) = [arguments for name, arguments in asked.asked if name == "lanes_longest"]
    assert arguments[0].window == Window(1607121561 * frames.S, 1607121562 * frames.S)
    assert arguments[1:] == ("algo-1", "For/ward")
    assert "For/ward on algo-1, 22:39:21.000 – 22:39:22.000  · 2 events, 17 s together, all of them" in words(body)


@pytest.mark.parametrize("text", ["", "nonsense", "5-1/a/b"])
def test_without_a_place_in_the_address_there_is_a_way_to_choose_one(text):
    asked = framework_fetch()
    body = framework.draw_events(asked, request(WINDOW, query={"events": text}))
    assert "lanes_longest" not in [name for name, _ in asked.asked]
    values = [getattr(part, "data-query-value", None) for part in components(body)]
    assert "/algo-1/Step%3AModeKeys.TRAIN" in values


def test_the_table_says_of_how_many_events_it_shows_the_longest():
    asked = framework_fetch(lanes_longest=frames.event_list(total=12_345))
    body = framework.draw_events(asked, request(WINDOW, query={"events": "/algo-1/Forward"}))
    assert "12,345 events, 17 s together, the 2 longest are shown" in words(body)
    (grid,) = [part for part in components(body) if type(part).__name__ == "AgGrid"]
    assert [row["name"] for row in grid.rowData] == ["late", "early"]
    assert [row["step_text"] for row in grid.rowData] == ["–", "0"]
    assert "Thread" not in [column["headerName"] for column in grid.columnDefs]


def test_the_strip_of_a_job_without_metrics_shows_its_events():
    view = nodes.draw_minimap(framework_fetch(system_over_time=MissingTable("none")), request(WINDOW))
    assert isinstance(view, FigureView)
    assert "fullest lane of events" in view.caption


def test_data_loading_is_said_in_words_and_as_a_table():
    body = framework.draw_loader(framework_fetch(loader_data_loading=frames.data_loading()), request(WINDOW))
    said = words(body)
    assert "From one batch to the next 300 ms (median of 120); 4 outliers of at least twice that" in said
    assert "the longest 1 s at 22:40:25" in said
    assert "2 workers, memory not pinned; workers not recorded, pinning not recorded." in said
    assert "The 2 of 30 rows with the most time are shown." in said
    assert "<i>7</i> waits for a batch 0 10 4 s 300 ms 800 ms 1 s 2" in said
    (graph,) = [part for part in components(body) if type(part).__name__ == "Graph"]
    assert graph.figure.layout.xaxis.type == "log"


def test_data_loading_without_two_batches_has_no_histogram():
    frame = frames.data_loading(batches=0, counts=np.zeros(0, int), edges_ns=np.zeros(0), settings=())
    body = framework.draw_loader(framework_fetch(loader_data_loading=frame), request(WINDOW))
    assert [part for part in components(body) if type(part).__name__ == "Graph"] == []
    assert "No two batches" in words(body)
    assert "settings were not recorded" in words(body)


def test_passes_are_drawn_where_the_address_asks_for_them():
    asked = fetch(passes_histogram=frames.step_histogram())
    view = nodes.draw_step_histogram(asked, request(query={"of": "backward"}))
    assert view.note.endswith("188 passes · 1 node · every pass counted")
    assert [arguments[1:] for name, arguments in asked.asked if name == "passes_histogram"] == [("log", "backward")]


def test_steps_of_which_nothing_else_was_recorded_are_not_drawn_as_empty():
    bare = frames.step_breakdown(spent_ns=np.zeros((3, 3)))
    with pytest.raises(MissingTable, match="but the steps themselves"):
        framework.draw_breakdown(framework_fetch(breakdown_last_steps=bare), request(WINDOW))
