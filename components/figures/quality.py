"""Which of a job's time has records: a row a node, open where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, interrupted, time_layout
from components.panels import FigureView
from components.theme import TIME_MARGIN, hue
from data.frames.quality import STRETCHES, Coverage, NodeCoverage

MAX_ROWS: Final = 200
"""Nodes drawn; of more, those with the least covered."""
MAX_STRETCHES: Final = 3000
"""Stretches without a record that are drawn, the longest; a screen shows no more of them apart."""

_ROW_PX, _LOWEST_PX, _ROWS_PX = 26, 5, 640
_LABEL_PX: Final = 12
_LONGEST_LABEL: Final = 22
_PLACE = {"records": (0.12, 0.5), "events": (0.7, 0.2), "records alone": (0.18, 0.64)}  # top and height in a row
_INTERRUPTION: Final = STRETCHES.index("interruption")


def expected_height(nodes: int) -> int:
    """How tall the chart of so many nodes becomes."""
    rows = min(max(nodes, 1), MAX_ROWS)
    return round(rows * _row_px(rows)) + TIME_MARGIN["t"] + TIME_MARGIN["b"]


def _row_px(rows: int) -> float:
    return min(max(_ROWS_PX / rows, _LOWEST_PX), _ROW_PX)


def coverage_figure(coverage: Coverage, view: View) -> FigureView:
    """Bars from first to last record of every node, gaps left open, interruptions hatched, events below."""
    names = _names(coverage)
    drawn = {name: row for row, name in enumerate(_drawn(coverage, names))}
    traces = [_events(coverage, drawn, view), _records(coverage, drawn, view), *_missing(coverage, drawn, view)]
    figure = chart(
        [trace for trace in traces if trace is not None],
        time_layout(
            view,
            height=expected_height(len(names)),
            unit="",
            y_axis=_rows_axis(list(drawn)),
            barmode="overlay",
            bargap=0,
            hovermode="closest",
            margin=dict(TIME_MARGIN) | {"l": _left_px(list(drawn))},
            meta={"spans": ["what", "node", "from", "to", "length"]},
        ),
    )
    figure.update_xaxes(showgrid=True)
    return FigureView(
        figure,
        note=f"{text.counted(len(names), 'node')} · {view.zone}",
        caption=_caption(coverage, len(names)),
        height=expected_height(len(names)),
    )


def _names(coverage: Coverage) -> list[str]:
    """Nodes with records, and those that have events only."""
    return list(dict.fromkeys([node.node for node in coverage.nodes] + [one.node for one in coverage.events]))


def _drawn(coverage: Coverage, names: Sequence[str]) -> list[str]:
    if len(names) <= MAX_ROWS:
        return list(names)
    least = sorted(coverage.nodes, key=lambda one: 101 if math.isnan(one.covered_percent) else one.covered_percent)
    chosen = {one.node for one in least[:MAX_ROWS]}
    return [name for name in names if name in chosen]


def _rows_axis(names: Sequence[str]) -> dict[str, Any]:
    every = math.ceil(_LABEL_PX / _row_px(max(len(names), 1)))
    shown = range(0, len(names), every)
    return {
        "range": [max(len(names), 1), 0],
        "autorange": False,
        "fixedrange": True,
        "tickvals": [row + 0.5 for row in shown],
        "ticktext": [text.label(names[row], _LONGEST_LABEL) for row in shown],
        "showgrid": False,
        "ticks": "outside",
        "ticklen": 6,
        "tickcolor": "rgba(0,0,0,0)",
    }


def _left_px(names: Sequence[str]) -> int:
    longest = max((min(len(text.plain(name)), _LONGEST_LABEL) for name in names), default=6)
    return max(TIME_MARGIN["l"], round(longest * 6.6) + 20)


def _bars(name: str, spans: Sequence[tuple[str, int, int]], rows: Sequence[float], width: float, view: View) -> go.Bar:
    """Bars from time to time; `spans` are node, start and end."""
    return go.Bar(
        name=name,
        orientation="h",
        base=[view.time(start) for _, start, _ in spans],
        x=[max(end - start, 1000) / 1e6 for _, start, end in spans],
        y=list(rows),
        width=width,
        customdata=[
            [
                text.label(node, 60),
                view.stamp(start),
                view.stamp(end),
                text.duration(end - start),
            ]
            for node, start, end in spans
        ],
        hovertemplate="<b>%{customdata[0]}</b> %{fullData.name}, %{customdata[3]}<br>%{customdata[1]}"
        "<br>%{customdata[2]}<extra></extra>",
    )


def _place(coverage: Coverage, what: str) -> tuple[float, float]:
    """Middle and height of a bar in its row."""
    top, height = _PLACE["records alone" if what == "records" and not coverage.events else what]
    return top + height / 2, height


def _events(coverage: Coverage, drawn: dict[str, int], view: View) -> go.Bar | None:
    mine = [one for one in coverage.events if one.node in drawn]
    if not mine:
        return None
    middle, height = _place(coverage, "events")
    spans = [(one.node, one.start_ns, one.end_ns) for one in mine]
    bars = _bars("framework events", spans, [drawn[one.node] + middle for one in mine], height, view)
    bars.marker = {"color": hue(view.theme, "steps"), "line": {"width": 0}}
    return bars


def _records(coverage: Coverage, drawn: dict[str, int], view: View) -> go.Bar | None:
    middle, height = _place(coverage, "records")
    shown = _shown(coverage)
    spans: list[tuple[str, int, int]] = []
    for at, node in enumerate(coverage.nodes):
        if node.node in drawn:
            spans += [(node.node, *pair) for pair in _between(coverage, at, node, shown)]
    if not spans:
        return None
    bars = _bars("records", spans, [drawn[name] + middle for name, _, _ in spans], height, view)
    colour = hue(view.theme, "cpu")
    bars.marker = {"color": colour, "line": {"width": 1, "color": colour}}  # one record alone is seen, too
    return bars


def _shown(coverage: Coverage) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The stretches that are drawn."""
    lengths = coverage.stretch_end_ns - coverage.stretch_start_ns
    shown = np.zeros(len(lengths), bool)
    shown[np.argsort(-lengths, kind="stable")[:MAX_STRETCHES]] = True
    return shown


def _between(
    coverage: Coverage, at: int, node: NodeCoverage, shown: np.ndarray[Any, np.dtype[np.bool_]]
) -> list[tuple[int, int]]:
    """From the first to the last record of a node, without what it lacks inside."""
    mine = shown & (coverage.node == at) & (coverage.kind <= _INTERRUPTION)
    edges = [node.start_ns]
    for start, end in zip(
        coverage.stretch_start_ns[mine].tolist(), coverage.stretch_end_ns[mine].tolist(), strict=True
    ):
        edges += [start, end]
    edges.append(node.end_ns)
    return list(zip(edges[::2], edges[1::2], strict=True))


def _missing(coverage: Coverage, drawn: dict[str, int], view: View) -> list[go.Bar]:
    """What is missing: an open frame, and hatched where all nodes lack it."""
    middle, height = _place(coverage, "records")
    shown, colours, found = _shown(coverage), view.colours, []
    for common in (False, True):
        chosen = np.flatnonzero(shown & ((coverage.kind == _INTERRUPTION) == common))
        nodes = [coverage.nodes[at].node for at in coverage.node[chosen].tolist()]
        starts, ends = coverage.stretch_start_ns[chosen].tolist(), coverage.stretch_end_ns[chosen].tolist()
        spans = [span for span in zip(nodes, starts, ends, strict=True) if span[0] in drawn]
        if not spans:
            continue
        rows = [drawn[name] + middle for name, _, _ in spans]
        bars = _bars("interruption" if common else "no record", spans, rows, height, view)
        bars.marker = {"color": colours.card, "line": {"width": 1, "color": colours.line_2}}
        if common:
            bars.marker = interrupted(view)
        found.append(bars)
    return found


def _caption(coverage: Coverage, nodes: int) -> str:
    known = [node for node in coverage.nodes if not math.isnan(node.covered_percent)]
    parts = []
    if known:
        least = min(known, key=lambda node: node.covered_percent)
        lacking = sum(node.missing > 0 for node in known)
        if lacking:
            some = f"{text.count(lacking)} of {text.counted(len(known), 'node')}"
            parts.append(
                f"{text.plain(least.node, 60)} covers least, {text.percent(min(least.covered_percent, 99.9))} of the "
                f"job's time; {some} {'lacks' if lacking == 1 else 'lack'} some of it."
            )
        else:
            whose = "Every node" if len(known) == len(coverage.nodes) else "Every other node"
            parts.append(f"{whose} has records from the beginning to the end.")
    alone = len(coverage.nodes) - len(known)
    if alone:
        parts.append(f"{text.counted(alone, 'node')} {'has' if alone == 1 else 'have'} a record at one time only.")
    if len(coverage.kind) > MAX_STRETCHES:
        parts.append(
            f"The longest {text.count(MAX_STRETCHES)} of {text.count(len(coverage.kind))} stretches are drawn."
        )
    if nodes > MAX_ROWS:
        parts.append(f"The {MAX_ROWS} least covered of {text.count(nodes)} nodes are drawn.")
    return " ".join(parts)
