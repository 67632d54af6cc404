"""The table of Python functions: its grid, the words above it, and its rows as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

import dash_ag_grid as dag
from dash import html

from components import controls
from components.format import count, counted, duration, is_missing, plain
from components.grid import GRID_THEME, HEADER_PX, ROW_PX, disarmed, grid_controls
from data.frames import FunctionTotals

SHOWN_ROWS: Final = 14
"""Rows in view; the others are scrolled to."""

PHASES: Final = (
    ("", "Whole training"),
    ("initialization", "Initialization"),
    ("training_loop", "Training loop"),
    ("finalization", "Finalization"),
)
PROFILERS: Final = {"cprofile": "cProfile", "pyinstrument": "Pyinstrument"}
NAME_LENGTH: Final = 1100
_UNITS: Final = ((100 * 10**9, 10**9, "s"), (10**6, 10**6, "ms"), (0, 10**3, "µs"))
"""From this largest time on, what times are divided by, and the unit. Most functions are short: ms stays for long."""
_SHOWN_FOLDERS: Final = 2


def functions_controls(panel_id: str, phases: tuple[str, ...]) -> html.Div:
    """Search, the part of the training where there are several, and CSV."""
    options = [option for option in PHASES if not option[0] or option[0] in phases]
    several = [controls.segments("phase", options, default="", label="Part of the training")] if len(phases) > 1 else []
    return grid_controls(panel_id, "functions", several)


def functions_table(panel_id: str, totals: FunctionTotals) -> html.Div:
    """The sums in words, and every function in a grid that can be searched and sorted."""
    largest = max((abs(int(value)) for value in totals.rows["cumtime_ns"]), default=0)
    divisor, unit = next((size, name) for least, size, name in _UNITS if largest >= least)
    grid = dag.AgGrid(
        id=f"{panel_id}-grid",
        className="jobs-grid panel-grid",
        columnDefs=_columns(unit, several=len(totals.profilers) > 1),
        rowData=_rows(totals, divisor),
        defaultColDef={"sortable": True, "resizable": True, "suppressHeaderMenuButton": True, "minWidth": 60},
        style={"height": f"{HEADER_PX + ROW_PX * min(max(len(totals.rows), 3), SHOWN_ROWS) + 16}px", "width": "100%"},
        dashGridOptions={
            "theme": {"function": GRID_THEME},
            "rowHeight": ROW_PX,
            "headerHeight": HEADER_PX,
            "cacheQuickFilter": True,
            "suppressDragLeaveHidesColumns": True,
            "localeText": {"noRowsToShow": "No function matches."},
        },
    )
    return html.Div([html.P(_summary(totals), className="panel-note grid-summary"), grid])


def _summary(totals: FunctionTotals) -> str:
    by = " and ".join(PROFILERS.get(name, plain(name)) for name in totals.profilers)
    parts = [f"{counted(totals.functions, 'function')} in {counted(totals.profiles, 'profile')} by {by}"]
    if totals.ncalls is not None:
        primitive = f" ({count(totals.pcalls)} without recursion)" if totals.pcalls != totals.ncalls else ""
        parts.append(f"{counted(totals.ncalls, 'call')}{primitive}")
    parts.append(f"{duration(totals.tottime_ns)} of own time")
    if len(totals.rows) < totals.functions:
        parts.append(f"the {count(len(totals.rows))} with the most own time are listed")
    return " · ".join(parts)


def _columns(unit: str, *, several: bool) -> list[dict[str, Any]]:
    unsearched = {"getQuickFilterText": {"function": "''"}}
    whole_path = {"getQuickFilterText": {"function": "params.data.path"}}
    right = {"type": "rightAligned", **unsearched}

    def number(words: str) -> dict[str, Any]:
        return {"valueFormatter": {"function": f"d3.format('{words}')(params.value)"}, **right}

    columns: list[dict[str, Any]] = [
        {"field": "function", "headerName": "Function", "flex": 5, "minWidth": 180, "cellRenderer": "FunctionText"},
        {
            "field": "place",
            "headerName": "File and line",
            "flex": 5,
            "minWidth": 140,
            "cellRenderer": "FunctionText",
            **whole_path,
        },
        {"field": "calls", "headerName": "Calls", "width": 120, "cellRenderer": "FunctionCalls", **right},
        {"field": "own", "headerName": f"Own time ({unit})", "width": 128, "sort": "desc", **number(",.3f")},
        {"field": "share", "headerName": "Own time (%)", "width": 138, "cellRenderer": "FunctionShare", **right},
        {"field": "cumulative", "headerName": f"Cumulative ({unit})", "width": 136, **number(",.3f")},
    ]
    if several:
        columns.append({"field": "profiler", "headerName": "Profiler", "width": 110, **unsearched})
    return columns


def _rows(totals: FunctionTotals, divisor: int) -> list[dict[str, Any]]:
    """The rows as the grid takes them. Names are text from files: the grid shows them as text."""
    own = dict.fromkeys(totals.profilers, totals.tottime_ns)
    if len(own) > 1:  # each profiler measured the same time anew
        own = {name: int(totals.rows["tottime_ns"][totals.rows["profiler"] == name].sum()) for name in own}
    rows = []
    columns = (totals.rows[name].tolist() for name in totals.rows.columns)
    for profiler, code_file, line, function, ncalls, pcalls, tottime, cumtime in zip(*columns, strict=True):
        calls = None if is_missing(ncalls) else int(ncalls)
        primitive = None if is_missing(pcalls) else int(pcalls)
        rows.append(
            {
                "function": plain(function, NAME_LENGTH) or "(no name)",
                "place": _place(code_file, line, short=True),
                "path": _place(code_file, line),
                "calls": calls,
                "primitive": primitive if primitive != calls else None,
                "own": tottime / divisor,
                "share": 100 * tottime / own[profiler] if own[profiler] > 0 else None,
                "cumulative": cumtime / divisor,
                "profiler": PROFILERS.get(profiler, plain(profiler)),
            }
        )
    return rows


def _place(code_file: str, line: int, *, short: bool = False) -> str:
    """File and line; the short form leaves out all but the last folders."""
    if code_file == "~":
        return "built in"
    path = plain(code_file, NAME_LENGTH)
    pieces = path.split("/")
    if short and len(pieces) > _SHOWN_FOLDERS + 2:
        path = "/".join(["…", *pieces[-1 - _SHOWN_FOLDERS :]])
    return f"{path}:{line}"


def csv_text(totals: FunctionTotals) -> str:
    """The functions as CSV, times in seconds; a text that a spreadsheet would run as a formula is disarmed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["profiler", "file", "line", "function", "calls", "primitive_calls", "own_s", "cumulative_s"])
    columns = (totals.rows[name].tolist() for name in totals.rows.columns)
    for profiler, code_file, line, function, ncalls, pcalls, tottime, cumtime in zip(*columns, strict=True):
        texts = [disarmed(plain(text, NAME_LENGTH)) for text in (profiler, code_file)]
        calls = ["" if is_missing(value) else int(value) for value in (ncalls, pcalls)]
        times = [f"{value / 1e9:.9f}" for value in (tottime, cumtime)]
        writer.writerow([*texts, line, disarmed(plain(function, NAME_LENGTH)), *calls, *times])
    return out.getvalue()
