"""What every figure shares: the view it is drawn for, axes with an explicit range, and arrays on a time axis.

Charts over time have equal margins and the same range, so that they line up and share one hover line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.theme import MARGIN, TIME_MARGIN, Palette, Theme, palette, template
from data.selection import Window


@dataclass(frozen=True, slots=True)
class View:
    """How a figure is looked at: span of the time axis, theme, offset from UTC, and the caller's revision.

    With an `origin_ns` nobody knows when the job was: times are shown as what has passed since then.
    """

    window: Window
    theme: Theme = "dark"
    offset_minutes: int = 0
    revision: str = ""
    origin_ns: int | None = None

    @property
    def colours(self) -> Palette:
        """The colours of the theme."""
        return palette(self.theme)

    def time(self, time_ns: int) -> str:
        """A time as this view's axes take it."""
        return text.axis_time(time_ns - (self.origin_ns or 0), self._offset)

    def times(self, time_ns: NDArray[np.int64]) -> list[str]:
        """Many times as this view's axes take them, to the microsecond."""
        wall_us = (time_ns - (self.origin_ns or 0)) // 1000 + self._offset * 60_000_000
        stamps: list[str] = np.datetime_as_string(wall_us.astype("datetime64[us]")).tolist()
        return stamps

    def clock(self, time_ns: int) -> str:
        """A time in words, as exact as the window deserves."""
        if self.origin_ns is not None:
            return text.elapsed(time_ns - self.origin_ns)
        return text.clock(time_ns, self.offset_minutes, self.window.duration_ns)

    def exact(self, time_ns: int) -> str:
        """A time of day to the microsecond, or what has passed until then."""
        stamp = self.time(time_ns)
        return stamp.partition(" ")[2] if self.origin_ns is None else f"+{stamp.partition(' ')[2]}"

    def stamp(self, time_ns: int) -> str:
        """A date and time to the millisecond, or what has passed until then."""
        return text.timestamp(time_ns, self.offset_minutes) if self.origin_ns is None else self.exact(time_ns)

    @property
    def zone(self) -> str:
        """What the times are measured by: UTC, UTC+01:00, or the start of the recording."""
        return text.zone(self.offset_minutes) if self.origin_ns is None else "since the start"

    @property
    def _offset(self) -> int:
        return self.offset_minutes if self.origin_ns is None else 0


def chart(traces: Sequence[go.Scatter | go.Bar | go.Heatmap | go.Pie], layout: dict[str, Any]) -> go.Figure:
    """The figure of some traces. Its layout is not validated again at each request, which costs more than a query."""
    return go.Figure({"data": list(traces), "layout": layout}, _validate=False)


@cache
def _template(theme: Theme) -> dict[str, Any]:
    parts: dict[str, Any] = template(theme).to_plotly_json()
    return parts


def layout(view: View, *, height: int, unit: str = "", **more: Any) -> dict[str, Any]:
    """The layout of a chart that is not over time."""
    shared = {
        "template": _template(view.theme),
        "margin": dict(MARGIN),
        "meta": {"time": False, "unit": unit},
        "height": height,
        "uirevision": view.revision,
    }
    return shared | more


def time_layout(view: View, *, height: int, unit: str, y_axis: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The layout of a chart on the common time axis, which shows exactly the view's window."""
    shared = {
        "template": _template(view.theme),
        "margin": dict(TIME_MARGIN),
        "meta": {"time": True, "unit": unit, **more.pop("meta", {})},
        "height": height,
        "uirevision": view.revision,
        "hovermode": "x",
        "xaxis": time_axis(view),
        "yaxis": y_axis,
    }
    return shared | more


def time_axis(view: View) -> dict[str, Any]:
    """A date axis over exactly the view's window."""
    window, sign = view.window, "" if view.origin_ns is None else "+"
    return {
        "type": "date",
        "range": [view.time(window.start_ns), view.time(window.end_ns)],
        "autorange": False,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": view.colours.line_2,
        "nticks": 8,
        "tickangle": 0,
        "tickformatstops": _TICK_FORMATS if view.origin_ns is None else _ELAPSED_FORMATS,
        "hoverformat": sign + ("%H:%M:%S" if window.duration_ns >= 30 * text.NS_PER_S else "%H:%M:%S.%L"),
    }


_TICK_FORMATS = [
    {"dtickrange": [None, 0.9], "value": "%S.%6f s"},
    {"dtickrange": [0.9, 999], "value": "%H:%M:%S.%L"},
    {"dtickrange": [999, 59_999], "value": "%H:%M:%S"},
    {"dtickrange": [59_999, 86_399_999], "value": "%H:%M"},
    {"dtickrange": [86_399_999, None], "value": "%d %b"},
]
_ELAPSED_FORMATS = [
    {"dtickrange": [None, 0.9], "value": "+%S.%6f s"},
    {"dtickrange": [0.9, 999], "value": "+%H:%M:%S.%L"},
    {"dtickrange": [999, 59_999], "value": "+%H:%M:%S"},
    {"dtickrange": [59_999, None], "value": "+%H:%M"},
]
"""What has passed since the start: a job whose days nobody knows has none on its axis."""


def interrupted(view: View) -> dict[str, Any]:
    """The hatching of a time in which no node recorded anything."""
    fill, ground = view.colours.warn_fill, view.colours.card
    pattern = {"shape": "/", "fgcolor": fill, "bgcolor": ground, "size": 6, "solidity": 0.25}
    return {"color": ground, "line": {"width": 1, "color": fill}, "pattern": pattern}


def count_axis(view: View, top: float) -> dict[str, Any]:
    """A value axis for how many there are: whole numbers only."""
    ticks: dict[str, Any] = {"dtick": 1} if top < 4 else {"nticks": 4, "tickformat": "~s"}
    return value_axis(view, top * 1.15, ticks="", showline=False, **ticks)


def value_axis(view: View, top: float, **more: Any) -> dict[str, Any]:
    """A y axis from 0 that cannot be dragged; `top` is the highest value it must hold."""
    axis: dict[str, Any] = {
        "range": [0, top],
        "autorange": False,
        "fixedrange": True,
        "showline": True,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": view.colours.line_2,
        "nticks": 5,
    }
    return axis | more


def percent_axis(view: View, top: float = 100) -> dict[str, Any]:
    """A y axis of percent; the small head room keeps a line at the top from being cut in half."""
    step = 25 if top > 50 else 10 if top > 20 else 5 if top > 10 else 2 if top > 4 else 1
    return value_axis(view, top * 1.03, dtick=step, tick0=0, ticksuffix=" %", showticksuffix="last")


def low_percent_top(highest: float) -> float:
    """The top of a percent axis for values that are expected to stay low."""
    return float(next((top for top in (4, 10, 20, 50) if highest <= top), 100))


def round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten at or above the value: a calm top for an axis."""
    if not np.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    factors = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
    return float(next(f * power for f in factors if value <= f * power * (1 + 1e-9)))


def runs(present: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches of True as half-open index ranges."""
    padded = np.concatenate(([False], present, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def words(parts: list[str]) -> str:
    """Remarks beside a title, one after another."""
    return " · ".join(part for part in parts if part)
