"""Time from batch to batch: how evenly does the data loader deliver, and how often does it stall?"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, count_axis, layout, round_up
from components.figures.steps import duration_axis, duration_unit
from components.theme import hue
from data.frames.framework import DataLoading

HEIGHT = 170


def batch_histogram(frame: DataLoading, view: View, *, height: int = HEIGHT) -> go.Figure:
    """Times between batches on a logarithmic axis, with their median and the limit of outliers, twice the median."""
    divisor, unit = duration_unit(frame.median_ns)
    edges = frame.edges_ns / divisor
    top = float(round_up(float(frame.counts.max(initial=1))))
    spans = [
        f"{text.duration(low)} to {text.duration(high)}"
        for low, high in zip(frame.edges_ns[:-1], frame.edges_ns[1:], strict=True)
    ]
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=frame.counts.astype(np.int32),
        width=np.diff(edges) * 0.94,
        name="batches",
        marker={"color": hue(view.theme, "io"), "line": {"width": 0}},
        customdata=spans,
        hovertemplate="%{customdata}: <b>%{y}</b> batches<extra></extra>",
    )
    marks = [("median", frame.median_ns, "solid", 1.08), ("2 × median", 2 * frame.median_ns, "dot", 0.92)]
    lines = [
        go.Scatter(
            x=[value / divisor] * 2,
            y=[0, level * top],
            mode="lines+text",
            text=["", f" {name} <b>{text.duration(value)}</b> "],
            textposition="middle right",
            textfont={"size": 11, "color": view.colours.text_2},
            line={"color": view.colours.text_2, "width": 1, "dash": dash},
            hoverinfo="skip",
            cliponaxis=False,
        )
        for name, value, dash, level in marks
        if frame.edges_ns[0] <= value <= frame.edges_ns[-1]
    ]
    return chart(
        [bars, *lines],
        layout(
            view,
            height=height,
            unit="batches",
            bargap=0,
            hovermode="closest",
            xaxis=duration_axis(frame.edges_ns, "log", divisor, unit),
            yaxis=count_axis(view, top),
        ),
    )
