"""What steps are spent on: a bar per step, stacked by kind of event, as high as the step is long."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, chart, layout, round_up, value_axis, words
from components.figures.kinds import UNCOVERED, WORDS, kind_colour, kinds_legend
from components.figures.steps import duration_unit, phase_name
from components.panels import FigureView, legend_row
from components.theme import rgba
from data.frames.framework import StepBreakdown

HEIGHT = 206
_WIDTH = 0.84


def step_breakdown(frame: StepBreakdown, view: View, *, height: int = HEIGHT) -> FigureView:
    """The last steps in their order. What no event covers is hatched on top, so that every bar is the whole step."""
    rest = frame.duration_ns - frame.spent_ns.sum(axis=1)
    divisor, unit = duration_unit(float(np.median(frame.duration_ns)))
    top = round_up(float(frame.duration_ns.max()) / divisor)
    labels = _labels(frame.step)
    parts = [(kind, frame.spent_ns[:, at]) for at, kind in enumerate(frame.kinds)]
    parts = [(kind, part) for kind, part in [*parts, (UNCOVERED, rest)] if part.any()]
    figure = chart(
        [_bars(frame, kind, part, labels, view, divisor) for kind, part in parts],
        layout(
            view,
            height=height,
            unit=unit,
            barmode="stack",
            bargap=1 - _WIDTH,
            hovermode="closest",
            xaxis=_step_axis(labels, view),
            yaxis=value_axis(view, top * 1.04, nticks=4, ticksuffix=f" {unit}", showticksuffix="last"),
        ),
    )
    legend = legend_row(kinds_legend([kind for kind, _ in parts]))
    return FigureView(figure, note=[_note(frame), legend], caption=_caption(frame, rest))


def _labels(steps: NDArray[np.int64]) -> list[str]:
    """A name for each bar; a number that comes again, after training was resumed, is told apart."""
    seen: dict[int, int] = {}
    labels = []
    for step in steps.tolist():
        seen[step] = seen.get(step, 0) + 1
        name = str(step) if step >= 0 else "?"
        labels.append(name if seen[step] == 1 else f"{name} ({seen[step]})")
    return labels


def _bars(
    frame: StepBreakdown, kind: str, part: NDArray[np.float64], labels: list[str], view: View, divisor: float
) -> go.Bar:
    share = part / np.maximum(frame.duration_ns, 1)
    hollow = kind == UNCOVERED
    marker: dict[str, Any] = {"color": kind_colour(view.theme, kind), "line": {"width": 0}}
    if hollow:
        marker = {
            "color": rgba(view.colours.text_3, 0.08),
            "line": {"width": 0},
            "pattern": {
                "shape": "/",
                "size": 5,
                "solidity": 0.18,
                "fgcolor": view.colours.text_3,
                "fillmode": "overlay",
            },
        }
    return go.Bar(
        x=labels,
        y=(part / divisor).astype(np.float32),
        name=WORDS[kind],
        marker=marker,
        customdata=[
            [text.duration(float(one)), text.share(float(of)), text.duration(float(whole)), view.clock(start)]
            for one, of, whole, start in zip(part, share, frame.duration_ns, frame.start_ns.tolist(), strict=True)
        ],
        hovertemplate="<b>step %{x}</b>, %{customdata[2]}<br>%{fullData.name}: <b>%{customdata[0]}</b>, "
        "%{customdata[1]}<extra></extra>",
    )


def _step_axis(labels: list[str], view: View) -> dict[str, Any]:
    every = -(-len(labels) // 8)
    shown = labels[::-1][::every][::-1]
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": labels,
        "range": [-0.6, len(labels) - 0.4],
        "autorange": False,
        "fixedrange": True,
        "showgrid": False,
        "showline": True,
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": shown,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": view.colours.line_2,
        "tickangle": 0,
    }


def _note(frame: StepBreakdown) -> str:
    steps = text.counted(len(frame.step), "step")
    last = f"last {steps}" if frame.step_count > int(frame.processes.sum()) else steps
    most = int(frame.processes.max())
    return words([text.plain(phase_name(frame.phase), 30), last, f"mean of {most} processes" if most > 1 else ""])


def _caption(frame: StepBreakdown, rest: NDArray[np.float64]) -> str:
    total = float(frame.duration_ns.sum()) or 1.0
    shares = {kind: float(frame.spent_ns[:, at].sum()) / total for at, kind in enumerate(frame.kinds)}
    shares[UNCOVERED] = float(rest.sum()) / total
    largest = sorted((kind for kind in shares if shares[kind] > 0), key=lambda kind: -shares[kind])[:3]
    order = ", ".join(WORDS[kind] for kind in frame.kinds if shares[kind] > 0)
    main = ", ".join(f"{WORDS[kind]} {text.share(shares[kind])}" for kind in largest)
    sentence = f"Of these steps: {main}." if main else "These steps have no length."
    if not order:
        return sentence
    return f"{sentence} Where several run at once, an instant counts for the first of: {order}."
