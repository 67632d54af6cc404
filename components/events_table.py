"""The events behind a place of a lane as a table: the longest first, sortable, with a CSV of what is in it."""

from __future__ import annotations

from typing import Any, Final

import dash_ag_grid as dag
from dash import html
from dash.development.base_component import Component

from components import format as text
from components.figures.axes import View
from components.grid import GRID_THEME
from components.markup import attributes
from data.frames.framework import EventList

GRID: Final = "nodes-events-grid"
ROW_PX: Final = 28
_MOST_ROWS_SHOWN: Final = 12
_RIGHT: Final = {"type": "rightAligned"}


def events_table(events: EventList, title: str, picker: Component, view: View) -> Component:
    """What was asked for in words, and its events; `picker` chooses another lane."""
    some = len(events.rows)
    shown = "all of them" if some == events.total else f"the {text.count(some)} longest are shown"
    words = f"{text.counted(events.total, 'event')}, {text.duration(events.duration_ns)} together"
    csv = html.Button(
        "CSV",
        className="button small",
        type="button",
        title="Save the rows of this table",
        **attributes(data_grid_csv=GRID, data_grid_name="events"),
    )
    head = html.Div(
        [
            picker,
            html.Span(
                [html.B(title), f" · {words}, {shown}" if some else " · no event here"], className="events-title"
            ),
            csv,
        ],
        className="events-head",
    )
    return html.Div([head, _grid(events, view)] if some else [head])


def _grid(events: EventList, view: View) -> dag.AgGrid:
    height = 34 + ROW_PX * min(len(events.rows), _MOST_ROWS_SHOWN) + 18
    return dag.AgGrid(
        id=GRID,
        className="jobs-grid events-grid",
        columnDefs=_columns(events),
        rowData=[_row(dict(zip(events.rows.columns, row, strict=True)), view) for row in _rows(events)],
        defaultColDef={"sortable": True, "resizable": True, "suppressHeaderMenuButton": True, "minWidth": 60},
        style={"height": f"{height}px", "width": "100%"},
        dashGridOptions={
            "theme": {"function": GRID_THEME},
            "rowHeight": ROW_PX,
            "headerHeight": 34,
            "suppressDragLeaveHidesColumns": True,
            "enableCellTextSelection": True,
            "suppressFieldDotNotation": True,
        },
    )


def _rows(events: EventList) -> Any:
    return events.rows.itertuples(index=False, name=None)


def _columns(events: EventList) -> list[dict[str, Any]]:
    """Columns that are empty in every row are left out."""

    def shown(field: str, words: str) -> dict[str, Any]:
        return {"cellRenderer": "JobText", "cellRendererParams": {"text": words}, "field": field, **_RIGHT}

    columns = [
        {"field": "name", "headerName": "Event", "flex": 1, "minWidth": 220, "tooltipField": "name"},
        {"headerName": "Duration", "width": 110, "sort": "desc", **shown("duration_ms", "duration")},
        {"headerName": "Start", "width": 150, **shown("start_ms", "start")},
    ]
    filled = {name for name in events.rows.columns if (events.rows[name].astype(str) != "").any()}
    if (events.rows["step"] >= 0).any():
        columns.append({"headerName": "Step", "width": 80, **shown("step", "step_text")})
    for name in ("category", "worker", "process", "thread", "device"):
        if name in filled:
            columns.append({"field": name, "headerName": name.capitalize(), "width": 120})
    return columns


def _row(event: dict[str, Any], view: View) -> dict[str, Any]:
    step, start_ns, duration_ns = int(event["step"]), int(event["start_ns"]), int(event["duration_ns"])
    words = {
        name: text.plain(event[name], 300 if name == "name" else 80)
        for name in ("name", "category", "worker", "process", "thread", "device")
    }
    return words | {
        "step": step if step >= 0 else None,
        "step_text": str(step) if step >= 0 else text.NOT_APPLICABLE,
        "start_ms": (start_ns - (view.origin_ns or 0)) / 1e6,
        "start": view.exact(start_ns),
        "duration_ms": duration_ns / 1e6,
        "duration": text.duration(duration_ns),
    }
