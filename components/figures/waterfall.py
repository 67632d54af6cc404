"""From the mean step of one run to that of the other: a floating bar for each kind of event, adding up exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, layout, words
from components.figures.kinds import WORDS
from components.figures.steps import duration_unit, phase_name
from components.panels import FigureView
from data.frames.comparison import Part, Waterfall

BAR_PX = 26
_HEADROOM = 0.1
_THIN = 0.3
"""Parts that span less than this of the longest bar are drawn on an axis that does not begin at 0, which is said."""


def step_waterfall(frame: Waterfall, view: View) -> FigureView:
    """A row for A, one for each part that differs, one for B; longer and shorter are told apart by sign and colour."""
    divisor_ns, unit = duration_unit(max(frame.a_s, frame.b_s) * text.NS_PER_S)
    scale = text.NS_PER_S / divisor_ns
    rows, reached = [_whole("A", frame.a_s, view)], frame.a_s
    for part in frame.parts:
        rows.append(_part(part, reached, view))
        reached += part.difference_s
    rows.append(_whole("B", frame.b_s, view))
    names = [row.name for row in rows]
    bases, sizes = [row.base_s * scale for row in rows], [row.size_s * scale for row in rows]
    bar = go.Bar(
        orientation="h",
        y=names,
        base=bases,
        x=sizes,
        text=[row.label for row in rows],
        textposition="outside",
        cliponaxis=False,
        marker={"color": [row.colour for row in rows], "line": {"width": 0}},
        customdata=[row.hover for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )
    height = BAR_PX * len(rows) + 50
    left = _left(rows)
    axes = _axes(left * scale, bases, sizes, unit, names)
    figure = chart([bar], layout(view, height=height, unit=unit, bargap=0.3, hovermode="closest", **axes))
    return FigureView(figure, note=_note(frame, left), caption=_caption(frame), height=height)


class _Row(NamedTuple):
    name: str
    base_s: float
    size_s: float
    colour: str
    label: str
    hover: str


def _whole(letter: str, value_s: float, view: View) -> _Row:
    shown = text.duration(value_s * text.NS_PER_S)
    return _Row(f"{letter}: mean step", 0.0, value_s, view.colours.text_3, shown, f"mean step of {letter}: {shown}")


def _part(part: Part, reached_s: float, view: View) -> _Row:
    change = part.difference_s
    colour = view.colours.bad if change > 0 else view.colours.good
    return _Row(_name(part), min(reached_s, reached_s + change), abs(change), colour, _signed(change), _hover(part))


def _name(part: Part) -> str:
    return WORDS.get(part.key, part.name)


def _left(rows: Sequence[_Row]) -> float:
    """Where the axis begins, seconds: at 0, unless the parts would then be too thin to be seen."""
    parts = [edge for row in rows[1:-1] for edge in (row.base_s, row.base_s + row.size_s)]
    ends = [rows[0].size_s, rows[-1].size_s, *parts]
    low, high = min(ends), max(ends)
    return low if low < 0 else max(low - 0.6 * (high - low), 0.0) if high - low < _THIN * high else 0.0


def _axes(left: float, bases: list[float], sizes: list[float], unit: str, names: list[str]) -> dict[str, Any]:
    high = max([base + size for base, size in zip(bases, sizes, strict=True)] + [left + 1e-9])
    return {
        "margin": {"l": 170, "r": 24, "t": 8, "b": 32},
        "xaxis": {
            "range": [left, high + (high - left) * _HEADROOM],
            "autorange": False,
            "fixedrange": True,
            "ticksuffix": f" {unit}",
            "showticksuffix": "last",
            "nticks": 6,
        },
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "range": [-0.6, len(names) - 0.4],
            "autorange": False,
            "fixedrange": True,
            "showgrid": False,
        },
    }


def _signed(change_s: float) -> str:
    words_of = text.duration(change_s * text.NS_PER_S)
    return f"+{words_of}" if change_s > 0 else words_of


def _hover(part: Part) -> str:
    a, b = (text.duration(value * text.NS_PER_S) for value in (part.a_s, part.b_s))
    return f"{_name(part)}: <b>{_signed(part.difference_s)}</b><br>A {a}, B {b}"


def _note(frame: Waterfall, left: float) -> str:
    phase = text.plain(phase_name(frame.phase_a), 30)
    cut = f"the axis begins at {text.duration(left * text.NS_PER_S)}" if left > 0 else ""
    return words([phase, f"events of the last {frame.steps_a} steps of A and {frame.steps_b} of B", cut])


def _caption(frame: Waterfall) -> str:
    parts = sorted(frame.parts, key=lambda part: -abs(part.difference_s))
    main = ", ".join(f"{_name(part)} {_signed(part.difference_s)}" for part in parts[:3] if part.difference_s)
    change = _signed(frame.b_s - frame.a_s)
    return f"The mean step changes by {change}: {main or 'nothing differs'}. All parts add up to the difference."
