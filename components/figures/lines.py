"""Lines over time: the parts from which charts of metrics are put together.

A frame's group becomes a line that stops at gaps, and a band that is one closed shape per stretch between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, low_percent_top, percent_axis, round_up, runs, time_layout, value_axis
from components.theme import band_fill
from data.frames import OverTime

MAX_LINES = 24
"""More lines than this cannot be told apart: the ones with the highest values are drawn, and the note says so."""


@dataclass(frozen=True)
class Scale:
    """Raw values to what the axis shows."""

    divisor: float
    unit: str
    top: float

    def shown(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Raw values as the axis shows them."""
        return (values / np.float32(self.divisor)).astype(np.float32)


def scale_of(frame: OverTime) -> Scale:
    """Percent as they are, throughputs in the unit that fits their highest value."""
    drawn = [values for values in (frame.mean, frame.maximum) if values.size]
    highest = max((float(np.nanmax(values)) for values in drawn if np.isfinite(values).any()), default=0.0)
    if frame.unit == "%":
        low = frame.metric == "io_wait"
        return Scale(1, "%", low_percent_top(highest) if low else 100)
    if frame.unit == "bytes/s":
        divisor, unit = text.bytes_scale(highest)
        return Scale(divisor, f"{unit}/s", round_up(highest / divisor))
    return Scale(1, frame.unit, round_up(highest))


def tops(frame: OverTime) -> NDArray[np.float32]:
    """The highest value of each group, -1 where nothing was measured."""
    found: NDArray[np.float32] = np.where(np.isfinite(frame.maximum), frame.maximum, -1).max(axis=1, initial=-1)
    return found


def strongest(frame: OverTime) -> list[int]:
    """The groups to draw, highest value first."""
    return [int(index) for index in np.argsort(-tops(frame), kind="stable")[:MAX_LINES]]


def bin_axis(frame: OverTime, view: View) -> dict[str, Any]:
    """The middles of the bins as two numbers in place of an array."""
    return {"x0": view.time(frame.start_ns + frame.bin_ns // 2), "dx": frame.bin_ns / 1e6}


def group_name(group: tuple[str, str]) -> str:
    """Node and device in words, safe in a chart."""
    return " ".join(text.label(part, 60) for part in group if part)


def line(
    frame: OverTime,
    view: View,
    scale: Scale,
    index: int,
    *,
    colour: str,
    width: float,
    dash: str = "solid",
    name: str = "",
    tag: str | None = None,
    values: NDArray[np.float32] | None = None,
) -> list[go.Scatter]:
    """A line, and points where a single value stands between two gaps and would have no line.

    With a `tag` (which may be empty) the page shows the line's value beside the common hover line.
    """
    y = scale.shown((frame.mean if values is None else values)[index])
    title = text.label(name, 60) if name else group_name(frame.groups[index])
    lead = "%{fullData.name}: " if title else ""
    trace = go.Scatter(
        y=y,
        **bin_axis(frame, view),
        mode="lines",
        name=title,
        line={"color": colour, "width": width, "dash": dash},
        connectgaps=False,
        meta=None if tag is None else {"tag": tag},
        hovertemplate=f"{lead}<b>%{{y:.{_digits(scale)}f}} {scale.unit}</b><extra></extra>",
    )
    alone = [first for first, last in runs(np.isfinite(y)) if last - first == 1]
    if not alone:
        return [trace]
    points = np.full_like(y, np.nan)
    points[alone] = y[alone]
    dots = go.Scatter(
        y=points, **bin_axis(frame, view), mode="markers", marker={"color": colour, "size": 3}, hoverinfo="skip"
    )
    return [trace, dots]


def _digits(scale: Scale) -> int:
    return 1 if scale.top >= 10 else 2


def band(
    frame: OverTime, view: View, scale: Scale, low: NDArray[np.float32], high: NDArray[np.float32]
) -> list[go.Scatter]:
    """The area between two lines, one closed shape per stretch without a gap."""
    centres_ns = frame.start_ns + frame.bin_ns // 2 + np.arange(low.size, dtype=np.int64) * frame.bin_ns
    return area(view, centres_ns, scale.shown(low), scale.shown(high), band_fill(view.theme, frame.metric))


def area(
    view: View, centres_ns: NDArray[np.int64], low: NDArray[np.float32], high: NDArray[np.float32], colour: str
) -> list[go.Scatter]:
    """The same, of values as the axis shows them."""
    stamps = view.times(centres_ns)
    x: list[str | None] = []
    y: list[NDArray[np.float32]] = []
    gap = np.array([np.nan], np.float32)
    for first, last in runs(np.isfinite(low) & np.isfinite(high)):
        x += [*stamps[first:last], *stamps[first:last][::-1], None]
        y += [high[first:last], low[first:last][::-1], gap]
    if not y:
        return []
    return [
        go.Scatter(
            x=x[:-1],
            y=np.concatenate(y)[:-1],
            mode="lines",
            line={"width": 0, "color": colour},
            fill="toself",
            fillcolor=colour,
            hoverinfo="skip",
        )
    ]


def lines_layout(frame: OverTime, view: View, scale: Scale, height: int) -> dict[str, Any]:
    """The layout of a chart of lines, its y axis in the unit of the scale."""
    if scale.unit == "%":
        axis = percent_axis(view, scale.top)
    else:
        axis = value_axis(view, scale.top * 1.03, tickformat="~s" if scale.top >= 10_000 else "")
    # a label per line at the pointer would cover a chart of many lines
    hover = "x" if len(frame.groups) <= 4 else "closest"
    return time_layout(view, height=height, unit=scale.unit, y_axis=axis, hovermode=hover)
