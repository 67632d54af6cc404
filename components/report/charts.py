"""The charts of a report: those of the pages, in the light theme, over the whole job, as Plotly takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from components import format as text
from components.figures import phases, quality, steps, system
from components.figures.axes import View
from components.figures.heatmap import utilization_heatmap
from components.panels import FigureView
from data.frames import Heatmap
from data.frames.report import Absent
from data.insights.report import Report
from data.selection import Window


@dataclass(frozen=True)
class Chart:
    """A chart with the words around it; `figure` is its JSON."""

    id: str
    title: str
    note: str
    caption: str
    height: int
    figure: str


def charts(report: Report) -> dict[str, list[Chart]]:
    """All charts by the section of the document that they belong to; none where the section has no data."""
    return {
        "training_job_summary": list(_summary(report)),
        "steps": list(_steps(report)),
        "utilization": list(_heatmaps(report)),
        "gpu_memory": list(_memory(report)),
        "data_quality": list(_coverage(report)),
    }


def _view(report: Report, start_ns: int, end_ns: int) -> View:
    header = report.header
    origin_ns = None if header.wall_clock else header.start_ns
    return View(Window(start_ns, max(end_ns, start_ns + 1)), "light", 0, "report", origin_ns)


def _whole(report: Report) -> View:
    return _view(report, report.header.start_ns, report.header.end_ns)


def _summary(report: Report) -> Iterator[Chart]:
    times = report.times
    view = _view(report, times.start_ns, times.end_ns)
    if phases.phases(times):
        donut = FigureView(phases.phase_donut(times, view), caption="The times and shares are in the table.")
        yield _chart("phases", "Time spent in phases of training", donut, phases.DONUT_PX)
    progress = phases.training_progress(times, view)
    yield _chart("progress", "Training progress over time", progress, phases.PROGRESS_HEIGHT)


def _steps(report: Report) -> Iterator[Chart]:
    if not isinstance(report.step_histogram, Absent):
        histogram = steps.step_histogram(report.step_histogram, _whole(report))
        yield _chart("step-duration", "Step duration", histogram, steps.STEPS_HEIGHT)
    if not isinstance(report.step_timeline, Absent):
        timeline = steps.step_timeline(report.step_timeline, _whole(report), clicks=False)
        yield _chart("step-timeline", "Step timeline", timeline, steps.STEPS_HEIGHT)


def _heatmaps(report: Report) -> Iterator[Chart]:
    """One per node: a node's rows stay together on a printed page."""
    if isinstance(report.heatmap, Absent):
        return
    view = _whole(report)
    for place, frame in enumerate(_by_node(report.heatmap)):
        drawn = utilization_heatmap(frame, view)
        title = f"System utilization of {text.plain(frame.rows[0].node, 60)}"
        yield _chart(f"heatmap-{place + 1}", title, drawn, drawn.height)


def _by_node(frame: Heatmap) -> Iterator[Heatmap]:
    nodes = np.array([list(dict.fromkeys(row.node for row in frame.rows)).index(row.node) for row in frame.rows])
    for at in range(int(nodes.max(initial=-1)) + 1):
        mine = np.flatnonzero(nodes == at)
        rows = tuple(frame.rows[row] for row in mine.tolist())
        peak = frame.peak if frame.peak is not None and frame.peak.node == rows[0].node else None
        yield replace(frame, rows=rows, maximum=frame.maximum[mine], mean=frame.mean[mine], clamped=0, peak=peak)


def _memory(report: Report) -> Iterator[Chart]:
    if isinstance(report.gpu_memory, Absent):
        return
    drawn = system.memory_timeline(report.gpu_memory, _whole(report))
    yield _chart("gpu-memory", "GPU memory", drawn, system.LINES_HEIGHT)


def _coverage(report: Report) -> Iterator[Chart]:
    coverage = report.coverage
    if not coverage.nodes and not coverage.events:
        return
    drawn = quality.coverage_figure(coverage, _view(report, coverage.start_ns, coverage.end_ns))
    yield _chart("coverage", "Time covered per node", drawn, drawn.height)


def _chart(chart_id: str, title: str, drawn: FigureView, height: int) -> Chart:
    note = drawn.note if isinstance(drawn.note, str) else ""
    return Chart(chart_id, title, note, str(drawn.caption), height, _json(drawn.figure))


def _json(figure: go.Figure) -> str:
    """The figure as JSON that may stand in a page: nothing in it closes the element that holds it."""
    parts: dict[str, Any] = figure.to_plotly_json()
    made: str = to_json_plotly({"data": parts["data"], "layout": parts["layout"]})
    return made.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
