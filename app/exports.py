"""Exports: what a panel shows, as CSV or Parquet, for any panel. The browser says which; pictures it makes itself."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from dash import Dash, Input, Output, no_update

from app.panels import Request, drawings, read_request
from components.export import Table, content_table, csv_of, figure_table
from components.panels import EmptyView, FigureView
from components.shell import ShellId
from data.errors import MissingTable
from data.names import slug
from data.parquet import parquet_bytes

MOST_ROWS: Final = 1_000_000
FORMATS: Final = ("csv", "parquet")


def register(dash_app: Dash) -> None:
    """Answer the export buttons of all panels."""

    @dash_app.callback(
        Output(ShellId.EXPORT_DOWNLOAD, "data"), Input(ShellId.EXPORT, "data"), prevent_initial_call=True
    )
    def export_panel(data: dict[str, Any] | None) -> Any:
        request = read_request(dash_app, data)
        draw = drawings(dash_app).get(str((data or {}).get("panel", "")))
        if request is None or draw is None or not isinstance(data, Mapping):
            return no_update
        table = shown(draw, request)
        if table is None:
            return no_update
        return download(table, str(data.get("title", "")), str(data.get("format", "")))


def shown(draw: Callable[[Request], Any], request: Request) -> Table | None:
    """What a panel shows, as a table; None where it shows nothing."""
    try:
        view = draw(request)
    except MissingTable:
        return None
    if isinstance(view, EmptyView):
        return None
    if isinstance(view, Table):
        return view
    table = figure_table(view.figure) if isinstance(view, FigureView) else content_table(view)
    return table if table is None else Table(table.columns, table.rows[:MOST_ROWS])


def download(table: Table, title: str, as_format: str) -> dict[str, Any]:
    """The table as the browser saves it."""
    name = slug(title[:200]) if title else "export"
    if as_format == "parquet":
        content = base64.b64encode(parquet_bytes(table.columns, table.rows)).decode()
        return {"content": content, "filename": f"{name}.parquet", "type": "application/octet-stream", "base64": True}
    return {"content": "\ufeff" + csv_of(table), "filename": f"{name}.csv", "type": "text/csv"}
