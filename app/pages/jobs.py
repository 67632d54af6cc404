"""Jobs: every training job of every source in one table, searched and sorted on the server, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from app.page import address_of
from app.services import services
from app.urls import Address, job_path
from components import controls
from components.format import count, counted
from components.jobs_table import (
    csv_text,
    grid_rows,
    grid_style,
    jobs_grid,
    sources_line,
    table_foot,
    totals_places,
    totals_strip,
)
from components.markup import attributes
from components.shell import ShellId
from data.frames import JOB_LIST_COLUMNS
from data.queries import jobs as queries
from data.store import Fetch

MAX_BLOCK_ROWS: Final = 1000
MAX_SEARCH: Final = 200
CSV_ROWS: Final = 100_000
DEFAULT_SORT: Final = (("start_ns", "desc"),)


class Id(StrEnum):
    """Ids of this page."""

    GRID = "jobs-grid"
    SEARCH = "jobs-search"
    SEARCHED = "jobs-searched"
    KPIS = "jobs-kpis"
    SOURCES = "jobs-sources"
    COUNT = "jobs-count"
    CSV = "jobs-csv"
    DOWNLOAD = "jobs-download"
    CONVERT_ALL = "jobs-convert-all"
    CONVERT_LABEL = "jobs-convert-label"
    REMOVE_TARGET = "jobs-remove-target"
    REMOVE_TEXT = "jobs-remove-text"
    REMOVE = "jobs-remove"


def layout(address: Address) -> html.Div:
    """The page without its data: table and figures fill themselves."""
    return html.Div(
        [
            html.Div(
                [html.Div([html.H1("Training jobs"), html.Div(id=Id.SOURCES, className="page-sub")])],
                className="page-head",
            ),
            html.Div(totals_places(), id=Id.KPIS),
            html.Div(id=ShellId.PROGRESS, className="jobs-progress"),
            _filters(address.get("q")),
            html.Section(
                [jobs_grid(Id.GRID), table_foot()], className="card jobs-card", **attributes(aria_label="Training jobs")
            ),
            dcc.Store(id=Id.SEARCHED),
            dcc.Store(id=Id.REMOVE_TARGET),
            dcc.Download(id=Id.DOWNLOAD),
            _remove_dialog(),
        ],
        **attributes(data_title="Jobs"),
    )


def _filters(search: str) -> html.Div:
    box = dcc.Input(
        id=Id.SEARCH, type="search", value=search, placeholder="Search name, type, source\u2026", autoComplete="off"
    )
    label = html.Label("Search jobs", htmlFor=Id.SEARCH, className="visually-hidden")
    convert = html.Button(
        html.Span("Convert all", id=Id.CONVERT_LABEL), id=Id.CONVERT_ALL, className="button", type="button", hidden=True
    )
    return html.Div(
        [
            html.Div([label, controls.icon("search"), box, html.Kbd("/")], className="search", role="search"),
            html.Div(
                [
                    html.Span(id=Id.COUNT, className="count", role="status"),
                    convert,
                    html.Button("CSV", id=Id.CSV, className="button", type="button", title="Download this list as CSV"),
                ],
                className="right",
            ),
        ],
        className="filters",
    )


def _remove_dialog() -> html.Dialog:
    return html.Dialog(
        [
            html.H2("Remove from the store?"),
            html.P(id=Id.REMOVE_TEXT),
            html.Div(
                [
                    html.Button("Keep", className="button", type="button", **attributes(data_action="close-dialog")),
                    html.Button(
                        "Remove",
                        id=Id.REMOVE,
                        className="button danger",
                        type="button",
                        **attributes(data_action="close-dialog"),
                    ),
                ],
                className="actions",
            ),
        ],
        id="jobs-remove-dialog",
        **attributes(aria_label="Remove from the store"),
    )


def read_block(request: Mapping[str, Any]) -> tuple[int, int]:
    """The first row that the grid asks for and the one after the last: a bounded block, whatever the browser says."""
    start, stop = (request.get(key) for key in ("startRow", "endRow"))
    first = max(0, start) if isinstance(start, int) else 0
    return first, min(max(first, stop), first + MAX_BLOCK_ROWS) if isinstance(stop, int) else first + MAX_BLOCK_ROWS


def read_search(value: object) -> str:
    """The words searched for, of bounded length."""
    return value[:MAX_SEARCH] if isinstance(value, str) else ""


def read_sort(model: object) -> tuple[tuple[str, str], ...]:
    """The sort order that the grid asks for: known columns only, the default where there is none."""
    if not isinstance(model, list):
        return DEFAULT_SORT
    order = tuple(
        (str(entry["colId"]), "desc" if entry.get("sort") == "desc" else "asc")
        for entry in model
        if isinstance(entry, dict) and entry.get("colId") in JOB_LIST_COLUMNS
    )
    return order or DEFAULT_SORT


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Blocks of the table, the figures above it, and the download."""
    _register_table(dash_app, fetch)
    _register_totals(dash_app, fetch)
    dash_app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("insights", "searchJobs"),
        Output(Id.SEARCHED, "data"),
        Input(Id.SEARCH, "value"),
        Input(ShellId.REFRESHED, "data"),
        prevent_initial_call=True,
    )

    @dash_app.callback(
        Output(Id.DOWNLOAD, "data"),
        Input(Id.CSV, "n_clicks"),
        State(Id.SEARCH, "value"),
        State(Id.GRID, "getRowsRequest"),
        prevent_initial_call=True,
    )
    def download_list(clicks: int | None, search: str | None, request: dict[str, Any] | None) -> Any:
        if not clicks:
            return no_update
        order = read_sort((request or {}).get("sortModel"))
        page = fetch(queries.job_list, read_search(search), order, 0, CSV_ROWS)
        return {"content": csv_text(page.rows), "filename": "training-jobs.csv", "type": "text/csv"}


def _register_table(dash_app: Dash, fetch: Fetch) -> None:
    def href(job_id: str) -> str:
        return address_of(dash_app, job_path(job_id))

    @dash_app.callback(
        Output(Id.GRID, "getRowsResponse"),
        Output(Id.COUNT, "children"),
        Input(Id.GRID, "getRowsRequest"),
        State(Id.SEARCH, "value"),
        prevent_initial_call=True,
    )
    def update_rows(request: dict[str, Any] | None, search: str | None) -> tuple[Any, Any]:
        if not request:
            return no_update, no_update
        start, stop = read_block(request)
        page = fetch(queries.job_list, read_search(search), read_sort(request.get("sortModel")), start, stop)
        response = {"rowData": grid_rows(page.rows, href), "rowCount": page.total}
        return response, counted(page.total, "job")


def _register_totals(dash_app: Dash, fetch: Fetch) -> None:
    @dash_app.callback(
        Output(Id.KPIS, "children"),
        Output(Id.SOURCES, "children"),
        Output(Id.GRID, "style"),
        Output(Id.CONVERT_ALL, "hidden"),
        Output(Id.CONVERT_ALL, "disabled"),
        Output(Id.CONVERT_LABEL, "children"),
        Input(Id.KPIS, "id"),
        Input(ShellId.REFRESHED, "data"),
    )
    def update_totals(_page: str, _refreshed: int | None) -> tuple[Any, ...]:
        totals = fetch(queries.totals)
        words = "Convert all" if totals.not_converted < 2 else f"Convert all {count(totals.not_converted)}"
        busy = bool(services(dash_app).conversions.active())
        store = services(dash_app).store
        problems = [f"{problem.message} {problem.hint}".strip() for problem in store.source_problems]
        sources = sources_line([source.uri for source in store.sources], problems)
        return totals_strip(totals), sources, grid_style(totals.jobs), totals.not_converted == 0, busy, words
