"""Framework events over time, a lane per phase and node: what ran when, and how full was each lane?

While there are many events, a column of a lane is as strong as the share of it in which at least one event runs; once
few are in view, each is a bar. Numbers of events and their length are exact either way, and stand beside each lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, time_layout, words
from components.figures.kinds import kind_colour
from components.figures.system import strip
from components.panels import FigureView
from components.theme import TIME_MARGIN
from data.coverage import merged
from data.frames.framework import Lane, LaneBars, Lanes
from data.insights.event_kinds import KINDS, SPAN, kind_of

NODE_PX = 22
NAME_PX = 16
COLUMN_PX = 12
BAR_PX = 9
SPACE_PX = 5
DEEPEST = 8
"""Events that overlap more deeply are drawn in the last row of their lane."""

_FAINTEST = 0.22
_ORDER = {SPAN: -1, **{kind: at for at, (kind, _) in enumerate(KINDS)}}


@dataclass(frozen=True)
class _Place:
    """Where a lane lies, in pixels from the top."""

    lane: int  # index into the frame's lanes
    kind: str
    top: float  # of its cells or bars
    height: float


def expected_height(lanes: int) -> int:
    """About how tall the chart becomes, so that its place can be kept."""
    return lanes * (NAME_PX + COLUMN_PX + SPACE_PX) + TIME_MARGIN["t"] + TIME_MARGIN["b"]


def lane_token(node: str, phase: str) -> str:
    """A lane as it stands in an address."""
    return f"{quote(node, safe='')}/{quote(phase, safe='')}"


def framework_lanes(frame: Lanes, view: View) -> FigureView:
    """The lanes by node, and in each by kind: steps, data loading, computation, communication, GPU."""
    places, titles, bottom = _places(frame)
    traces: list[Any] = (
        _bars(frame, frame.bars, places, view) if frame.bars else [_cells(frame, place, view) for place in places]
    )
    height = round(bottom) + TIME_MARGIN["t"] + TIME_MARGIN["b"]
    axis = {"type": "linear", "range": [bottom, 0], "fixedrange": True, "showgrid": False, "showticklabels": False}
    lanes = [frame.lanes[place.lane] for place in places]
    figure = chart(
        traces,
        time_layout(
            view,
            height=height,
            unit="%",
            y_axis=axis,
            hovermode="closest",
            barmode="overlay",
            annotations=_titles(titles, view) + _names(frame, places, view),
            meta={
                "rows": [[text.plain(lane.node), text.plain(lane.phase)] for lane in lanes],
                "heads": ["node", "phase", "middle of column", "covered %", "events that begin"],
                "bars": frame.bars is not None,
            },
        ),
    )
    return FigureView(figure, note=_note(frame), caption=_caption(frame), height=height)


def minimap(frame: Lanes, view: View, brush: tuple[int, int] | None) -> go.Figure:
    """The whole job in a strip where there are no system metrics: how full the fullest lane of work is."""
    work = [at for at, lane in enumerate(frame.lanes) if kind_of(lane.phase, lane.phase) != SPAN]
    work = work or list(range(len(frame.lanes)))
    line = go.Scatter(mode="lines", line={"color": view.colours.text_3, "width": 1.2}, hoverinfo="skip")
    if frame.bars is None:
        line.update(
            x0=view.time(frame.start_ns + frame.column_ns // 2),
            dx=frame.column_ns / 1e6,
            y=100 * frame.covered[work].max(axis=0, initial=0),
        )
    else:
        line.update(_ups_and_downs(frame.bars, work, view))
    return strip([line], view, brush, 110.0)


def _ups_and_downs(bars: LaneBars, work: list[int], view: View) -> dict[str, Any]:
    """A line that is up while an event runs."""
    mine = np.flatnonzero(np.isin(bars.lane, work))
    mine = mine[np.argsort(bars.start_ns[mine], kind="stable")]
    start, end = merged(bars.start_ns[mine], bars.start_ns[mine] + bars.duration_ns[mine])
    corners = np.stack([start, start, end, end], axis=1).ravel()
    return {"x": view.times(corners), "y": np.tile([0, 100, 100, 0], len(start))}


def _places(frame: Lanes) -> tuple[list[_Place], list[tuple[str, float]], float]:
    """The lanes in the order of drawing, the titles of nodes with their tops, and where all of it ends."""
    order: dict[str, list[int]] = {}
    for at, lane in enumerate(frame.lanes):
        order.setdefault(lane.node, []).append(at)
    depth = np.zeros(len(frame.lanes), np.int64)
    if frame.bars is not None:
        np.maximum.at(depth, frame.bars.lane, np.minimum(frame.bars.depth, DEEPEST - 1))
    places: list[_Place] = []
    titles: list[tuple[str, float]] = []
    top = 0.0
    for node, lanes in order.items():
        if len(order) > 1 or frame.node_count > 1:
            titles.append((node, top))
            top += NODE_PX
        kinds = {at: kind_of(frame.lanes[at].phase, frame.lanes[at].phase) for at in lanes}
        for at in sorted(lanes, key=lambda at: (_ORDER.get(kinds[at], len(_ORDER)), frame.lanes[at].phase)):
            height = COLUMN_PX if frame.bars is None else BAR_PX * (int(depth[at]) + 1)
            places.append(_Place(at, kinds[at], top + NAME_PX, height))
            top += NAME_PX + height + SPACE_PX
    return places, titles, top


def _cells(frame: Lanes, place: _Place, view: View) -> go.Heatmap:
    lane = frame.lanes[place.lane]
    share, begun = frame.covered[place.lane], frame.begun[place.lane]
    shown = np.where((share > 0) | (begun > 0), 100 * share, np.nan).astype(np.float32)
    half_ns = frame.column_ns // 2
    return go.Heatmap(
        z=shown[None, :],
        customdata=begun[None, :],
        x0=view.time(frame.start_ns + half_ns),
        dx=frame.column_ns / 1e6,
        y0=place.top + place.height / 2,
        dy=place.height,
        zmin=0,
        zmax=100,
        zsmooth=False,
        colorscale=[[0, kind_colour(view.theme, place.kind, _FAINTEST)], [1, kind_colour(view.theme, place.kind)]],
        showscale=False,
        hoverongaps=False,
        name=_name(lane),
        meta={
            "lane": lane_token(lane.node, lane.phase),
            "startNs": str(frame.start_ns),
            "columnNs": str(frame.column_ns),
        },
        hovertemplate="<b>%{fullData.name}</b><br>%{x} ± "
        f"{text.duration(half_ns)}<br>covered <b>%{{z:.1f}} %</b>, %{{customdata}} begin here<br>"
        "click for the events<extra></extra>",
    )


def _bars(frame: Lanes, bars: LaneBars, places: list[_Place], view: View) -> list[go.Bar]:
    """One trace per kind of lane: a trace per lane would cost the browser more than its bars."""
    top, kind = np.zeros(len(frame.lanes)), np.array([""] * len(frame.lanes), object)
    for place in places:
        top[place.lane], kind[place.lane] = place.top, place.kind
    middle = top[bars.lane] + BAR_PX * (np.minimum(bars.depth, DEEPEST - 1) + 0.5)
    x = view.times(bars.start_ns)
    traces = []
    for one in dict.fromkeys(place.kind for place in places):
        mine = np.flatnonzero(kind[bars.lane] == one)
        colour = kind_colour(view.theme, one)
        traces.append(
            go.Bar(
                orientation="h",
                base=[x[at] for at in mine],
                x=bars.duration_ns[mine] / 1e6,
                y=middle[mine],
                width=BAR_PX - 1.5,
                marker={"color": colour, "line": {"width": 0.6, "color": colour}},
                customdata=[_bar_words(frame, bars, at) for at in mine.tolist()],
                hovertemplate="<b>%{customdata[3]}</b><br>%{customdata[4]}%{customdata[5]}<br>%{base}: "
                "<b>%{customdata[6]}</b><br>click for the events beside it<extra></extra>",
                meta={"bars": True},
            )
        )
    return traces


def _bar_words(frame: Lanes, bars: LaneBars, at: int) -> list[str]:
    """Start and end, and the lane, for a click; then words for the pointer and the table."""
    lane = frame.lanes[int(bars.lane[at])]
    start_ns, duration_ns, step = int(bars.start_ns[at]), int(bars.duration_ns[at]), int(bars.step[at])
    thread = f", thread {text.label(bars.threads[at], 40)}" if bars.threads[at] else ""
    return [
        str(start_ns),
        str(start_ns + max(duration_ns, 1)),
        lane_token(lane.node, lane.phase),
        text.label(bars.names[at], 90),
        _name(lane),
        thread + (f", step {step}" if step >= 0 else ""),
        text.duration(duration_ns),
    ]


def _name(lane: Lane) -> str:
    return f"{text.label(lane.phase, 60)} on {text.label(lane.node, 60)}"


def _titles(titles: list[tuple[str, float]], view: View) -> list[dict[str, Any]]:
    return [
        _words(f"<b>{text.label(node, 60)}</b>", 0, top + NODE_PX / 2, 12, view.colours.text) for node, top in titles
    ]


def _names(frame: Lanes, places: list[_Place], view: View) -> list[dict[str, Any]]:
    """The name of each lane at its left, and at its right what all of its events come to."""
    found = []
    for place in places:
        lane = frame.lanes[place.lane]
        middle = place.top - NAME_PX / 2 - 0.5
        total = f"{text.counted(lane.events, 'event')} · {text.duration(lane.duration_ns)}"
        found.append(_words(text.label(lane.phase, 80), 0, middle, 11, view.colours.text_2))
        found.append(_words(total, 1, middle, 11, view.colours.text_3))
    return found


def _words(words: str, side: int, middle: float, size: float, colour: str) -> dict[str, Any]:
    return {
        "xref": "paper",
        "yref": "y",
        "x": side,
        "y": middle,
        "xanchor": "right" if side else "left",
        "yanchor": "middle",
        "showarrow": False,
        "text": words,
        "font": {"size": size, "color": colour},
    }


def _note(frame: Lanes) -> str:
    lanes = text.counted(frame.lane_count, "lane")
    if frame.bars is not None:
        return words([lanes, "each event is a bar"])
    return words(
        [lanes, f"one column = {text.duration(frame.column_ns)}", "as strong as the share of it that is covered"]
    )


def _caption(frame: Lanes) -> str:
    drawn = sum(lane.events for lane in frame.lanes)
    parts = [f"{text.counted(frame.events, 'event')} in this window, counted exactly."]
    if frame.bars is None:
        parts.append("Too many to draw one by one: zoom in to see each as a bar.")
    if frame.lane_count > len(frame.lanes):
        nodes = len({lane.node for lane in frame.lanes})
        cut = "the fullest phases" if nodes == frame.node_count else f"the first {nodes} of {frame.node_count} nodes"
        lanes = f"{len(frame.lanes)} of {text.count(frame.lane_count)} lanes are drawn"
        parts.append(f"{lanes}, {cut}: {text.counted(drawn, 'event')}.")
    parts.append("Click a column or a bar for the events behind it.")
    return " ".join(parts)
