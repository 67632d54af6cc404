"""Charts of two runs laid over each other: lines over time, shares of samples, durations of steps.

A and B keep their colours on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, layout, round_up, words
from components.figures.lines import Scale, line, lines_layout, scale_of
from components.figures.steps import duration_unit, phase_name
from components.panels import EmptyView, FigureView
from components.theme import Theme, hue
from data.frames import MetricHistogram, OverTime
from data.frames.comparison import StepDistribution

LINES_HEIGHT: Final = 190
DISTRIBUTION_HEIGHT: Final = 190


def run_colour(theme: Theme, run: str) -> str:
    """The colour of a run, A or B; the style sheet has the same."""
    return hue(theme, "cpu" if run == "A" else "gpu")


def overlaid_lines(a: OverTime | None, b: OverTime | None, shift_ns: int, view: View) -> FigureView:
    """The mean of both runs over time, B moved to lie beside A; at least one of them is there."""
    moved = None if b is None else replace(b, start_ns=b.start_ns + shift_ns)
    there = [(name, frame) for name, frame in (("A", a), ("B", moved)) if frame is not None]
    scale = _common([scale_of(frame) for _, frame in there], [frame for _, frame in there])
    traces: list[go.Scatter] = []
    for name, frame in there:
        colour = run_colour(view.theme, name)
        traces += line(frame, view, scale, 0, colour=colour, width=1.5, name=name, tag=name)
    columns = " and ".join(f"{text.duration(frame.bin_ns)} in {name}" for name, frame in there)
    absent = [f"{name} has none" for name, frame in (("A", a), ("B", b)) if frame is None]
    figure = chart(traces, lines_layout(there[0][1], view, scale, LINES_HEIGHT))
    return FigureView(figure, note=words([scale.unit, f"one point = {columns}", *absent]), caption=_means(there, scale))


def _common(scales: Sequence[Scale], frames: Sequence[OverTime]) -> Scale:
    """The scale that holds both."""
    highest = max(range(len(scales)), key=lambda at: scales[at].top * scales[at].divisor)
    return scale_of(frames[highest])


def _means(there: Sequence[tuple[str, OverTime]], scale: Scale) -> str:
    parts = []
    for name, frame in there:
        values = scale.shown(frame.mean[0])
        known = values[np.isfinite(values)]
        parts.append(f"{name} {text.number(float(known.mean()), 1)} {scale.unit}" if len(known) else f"{name} n/a")
    return f"Mean of what is drawn: {', '.join(parts)}."


def overlaid_histogram(a: MetricHistogram | None, b: MetricHistogram | None, view: View) -> FigureView:
    """Share of samples per 2 percent of both runs, as steps of two lines."""
    edges = np.arange(0, 101, 2)
    traces, parts, top = [], [], 1.0
    for name, frame in (("A", a), ("B", b)):
        total = sum(node.total for node in frame.nodes) if frame else 0
        if frame is None or not total:
            parts.append(f"{name} has none")
            continue
        counts = np.sum([node.counts for node in frame.nodes], axis=0)
        share = counts / total * 100
        top = max(top, float(share.max()))
        colour = run_colour(view.theme, name)
        traces.append(
            go.Scatter(
                x=edges,
                y=np.append(share, share[-1]).astype(np.float32),
                mode="lines",
                name=name,
                line={"color": colour, "width": 1.5, "shape": "hv"},
                customdata=[f"{low} to {low + 2} %" for low in [*edges[:-1], 98]],
                hovertemplate="%{fullData.name}, %{customdata}: <b>%{y:.1f} %</b> of samples<extra></extra>",
            )
        )
        parts.append(f"{name} p50 {text.percent(frame.p50)}, p95 {text.percent(frame.p95)}")
    axes = {"xaxis": _percent_x(), "yaxis": _share_y(round_up(top))}
    figure = chart(traces, layout(view, height=DISTRIBUTION_HEIGHT, unit="%", hovermode="x", **axes))
    return FigureView(figure, note="share of samples per 2 %", caption=f"{'; '.join(parts)}.")


def _percent_x() -> dict[str, Any]:
    return {
        "range": [-1, 101],
        "autorange": False,
        "fixedrange": True,
        "showgrid": False,
        "dtick": 25,
        "tick0": 0,
        "ticksuffix": " %",
        "showticksuffix": "last",
    }


def _share_y(top: float) -> dict[str, Any]:
    return {
        "range": [0, top * 1.04],
        "autorange": False,
        "fixedrange": True,
        "nticks": 4,
        "ticksuffix": " %",
        "showticksuffix": "last",
    }


def step_ecdf(a: StepDistribution | None, b: StepDistribution | None, view: View) -> FigureView | EmptyView:
    """Share of steps that take at most so long, of both runs; warm-up is left out."""
    there = [(name, frame) for name, frame in (("A", a), ("B", b)) if frame is not None]
    if not there:
        return EmptyView("Neither run recorded steps.")
    longest = max(float(frame.duration_ns[-1]) for _, frame in there)
    shortest = min(float(frame.duration_ns[0]) for _, frame in there)
    # the longest steps are few, and would squeeze all others into a corner
    usual = max(_at(frame, 0.995) for _, frame in there)
    divisor, unit = duration_unit(usual)
    room = (usual - shortest) * 0.05 or usual * 0.05
    x_axis = {
        "range": [(shortest - room) / divisor, (usual + room) / divisor],
        "autorange": False,
        "fixedrange": True,
        "ticksuffix": f" {unit}",
        "showticksuffix": "last",
        "nticks": 6,
    }
    axes = {"xaxis": x_axis, "yaxis": _share_y(100)}
    traces = [_cumulative(name, frame, view, divisor, unit) for name, frame in there]
    figure = chart(traces, layout(view, height=DISTRIBUTION_HEIGHT, unit=unit, hovermode="closest", **axes))
    cut = f"; steps beyond p99.5 (up to {text.duration(longest)}) are not drawn" if longest > usual * 1.05 else ""
    note = words([text.plain(phase_name(there[0][1].phase), 30), f"steps that take at most so long{cut}"])
    parts = [
        f"{name}: {text.counted(frame.steps, 'step')}, median {text.duration(_at(frame, 0.5))}" for name, frame in there
    ]
    return FigureView(figure, note=note, caption=f"{'; '.join(parts)}. Warm-up is left out.")


def _at(frame: StepDistribution, level: float) -> float:
    return float(np.interp(level, frame.level, frame.duration_ns))


def _cumulative(name: str, frame: StepDistribution, view: View, divisor: float, unit: str) -> go.Scatter:
    return go.Scatter(
        x=frame.duration_ns / divisor,
        y=(frame.level * 100).astype(np.float32),
        mode="lines",
        name=name,
        line={"color": run_colour(view.theme, name), "width": 1.5},
        hovertemplate="%{fullData.name}: <b>%{y:.1f} %</b> of steps take at most "
        f"%{{x:.4~g}} {unit}<extra></extra>",
    )
