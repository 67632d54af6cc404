"""The table of all operators: its grid, the words above it, and its rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

import dash_ag_grid as dag
from dash import html

from components import controls
from components.format import count, counted, duration, is_missing, plain
from components.grid import ALL_COLUMNS, COLUMN, HEADER_PX, OPTIONS, ROW_PX, disarmed, grid_controls
from components.operators import SIDES
from data.frames.operators import Operators

LISTED: Final = 10_000
"""Rows that a browser is given; the longest of each side come first."""

SHOWN_ROWS: Final = 14
_NAME_LENGTH: Final = 2000
_CSV_HEAD: Final = (
    *("side", "operation", "communication", "share_percent", "cumulative_s", "count"),
    *("mean_s", "longest_s", "self_s", "nodes", "processes"),
)
_SIDE_WORDS: Final = dict(SIDES)


def operators_controls(panel_id: str, roles: Sequence[str]) -> html.Div:
    """The side where there are several, search, and CSV."""
    there = [side for side in SIDES if side[0] in roles]
    sides = [controls.segments("side", [("", "All"), *there], default="", label="Side")] if len(there) > 1 else []
    return grid_controls(panel_id, "operators", sides)


def of_side(operators: Operators, side: str) -> Operators:
    """The operators of a side; all for "", and for what is no side."""
    return Operators(operators[operators["side"] == side]) if side in _SIDE_WORDS else operators


def operators_table(panel_id: str, operators: Operators) -> html.Div:
    """The sums in words, and every operator in a grid that can be searched and sorted."""
    rows = _rows(operators.head(LISTED))
    grid = dag.AgGrid(
        id=f"{panel_id}-grid",
        className="jobs-grid panel-grid",
        columnDefs=_columns(),
        rowData=rows,
        defaultColDef=COLUMN,
        style={"height": f"{HEADER_PX + ROW_PX * min(max(len(rows), 3), SHOWN_ROWS) + 16}px", "width": "100%"},
        dashGridOptions=OPTIONS
        | ALL_COLUMNS
        | {"cacheQuickFilter": True, "localeText": {"noRowsToShow": "No operator matches."}},
    )
    return html.Div([html.P(_summary(operators), className="panel-note grid-summary"), grid])


def _summary(operators: Operators) -> str:
    parts = []
    for side, words in SIDES:
        mine = operators[operators["side"] == side]
        if len(mine):
            times = counted(int(mine["count"].sum()), "time")
            parts.append(f"{words}: {count(len(mine))} in {duration(int(mine['total_ns'].sum()))}, run {times}")
    if len(operators) > LISTED:
        parts.append(f"the {count(LISTED)} longest are listed")
    return " · ".join(parts)


def _columns() -> list[dict[str, Any]]:
    unsearched = {"getQuickFilterText": {"function": "''"}}
    right = {"type": "rightAligned", **unsearched}

    def time(field: str, words: str, **more: Any) -> dict[str, Any]:
        return {"field": field, "headerName": words, "width": 92, "cellRenderer": "OperatorTime", **right, **more}

    return [
        {"field": "name", "headerName": "Operation", "flex": 1, "minWidth": 200, "cellRenderer": "OperatorName"},
        {"field": "side", "headerName": "Side", "width": 116, **unsearched},
        {"field": "percent", "headerName": "Share of side (%)", "width": 136, "cellRenderer": "OperatorShare", **right},
        time("total", "Cumulative", sort="desc", width=116),
        {
            "field": "count",
            "headerName": "Count",
            "width": 84,
            "valueFormatter": {"function": "d3.format(',')(params.value)"},
            **right,
        },
        time("mean", "Mean"),
        time("longest", "Longest"),
        time("own", "Self"),
        {"field": "places", "headerName": "Ran on", "width": 130, "cellRenderer": "OperatorPlaces", **unsearched},
    ]


def _rows(operators: Operators) -> list[dict[str, Any]]:
    """The rows as the grid takes them: numbers to sort by, words to show. Names are shown as text."""
    places: dict[tuple[Any, int], str] = {}
    rows = []
    for row in operators.itertuples():
        found: Any = row
        key = (found.nodes, found.processes)
        if key not in places:
            places[key] = _places(found.nodes, int(found.processes))
        times = {"total": found.total_ns, "mean": found.mean_ns, "longest": found.longest_ns, "own": found.self_ns}
        spoken = " · comm." if found.communication and found.side == "gpu" else ""
        known = {name: None if is_missing(value) else float(value) for name, value in times.items()}
        rows.append(
            {
                "name": plain(found.name, _NAME_LENGTH) or "(no name)",
                "side": _SIDE_WORDS[found.side] + spoken,
                "hue": "network" if found.communication else found.side,
                "percent": None if is_missing(found.percent) else float(found.percent),
                "count": int(found.count),
                "places": places[key],
                **known,
                **{f"{name}_words": duration(value) for name, value in known.items() if value is not None},
            }
        )
    return rows


def _places(nodes: tuple[str, ...], processes: int) -> str:
    names = ", ".join(plain(node, 60) for node in nodes) if len(nodes) <= 3 else counted(len(nodes), "node")
    return names if processes == len(nodes) else f"{names} · {counted(processes, 'process', 'processes')}"


def csv_text(operators: Operators) -> str:
    """The operators as CSV, times in seconds; a text that a spreadsheet would run as a formula is disarmed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_CSV_HEAD)
    for row in operators.itertuples():
        found: Any = row
        times = [found.total_ns, found.mean_ns, found.longest_ns, found.self_ns]
        total, mean, longest, own = ("" if is_missing(value) else f"{value / 1e9:.9f}" for value in times)
        percent = "" if is_missing(found.percent) else f"{found.percent:.6f}"
        said = [found.side, disarmed(plain(found.name, _NAME_LENGTH)), "yes" if found.communication else "no", percent]
        nodes = disarmed(" ".join(plain(node, 200) for node in found.nodes))
        writer.writerow([*said, total, found.count, mean, longest, own, nodes, found.processes])
    return out.getvalue()
