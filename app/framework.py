"""The framework's part of the Nodes tab: events in lanes, those behind a place, what steps take, GPU activity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from dash import dcc, html
from dash.development.base_component import Component

from app.panels import Request
from app.urls import read_lane
from app.views import plot_px, view_of
from components import controls
from components import format as text
from components.events_table import events_table
from components.figures import activity as activity_figures
from components.figures import breakdown as breakdown_figures
from components.figures import empty
from components.figures import lanes as lane_figures
from components.figures import loader as loader_figures
from components.figures.axes import View
from components.loader_table import loader_table, settings_words
from components.markup import attributes
from components.panels import GRAPH_CONFIG, EmptyView, FigureView
from data.errors import MissingTable
from data.frames.framework import DataLoading, Lanes
from data.insights.event_kinds import KINDS, RULES
from data.queries import activity, breakdown, lanes, loader
from data.selection import Selection
from data.store import Fetch

COLUMN_PX = 2
MINIMAP_COLUMNS = 300
_RULES = tuple((rule.kind, rule.field, rule.pattern) for rule in RULES)
_KINDS = tuple(kind for kind, _ in KINDS)


def _lanes(fetch: Fetch, request: Request) -> Lanes:
    return fetch(lanes.over_time, request.selection, plot_px(request) // COLUMN_PX)


def draw_minimap(fetch: Fetch, whole: Selection, view: View, brush: tuple[int, int] | None) -> FigureView:
    """The whole job by its events, for a job without system metrics."""
    frame = fetch(lanes.over_time, whole, MINIMAP_COLUMNS)
    return FigureView(
        lane_figures.minimap(frame, view, brush),
        caption="How full the fullest lane of events is over the whole job, with the window in view marked.",
    )


def draw_lanes(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """Framework metrics over time: two pixels a column, or a bar for each event."""
    frame = _lanes(fetch, request)
    if not frame.lanes:
        return empty.nothing_in_window("No event runs")
    return lane_figures.framework_lanes(frame, view_of(fetch, request))


def draw_events(fetch: Fetch, request: Request) -> Component | EmptyView:
    """The events behind a column or a bar of a lane, or of a whole lane; and a way to choose one without a pointer."""
    picker = _picker(_lanes(fetch, request))
    place = read_lane(request.query.get("events", ""))
    if place is None:
        hint = html.Span("Click a column or a bar above, or choose a lane.", className="panel-note")
        return html.Div([picker, hint], className="events-head")
    window, node, phase = place
    selection = replace(request.selection, window=window or request.selection.window)
    found = fetch(lanes.longest, selection, node, phase)
    view = view_of(fetch, replace(request, selection=selection))
    span = f"{view.clock(view.window.start_ns)} – {view.clock(view.window.end_ns)}" if window else "the window in view"
    title = f"{text.plain(phase, 80)} on {text.plain(node, 60)}, {span}"
    return events_table(found, title, picker, view)


def _picker(frame: Lanes) -> Component:
    options = [
        (f"/{lane_figures.lane_token(lane.node, lane.phase)}", _lane_words(frame, lane.node, lane.phase))
        for lane in frame.lanes
    ]
    return controls.picker("events", options, "Choose a lane")


def _lane_words(frame: Lanes, node: str, phase: str) -> str:
    return text.plain(phase, 60) if frame.node_count < 2 else f"{text.plain(node, 40)} {text.plain(phase, 60)}"


def draw_breakdown(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """Time spent in training: the last steps of the window, each divided by kind of event."""
    frame = fetch(breakdown.last_steps, request.selection, _RULES, _KINDS)
    if not frame.spent_ns.any():
        raise MissingTable(
            "Nothing was recorded in these steps but the steps themselves.",
            "Detailed profiling, or a trace of PyTorch, records what they were spent on.",
        )
    return breakdown_figures.step_breakdown(frame, view_of(fetch, request))


def draw_activity(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """GPU activity from kernels, where traces have them."""
    frame = fetch(activity.gpu_activity, request.selection, plot_px(request))
    if not frame.groups:
        raise MissingTable(
            "No kernel runs in this window on these nodes.", "Zoom out, or press 0 to see the whole job."
        )
    return activity_figures.gpu_activity(frame, view_of(fetch, request))


def draw_loader(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Data loading: the time from batch to batch, the loaders' settings, and a row per process and worker."""
    frame = fetch(loader.data_loading, request.selection)
    words = settings_words(frame)
    if frame.group_count > len(frame.groups):
        words += f" The {len(frame.groups)} of {text.count(frame.group_count)} rows with the most time are shown."
    view = view_of(fetch, request)
    parts: list[Component] = [html.P(f"{_batch_words(frame, view)} {words}", className="panel-caption")]
    if frame.batches:
        graph = dcc.Graph(
            figure=loader_figures.batch_histogram(frame, view),
            config=cast(Any, GRAPH_CONFIG),
            style={"height": f"{loader_figures.HEIGHT}px"},
            responsive=True,
        )
        label = attributes(aria_label="Time from batch to batch")
        parts.append(html.Div(graph, className="chart", role="img", **label))
    return html.Div([*parts, loader_table(frame)])


def _batch_words(frame: DataLoading, view: View) -> str:
    if not frame.batches:
        return "No two batches of a process begin in this window."
    longest = f"the longest {text.duration(frame.longest_ns)} at {view.clock(frame.longest_start_ns)}"
    outliers = f"{text.counted(frame.outliers, 'outlier')} of at least twice that, {longest}"
    return (
        f"From one batch to the next {text.duration(frame.median_ns)} (median of {text.count(frame.batches)}); "
        f"{outliers if frame.outliers else f'none takes twice that, {longest}'}."
    )
