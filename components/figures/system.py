"""Metrics over time: how busy was what, when? Mean lines with the exact extremes of every bin, gaps left empty.

The frames arrive reduced to about one point per pixel; nothing is averaged away, because extremes travel along.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, time_layout, value_axis, words
from components.figures.lines import (
    Scale,
    band,
    group_name,
    line,
    lines_layout,
    scale_of,
    strongest,
)
from components.figures.remarks import caption, directions_note, lines_note, memory_caption, resolution
from components.panels import FigureView
from components.theme import hue, rgba
from data.frames import OverTime

LINES_HEIGHT = 176
MINIMAP_HEIGHT = 54


def usage_over_time(frame: OverTime, view: View, *, devices: str, height: int = LINES_HEIGHT) -> FigureView:
    """How busy the devices were: one mean line with a band from lowest to highest, or a line per group.

    Question: when was the hardware idle, and when at its limit? `devices` names what is counted ("GPU", "core").
    """
    scale = scale_of(frame)
    order = strongest(frame)
    traces: list[go.Scatter] = []
    if len(order) == 1:
        busiest_apart = frame.metric in ("cpu", "io_wait")
        traces += _single(frame, view, scale, busiest_apart)
    else:
        ranked = reversed(list(enumerate(order)))
        traces += [_line(frame, view, scale, index, rank, len(order)) for rank, index in ranked]
    figure = chart(traces, lines_layout(frame, view, scale, height))
    return FigureView(figure, note=lines_note(frame, scale, devices, order), caption=caption(frame, view))


def throughput_over_time(frame: OverTime, view: View, *, nodes: int, height: int = LINES_HEIGHT) -> FigureView:
    """How much was moved, summed over the selected nodes: one line per direction, the second one dotted."""
    scale = scale_of(frame)
    colour = hue(view.theme, frame.metric)
    traces: list[go.Scatter] = []
    for index, (_, direction) in enumerate(frame.groups):
        dash = "solid" if index == 0 else "dot" if index == 1 else "dash"
        if frame.samples_per_bin > 1:
            traces += band(frame, view, scale, frame.minimum[index], frame.maximum[index])
        traces += line(
            frame,
            view,
            scale,
            index,
            colour=colour,
            width=1.5,
            dash=dash,
            name=direction or "total",
            tag=text.plain(direction, 20),
        )
    figure = chart(traces, lines_layout(frame, view, scale, height))
    return FigureView(figure, note=directions_note(frame, scale, nodes), caption=caption(frame, view))


def memory_timeline(frame: OverTime, view: View, *, height: int = LINES_HEIGHT) -> FigureView:
    """GPU memory per GPU: how close did the fullest one come to its limit? The peak is exact and marked."""
    scale = scale_of(frame)
    order = strongest(frame)
    peak_group = (frame.peak.node, frame.peak.device) if frame.peak else None
    colour = hue(view.theme, frame.metric)
    traces: list[go.Scatter] = []
    for index in reversed(order):
        fullest = frame.groups[index] == peak_group
        traces += line(
            frame,
            view,
            scale,
            index,
            colour=colour if fullest else rgba(colour, 0.4),
            width=1.8 if fullest else 1,
            values=frame.maximum,
            tag="fullest" if fullest else None,
        )
    traces += _limit(view) + _peak_mark(frame, view)
    figure = chart(traces, lines_layout(frame, view, scale, height))
    kind = text.counted(frame.devices, "GPU")
    drawn = f"the {len(order)} fullest drawn" if len(order) < len(frame.groups) else "fullest in bold"
    return FigureView(
        figure,
        note=words([f"% of each GPU's memory in use, as its driver says, {kind}, {drawn}", resolution(frame)]),
        caption=memory_caption(frame, view),
    )


def minimap(cpu: OverTime, gpu: OverTime | None, view: View, brush: tuple[int, int] | None) -> go.Figure:
    """The whole job in a strip, with the looked-at window marked: where are we?"""
    traces: list[go.Scatter] = []
    for frame in (cpu, gpu):
        if frame is not None:
            for index in range(len(frame.groups)):
                traces += line(frame, view, scale_of(frame), index, colour=hue(view.theme, frame.metric), width=1.2)
    top = max([30.0, *(float(np.nanmax(trace.y)) for trace in traces if np.isfinite(trace.y).any())]) * 1.1
    for trace in traces:
        trace.hoverinfo, trace.hovertemplate = "skip", None
    return strip(traces, view, brush, top)


def strip(traces: list[go.Scatter], view: View, brush: tuple[int, int] | None, top: float) -> go.Figure:
    """Lines over the whole job, low and without a frame; the window is marked by the first trace."""
    start_ns, end_ns = brush or (view.window.start_ns, view.window.end_ns)
    axis = value_axis(view, top, showticklabels=False, ticks="", showgrid=False, showline=False)
    layout = time_layout(
        view,
        height=MINIMAP_HEIGHT,
        unit="",
        y_axis=axis,
        meta={"whole": True},
        margin={"l": 8, "r": 8, "t": 2, "b": 18},
    )
    layout["xaxis"] |= {"showgrid": False, "nticks": 6, "ticks": "", "tickfont": {"size": 10.5}}
    return chart([_brush(view, start_ns, end_ns, top), *traces], layout)


def _brush(view: View, start_ns: int, end_ns: int, top: float) -> go.Scatter:
    accent = view.colours.accent
    return go.Scatter(
        x=[view.time(start_ns), view.time(start_ns), view.time(end_ns), view.time(end_ns)],
        y=[0, top, top, 0],
        mode="lines",
        fill="tozeroy",
        fillcolor=rgba(accent, 0.16),
        line={"color": accent, "width": 1.5},
        hoverinfo="skip",
    )


def _line(frame: OverTime, view: View, scale: Scale, index: int, rank: int, lines: int) -> go.Scatter:
    """One of several lines: the one with the highest value solid, a second one dotted, more of them translucent."""
    colour = hue(view.theme, frame.metric)
    quiet = rank > 0 and lines > 2
    return line(
        frame,
        view,
        scale,
        index,
        colour=rgba(colour, 0.45) if quiet else colour,
        width=1.6 if rank == 0 else 1.1,
        dash="dot" if rank == 1 and lines == 2 else "solid",
        tag="highest" if rank == 0 else None,
    )[0]


def _single(frame: OverTime, view: View, scale: Scale, busiest_apart: bool) -> list[go.Scatter]:
    """Mean with a band; for cores the highest is a dotted line, because one of many is nearly always busy."""
    colour = hue(view.theme, frame.metric)
    traces: list[go.Scatter] = []
    if busiest_apart:
        traces += line(frame, view, scale, 0, colour=colour, width=1, dash="dot", values=frame.maximum, name="highest")
        low, high = np.zeros_like(frame.mean[0]), frame.mean[0]
    else:
        low, high = frame.minimum[0], frame.maximum[0]
    return [
        *band(frame, view, scale, low, high),
        *traces,
        *line(frame, view, scale, 0, colour=colour, width=1.5, name="mean", tag=""),
    ]


def _limit(view: View) -> list[go.Scatter]:
    ends = [view.time(view.window.start_ns), view.time(view.window.end_ns)]
    return [
        go.Scatter(
            x=ends,
            y=[100, 100],
            mode="lines",
            hoverinfo="skip",
            line={"color": view.colours.line_2, "width": 1, "dash": "dot"},
        )
    ]


def _peak_mark(frame: OverTime, view: View) -> list[go.Scatter]:
    """A ring on the exact peak with its value, written towards the middle of the chart."""
    peak = frame.peak
    if peak is None or not view.window.start_ns <= peak.time_ns < view.window.end_ns:
        return []
    part = (peak.time_ns - view.window.start_ns) / view.window.duration_ns
    words_ = f"<b>Peak {text.percent(peak.value)}</b> {group_name((peak.node, peak.device))} {view.clock(peak.time_ns)}"
    vertical = "bottom" if peak.value > 80 else "top"
    side = "right" if part < 0.25 else "left" if part > 0.75 else "center"
    return [
        go.Scatter(
            x=[view.time(peak.time_ns)],
            y=[peak.value],
            mode="markers+text",
            text=[words_],
            textposition=f"{vertical} {side}",
            textfont={"size": 11, "color": view.colours.text},
            marker={
                "size": 9,
                "color": view.colours.card,
                "line": {"width": 2, "color": hue(view.theme, frame.metric)},
            },
            hoverinfo="skip",
            cliponaxis=False,
        )
    ]
