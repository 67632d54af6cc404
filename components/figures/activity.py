"""GPU activity by the kernels of traces: when did at least one kernel run? It is not the driver's utilization."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, percent_axis, time_layout, words
from components.panels import FigureView
from components.theme import hue, rgba
from data.frames.framework import GpuActivity

HEIGHT = 176
MAX_LINES = 24


def gpu_activity(frame: GpuActivity, view: View, *, height: int = HEIGHT) -> FigureView:
    """A line per GPU, the busiest on top."""
    order = sorted(range(len(frame.groups)), key=lambda at: -frame.busy_ns[at])[:MAX_LINES]
    traces = [_line(frame, view, at, first=at == order[0], alone=len(order) == 1) for at in reversed(order)]
    figure = chart(traces, time_layout(view, height=height, unit="%", y_axis=percent_axis(view)))
    drawn = f"the {len(order)} busiest of {len(frame.groups)} GPUs" if len(order) < len(frame.groups) else ""
    column = f"one point per {text.duration(frame.column_ns)}"
    note = words(["from kernels, not the driver's utilization", drawn, column])
    return FigureView(figure, note=note, caption=_caption(frame, order))


def _line(frame: GpuActivity, view: View, at: int, *, first: bool, alone: bool) -> go.Scatter:
    colour = hue(view.theme, "gpu")
    name = " ".join(text.label(part, 60) for part in frame.groups[at])
    return go.Scatter(
        y=(100 * frame.share[at]).astype(np.float32),
        x0=view.time(frame.start_ns + frame.column_ns // 2),
        dx=frame.column_ns / 1e6,
        mode="lines",
        name=name,
        line={"color": colour if first else rgba(colour, 0.45), "width": 1.5 if first else 1.1},
        fill="tozeroy" if alone else None,
        fillcolor=rgba(colour, 0.14) if alone else None,
        meta={"tag": "" if alone else "busiest"} if first else None,
        hovertemplate="%{fullData.name}: <b>%{y:.1f} %</b><extra></extra>",
    )


def _caption(frame: GpuActivity, order: list[int]) -> str:
    if not order:
        return "No kernel runs in this window."

    def said(at: int) -> str:
        where = " ".join(text.plain(part, 60) for part in frame.groups[at])
        return f"{where} {text.share(frame.busy_ns[at] / frame.window_ns)} ({text.duration(frame.busy_ns[at])})"

    if len(order) == 1:
        return f"At least one kernel runs on {said(order[0])} of this window."
    return f"At least one kernel runs: busiest {said(order[0])}, least busy {said(order[-1])} of this window."
