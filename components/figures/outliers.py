"""Outliers among steps: marks with their numbers in the histogram and on the timeline, and where a click leads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View
from data.frames import Step, StepHistogram


def outlier_marks(frame: StepHistogram, view: View, divisor: float, top: float) -> list[go.Scatter]:
    """Amber stems at the slow steps, neighbours together, named by their numbers."""
    if not frame.outliers:
        return []
    groups = _clusters(frame)
    longest = [max(step.duration_ns for step in steps) for steps in groups]
    return [
        go.Scatter(
            x=[duration_ns / divisor for duration_ns in longest],
            y=[0.16 * top] * len(groups),
            mode="markers+text",
            marker={"symbol": "diamond", "size": 8, "color": view.colours.warn_fill},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [0] * len(groups),
                "arrayminus": [0.16 * top] * len(groups),
                "color": view.colours.warn_fill,
                "thickness": 1,
                "width": 0,
            },
            text=[_numbers(steps) if index < 4 else "" for index, steps in enumerate(groups)],
            textposition=["top left" if at_right_edge(frame, duration_ns) else "top center" for duration_ns in longest],
            textfont={"size": 11, "color": view.colours.warn},
            customdata=[
                [_numbers(steps, 12), text.duration(duration_ns)]
                for steps, duration_ns in zip(groups, longest, strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>up to %{customdata[1]}<extra>outlier</extra>",
            meta={"mark": True},
            cliponaxis=False,
        )
    ]


def at_right_edge(frame: StepHistogram, duration_ns: float) -> bool:
    """Whether a label there must be written inwards."""
    place = np.log10 if frame.scale == "log" else np.asarray
    low, high = float(place(frame.edges_ns[0])), float(place(frame.edges_ns[-1]))
    return float(place(duration_ns)) > low + 0.88 * (high - low)


def _clusters(frame: StepHistogram) -> list[list[Step]]:
    """The outliers, longest first; those whose marks would overlap on the axis form one group."""
    place = np.log10 if frame.scale == "log" else np.asarray
    span = float(place(frame.edges_ns[-1]) - place(frame.edges_ns[0])) or 1.0
    groups: list[list[Step]] = []
    for step in sorted(frame.outliers, key=lambda one: -one.duration_ns):
        first = groups[-1][0] if groups else None
        near = first is not None and float(place(first.duration_ns) - place(step.duration_ns)) < 0.09 * span
        if near:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _numbers(steps: Sequence[Step], limit: int = 3) -> str:
    known = sorted({step.step for step in steps if step.step >= 0})
    if not known:
        return text.counted(len(steps), "slow step")
    more = " …" if len(known) > limit else ""
    return f"step{'s' if len(known) > 1 else ''} " + ", ".join(str(number) for number in known[:limit]) + more


def slow_steps(outliers: Sequence[Step], view: View, divisor: float, unit: str, *, clicks: bool = True) -> go.Scatter:
    """Amber diamonds; each carries the window to zoom to when it is clicked."""
    named: dict[int, int] = {}
    for step in sorted(outliers, key=lambda one: -one.duration_ns):
        named.setdefault(step.step, id(step))
    shown = set(list(named.values())[:6])
    starts = np.array([step.start_ns for step in outliers], np.int64)
    return go.Scatter(
        x=view.times(starts),
        y=[step.duration_ns / divisor for step in outliers],
        mode="markers+text",
        marker={"symbol": "diamond", "size": 8, "color": view.colours.warn_fill},
        text=[f"<b>{step.step}</b>" if id(step) in shown and step.step >= 0 else "" for step in outliers],
        textposition="top center",
        textfont={"size": 11, "color": view.colours.warn},
        customdata=[
            [
                *zoom_window(step),
                f"step {step.step}" if step.step >= 0 else "a step",
                text.duration(step.duration_ns),
                text.label(step.node, 40),
            ]
            for step in outliers
        ],
        hovertemplate="<b>%{customdata[2]}</b> on %{customdata[4]}<br>%{x}: <b>%{customdata[3]}</b>, an outlier"
        f"{'<br>click to zoom there' if clicks else ''}<extra></extra>",
        meta={"zoom": True},
        cliponaxis=False,
    )


def zoom_window(step: Step) -> tuple[str, str]:
    """The window that shows a step with half its length around it, in nanoseconds, as text because of their size."""
    room_ns = max(step.duration_ns // 2, 1_000_000)
    return str(step.start_ns - room_ns), str(step.start_ns + step.duration_ns + room_ns)
