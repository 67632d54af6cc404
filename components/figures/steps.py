"""Step durations: how long do steps take, how much do they scatter, and which ones stand out?

Counts and quantiles are exact on every step that starts in the window; outliers carry their step numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, chart, count_axis, layout, round_up, time_layout, value_axis, words
from components.figures.outliers import at_right_edge, outlier_marks, slow_steps
from components.panels import FigureView
from components.theme import hue, rgba
from data.frames import StepHistogram, StepTimeline

STEPS_HEIGHT = 206
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_NICE = (1, 1.5, 2, 3, 5, 7)


def phase_name(phase: str) -> str:
    """The words after the last dot or colon: Step:ModeKeys.TRAIN is TRAIN."""
    short = phase.replace(":", ".").rsplit(".", 1)[-1]
    return short or phase


def step_histogram(
    frame: StepHistogram, view: View, *, height: int = STEPS_HEIGHT, one: str = "step", many: str = "steps"
) -> FigureView:
    """Steps per duration, stacked by phase and node, with p50, p95, p99 and the outliers by number.

    `one` and `many` say what is counted where it is only a part of a step.
    """
    divisor, unit = duration_unit(frame.p50_ns)
    counts = np.sum([group.counts for group in frame.groups], axis=0) if frame.groups else np.zeros(1)
    top = float(round_up(float(counts.max(initial=1))))
    figure = chart(
        [
            *_bars(frame, view, divisor, unit, many),
            *_quantiles(frame, view, divisor, top),
            *outlier_marks(frame, view, divisor, top),
        ],
        layout(
            view,
            height=height,
            unit=many,
            barmode="stack",
            bargap=0,
            hovermode="closest",
            xaxis=duration_axis(frame.edges_ns, frame.scale, divisor, unit),
            yaxis=count_axis(view, top),
        ),
    )
    phases = dict.fromkeys(text.plain(phase_name(group.phase), 30) for group in frame.groups)
    nodes = dict.fromkeys(group.node for group in frame.groups)
    note = words(
        [
            ", ".join(phases),
            text.counted(frame.steps, one, many),
            text.counted(len(nodes), "node"),
            f"every {one} counted",
        ]
    )
    return FigureView(figure, note=note, caption=_histogram_caption(frame, one))


def step_timeline(frame: StepTimeline, view: View, *, height: int = STEPS_HEIGHT, clicks: bool = True) -> FigureView:
    """Duration of steps over time: does it drift, and when were the slow ones? A click on one zooms there.

    Without `clicks` the drawing stands in a document, where nothing follows a click.
    """
    longest = float(frame.duration_ns.max(initial=0))
    longest = max(longest, max((step.duration_ns for step in frame.outliers), default=0))
    divisor, unit = duration_unit(longest)
    top = round_up(longest / divisor)
    traces = [_points(frame, view, index, divisor, unit) for index in range(len(frame.groups))]
    if frame.outliers:
        traces.append(slow_steps(frame.outliers, view, divisor, unit, clicks=clicks))
    axis = value_axis(view, top * 1.12, nticks=4, ticksuffix=f" {unit}", showticksuffix="last")
    figure = chart(traces, time_layout(view, height=height, unit=unit, y_axis=axis, hovermode="closest"))
    drawn = "each step is a point" if frame.bin_ns == 0 else f"longest step per {text.duration(frame.bin_ns)}"
    return FigureView(
        figure, note=words([text.counted(frame.steps, "step"), drawn]), caption=_timeline_caption(frame, view, clicks)
    )


def duration_unit(duration_ns: float) -> tuple[float, str]:
    """The unit in which this duration is a number of at least one."""
    if text.is_missing(duration_ns):
        return _UNITS[0]
    return next(((size, unit) for size, unit in _UNITS if duration_ns >= 0.5 * size), _UNITS[-1])


def _bars(frame: StepHistogram, view: View, divisor: float, unit: str, many: str) -> list[go.Bar]:
    edges = frame.edges_ns / divisor
    spans = [
        f"{text.duration(low)} to {text.duration(high)}"
        for low, high in zip(frame.edges_ns[:-1], frame.edges_ns[1:], strict=True)
    ]
    colour = hue(view.theme, "steps")
    lines = max(len(frame.groups) - 1, 1)
    return [
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=group.counts.astype(np.int32),
            width=np.diff(edges) * 0.94,
            name=f"{text.label(phase_name(group.phase), 30)} {text.label(group.node, 40)}",
            marker={"color": rgba(colour, 1 - 0.6 * index / lines), "line": {"width": 0}},
            customdata=spans,
            hovertemplate=f"<b>%{{fullData.name}}</b><br>%{{customdata}}: <b>%{{y}}</b> {many}<extra></extra>",
        )
        for index, group in enumerate(frame.groups)
    ]


def duration_axis(edges_ns: NDArray[np.float64], scale: str, divisor: float, unit: str) -> dict[str, Any]:
    """An axis of durations that holds all edges, in one unit; its ticks are round numbers."""
    low, high = float(edges_ns[0]) / divisor, float(edges_ns[-1]) / divisor
    axis: dict[str, Any] = {
        "autorange": False,
        "fixedrange": True,
        "showgrid": False,
        "showline": True,
        "ticks": "outside",
        "ticklen": 3,
    }
    if scale != "log":
        room = 0.02 * (high - low)
        return axis | {"range": [low - room, high + room], "nticks": 8, "ticksuffix": f" {unit}"}
    start, end = float(np.log10(low)), float(np.log10(high))
    room = 0.02 * (end - start)
    ticks = _log_ticks(low, high)
    return axis | {
        "type": "log",
        "range": [start - room, end + room],
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{tick:,.6g} {unit}" for tick in ticks],
    }


def _log_ticks(low: float, high: float) -> list[float]:
    """Round durations in reach, thinned out to at most nine."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for factors in (_NICE, (1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10.0**power for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= 9:
            break
    return ticks


def _quantiles(frame: StepHistogram, view: View, divisor: float, top: float) -> list[go.Scatter]:
    lines = []
    marks = (
        ("p50", frame.p50_ns, "solid", 1.1),
        ("p95", frame.p95_ns, "dash", 0.97),
        ("p99", frame.p99_ns, "dot", 0.84),
    )
    for name, value_ns, dash, level in marks:
        if text.is_missing(value_ns):
            continue
        x = value_ns / divisor
        left = name == "p50" or at_right_edge(frame, value_ns)
        lines.append(
            go.Scatter(
                x=[x, x],
                y=[0, level * top],
                mode="lines+text",
                text=["", f" {name} <b>{text.duration(value_ns)}</b> "],
                textposition="middle left" if left else "middle right",
                textfont={"size": 11, "color": view.colours.text_2},
                line={"color": view.colours.text_2, "width": 1, "dash": dash},
                hoverinfo="skip",
                cliponaxis=False,
            )
        )
    return lines


def _points(frame: StepTimeline, view: View, index: int, divisor: float, unit: str) -> go.Scatter:
    chosen = (frame.group == index) & ~_marked(frame)
    phase, node = frame.groups[index]
    colour = hue(view.theme, "steps")
    steps, longest = frame.step[chosen], frame.duration_ns[chosen]
    mean = frame.mean_ns[chosen]
    rows = [
        [
            f"step {step}" if step >= 0 else "step",
            text.duration(int(duration_ns))
            if frame.bin_ns == 0
            else f"{text.duration(int(duration_ns))} longest, {text.duration(float(mean_ns))} mean",
        ]
        for step, duration_ns, mean_ns in zip(steps.tolist(), longest.tolist(), mean.tolist(), strict=True)
    ]
    return go.Scatter(
        x=view.times(frame.start_ns[chosen]),
        y=(longest / divisor).astype(np.float32),
        mode="markers",
        name=f"{text.label(phase_name(phase), 30)} {text.label(node, 40)}",
        marker={"size": 4, "color": rgba(colour, 0.9 if len(frame.groups) == 1 else 0.6)},
        customdata=rows,
        hovertemplate="<b>%{fullData.name}</b> %{customdata[0]}<br>%{x}: <b>%{customdata[1]}</b><extra></extra>",
    )


def _marked(frame: StepTimeline) -> NDArray[np.bool_]:
    """The points that are drawn as outliers: a second point below a diamond would catch the pointer."""
    if frame.bin_ns:
        return np.zeros(frame.start_ns.size, bool)
    outliers = np.array([(step.start_ns, step.duration_ns) for step in frame.outliers], np.int64).reshape(-1, 2)
    same_start = np.isin(frame.start_ns, outliers[:, 0])
    return same_start & np.isin(frame.duration_ns, outliers[:, 1])


def _histogram_caption(frame: StepHistogram, one: str) -> str:
    if not frame.steps:
        return f"No {one} starts in this window."
    spread = (
        f"Median {text.duration(frame.p50_ns)}, p95 {text.duration(frame.p95_ns)}, p99 {text.duration(frame.p99_ns)}."
    )
    if not frame.outlier_count:
        return f"{spread} No {one} is more than 3 standard deviations over its mean."
    first = sorted(frame.outliers, key=lambda step: -step.duration_ns)[0]
    number = f" (step {first.step})" if first.step >= 0 else ""
    return (
        f"{spread} {text.counted(frame.outlier_count, 'outlier')} beyond mean + 3 σ, "
        f"the longest {text.duration(first.duration_ns)}{number}."
    )


def _timeline_caption(frame: StepTimeline, view: View, clicks: bool) -> str:
    if not frame.steps:
        return "No step starts in this window."
    if not frame.outliers:
        return "No step stands out."
    first = max(frame.outliers, key=lambda step: step.duration_ns)
    name = f"step {first.step}" if first.step >= 0 else "a step"
    shown = (
        ""
        if frame.outlier_count <= len(frame.outliers)
        else f" The {len(frame.outliers)} longest of {text.count(frame.outlier_count)} outliers are marked."
    )
    return (
        f"Slowest: {name} on {text.plain(first.node, 60)}, {text.duration(first.duration_ns)} at "
        f"{view.clock(first.start_ns)}.{shown}{' Click an outlier to zoom every chart to it.' if clicks else ''}"
    )
