"""What Compare shows over time and as distributions: both runs on one axis, B moved to lie beside A."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal, TypeVar, cast

from dash import Dash, html
from dash.development.base_component import Component

from app.alignment import ALIGNMENTS, Aligned, aligned
from app.comparison import step_distribution
from app.panels import Request, register_figure
from app.views import chosen, plot_px
from components import controls
from components.cards import section_title
from components.figures import difference, heatmap, overlaid
from components.figures.axes import View
from components.panels import EmptyView, FigureView, LegendItem, figure_panel
from data.errors import MissingTable
from data.queries import distribution, system
from data.queries import heatmap as heatmaps
from data.selection import Selection, Window
from data.store import Fetch

LINES: Final = "compare-lines"
HEATMAP_A: Final = "compare-heatmap-a"
HEATMAP_B: Final = "compare-heatmap-b"
DIFFERENCE: Final = "compare-difference"
HISTOGRAM: Final = "compare-histogram"
STEPS: Final = "compare-steps"

KEYS: Final = ("a", "b", "align")
_METRICS: Final = (
    ("gpu", "GPU"),
    ("cpu", "CPU"),
    ("gpu_memory", "GPU memory"),
    ("memory", "CPU memory"),
    ("io_wait", "I/O wait"),
    ("network", "Network"),
)
_SHARES: Final = (("gpu", "GPU"), ("cpu", "CPU"), ("gpu_memory", "GPU memory"))
_HEATMAPS: Final = (("utilization", "Utilization"), ("gpu_memory", "GPU memory"), ("io_wait", "I/O wait"))
_RUNS: Final = (LegendItem("A", "run-a"), LegendItem("B", "run-b"))

T = TypeVar("T")
Pair = Callable[[Request], tuple[Selection, Selection]]


def sections() -> list[Component]:
    """The charts, empty; each asks for its own data."""
    align = controls.field("Align by", controls.segments("align", ALIGNMENTS, default="start", label="Align by"))
    metric = controls.segments("metric", _METRICS, default="gpu", label="Metric")
    shares = controls.segments("share", _SHARES, default="gpu", label="Metric")
    shown = controls.segments("heatmap", _HEATMAPS, default="utilization", label="Heatmap")
    wanted = (*KEYS, "heatmap")
    return [
        html.Div(
            [
                section_title("Over time", "drag to zoom both; B is moved to lie beside A"),
                html.Div([align], className="section-controls"),
            ],
            className="section-head",
        ),
        figure_panel(
            LINES,
            "Mean over all nodes",
            height=overlaid.LINES_HEIGHT,
            controls=metric,
            legend=_RUNS,
            wide=True,
            query_keys=(*KEYS, "metric"),
        ),
        figure_panel(DIFFERENCE, "Difference", height=160, controls=shown, wide=True, query_keys=wanted),
        figure_panel(HEATMAP_A, "A", height=200, wide=True, query_keys=wanted),
        figure_panel(HEATMAP_B, "B", height=200, wide=True, query_keys=wanted),
        section_title("Distributions", "whole job"),
        html.Div(
            [
                figure_panel(
                    HISTOGRAM,
                    "Utilization",
                    height=overlaid.DISTRIBUTION_HEIGHT,
                    controls=shares,
                    legend=_RUNS,
                    query_keys=("a", "b", "share"),
                ),
                figure_panel(
                    STEPS,
                    "Step duration, cumulative",
                    height=overlaid.DISTRIBUTION_HEIGHT,
                    legend=_RUNS,
                    query_keys=("a", "b"),
                ),
            ],
            className="grid-2",
        ),
    ]


def register(dash_app: Dash, fetch: Fetch, pair: Pair) -> None:
    """Connect the panels to their drawings."""
    for panel_id, draw in (
        (LINES, draw_lines),
        (HEATMAP_A, partial(draw_heatmap, run="A")),
        (HEATMAP_B, partial(draw_heatmap, run="B")),
        (DIFFERENCE, draw_difference),
        (HISTOGRAM, draw_histogram),
        (STEPS, draw_steps),
    ):
        register_figure(dash_app, panel_id, partial(draw, fetch, pair))


def draw_lines(fetch: Fetch, pair: Pair, request: Request) -> FigureView | EmptyView:
    """The mean of a metric over time in both runs."""
    both = aligned(fetch, request, *pair(request))
    metric = cast(system.LineMetric, chosen(request, "metric", _METRICS, "gpu"))
    px = plot_px(request)
    found = _of_each(lambda one: fetch(system.over_time, one, metric, "all", px), (both.a, both.b))
    if found[0] is None and found[1] is None:
        return EmptyView("Neither run recorded this metric here.", "Choose another metric, or press 0.")
    return overlaid.overlaid_lines(found[0], found[1], both.shift_ns, both.view)


def draw_heatmap(fetch: Fetch, pair: Pair, request: Request, run: Literal["A", "B"]) -> FigureView | EmptyView:
    """Every device of a run over time, on the axis of both."""
    both = aligned(fetch, request, *pair(request))
    frame = fetch(heatmaps.device_heatmap, both.a if run == "A" else both.b, _heatmap_metric(request), plot_px(request))
    return heatmap.utilization_heatmap(frame, _moved(both) if run == "B" else both.view)


def draw_difference(fetch: Fetch, pair: Pair, request: Request) -> FigureView | EmptyView:
    """B minus A of every device that both have."""
    both = aligned(fetch, request, *pair(request))
    metric, px = _heatmap_metric(request), plot_px(request)
    a, b = (fetch(heatmaps.device_heatmap, one, metric, px) for one in (both.a, both.b))
    return difference.difference_heatmap(a, b, both.shift_ns, both.view)


def draw_histogram(fetch: Fetch, pair: Pair, request: Request) -> FigureView | EmptyView:
    """How often the hardware of both runs was how busy."""
    metric = cast(distribution.HistogramMetric, chosen(request, "share", _SHARES, "gpu"))
    found = _of_each(lambda one: fetch(distribution.metric_histogram, one, metric), pair(request))
    if found[0] is None and found[1] is None:
        return EmptyView("Neither run recorded this metric.")
    return overlaid.overlaid_histogram(found[0], found[1], _plain_view(request))


def draw_steps(fetch: Fetch, pair: Pair, request: Request) -> FigureView | EmptyView:
    """How long the steps of both runs take."""
    found = _of_each(lambda one: fetch(step_distribution, one), pair(request))
    return overlaid.step_ecdf(found[0], found[1], _plain_view(request))


def _heatmap_metric(request: Request) -> heatmaps.HeatmapMetric:
    return cast(heatmaps.HeatmapMetric, chosen(request, "heatmap", _HEATMAPS, "utilization"))


def _plain_view(request: Request) -> View:
    return View(Window(0, 1), request.theme, request.offset_minutes, request.search)


def _moved(both: Aligned) -> View:
    """The view in B's own time: the axis shows the same moments as A's."""
    view, window = both.view, both.b.window
    origin = None if view.origin_ns is None else view.origin_ns - both.shift_ns
    return View(window or view.window, view.theme, view.offset_minutes, view.revision, origin)


def _of_each(query: Callable[[Selection], T], runs: tuple[Selection, Selection]) -> list[T | None]:
    """The same of both runs; None for the one that lacks it."""
    found: list[T | None] = []
    for one in runs:
        try:
            found.append(query(one))
        except MissingTable:
            found.append(None)
    return found
