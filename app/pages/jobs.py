"""Jobs: every training job of every source in one table, searched and sorted on the server, block by block."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from app import urls
from app.grids import CSV_ROWS, csv_file, read_block, read_order, read_search
from app.page import address_of
from app.pricing import priced
from app.services import services
from app.urls import COMPARE, Address, build, job_path
from components.controls import segments
from components.format import count, counted
from components.grid import search_box
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
from data.selection import Selection
from data.store import Fetch

SHOWN_KEY: Final = "issues"
SHOWN: Final = (("all", "All"), ("issues", "With issues"), ("high", "High"))
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
    COMPARE = "jobs-compare"
    COMPARE_PLACE = "jobs-compare-place"
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
    convert = html.Button(
        html.Span("Convert all", id=Id.CONVERT_LABEL), id=Id.CONVERT_ALL, className="button", type="button", hidden=True
    )
    return html.Div(
        [
            search_box(Id.SEARCH, "Search jobs", value=search, hint="Search name, type, source"),
            segments(SHOWN_KEY, SHOWN, default="all", label="Jobs shown"),
            html.Div(
                [
                    html.Span(id=Id.COUNT, className="count", role="status"),
                    html.Span(
                        dcc.Link("Compare", id=Id.COMPARE, href="", className="button primary"),
                        id=Id.COMPARE_PLACE,
                        hidden=True,
                    ),
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


def _order(request: object) -> tuple[tuple[str, str], ...]:
    return read_order(request, JOB_LIST_COLUMNS) or DEFAULT_SORT


def _shown(search: str | None) -> queries.Shown:
    """Which jobs the address asks for."""
    value = urls.parse("/", search or "").get(SHOWN_KEY)
    return "issues" if value == "issues" else "high" if value == "high" else "all"


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Blocks of the table, the figures above it, and the download."""
    _register_table(dash_app, fetch)
    _register_totals(dash_app, fetch)
    _register_comparison(dash_app)
    dash_app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("insights", "searchJobs"),
        Output(Id.SEARCHED, "data"),
        Input(Id.SEARCH, "value"),
        Input(ShellId.REFRESHED, "data"),
        Input(ShellId.URL, "search"),
        prevent_initial_call=True,
    )

    @dash_app.callback(
        Output(Id.DOWNLOAD, "data"),
        Input(Id.CSV, "n_clicks"),
        State(Id.SEARCH, "value"),
        State(Id.GRID, "getRowsRequest"),
        State(ShellId.URL, "search"),
        prevent_initial_call=True,
    )
    def download_list(
        clicks: int | None, search: str | None, request: dict[str, Any] | None, address: str | None
    ) -> Any:
        if not clicks:
            return no_update
        page = fetch(
            queries.job_list, read_search(search), _order(request), 0, CSV_ROWS, priced(fetch), _shown(address)
        )
        return csv_file("training-jobs.csv", csv_text(page.rows))


def comparison_of(rows: object) -> Address | None:
    """The comparison of two selected rows: the one that started first is the baseline. None where it is not two."""
    if not isinstance(rows, list) or len(rows) != 2 or not all(isinstance(row, dict) for row in rows):
        return None
    first, second = sorted(rows, key=lambda row: row.get("start_ms") or 0)
    a, b = str(first.get("job_id", "")), str(second.get("job_id", ""))
    return Address(Selection(a), COMPARE, (("b", b),)) if a and b else None


def _register_comparison(dash_app: Dash) -> None:
    @dash_app.callback(
        Output(Id.COMPARE, "href"),
        Output(Id.COMPARE_PLACE, "hidden"),
        Input(Id.GRID, "selectedRows"),
        prevent_initial_call=True,
    )
    def offer_comparison(rows: list[dict[str, Any]] | None) -> tuple[Any, bool]:
        address = comparison_of(rows)
        if address is None:
            return no_update, True
        path, search = build(address)
        return address_of(dash_app, path) + search, False


def _register_table(dash_app: Dash, fetch: Fetch) -> None:
    def href(job_id: str) -> str:
        return address_of(dash_app, job_path(job_id))

    @dash_app.callback(
        Output(Id.GRID, "getRowsResponse"),
        Output(Id.COUNT, "children"),
        Input(Id.GRID, "getRowsRequest"),
        State(Id.SEARCH, "value"),
        State(ShellId.URL, "search"),
        prevent_initial_call=True,
    )
    def update_rows(request: dict[str, Any] | None, search: str | None, address: str | None) -> tuple[Any, Any]:
        if not request:
            return no_update, no_update
        start, stop = read_block(request)
        page = fetch(
            queries.job_list, read_search(search), _order(request), start, stop, priced(fetch), _shown(address)
        )
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
        sources = sources_line([source.uri for source in store.sources], problems, store.source_notes)
        return totals_strip(totals), sources, grid_style(totals.jobs), totals.not_converted == 0, busy, words
