"""What grids ask the server for: blocks of rows, in an order, for words searched for; and their rows as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dash import Dash, Input, Output, State, no_update

from app.panels import Request, read_request
from data.errors import MissingTable

MAX_BLOCK_ROWS: Final = 1000
MAX_SEARCH: Final = 200
CSV_ROWS: Final = 100_000
"""Rows of a file that is downloaded, at most."""


def read_block(request: Mapping[str, Any]) -> tuple[int, int]:
    """The first row that a grid asks for and the one after the last: a bounded block, whatever the browser says."""
    start, stop = (request.get(key) for key in ("startRow", "endRow"))
    first = max(0, start) if isinstance(start, int) else 0
    return first, min(max(first, stop), first + MAX_BLOCK_ROWS) if isinstance(stop, int) else first + MAX_BLOCK_ROWS


def read_search(value: object) -> str:
    """The words searched for, of bounded length."""
    return value[:MAX_SEARCH] if isinstance(value, str) else ""


def read_order(request: object, known: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The sort order that a grid asks for, of known columns only."""
    model = request.get("sortModel") if isinstance(request, Mapping) else None
    if not isinstance(model, list):
        return ()
    return tuple(
        (str(entry["colId"]), "desc" if entry.get("sort") == "desc" else "asc")
        for entry in model
        if isinstance(entry, dict) and entry.get("colId") in known
    )


def csv_file(name: str, content: str) -> dict[str, str]:
    """A download as the browser takes it."""
    return {"content": content, "filename": name, "type": "text/csv"}


def register_download(dash_app: Dash, panel_id: str, name: str, content: Callable[[Request], str]) -> None:
    """Connect the CSV button of a panel's grid: `content` gives the file for what the panel shows."""

    @dash_app.callback(
        Output(f"{panel_id}-download", "data"),
        Input(f"{panel_id}-csv", "n_clicks"),
        State(f"{panel_id}-request", "data"),
        prevent_initial_call=True,
    )
    def download_rows(clicks: int | None, data: dict[str, Any] | None) -> Any:
        request = read_request(dash_app, data)
        if not clicks or request is None:
            return no_update
        try:
            return csv_file(name, content(request))
        except MissingTable:
            return no_update
