"""Jobs: every training job of every source in one table, searched and sorted on the server, block by block."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from typing import Any, Final

import dash_ag_grid as dag
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from app.page import address_of
from app.services import services
from app.urls import Address, job_path
from components import controls
from components.cards import Kpi, kpi_strip
from components.format import byte_size, count, counted, duration, is_missing, plain, seconds, timestamp
from components.markup import attributes
from components.shell import STATUS_WORDS, ShellId
from data.frames import JOB_LIST_COLUMNS, JobList, JobTotals
from data.queries import jobs as queries
from data.store import Fetch

BLOCK_ROWS: Final = 100
ROW_PX: Final = 31
HEADER_PX: Final = 34
MAX_BLOCK_ROWS: Final = 1000
MAX_SEARCH: Final = 200
CSV_ROWS: Final = 100_000
DEFAULT_SORT: Final = (("start_ns", "desc"),)
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


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
            html.Div(_kpi_places(), id=Id.KPIS),
            html.Div(id=ShellId.PROGRESS, className="jobs-progress"),
            _filters(address.get("q")),
            html.Section([_grid(), _foot()], className="card jobs-card", **attributes(aria_label="Training jobs")),
            dcc.Store(id=Id.SEARCHED),
            dcc.Store(id=Id.REMOVE_TARGET),
            dcc.Download(id=Id.DOWNLOAD),
            _remove_dialog(),
        ],
        **attributes(data_title="Jobs"),
    )


def _kpi_places() -> Component:
    return kpi_strip([Kpi(words, "\u2013") for words in ("Jobs", "GPUs", "In progress", "Raw data", "In the store")])


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


def _foot() -> html.Div:
    marks = (("", "all read"), ("problems", "with problems"), ("unreadable", "unreadable"), ("none", "not converted"))
    items: list[Component] = [
        html.Span(
            [html.I(className=f"data-mark {kind}".strip(), **attributes(aria_hidden="true")), words],
            className="legend-item",
        )
        for kind, words in marks
    ]
    items.append(html.Span([html.Span("n/a", className="hatch-tag"), "not measured"], className="legend-item"))
    words = "p95 of the mean over devices, highest node; duration is from first to last system sample"
    return html.Div([html.Span(words), html.Div(items, className="legend")], className="grid-foot")


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


# ---------- the table ----------

_THEME: Final = (
    "themeQuartz.withParams({backgroundColor:'var(--card)',foregroundColor:'var(--text)',"
    "headerBackgroundColor:'var(--sunken)',headerTextColor:'var(--text-3)',borderColor:'var(--line)',"
    "rowBorder:{color:'var(--line)'},headerColumnBorder:false,columnBorder:false,wrapperBorder:false,"
    "oddRowBackgroundColor:'var(--card)',rowHoverColor:'transparent',accentColor:'var(--accent)',"
    "selectedRowBackgroundColor:'var(--accent-bg)',fontFamily:'inherit',fontSize:12.5,headerFontSize:11.5,"
    "cellHorizontalPadding:9,browserColorScheme:'inherit',headerColumnResizeHandleColor:'transparent',pinnedColumnBorder:false,"
    "iconColor:'var(--text-3)',wrapperBorderRadius:0})"
)


def _grid() -> dag.AgGrid:
    options = {
        "theme": {"function": _THEME},
        "rowHeight": ROW_PX,
        "headerHeight": HEADER_PX,
        "cacheBlockSize": BLOCK_ROWS,
        "maxBlocksInCache": 20,
        "infiniteInitialRowCount": 1,
        "blockLoadDebounceMillis": 60,
        "suppressMultiSort": False,
        "suppressDragLeaveHidesColumns": True,
        "localeText": {"noRowsToShow": "No job matches.", "loadingOoo": "\u2026"},
    }
    return dag.AgGrid(
        id=Id.GRID,
        className="jobs-grid",
        columnDefs=_columns(),
        defaultColDef={"sortable": True, "resizable": True, "suppressHeaderMenuButton": True, "minWidth": 44},
        rowModelType="infinite",
        style=grid_style(8),
        getRowId="params.data.job_id",
        dashGridOptions=options,
    )


def _columns() -> list[dict[str, Any]]:
    def column(field: str, words: str, width: int, renderer: str = "", **more: Any) -> dict[str, Any]:
        definition: dict[str, Any] = {"field": field, "headerName": words, "width": width, **more}
        if renderer:
            definition["cellRenderer"] = renderer
        return definition

    right = {"type": "rightAligned"}

    def text(key: str) -> dict[str, Any]:
        return {"cellRendererParams": {"text": key}}

    def bar(metric: str) -> dict[str, Any]:
        return {"cellRendererParams": {"metric": metric}, **right}

    return [
        column("name", "Job", 200, "JobName", flex=1, minWidth=180, pinned="left"),
        column("status", "Status", 110, "JobStatus"),
        column("start_ns", "Started (UTC)", 132, "JobStarted", sort="desc", **right),
        column("duration_ns", "Duration", 98, "JobText", **text("duration"), **right),
        column("instances", "Instances", 148, "JobText", **text("instances")),
        column("gpus", "GPUs", 60, "JobText", **text("gpus_text"), **right),
        column("gpu_trend", "GPU over time", 106, "JobTrend", sortable=False),
        column("gpu_p95", "GPU p95 %", 106, "JobBar", **bar("gpu")),
        column("cpu_p95", "CPU p95 %", 106, "JobBar", **bar("cpu")),
        column("nodes", "Nodes", 62, "JobText", **text("nodes_text"), **right),
        column("billed_s", "Billed", 78, "JobText", **text("billed"), **right),
        column("stored_bytes", "Disk", 78, "JobText", **text("disk"), **right),
        column("problems", "Data", 56, "JobData"),
        column("remove", "", 42, "JobRemove", sortable=False, resizable=False),
    ]


def rows(frame: JobList, href: str) -> list[dict[str, Any]]:
    """The rows of a block as the grid takes them; `href` is the address of the list, missing values are null."""
    return [_row(dict(zip(frame.columns, values, strict=True)), href) for values in frame.itertuples(index=False)]


def _row(job: dict[str, Any], href: str) -> dict[str, Any]:
    missing = {key: value for key, value in job.items() if key != "gpu_trend" and is_missing(value)}
    known = {key: None if key in missing else value for key, value in job.items()}
    sign, words, kind = STATUS_WORDS.get(str(job["status"]), ("?", "Unknown", ""))
    return {
        "job_id": str(job["job_id"]),
        "href": href.rstrip("/") + job_path(str(job["job_id"])),
        "name": plain(job["name"]) or "(no name)",
        "status": words,
        "status_sign": sign,
        "status_kind": kind,
        "status_detail": plain(job["status_detail"]),
        "source": plain(job["source"]),
        "state": str(job["state"]),
        "state_detail": plain(job["state_detail"]),
        "start_ms": None if known["start_ns"] is None else int(known["start_ns"]) / 1e6,
        "duration": None if known["duration_ns"] is None else duration(int(known["duration_ns"])),
        "billed": None if known["billed_s"] is None else duration(float(known["billed_s"]) * 1e9),
        "instances": plain(job["instances"]) or None,
        "nodes_text": None if known["nodes"] is None else count(known["nodes"]),
        "gpus_text": None if known["gpus"] is None else count(known["gpus"]),
        "gpus": None if known["gpus"] is None else int(known["gpus"]),
        "gpu_trend": [None if is_missing(value) else round(float(value), 1) for value in job["gpu_trend"]],
        "gpu_p95": None if known["gpu_p95"] is None else float(known["gpu_p95"]),
        "cpu_p95": None if known["cpu_p95"] is None else float(known["cpu_p95"]),
        "problems": None if known["problems"] is None else int(known["problems"]),
        "disk": byte_size(known["stored_bytes"]) if known["stored_bytes"] else None,
    }


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


def csv_text(frame: JobList) -> str:
    """The list as CSV, in UTC and plain units; a text that a spreadsheet would run as a formula is disarmed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    columns = [name for name in JOB_LIST_COLUMNS if name != "gpu_trend"]
    writer.writerow([{"start_ns": "start_utc", "duration_ns": "duration_s"}.get(name, name) for name in columns])
    for values in frame[columns].itertuples(index=False):
        writer.writerow(_csv_value(name, value) for name, value in zip(columns, values, strict=True))
    return out.getvalue()


def _csv_value(name: str, value: Any) -> str:
    if isinstance(value, str):
        text = plain(value, 1000)
        return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
    if is_missing(value):
        return ""
    if name == "start_ns":
        return timestamp(int(value))
    if name == "duration_ns":
        return seconds(int(value)).removesuffix(" s").replace(",", "").strip()
    return str(value)


# ---------- callbacks ----------


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
        page = fetch(queries.job_list, (search or "")[:MAX_SEARCH], order, 0, CSV_ROWS)
        return {"content": csv_text(page.rows), "filename": "training-jobs.csv", "type": "text/csv"}


def _register_table(dash_app: Dash, fetch: Fetch) -> None:
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
        start = max(0, int(request["startRow"]))
        stop = min(max(start, int(request["endRow"])), start + MAX_BLOCK_ROWS)
        page = fetch(queries.job_list, (search or "")[:MAX_SEARCH], read_sort(request.get("sortModel")), start, stop)
        response = {"rowData": rows(page.rows, address_of(dash_app, "/")), "rowCount": page.total}
        return response, counted(page.total, "job")


def _register_totals(dash_app: Dash, fetch: Fetch) -> None:
    @dash_app.callback(
        Output(Id.KPIS, "children"),
        Output(Id.SOURCES, "children"),
        Output(Id.GRID, "style"),
        Output(Id.CONVERT_ALL, "hidden"),
        Output(Id.CONVERT_LABEL, "children"),
        Input(Id.KPIS, "id"),
        Input(ShellId.REFRESHED, "data"),
    )
    def update_totals(_page: str, _refreshed: int | None) -> tuple[Any, ...]:
        totals = fetch(queries.totals)
        words = "Convert all" if totals.not_converted < 2 else f"Convert all {count(totals.not_converted)}"
        sources = sources_line([source.uri for source in services(dash_app).store.sources])
        return totals_strip(totals), sources, grid_style(totals.jobs), totals.not_converted == 0, words


def grid_style(jobs: int) -> dict[str, str]:
    """The table is as high as its rows, but no higher than the window."""
    rows_px = HEADER_PX + ROW_PX * max(jobs, 1) + 20
    return {"height": f"max(180px, min({rows_px}px, 100vh - 350px))", "width": "100%"}


def sources_line(uris: list[str]) -> list[Component]:
    """The sources by name, the first two of them."""
    shown = [html.Span(plain(uri, 120), className="mono") for uri in uris[:2]]
    more = [html.Span(counted(len(uris) - 2, "more source"))] if len(uris) > 2 else []
    return [*shown, *more] or [html.Span("what the store holds; no source was given")]


def totals_strip(totals: JobTotals) -> Component:
    """The figures above the table, over all jobs of all sources."""
    ratio = f"{totals.raw_bytes / totals.stored_bytes:.0f} times smaller" if totals.stored_bytes else "nothing stored"
    pending = f"{count(totals.not_converted)} not converted" if totals.not_converted else "all converted"
    unreadable = f"{count(totals.unreadable)} unreadable" if totals.unreadable else pending
    return kpi_strip(
        [
            Kpi("Jobs", count(totals.jobs), note=pending),
            Kpi("GPUs", count(totals.gpus), note="over all converted jobs"),
            Kpi("In progress", count(totals.in_progress), note="data still arriving" if totals.in_progress else "none"),
            Kpi("Raw data", byte_size(totals.raw_bytes), note=unreadable),
            Kpi("In the store", byte_size(totals.stored_bytes), note=ratio),
        ]
    )
