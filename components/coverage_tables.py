"""Tables of nodes: the time that each one's records cover, how far they lie apart, and how its clock differs."""

from __future__ import annotations

import math
from typing import Any, Final

import dash_ag_grid as dag

from components import format as text
from components.grid import RIGHT, column, filled_grid
from data.frames.quality import ClockOffset, ClockOffsets, Coverage, NodeCoverage
from data.insights.coverage import MIN_SHARED_STEPS, steady

TALLEST: Final = 10
"""Rows in view; the others are scrolled to."""


def node_grid(grid_id: str, coverage: Coverage, offset_minutes: int, origin_ns: int | None = None) -> dag.AgGrid:
    """Every node: how much of the time it covers, when it begins and ends, and how far its records lie apart.

    With an origin, nobody knows when the job was: its events are placed by what has passed since then.
    """

    def moment(time_ns: int) -> str:
        return text.clock(time_ns, offset_minutes) if origin_ns is None else text.elapsed(time_ns - origin_ns)

    extents = {one.node: one for one in coverage.events}
    rows = {node.node: _node_row(node, offset_minutes) for node in coverage.nodes}
    for name in extents:
        rows.setdefault(name, {"node": text.plain(name), "node_text": text.plain(name)})
    for name, row in rows.items():
        extent = extents.get(name)
        row["events_text"] = extent and (
            f"{moment(extent.start_ns)} – {moment(extent.end_ns)} · {text.count(extent.events)}"
        )
    return filled_grid(grid_id, _node_columns(events=bool(extents)), list(rows.values()), tallest=TALLEST)


def _node_columns(*, events: bool) -> list[dict[str, Any]]:
    columns = [
        column("node", "Node", 140, "CellText", flex=1, minWidth=110, pinned="left", sortable=False),
        _figure("covered", "Covered", 86),
        _figure("missing", "No record", 92),
        column("stretches", "Stretches", 88, "CellText", **RIGHT),
        _figure("first", "First record", 186),
        _figure("last", "Last record", 186),
        _figure("nominal", "Nominal", 84),
        _figure("median", "Median", 84),
        _figure("p95", "p95", 84),
        _figure("longest", "Longest", 88),
    ]
    if events:
        seen = {"cellRendererParams": {"text": "events_text", "none": text.NOT_APPLICABLE}, "sortable": False}
        columns.append(column("events", "Framework events", 210, "CellText", **seen))
    return columns


def _figure(field: str, words: str, width: int) -> dict[str, Any]:
    """A column that sorts by a number and shows the row's words for it."""
    return column(field, words, width, "CellText", cellRendererParams={"text": f"{field}_text"}, **RIGHT)


def _node_row(node: NodeCoverage, offset_minutes: int) -> dict[str, Any]:
    apart = node.ticks > 1
    covered = None if math.isnan(node.covered_percent) else node.covered_percent
    return {
        "node": text.plain(node.node),
        "node_text": text.plain(node.node),
        "covered": covered,
        "covered_text": None if covered is None else text.percent(share_shown(covered)),
        "missing": node.missing_ns,
        "missing_text": text.duration(node.missing_ns) if node.missing else text.NOT_APPLICABLE,
        "stretches": node.missing,
        "first": node.start_ns / 1e6,
        "first_text": text.timestamp(node.start_ns, offset_minutes),
        "last": node.end_ns / 1e6,
        "last_text": text.timestamp(node.end_ns, offset_minutes),
        "nominal": node.nominal_ns,
        "nominal_text": text.duration(node.nominal_ns),
        "median": node.median_ns if apart else None,
        "median_text": text.duration(node.median_ns) if apart else None,
        "p95": node.p95_ns if apart else None,
        "p95_text": text.duration(node.p95_ns) if apart else None,
        "longest": node.longest_ns if apart else None,
        "longest_text": text.duration(node.longest_ns) if apart else None,
    }


def share_shown(percent: float) -> float:
    """Rounded to a tenth, but never to a whole that it is not."""
    return min(percent, 99.9) if percent < 100 else percent


def interval_words(coverage: Coverage) -> str:
    """Whether the nodes were sampled alike, in a sentence."""
    nominal = sorted({node.nominal_ns for node in coverage.nodes})
    if len(nominal) > 1:
        return f"Nodes were sampled at unlike intervals: {', '.join(map(text.duration, nominal))}."
    if not nominal:
        return ""
    return f"All nodes were sampled every {text.duration(nominal[0])}: the nearest interval that the profiler offers."


def clock_grid(grid_id: str, clocks: ClockOffsets) -> dag.AgGrid:
    """How much later than the first node each node starts the steps that both take."""
    columns = [
        column("node", "Node", 220, "CellText", pinned="left", sortable=False),
        _figure("median", "Median", 100),
        _figure("p5", "p5", 90),
        _figure("p95", "p95", 90),
        column("steps", "Shared steps", 104, **RIGHT),
        column(
            "said",
            "What can be told",
            240,
            "CellText",
            flex=2,
            minWidth=180,
            cellRendererParams={"text": "said"},
            sortable=False,
        ),
    ]
    return filled_grid(grid_id, columns, [_clock_row(one) for one in clocks.nodes], tallest=TALLEST)


def _clock_row(one: ClockOffset) -> dict[str, Any]:
    enough = one.steps >= MIN_SHARED_STEPS
    row: dict[str, Any] = {"node": text.plain(one.node), "steps": one.steps, "said": _clock_words(one)}
    for key, value in (("median", one.median_ns), ("p5", one.p5_ns), ("p95", one.p95_ns)):
        row[key] = value if enough else None
        row[f"{key}_text"] = _signed(value) if enough else None
    return row


def _signed(value_ns: float) -> str:
    return text.duration(value_ns) if value_ns < 0 else f"+{text.duration(value_ns)}"


def _clock_words(one: ClockOffset) -> str:
    if one.steps < MIN_SHARED_STEPS:
        return "cannot be told"
    if not steady(one):
        return "no steady difference"
    return "always later" if one.median_ns > 0 else "always earlier"
