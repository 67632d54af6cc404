"""Overview of a job: key numbers, where its time went, and how well its hardware was used, in numbers and in words."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, cast

import dash
from dash import dcc, html
from dash.development.base_component import Component

from app import insights, operations, pricing
from app.grids import register_download
from app.panels import Request, register_content, register_figure
from app.urls import Address
from app.views import origin_of
from components import format as text
from components import functions_table, tables
from components.cards import Kpi, absent_card, facts, kpi_strip, missing, section_title
from components.details import detail_rows
from components.figures import empty, phases
from components.figures.axes import View
from components.markup import attributes
from components.panels import GRAPH_CONFIG, EmptyView, FigureView, content_panel, figure_panel
from data.errors import MissingTable
from data.frames import FunctionTotals, JobHeader, JobTimes, StepHistogram, UsageSummary
from data.insights.usage import UsageSentence, usage_sentences
from data.queries import functions, jobs, steps, system
from data.selection import Selection, Window
from data.store import Fetch


class Id(StrEnum):
    """Panels of this page."""

    PROBLEMS = "overview-problems"
    KPIS = "overview-kpis"
    INSIGHTS = insights.PANEL
    PHASES = "overview-phases"
    PROGRESS = "overview-progress"
    DETAILS = "overview-details"
    USAGE = "overview-usage"
    CPU_OPERATORS = operations.CPU
    GPU_OPERATORS = operations.GPU
    OPERATORS = operations.ALL
    FRAMEWORK = operations.SHARES
    FUNCTIONS = "overview-functions"
    COST = pricing.PANEL


def layout(address: Address, header: JobHeader) -> html.Div:
    """The page with empty panels; each asks for its own data."""
    problems = [content_panel(Id.PROBLEMS, "", min_height=20)] if header.problems else []
    return html.Div(
        [
            *problems,
            content_panel(Id.KPIS, "", min_height=78),
            html.H2("What the rules found", className="visually-hidden"),
            html.Div(
                [insights.panel(), html.Div(_sections(address, header), className="overview-main")],
                className="with-aside",
            ),
        ],
        className="overview",
    )


def _sections(address: Address, header: JobHeader) -> list[Component]:
    """Everything beside the insights."""
    return [
        section_title("Training job summary", "the whole job"),
        html.Div(
            [
                html.Div(
                    [
                        content_panel(Id.PHASES, "Time spent in phases of training", min_height=166),
                        figure_panel(
                            Id.PROGRESS,
                            "Training progress over time",
                            height=phases.PROGRESS_HEIGHT,
                            query_keys=(),
                        ),
                    ],
                    className="stack",
                ),
                content_panel(Id.DETAILS, "Training job details", min_height=300),
            ],
            className="summary-grid",
        ),
        *pricing.section(),
        section_title("Resource utilization", _usage_note(address, header)),
        _usage_panel(header),
        *operations.sections(header, _span(address)),
        section_title("Python functions", _functions_note(address, header)),
        _functions_panel(header),
    ]


def _functions_note(address: Address, header: JobHeader) -> str:
    if not header.function_count:
        return ""
    return "profiles that overlap the window, each whole" if address.selection.window else "whole job"


def _functions_panel(header: JobHeader) -> Component:
    if not header.function_count:
        return absent_card(
            "Python functions",
            "No Python profile was recorded.",
            "Turn Python profiling on in the profiler's configuration, with cProfile or Pyinstrument, to see where a"
            " training's own code takes its time.",
        )
    return content_panel(
        Id.FUNCTIONS,
        "Own time by function",
        min_height=200,
        controls=functions_table.functions_controls(Id.FUNCTIONS, header.function_phases),
        query_keys=("phase",),
    )


def _usage_panel(header: JobHeader) -> Component:
    if not header.measured:
        reason = empty.no_metrics()
        return absent_card("Utilization by node", reason.reason, reason.hint)
    rows = 6 if header.gpus else 4
    return content_panel(Id.USAGE, "", min_height=60 + 29 * rows * min(len(header.nodes), 8))


def _usage_note(address: Address, header: JobHeader) -> str:
    if not header.measured:
        return ""
    interval = f"{text.duration(header.interval_ns)} samples" if header.interval_ns else ""
    parts = [_span(address), interval, "GPU, CPU and I/O: mean of the node's devices", "network: received plus sent"]
    return " · ".join(part for part in parts if part)


def _span(address: Address) -> str:
    window = address.selection.window
    return f"window of {text.duration(window.duration_ns)}" if window else "whole job"


def register(dash_app: dash.Dash, fetch: Fetch) -> None:
    """Connect the panels to their drawings."""
    register_content(dash_app, Id.PROBLEMS, lambda request: draw_problems(fetch, request))
    register_content(dash_app, Id.KPIS, lambda request: draw_kpis(fetch, request))
    register_content(dash_app, Id.PHASES, lambda request: draw_phases(fetch, request))
    register_figure(dash_app, Id.PROGRESS, lambda request: draw_progress(fetch, request))
    register_content(dash_app, Id.DETAILS, lambda request: draw_details(fetch, request))
    register_content(dash_app, Id.USAGE, lambda request: draw_usage(fetch, request))
    pricing.register(dash_app, fetch)
    insights.register(dash_app, fetch)
    operations.register(dash_app, fetch)
    register_content(dash_app, Id.FUNCTIONS, lambda request: draw_functions(fetch, request))
    register_download(
        dash_app,
        Id.FUNCTIONS,
        "python-functions.csv",
        lambda request: functions_table.csv_text(_functions(fetch, request)),
    )


def draw_problems(fetch: Fetch, request: Request) -> Component | EmptyView:
    """What was lost while reading, with the first places."""
    problems = fetch(jobs.problems, Selection(request.selection.job))
    if problems.empty:
        return html.Div()
    return tables.problem_list(problems)


def draw_kpis(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Seven key numbers of the whole job; what was not measured is said to be missing."""
    whole = Selection(request.selection.job, None, request.selection.nodes)
    header, times = fetch(jobs.header, whole), fetch(jobs.times, whole)
    try:
        usage: UsageSummary | None = fetch(system.usage_summary, whole)
    except MissingTable:
        usage = None
    return kpi_strip(
        [
            Kpi("Duration", text.duration(times.duration_ns), note=_duration_note(header, times)),
            pricing.key_number(fetch, whole.job),
            _usage_kpi("GPU utilization", "GPU", "gpu", usage),
            _usage_kpi("CPU utilization", "CPU", "cpu", usage),
            _memory_kpi(fetch, whole, request),
            _step_kpi(fetch, whole, header),
            _disk(header),
        ]
    )


def _duration_note(header: JobHeader, times: JobTimes) -> str:
    return f"{text.seconds(times.duration_ns)} · {text.counted(len(header.nodes), 'node')}"


def _disk(header: JobHeader) -> Kpi:
    value, unit = _apart(text.byte_size(header.stored_bytes))
    return Kpi("Disk use", value, unit, f"from {text.byte_size(header.raw_bytes)} of profiler files")


def _usage_kpi(name: str, metric: str, hue: str, usage: UsageSummary | None) -> Kpi:
    if usage is None:
        return Kpi(name, text.MISSING, note="no system metrics", metric=hue)
    rows = usage[(usage["metric"] == metric) & usage["p95"].notna()]
    if rows.empty:
        return Kpi(name, text.MISSING, note=f"no {metric} was recorded", metric=hue)
    highest = int(rows["p95"].to_numpy().argmax())
    p95, p50 = float(rows["p95"].iloc[highest]), float(rows["p50"].iloc[highest])
    whose = "highest node" if len(rows) > 1 else "mean of devices"
    return Kpi(name, text.number(p95), "% p95", f"{whose} · p50 {text.percent(p50)}", hue)


def _memory_kpi(fetch: Fetch, whole: Selection, request: Request) -> Kpi:
    try:
        peak = fetch(system.over_time, whole, "gpu_memory", "device", 600).peak
    except MissingTable:
        peak = None
    if peak is None:
        return Kpi("GPU memory", text.MISSING, note="no GPU was recorded", metric="gpu_memory")
    where = f"{text.plain(peak.node, 40)} {text.plain(peak.device, 40)}"
    note = f"{where} · {text.clock(peak.time_ns, request.offset_minutes)}"
    return Kpi("GPU memory", text.number(peak.value), "% peak", note, "gpu_memory")


def _apart(words: str) -> tuple[str, str]:
    """A number and its unit; what has no single unit, like 2m 05s, stays whole."""
    number, _, unit = words.rpartition(" ")
    return (number, unit) if number and unit.isalpha() else (words, "")


def _step_kpi(fetch: Fetch, whole: Selection, header: JobHeader) -> Kpi:
    try:
        frame: StepHistogram = fetch(steps.histogram, whole, "log")
    except MissingTable:
        return Kpi("Step time", text.MISSING, note="no step was recorded", metric="steps")
    value, unit = _apart(text.duration(frame.p50_ns))
    many = text.counted(header.step_count, "step")
    if header.step_processes > 1 and header.step_count == header.step_processes * header.step_numbers:
        many = f"{header.step_processes} × {text.counted(header.step_numbers, 'step')}"
    note = f"p95 {text.duration(frame.p95_ns)} · {many}"
    return Kpi("Step time", value, f"{unit} median".strip(), note, "steps")


def draw_phases(fetch: Fetch, request: Request) -> Component | EmptyView:
    """The donut and its legend with times and shares."""
    times = fetch(jobs.times, Selection(request.selection.job))
    parts = phases.phases(times)
    if not parts:
        return EmptyView(
            f"The phases need training steps: {text.plain(times.steps_reason) or 'none was recorded.'}",
            "Start, end and duration of the job are beside this.",
        )
    figure = phases.phase_donut(times, _view(fetch, times, request))
    spot_ns = sum(end_ns - start_ns for start_ns, end_ns in times.spot_gaps)
    legend: list[Component] = [
        _phase_row(part.key, part.name, text.duration_exact(part.duration_ns), text.percent(part.percent, 2))
        for part in parts
    ]
    spot_percent = text.percent(100 * spot_ns / times.duration_ns, 2) if spot_ns else text.NOT_APPLICABLE
    legend.append(
        _phase_row("", "Spot interruption", text.duration_exact(spot_ns) if spot_ns else "none", spot_percent)
    )
    graph = dcc.Graph(
        figure=figure,
        config=cast(Any, GRAPH_CONFIG),
        style={"height": f"{phases.DONUT_PX}px", "width": f"{phases.DONUT_PX}px"},
        className="donut",
    )
    words = ", ".join(f"{part.name} {text.percent(part.percent, 2)}" for part in parts)
    return html.Div(
        [
            html.Div(graph, role="img", **attributes(aria_label=f"Time in phases: {words}")),
            html.Ul(legend, className="phase-legend"),
        ],
        className="phases",
    )


def _phase_row(key: str, name: str, duration: str, percent: str) -> html.Li:
    mark = html.Span(className="dot", **attributes(data_metric=key)) if key else html.Span(className="dot spot")
    return html.Li(
        [
            mark,
            html.Span(name, className="phase-name"),
            html.Span(duration, className="num phase-time"),
            html.B(percent, className="num"),
        ],
        className="" if key else "muted",
    )


def draw_progress(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """The phases in the order of time, with spot interruptions."""
    times = fetch(jobs.times, Selection(request.selection.job))
    return phases.training_progress(times, _view(fetch, times, request))


def _view(fetch: Fetch, times: JobTimes, request: Request) -> View:
    window = Window(times.start_ns, max(times.end_ns, times.start_ns + 1))
    origin_ns = origin_of(fetch(jobs.header, Selection(request.selection.job)))
    return View(window, request.theme, request.offset_minutes, request.search, origin_ns)


def draw_details(fetch: Fetch, request: Request) -> Component | EmptyView:
    """The eleven rows of the job's times, and what is billed in a column of its own."""
    times = fetch(jobs.times, Selection(request.selection.job))
    origin_ns = origin_of(fetch(jobs.header, Selection(request.selection.job)))
    zone = f"Times in {text.zone(request.offset_minutes)}." if origin_ns is None else "Nothing says when the job was."
    billed = [
        ("Billed time", f"{text.number(times.billed_s, 0)} s" if times.billed_s is not None else text.MISSING),
        ("Training time", f"{text.number(times.training_s, 0)} s" if times.training_s is not None else text.MISSING),
    ]
    reason = [html.P(f"Training loop: {text.plain(times.steps_reason)}", className="panel-note")]
    return html.Div(
        [
            html.Div(
                [facts(detail_rows(times, request.offset_minutes, origin_ns)), *(reason if times.steps_reason else [])]
            ),
            html.Div(
                [
                    html.Div("Billing", className="column-title"),
                    facts(billed),
                    html.P("As the training service reports them, per instance.", className="panel-note"),
                    html.P(zone, className="panel-note"),
                ],
                className="billing",
            ),
        ],
        className="details",
    )


def draw_usage(fetch: Fetch, request: Request) -> Component | EmptyView:
    """The table of statistics, and a sentence per node."""
    usage = fetch(system.usage_summary, request.selection)
    if usage.empty:
        return EmptyView("No system metric lies in this window.", "Press 0 to see the whole job.")
    return html.Div([tables.usage_table(usage), _plain_words(usage_sentences(usage))])


def draw_functions(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Every Python function of the profiles, with its calls and times."""
    return functions_table.functions_table(Id.FUNCTIONS, _functions(fetch, request))


def _functions(fetch: Fetch, request: Request) -> FunctionTotals:
    phase = request.query.get("phase", "")
    known = phase in {value for value, _ in functions_table.PHASES}
    return fetch(functions.listed, request.selection, cast(functions.JobPhase, phase if known else ""))


def _plain_words(sentences: tuple[UsageSentence, ...]) -> html.Div:
    lines = [
        html.Li([html.B(text.plain(sentence.node)), html.Span(sentence.text)], className="sentence")
        for sentence in sentences
    ]
    return html.Div(
        [html.Div("In plain words", className="column-title"), html.Ul(lines or [missing()])], className="plain-words"
    )


FIRST = ((Id.DETAILS, draw_details),)
"""What comes with the page itself: it needs nothing but the manifest, and no chart's script."""
