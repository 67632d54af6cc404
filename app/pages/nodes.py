"""The nodes of a job: heatmap, metrics over time, distributions and steps, all on one time axis."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any, Literal, cast

import dash
from dash import html
from dash.development.base_component import Component

from app import framework
from app.panels import Request, register_content, register_figure
from app.urls import Address
from app.views import chosen, plot_px, view_of
from components import controls
from components.cards import absent_card, section_title, strip_panel
from components.figures import activity, breakdown, distribution, empty, heatmap, lanes, rows, system
from components.figures import memory as memory_figures
from components.figures import steps as step_figures
from components.panels import EmptyView, FigureView, content_panel, figure_panel
from data.errors import MissingTable
from data.frames import JobHeader
from data.queries import distribution as distribution_queries
from data.queries import heatmap as heatmap_queries
from data.queries import jobs, passes, steps
from data.queries import memory as memory_queries
from data.queries import system as system_queries
from data.selection import Selection
from data.store import Fetch

By = Literal["all", "node", "device"]
MAX_HEATMAP_NODES = 16
"""More nodes than this make a heatmap that nobody scrolls through and no browser draws at once."""
_HEATMAP_METRICS = (("utilization", "Utilization"), ("gpu_memory", "GPU memory"), ("io_wait", "I/O wait"))
_DURATIONS = (("steps", "Steps"), ("forward", "Forward"), ("backward", "Backward"))
_SCALES = (("linear", "Linear"), ("log", "Log"))
_LINES = (("all", "Mean"), ("node", "Nodes"), ("device", "Devices"))


class Id(StrEnum):
    """Panels of this page."""

    MINIMAP = "nodes-minimap"
    HEATMAP = "nodes-heatmap"
    GPU = "nodes-gpu"
    CPU = "nodes-cpu"
    GPU_MEMORY = "nodes-gpu-memory"
    GPU_ALLOCATOR = "nodes-gpu-allocator"
    CPU_ALLOCATOR = "nodes-cpu-allocator"
    MEMORY = "nodes-memory"
    NETWORK = "nodes-network"
    IO_WAIT = "nodes-io-wait"
    THROUGHPUT = "nodes-throughput"
    IOPS = "nodes-iops"
    GPU_HISTOGRAM = "nodes-gpu-histogram"
    CPU_HISTOGRAM = "nodes-cpu-histogram"
    GPU_MEMORY_HISTOGRAM = "nodes-gpu-memory-histogram"
    STEP_HISTOGRAM = "nodes-step-histogram"
    STEP_TIMELINE = "nodes-step-timeline"
    LANES = "nodes-lanes"
    EVENTS = "nodes-events"
    BREAKDOWN = "nodes-breakdown"
    ACTIVITY = "nodes-activity"
    LOADER = "nodes-loader"


def layout(address: Address, header: JobHeader) -> html.Div:
    """The toolbar and empty panels; each asks for its own data when it comes into view."""
    metrics = _metrics(header) if header.measured else [_no_metrics(), *_allocated(header)]
    return html.Div(
        [
            _toolbar(header),
            *metrics,
            section_title("Steps", "from the framework's events"),
            _steps(header),
            *_events(header),
        ],
        className="nodes",
    )


def _metrics(header: JobHeader) -> list[Component]:
    """What the system metrics give."""
    lines = "GPU and CPU lines" if header.gpus else "CPU lines"
    return [
        html.H2("Utilization of every core and GPU", className="visually-hidden"),
        _heatmap_panel(header),
        html.Div(
            [
                section_title("Over time", "one time axis for all charts: drag on any of them to zoom"),
                html.Div(
                    [
                        html.Span(lines, className="section-note"),
                        controls.segments("by", _LINES, default="all", label=lines),
                    ],
                    className="section-controls",
                ),
            ],
            className="section-head",
        ),
        _over_time(header),
        section_title("Distributions", "every sample of the window"),
        _distributions(header),
    ]


def _no_metrics() -> Component:
    """A job of traces alone: said once, in place of a dozen empty charts."""
    reason = empty.no_metrics()
    return absent_card("Utilization of CPU, GPU, memory, network and disk", reason.reason, reason.hint)


def _toolbar(header: JobHeader) -> html.Div:
    fields = [controls.field("Nodes", controls.node_picker(header.nodes))]
    metrics = [option for option in _HEATMAP_METRICS if header.gpus or option[0] != "gpu_memory"]
    if header.measured:
        choice = controls.segments("metric", metrics, default="utilization", label="Heatmap shows")
        fields.append(controls.field("Heatmap shows", choice))
    return html.Div(
        [*fields, strip_panel(Id.MINIMAP, "The whole job", height=system.MINIMAP_HEIGHT), controls.time_window()],
        className="card toolbar",
    )


def _heatmap_panel(header: JobHeader) -> Component:
    legend = html.Div(
        [
            html.Span(["0", html.I(), "100 %"], className="heat-legend"),
            html.Span([html.I(className="mark mark-hatch"), "no data"], className="legend-item"),
        ],
        className="legend",
    )
    panel: Any = figure_panel(
        Id.HEATMAP,
        "System utilization",
        height=_expected_height(header),
        controls=legend,
        wide=True,
        query_keys=("metric",),
    )
    panel.className = f"{panel.className} heatmap-chart"
    return cast(Component, panel)


def _expected_height(header: JobHeader) -> int:
    drawn = min(len(header.nodes), MAX_HEATMAP_NODES)
    part = drawn / max(len(header.nodes), 1)
    return rows.expected_height(drawn, round(header.gpus * part), round(header.cpus * part))


def _over_time(header: JobHeader) -> html.Div:
    panels: list[Component] = [_lines_panel(Id.CPU, "CPU utilization", "cpu", wide=not header.gpus)]
    if header.gpus:
        panels.insert(0, _lines_panel(Id.GPU, "GPU utilization", "gpu"))
        panels.append(_lines_panel(Id.GPU_MEMORY, "GPU memory", "gpu_memory", wide=True))
    else:
        reason = empty.no_gpus()
        panels.insert(0, absent_card("GPU utilization and GPU memory", reason.reason, reason.hint))
    panels += _allocators(header)
    panels += [
        _lines_panel(Id.MEMORY, "CPU memory", "memory"),
        _lines_panel(Id.NETWORK, "Network", "network"),
        _lines_panel(Id.IO_WAIT, "I/O wait", "io_wait"),
        _lines_panel(Id.THROUGHPUT, "Disk throughput", "throughput"),
        _lines_panel(Id.IOPS, "Disk operations", "iops", wide=True),
    ]
    return html.Div(panels, className="grid-2")


def _allocated(header: JobHeader) -> list[Component]:
    """What a job of traces alone has of memory: the same panels, in a section of their own."""
    if not header.memory_kinds:
        return _allocators(header)
    title = section_title("Memory", "by PyTorch's allocators, one time axis with the charts below")
    return [title, html.Div(_allocators(header), className="grid-2")]


def _allocators(header: JobHeader) -> list[Component]:
    """Memory as PyTorch's own allocators count it, beside that which the driver reports."""
    if not header.memory_kinds:
        reason = empty.no_memory_records()
        return [absent_card("GPU memory (allocator)", reason.reason, reason.hint)] if header.events else []
    every = (
        (Id.GPU_ALLOCATOR, "GPU memory (allocator)", "gpu_memory", header.memory_kinds != ("cpu",)),
        (Id.CPU_ALLOCATOR, "CPU memory (allocator)", "memory", "cpu" in header.memory_kinds),
    )
    some = [(panel_id, title, metric) for panel_id, title, metric, present in every if present]
    return [
        figure_panel(panel_id, title, height=memory_figures.HEIGHT, metric=metric, wide=len(some) == 1, query_keys=())
        for panel_id, title, metric in some
    ]


def _lines_panel(panel_id: Id, title: str, metric: str, *, wide: bool = False) -> html.Section:
    keys = ("by",) if panel_id in (Id.GPU, Id.CPU) else ()
    return figure_panel(panel_id, title, height=system.LINES_HEIGHT, metric=metric, wide=wide, query_keys=keys)


def _distributions(header: JobHeader) -> html.Div:
    every = (
        (Id.GPU_HISTOGRAM, "GPU utilization", "gpu"),
        (Id.CPU_HISTOGRAM, "CPU utilization", "cpu"),
        (Id.GPU_MEMORY_HISTOGRAM, "GPU memory", "gpu_memory"),
    )
    panels = [
        figure_panel(
            panel_id,
            title,
            height=distribution.expected_height(len(header.nodes)),
            metric=metric,
            wide=not header.gpus,
            query_keys=(),
        )
        for panel_id, title, metric in every
        if header.gpus or metric == "cpu"
    ]
    return html.Div(panels, className="grid-3")


def _steps(header: JobHeader) -> html.Div:
    if not header.step_count:
        reason = empty.no_steps("")
        return absent_card("Step duration and step timeline", reason.reason, reason.hint)
    choices = html.Div(
        [
            controls.segments("of", _DURATIONS, default="steps", label="Durations of"),
            controls.segments("scale", _SCALES, default="log", label="Scale of durations"),
        ],
        className="section-controls",
    )
    return html.Div(
        [
            figure_panel(
                Id.STEP_HISTOGRAM,
                "Step duration",
                height=step_figures.STEPS_HEIGHT,
                metric="steps",
                controls=choices,
                query_keys=("scale", "of"),
            ),
            figure_panel(
                Id.STEP_TIMELINE, "Step timeline", height=step_figures.STEPS_HEIGHT, metric="steps", query_keys=()
            ),
        ],
        className="grid-2",
    )


def _events(header: JobHeader) -> list[Component]:
    """What single events give: lanes, the table behind them, and what steps and GPUs are busy with."""
    if not header.events:
        reason = empty.no_events()
        return [absent_card("Framework metrics and time spent in training", reason.reason, reason.hint)]
    below: list[Component] = []
    if header.step_count:
        below.append(
            figure_panel(
                Id.BREAKDOWN,
                "Time spent in training",
                height=breakdown.HEIGHT,
                metric="steps",
                query_keys=(),
                wide=not header.kernels,
            )
        )
    if header.kernels:
        below.append(
            figure_panel(
                Id.ACTIVITY,
                "GPU activity",
                height=activity.HEIGHT,
                metric="gpu",
                query_keys=(),
                wide=not header.step_count,
            )
        )
    return [
        section_title("Framework metrics", "every event of the framework, by phase"),
        html.Div(
            [
                figure_panel(
                    Id.LANES, "Framework metrics over time", height=lanes.expected_height(6), wide=True, query_keys=()
                ),
                content_panel(Id.EVENTS, "Events", min_height=36, wide=True, query_keys=("events",)),
                *below,
                content_panel(Id.LOADER, "Data loading", min_height=80, wide=True),
            ],
            className="grid-2",
        ),
    ]


def register(dash_app: dash.Dash, fetch: Fetch) -> None:
    """Connect the panels to their drawings."""
    register_figure(dash_app, Id.MINIMAP, lambda request: draw_minimap(fetch, request))
    register_figure(dash_app, Id.HEATMAP, lambda request: draw_heatmap(fetch, request))
    register_figure(dash_app, Id.GPU, lambda request: draw_usage(fetch, request, "gpu"))
    register_figure(dash_app, Id.CPU, lambda request: draw_usage(fetch, request, "cpu"))
    register_figure(dash_app, Id.GPU_MEMORY, lambda request: draw_gpu_memory(fetch, request))
    register_figure(dash_app, Id.GPU_ALLOCATOR, lambda request: draw_allocated(fetch, request, "gpu"))
    register_figure(dash_app, Id.CPU_ALLOCATOR, lambda request: draw_allocated(fetch, request, "cpu"))
    register_figure(dash_app, Id.MEMORY, lambda request: draw_usage(fetch, request, "memory"))
    register_figure(dash_app, Id.IO_WAIT, lambda request: draw_usage(fetch, request, "io_wait"))
    register_figure(dash_app, Id.NETWORK, lambda request: draw_throughput(fetch, request, "network"))
    register_figure(dash_app, Id.THROUGHPUT, lambda request: draw_throughput(fetch, request, "throughput"))
    register_figure(dash_app, Id.IOPS, lambda request: draw_throughput(fetch, request, "iops"))
    register_figure(dash_app, Id.GPU_HISTOGRAM, lambda request: draw_histogram(fetch, request, "gpu"))
    register_figure(dash_app, Id.CPU_HISTOGRAM, lambda request: draw_histogram(fetch, request, "cpu"))
    register_figure(dash_app, Id.GPU_MEMORY_HISTOGRAM, lambda request: draw_histogram(fetch, request, "gpu_memory"))
    register_figure(dash_app, Id.STEP_HISTOGRAM, lambda request: draw_step_histogram(fetch, request))
    register_figure(dash_app, Id.STEP_TIMELINE, lambda request: draw_step_timeline(fetch, request))
    register_figure(dash_app, Id.LANES, lambda request: framework.draw_lanes(fetch, request))
    register_content(dash_app, Id.EVENTS, lambda request: framework.draw_events(fetch, request))
    register_figure(dash_app, Id.BREAKDOWN, lambda request: framework.draw_breakdown(fetch, request))
    register_figure(dash_app, Id.ACTIVITY, lambda request: framework.draw_activity(fetch, request))
    register_content(dash_app, Id.LOADER, lambda request: framework.draw_loader(fetch, request))


def draw_minimap(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """The whole job with the window marked: its CPU and GPU, or its events where it has no metrics."""
    whole = Selection(request.selection.job, None, request.selection.nodes)
    view = view_of(fetch, replace(request, selection=whole))
    window = request.selection.window
    brush = (window.start_ns, window.end_ns) if window else None
    try:
        cpu = fetch(system_queries.over_time, whole, "cpu", "all", 300)
    except MissingTable:
        return framework.draw_minimap(fetch, whole, view, brush)
    try:
        gpu = fetch(system_queries.over_time, whole, "gpu", "all", 300)
    except MissingTable:
        gpu = None
    return FigureView(
        system.minimap(cpu, gpu, view, brush),
        caption="CPU and GPU utilization over the whole job, with the window in view marked.",
    )


def draw_heatmap(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """Every device over time; two pixels a column, so that a column can be seen and pointed at."""
    metric = cast(
        Literal["utilization", "gpu_memory", "io_wait"], chosen(request, "metric", _HEATMAP_METRICS, "utilization")
    )
    selection = request.selection
    every = selection.nodes or fetch(jobs.header, Selection(selection.job)).nodes
    if len(every) > MAX_HEATMAP_NODES:
        selection = replace(selection, nodes=every[:MAX_HEATMAP_NODES])
    frame = fetch(heatmap_queries.device_heatmap, selection, metric, plot_px(request) // 2)
    if not frame.rows or not frame.maximum.size:
        return empty.nothing_in_window("Nothing was measured")
    view = heatmap.utilization_heatmap(frame, view_of(fetch, request))
    if len(every) > MAX_HEATMAP_NODES:
        cut = f"The first {MAX_HEATMAP_NODES} of {len(every)} nodes are drawn; pick others above."
        view = replace(view, caption=f"{view.caption} {cut}")
    return view


def draw_usage(
    fetch: Fetch, request: Request, metric: Literal["cpu", "gpu", "memory", "io_wait"]
) -> FigureView | EmptyView:
    """A utilisation: the mean of all devices with its extremes, or a line per node or device."""
    by: By = "node" if metric == "memory" else "all"
    if metric in ("cpu", "gpu"):
        by = cast(By, chosen(request, "by", _LINES, "all"))
    frame = fetch(system_queries.over_time, request.selection, metric, by, plot_px(request))
    if not frame.groups:
        return empty.nothing_in_window("Nothing was measured")
    counted = {"gpu": "GPU", "memory": "node"}.get(metric, "core")
    return system.usage_over_time(frame, view_of(fetch, request), devices=counted)


def draw_gpu_memory(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """GPU memory, a line per GPU, with its exact peak."""
    frame = fetch(system_queries.over_time, request.selection, "gpu_memory", "device", plot_px(request) // 2)
    if not frame.groups:
        return empty.nothing_in_window("No GPU memory was measured")
    return system.memory_timeline(frame, view_of(fetch, request))


def draw_allocated(fetch: Fetch, request: Request, which: memory_queries.Which) -> FigureView | EmptyView:
    """Memory as the framework's allocators count it, a line for each process and device, with the exact peak."""
    frame = fetch(memory_queries.over_time, request.selection, which, plot_px(request))
    if not any(line.peak_bytes >= 0 for line in frame.lines):
        return empty.nothing_in_window("No record of an allocator lies")
    return memory_figures.allocated(frame, view_of(fetch, request))


def draw_throughput(
    fetch: Fetch, request: Request, metric: Literal["network", "iops", "throughput"]
) -> FigureView | EmptyView:
    """What was moved per second, summed over the selected nodes."""
    frame = fetch(system_queries.over_time, request.selection, metric, "all", plot_px(request))
    if not frame.groups:
        return empty.nothing_in_window("Nothing was measured")
    nodes = len(request.selection.nodes) or len(fetch(jobs.header, Selection(request.selection.job)).nodes)
    return system.throughput_over_time(frame, view_of(fetch, request), nodes=nodes)


def draw_histogram(
    fetch: Fetch, request: Request, metric: Literal["cpu", "gpu", "gpu_memory"]
) -> FigureView | EmptyView:
    """How often each level of utilisation occurred."""
    frame = fetch(distribution_queries.metric_histogram, request.selection, metric)
    if not any(node.total for node in frame.nodes):
        return empty.nothing_in_window("No sample lies")
    return distribution.metric_histogram(frame, view_of(fetch, request))


def draw_step_histogram(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """How long steps took, or their forward or backward passes."""
    scale = cast(Literal["linear", "log"], chosen(request, "scale", _SCALES, "log"))
    which = chosen(request, "of", _DURATIONS, "steps")
    if which != "steps":
        part = fetch(passes.histogram, request.selection, scale, cast(passes.Pass, which))
        return step_figures.step_histogram(part, view_of(fetch, request), one="pass", many="passes")
    frame = fetch(steps.histogram, request.selection, scale)
    if not frame.steps:
        return empty.nothing_in_window("No step starts")
    return step_figures.step_histogram(frame, view_of(fetch, request))


def draw_step_timeline(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """How long each step took, over time."""
    frame = fetch(steps.timeline, request.selection, plot_px(request))
    if not frame.steps:
        return empty.nothing_in_window("No step starts")
    return step_figures.step_timeline(frame, view_of(fetch, request))
