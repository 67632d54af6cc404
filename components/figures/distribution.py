"""Histograms of metrics: how often was the hardware how busy? Exact counts over every sample of the window."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, chart, layout, round_up
from components.panels import FigureView
from components.theme import hue, rgba
from data.frames import MetricHistogram, NodeHistogram

HISTOGRAM_HEIGHT = 158
_STRIP_PX = 14
_MAX_STRIPS = 16
_BIN = 2.0

_SAMPLES = {"cpu": "core samples", "gpu": "GPU samples", "gpu_memory": "GPU samples"}


def expected_height(nodes: int) -> int:
    """How tall the chart becomes for this many nodes."""
    return HISTOGRAM_HEIGHT + (min(nodes, _MAX_STRIPS) * _STRIP_PX + 6 if nodes > 1 else 0)


def metric_histogram(frame: MetricHistogram, view: View, *, height: int = HISTOGRAM_HEIGHT) -> FigureView:
    """Share of samples per 2 percent, over all selected nodes, and a strip per node where there are several."""
    total = sum(node.total for node in frame.nodes)
    counts = np.sum([node.counts for node in frame.nodes], axis=0)
    shares = counts / total * 100 if total else np.zeros(50)
    strips = frame.nodes[:_MAX_STRIPS] if len(frame.nodes) > 1 else ()
    strips_px = len(strips) * _STRIP_PX + 6 if strips else 0
    top = round_up(float(shares.max(initial=0)))
    figure = chart([_bars(frame, view, shares, counts)], _layout(view, height + strips_px, strips_px, top))
    for trace in _quantiles(frame, view, top):
        figure.add_trace(trace)
    if strips:
        figure.add_trace(_strips(frame, view, strips))
        figure.update_layout(yaxis2=_node_axis(view, strips, strips_px, height))
    note = "share of samples per 2 %"
    return FigureView(figure, note=note, caption=_caption(frame, total), height=height + strips_px)


def _centres() -> NDArray[np.float32]:
    return np.arange(50, dtype=np.float32) * np.float32(_BIN) + np.float32(_BIN / 2)


def _ranges() -> list[str]:
    return [
        f"{2 * index} to {2 * index + 2} %" if index == 49 else f"{2 * index} to under {2 * index + 2} %"
        for index in range(50)
    ]


def _bars(frame: MetricHistogram, view: View, shares: NDArray[np.float64], counts: NDArray[np.int64]) -> go.Bar:
    return go.Bar(
        x=_centres(),
        y=shares.astype(np.float32),
        width=1.7,
        name="all selected nodes",
        marker={"color": hue(view.theme, frame.metric), "line": {"width": 0}},
        customdata=[[span, text.count(int(count))] for span, count in zip(_ranges(), counts, strict=True)],
        hovertemplate=f"%{{customdata[0]}}<br><b>%{{y:.1f}} %</b> of samples, %{{customdata[1]}} "
        f"{_SAMPLES[frame.metric]}<extra></extra>",
    )


def _layout(view: View, height: int, strips_px: int, top: float) -> dict[str, Any]:
    inner = height - 34
    axis = {
        "range": [-1, 101],
        "autorange": False,
        "fixedrange": True,
        "showgrid": False,
        "dtick": 25,
        "tick0": 0,
        "anchor": "y2" if strips_px else "y",
        "ticks": "",
        "ticksuffix": " %",
        "showticksuffix": "last",
        "showline": True,
    }
    shares = {
        "range": [0, top * 1.12],
        "autorange": False,
        "fixedrange": True,
        "ticksuffix": " %",
        "nticks": 4,
        "domain": [strips_px / inner, 1],
    }
    return layout(view, height=height, unit="% of samples", xaxis=axis, yaxis=shares, hovermode="closest", bargap=0)


def _quantiles(frame: MetricHistogram, view: View, top: float) -> list[go.Scatter]:
    """p50 and p95 as lines with their values; written inwards, and apart where they lie close together."""
    lines = []
    for name, value, dash, level in (("p50", frame.p50, "solid", 1.1), ("p95", frame.p95, "dot", 0.95)):
        if text.is_missing(value):
            continue
        side = "right" if value < 70 else "left"
        lines.append(
            go.Scatter(
                x=[value, value, value],
                y=[0, level * top, level * top],
                mode="lines+text",
                text=["", f" {name} <b>{text.number(value, 0 if value >= 10 else 1)}</b> ", ""],
                textposition=f"middle {side}",
                textfont={"size": 11, "color": view.colours.text_2},
                line={"color": view.colours.text_2, "width": 1, "dash": dash},
                hoverinfo="skip",
                cliponaxis=False,
            )
        )
    return lines


def _strips(frame: MetricHistogram, view: View, strips: tuple[NodeHistogram, ...]) -> go.Heatmap:
    """A row per node, the darker the more samples; on a category axis, so that a node "10" stays text after "2"."""
    colour = hue(view.theme, frame.metric)
    shares = np.stack([node.counts / node.total * 100 if node.total else np.zeros(50) for node in strips])
    strength = np.sqrt(shares / max(float(shares.max(initial=0)), 1e-9))
    return go.Heatmap(
        z=strength.astype(np.float32),
        x0=_BIN / 2,
        dx=_BIN,
        y=[text.label(node.node, 40) for node in strips],
        yaxis="y2",
        zmin=0,
        zmax=1,
        ygap=2,
        showscale=False,
        colorscale=[[0, rgba(colour, 0.06)], [1, rgba(colour, 1)]],
        customdata=shares.astype(np.float32),
        hovertemplate="<b>%{y}</b> around %{x:.0f} %<br>%{customdata:.1f} % of its samples<extra></extra>",
    )


def _node_axis(view: View, strips: tuple[NodeHistogram, ...], strips_px: int, height: int) -> dict[str, Any]:
    names = [text.label(node.node, 40) for node in strips]
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": names,
        "autorange": False,
        "range": [len(strips) - 0.5, -0.5],
        "fixedrange": True,
        "domain": [0, (strips_px - 6) / (height + strips_px - 34)],
        "showgrid": False,
        "tickmode": "array",
        "tickvals": names,
        "ticktext": [text.label(node.node, 7) for node in strips],
        "tickfont": {"size": 9.5, "color": view.colours.text_3},
    }


def _caption(frame: MetricHistogram, total: int) -> str:
    if not total:
        return "No sample lies in this window."
    zero = sum(node.zero for node in frame.nodes) / total
    over = sum(node.over_90 for node in frame.nodes) / total
    outside = sum(node.below + node.above for node in frame.nodes)
    at_zero = "none at 0" if zero == 0 else f"{text.share(zero)} at 0"
    above = "none above 90 %" if over == 0 else f"{text.share(over)} above 90 %"
    parts = [f"{text.count(total)} {_SAMPLES[frame.metric]}: {at_zero}, {above}."]
    if outside:
        parts.append(f"{text.count(outside)} outside 0 to 100 left out of the bars.")
    if len(frame.nodes) > _MAX_STRIPS:
        parts.append(f"Strips for the first {_MAX_STRIPS} of {len(frame.nodes)} nodes.")
    return " ".join(parts)
