"""Memory by the framework's allocators: how much of it does each process hold, and how close do its peaks come?

It is not what the driver reports: that includes contexts, libraries and other processes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from dash.development.base_component import Component
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, chart, round_up, time_layout, value_axis
from components.figures.lines import area
from components.figures.remarks import head
from components.panels import FigureView, LegendItem
from components.theme import band_fill, hue, rgba
from data.frames.framework import AllocatedMemory, MemoryLine

HEIGHT = 176
CPU = "cpu"
"""The kind of device whose allocator reserves nothing."""


@dataclass(frozen=True)
class _Scale:
    divisor: float
    unit: str
    top: float

    def shown(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        return (values / self.divisor).astype(np.float32)


def allocated(frame: AllocatedMemory, view: View, *, height: int = HEIGHT) -> FigureView:
    """A line of bytes allocated for each process and device, and a dotted one of bytes reserved."""
    reserves = frame.lines[0].device_kind != CPU
    metric = "gpu_memory" if reserves else "memory"
    scale, names = _scale(frame, reserves), _names(frame)
    traces: list[go.Scatter] = []
    if len(frame.lines) == 1:
        traces += _between(frame, view, scale, metric)
    for at in reversed(range(len(frame.lines))):
        colour = hue(view.theme, metric) if at == 0 else rgba(hue(view.theme, metric), 0.45)
        if reserves:
            traces.append(_line(frame, view, scale, at, names[at], colour, "reserved"))
        traces.append(_line(frame, view, scale, at, names[at], colour, "allocated"))
    traces += _peak(frame.lines[0], names[0], view, scale, metric)
    room = 1.3 * frame.lines[0].peak_bytes / scale.divisor  # for the words above the peak
    axis = value_axis(view, max(1.03 * scale.top, room))
    hover = "x" if len(traces) <= 5 else "closest"  # a label a line would cover a chart of many
    figure = chart(traces, time_layout(view, height=height, unit=scale.unit, y_axis=axis, hovermode=hover))
    return FigureView(figure, note=_note(frame, scale, metric, reserves), caption=_caption(frame, names, view))


def _scale(frame: AllocatedMemory, reserves: bool) -> _Scale:
    arrays = [frame.allocated, frame.reserved] if reserves else [frame.allocated]
    highest = max((float(np.nanmax(one)) for one in arrays if np.isfinite(one).any()), default=0.0)
    divisor, unit = text.binary_scale(highest)
    return _Scale(divisor, unit, round_up(highest / divisor))


def _names(frame: AllocatedMemory) -> list[str]:
    """Node and device of each line, and its process where that alone tells lines apart."""
    named = [f"{line.node} {_device(line)}" for line in frame.lines]
    often = Counter(named)
    return [
        f"{name}, process {line.process}" if often[name] > 1 else name
        for name, line in zip(named, frame.lines, strict=True)
    ]


def _device(line: MemoryLine) -> str:
    return line.device_kind if line.device < 0 else f"{line.device_kind}:{line.device}"


def _between(frame: AllocatedMemory, view: View, scale: _Scale, metric: str) -> list[go.Scatter]:
    """From what is held at the end of each column up to the most in it."""
    centres_ns = frame.start_ns + frame.column_ns // 2 + np.arange(frame.allocated.shape[1]) * frame.column_ns
    low, high = scale.shown(frame.allocated_last[0]), scale.shown(frame.allocated[0])
    return area(view, centres_ns, low, high, band_fill(view.theme, metric)) if (high > low).any() else []


def _line(
    frame: AllocatedMemory,
    view: View,
    scale: _Scale,
    at: int,
    name: str,
    colour: str,
    what: Literal["allocated", "reserved"],
) -> go.Scatter:
    first, solid = at == 0, what == "allocated"
    return go.Scatter(
        y=scale.shown((frame.allocated if solid else frame.reserved)[at]),
        x0=view.time(frame.start_ns + frame.column_ns // 2),
        dx=frame.column_ns / 1e6,
        mode="lines",
        name=text.label(f"{name} {what}", 90),
        line={"color": colour, "width": 1.6 if first and solid else 1.1, "dash": "solid" if solid else "dot"},
        connectgaps=False,
        meta={"tag": what} if first else None,
        hovertemplate=f"%{{fullData.name}}: <b>%{{y:.{2 if scale.top < 100 else 1}f}} {scale.unit}</b><extra></extra>",
    )


def _peak(line: MemoryLine, name: str, view: View, scale: _Scale, metric: str) -> list[go.Scatter]:
    """A ring on the exact peak with its value, written towards the middle of the chart."""
    part = (line.peak_ns - view.window.start_ns) / view.window.duration_ns
    side = "right" if part < 0.25 else "left" if part > 0.75 else "center"
    words = f"<b>Peak {text.binary_size(line.peak_bytes)}</b> {text.label(name, 60)} {view.clock(line.peak_ns)}"
    return [
        go.Scatter(
            x=[view.time(line.peak_ns)],
            y=[line.peak_bytes / scale.divisor],
            mode="markers+text",
            text=[words],
            textposition=f"top {side}",
            textfont={"size": 11, "color": view.colours.text},
            marker={"size": 9, "color": view.colours.card, "line": {"width": 2, "color": hue(view.theme, metric)}},
            hoverinfo="skip",
            cliponaxis=False,
        )
    ]


def _note(frame: AllocatedMemory, scale: _Scale, metric: str, reserves: bool) -> list[str | Component]:
    source = f"{scale.unit}, by PyTorch's allocator" + (", not the driver" if reserves else "")
    lines = text.counted(frame.line_count, "line")
    drawn = f"the {len(frame.lines)} highest of {lines}" if len(frame.lines) < frame.line_count else ""
    column = f"exact peaks, per {text.duration(frame.column_ns)}"
    legend = [LegendItem("allocated", metric, "line")]
    if reserves:
        legend.append(LegendItem("reserved", metric, "dotted"))
    return head([source, drawn, column], legend)


def _caption(frame: AllocatedMemory, names: list[str], view: View) -> str:
    """The peak, how much it grew, and what was done, over all lines that are drawn."""
    top = frame.lines[0]
    said = (
        f"Peak {text.binary_size(top.peak_bytes)} allocated on {text.plain(names[0], 90)} at {view.clock(top.peak_ns)}"
    )
    grown = max(frame.lines, key=lambda line: line.rise_bytes)
    on = "" if len(frame.lines) == 1 else f" on {text.plain(names[frame.lines.index(grown)], 90)}"
    said += f"; grew by up to {text.binary_size(max(grown.rise_bytes, 0))}{on}. "
    allocations, frees = (sum(getattr(line, name) for line in frame.lines) for name in ("allocations", "frees"))
    largest = max(line.largest_bytes for line in frame.lines)
    said += f"{text.counted(allocations, 'allocation')}"
    said += f", the largest {text.binary_size(largest)}" if allocations else ""
    said += f", and {text.counted(frees, 'free')} in this window."
    uncounted = sum(line.uncounted for line in frame.lines)
    if uncounted:
        verbs = "tells no total and is" if uncounted == 1 else "tell no total and are"
        said += f" {text.counted(uncounted, 'record')} of memory that processes share {verbs} left out."
    return said
