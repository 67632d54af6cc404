"""Data quality of a job: whether its numbers can be trusted, what was lost, and which panels that touches."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from app import urls
from app.grids import CSV_ROWS, csv_file, read_block, read_order, read_search
from app.page import address_of, job_id_of
from app.panels import Request, drawings, read_request, register_content, register_figure
from app.urls import Address
from app.views import origin_of
from components import controls, coverage_tables, file_tables
from components import format as text
from components.cards import section_title
from components.export import Table
from components.figures import quality as figures
from components.figures.axes import View
from components.grid import search_box
from components.panels import EmptyView, FigureView, LegendItem, content_panel, figure_panel, grid_panel
from components.shell import ShellId
from components.statements_table import statement_table
from components.verdict import figures_strip, verdict_line
from data.frames import JobHeader
from data.frames.quality import FILE_ROWS_COLUMNS, PROBLEM_ROWS_COLUMNS, Coverage
from data.insights.coverage import MIN_SHARED_STEPS
from data.insights.quality import statements, verdict
from data.insights.statement import Statement
from data.queries import files, jobs, quality
from data.selection import Selection, Window
from data.store import Fetch

_FILES = (("notable", "With something to say"), ("all", "All"))
_MARGIN_NS = 10 * 10**9
"""A link to a gap shows at least this much before and after it."""


class Id(StrEnum):
    """Panels of this page."""

    VERDICT = "quality-verdict"
    STATEMENTS = "quality-statements"
    COVERAGE = "quality-coverage"
    NODES = "quality-nodes"
    CLOCKS = "quality-clocks"
    KINDS = "quality-kinds"
    PROBLEMS = "quality-problems"
    FILES = "quality-files"


class Part(StrEnum):
    """Other parts of this page that callbacks know."""

    SEARCH = "quality-search"
    SEARCHED = "quality-searched"
    NODE_GRID = "quality-node-grid"
    CLOCK_GRID = "quality-clock-grid"
    PROBLEM_GRID = "quality-problem-grid"
    FILE_GRID = "quality-file-grid"
    PROBLEM_CSV = "quality-problem-csv"
    FILE_CSV = "quality-file-csv"
    DOWNLOAD = "quality-download"


def layout(address: Address, header: JobHeader) -> html.Div:
    """The page with empty panels; of a job that holds nothing only what can be said of its files."""
    return html.Div(
        [
            content_panel(Id.VERDICT, "", min_height=130),
            section_title("What to know before trusting a number", "the whole job"),
            content_panel(Id.STATEMENTS, "", min_height=80),
            *(_times(header) if header.end_ns else []),
            section_title("Files", "as they were read"),
            content_panel(Id.KINDS, "", min_height=110),
            _filters(address.get("q")),
            html.Div([_problems(), _files()], className="stack"),
            dcc.Store(id=Part.SEARCHED),
            dcc.Download(id=Part.DOWNLOAD),
        ],
        className="quality",
    )


def _times(header: JobHeader) -> list[Component]:
    rows = len(header.nodes)
    legend = [
        LegendItem("records", "cpu", "box"),
        *([LegendItem("framework events", "steps", "box")] if header.step_count else []),
        LegendItem("no record", "", "open"),
        LegendItem("interruption of all nodes", "warn", "hatch"),
    ]
    return [
        section_title("Coverage and clocks", "two records cover the time between them up to 3 median intervals"),
        html.Div(
            [
                figure_panel(
                    Id.COVERAGE,
                    "Time covered per node",
                    height=figures.expected_height(rows),
                    legend=legend,
                    query_keys=(),
                ),
                content_panel(Id.NODES, "Nodes", min_height=80 + 31 * min(rows, coverage_tables.TALLEST)),
                content_panel(Id.CLOCKS, "Clock offset between nodes", min_height=60),
            ],
            className="stack",
        ),
    ]


def _filters(search: str) -> html.Div:
    return html.Div(search_box(Part.SEARCH, "Search files and problems", value=search), className="filters")


def _csv_button(button_id: Part, what: str) -> html.Button:
    return html.Button(
        "CSV", id=button_id, className="button small", type="button", title=f"Download {what} as CSV, as searched"
    )


def _problems() -> Component:
    grid = file_tables.problem_grid(Part.PROBLEM_GRID)
    return grid_panel(Id.PROBLEMS, "Problems", grid, controls=_csv_button(Part.PROBLEM_CSV, "problems"))


def _files() -> Component:
    chosen = controls.segments("files", _FILES, default="notable", label="Files shown")
    bar = html.Div([chosen, _csv_button(Part.FILE_CSV, "files")], className="section-controls")
    grid = file_tables.file_grid(Part.FILE_GRID)
    return grid_panel(Id.FILES, "Files", grid, controls=bar, query_keys=("files",))


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Connect the panels to their drawings, and the grids to their rows."""

    def nodes_address(job_id: str) -> str:
        return address_of(dash_app, urls.job_path(job_id, urls.NODES))

    register_content(dash_app, Id.VERDICT, lambda request: draw_verdict(fetch, request))
    register_content(dash_app, Id.STATEMENTS, lambda request: draw_statements(fetch, request, nodes_address))
    register_figure(dash_app, Id.COVERAGE, lambda request: draw_coverage(fetch, request))
    register_content(dash_app, Id.NODES, lambda request: draw_nodes(fetch, request))
    register_content(dash_app, Id.CLOCKS, lambda request: draw_clocks(fetch, request))
    register_content(dash_app, Id.KINDS, lambda request: draw_kinds(fetch, request))
    drawings(dash_app)[Id.PROBLEMS] = lambda request: problems_table(fetch, request)
    drawings(dash_app)[Id.FILES] = lambda request: files_table(fetch, request)
    _register_rows(dash_app, fetch)
    _register_downloads(dash_app, fetch)
    dash_app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("insights", "askQuality"),
        Output(Part.SEARCHED, "data"),
        Input(Part.SEARCH, "value"),
        Input(f"{Id.PROBLEMS}-request", "data"),
        Input(f"{Id.FILES}-request", "data"),
        prevent_initial_call=True,
    )


def _register_rows(dash_app: Dash, fetch: Fetch) -> None:
    @dash_app.callback(
        Output(Part.PROBLEM_GRID, "getRowsResponse"),
        Output(Part.PROBLEM_GRID, "style"),
        Output(f"{Id.PROBLEMS}-note", "children"),
        Input(Part.PROBLEM_GRID, "getRowsRequest"),
        State(Part.SEARCH, "value"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def update_problems(request: dict[str, Any] | None, search: str | None, pathname: str | None) -> tuple[Any, ...]:
        job_id = job_id_of(dash_app, pathname)
        if not request or not job_id:
            return (no_update,) * 3
        start, stop = read_block(request)
        order = read_order(request, PROBLEM_ROWS_COLUMNS)
        page = fetch(files.problem_page, Selection(job_id), read_search(search), order, start, stop)
        response = {"rowData": file_tables.problem_rows(page.rows), "rowCount": page.total}
        words = f"{text.counted(page.total, 'problem or note', 'problems and notes')} · errors first"
        return response, file_tables.grid_style(page.total), words

    @dash_app.callback(
        Output(Part.FILE_GRID, "getRowsResponse"),
        Output(Part.FILE_GRID, "style"),
        Output(f"{Id.FILES}-note", "children"),
        Input(Part.FILE_GRID, "getRowsRequest"),
        State(Part.SEARCH, "value"),
        State(f"{Id.FILES}-request", "data"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def update_files(
        request: dict[str, Any] | None, search: str | None, asked: dict[str, Any] | None, pathname: str | None
    ) -> tuple[Any, ...]:
        job_id = job_id_of(dash_app, pathname)
        if not request or not job_id:
            return (no_update,) * 3
        start, stop = read_block(request)
        order = read_order(request, FILE_ROWS_COLUMNS)
        every = shows_all(dash_app, asked)
        page = fetch(files.file_page, Selection(job_id), read_search(search), every, order, start, stop)
        response = {"rowData": file_tables.file_rows(page.rows), "rowCount": page.total}
        words = text.counted(page.total, "file") + (
            "" if every else " with lost records, problems, or copies of others"
        )
        return response, file_tables.grid_style(page.total), words


def _register_downloads(dash_app: Dash, fetch: Fetch) -> None:
    @dash_app.callback(
        Output(Part.DOWNLOAD, "data"),
        Input(Part.PROBLEM_CSV, "n_clicks"),
        State(Part.SEARCH, "value"),
        State(Part.PROBLEM_GRID, "getRowsRequest"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def download_problems(clicks: int | None, search: str | None, request: Any, pathname: str | None) -> Any:
        job_id = job_id_of(dash_app, pathname)
        if not clicks or not job_id:
            return no_update
        order = read_order(request, PROBLEM_ROWS_COLUMNS)
        page = fetch(files.problem_page, Selection(job_id), read_search(search), order, 0, CSV_ROWS)
        return csv_file("problems.csv", file_tables.problem_csv(page.rows))

    @dash_app.callback(
        Output(Part.DOWNLOAD, "data", allow_duplicate=True),
        Input(Part.FILE_CSV, "n_clicks"),
        State(Part.SEARCH, "value"),
        State(Part.FILE_GRID, "getRowsRequest"),
        State(f"{Id.FILES}-request", "data"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def download_files(clicks: int | None, search: str | None, request: Any, asked: Any, pathname: str | None) -> Any:
        job_id = job_id_of(dash_app, pathname)
        if not clicks or not job_id:
            return no_update
        order = read_order(request, FILE_ROWS_COLUMNS)
        every = shows_all(dash_app, asked)
        page = fetch(files.file_page, Selection(job_id), read_search(search), every, order, 0, CSV_ROWS)
        return csv_file("files.csv", file_tables.file_csv(page.rows))


def problems_table(fetch: Fetch, request: Request) -> Table:
    """The problems that match, for an export."""
    page = fetch(files.problem_page, _whole(request), read_search(request.query.get("q", "")), (), 0, CSV_ROWS)
    return Table(PROBLEM_ROWS_COLUMNS, file_tables.plain_rows(page.rows, PROBLEM_ROWS_COLUMNS))


def files_table(fetch: Fetch, request: Request) -> Table:
    """The files that match, for an export."""
    every = request.query.get("files") == "all"
    page = fetch(files.file_page, _whole(request), read_search(request.query.get("q", "")), every, (), 0, CSV_ROWS)
    return Table(FILE_ROWS_COLUMNS, file_tables.plain_rows(page.rows, FILE_ROWS_COLUMNS))


def shows_all(dash_app: Dash, asked: dict[str, Any] | None) -> bool:
    """Whether the address asks for all files."""
    request = read_request(dash_app, asked)
    return request is not None and request.query.get("files") == "all"


def _whole(request: Request) -> Selection:
    return Selection(request.selection.job)


def draw_verdict(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Whether everything was read, in a sentence and in figures."""
    found, covered = fetch(quality.summary, _whole(request)), fetch(quality.coverage, _whole(request))
    return html.Div([verdict_line(verdict(found, covered)), figures_strip(found, covered)])


def draw_statements(fetch: Fetch, request: Request, nodes_address: Callable[[str], str]) -> Component | EmptyView:
    """What was lost or is odd, and which panels that touches."""
    whole = _whole(request)
    covered = fetch(quality.coverage, whole)
    found = statements(
        fetch(quality.summary, whole), covered, fetch(quality.values, whole), fetch(quality.clocks, whole)
    )
    if not found:
        if not fetch(quality.summary, whole).has_data:
            return html.P("There is no number to trust: no panel can be drawn.", className="panel-words")
        return html.P(
            "Nothing to know: every record was read, and all of the job's time has records.", className="panel-words"
        )

    def href(one: Statement) -> str:
        window = shown_window(one.window, covered)
        search = urls.build(Address(Selection(whole.job, window), urls.NODES))[1]
        return nodes_address(whole.job) + search

    return statement_table(found, href)


def shown_window(window: tuple[int, int] | None, covered: Coverage) -> Window | None:
    """The window in which a stretch of time is seen with something around it."""
    if window is None:
        return None
    start_ns, end_ns = window
    margin = max((end_ns - start_ns) // 2, _MARGIN_NS)
    start_ns, end_ns = max(start_ns - margin, covered.start_ns), min(end_ns + margin, covered.end_ns)
    return Window(start_ns, end_ns) if end_ns > start_ns else None


def draw_coverage(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """The time that each node's records cover."""
    covered = fetch(quality.coverage, _whole(request))
    if not covered.nodes and not covered.events:
        return EmptyView("This job has neither system metrics nor framework events.", "There is no time to cover.")
    window = request.selection.window or Window(covered.start_ns, max(covered.end_ns, covered.start_ns + 1))
    origin_ns = origin_of(fetch(jobs.header, _whole(request)))
    view = View(window, request.theme, request.offset_minutes, request.search, origin_ns)
    return figures.coverage_figure(covered, view)


def draw_nodes(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Every node's coverage and sampling intervals in figures."""
    covered = fetch(quality.coverage, _whole(request))
    words = coverage_tables.interval_words(covered)
    origin_ns = origin_of(fetch(jobs.header, _whole(request)))
    return html.Div(
        [
            html.P(words, className="panel-words") if words else None,
            coverage_tables.node_grid(Part.NODE_GRID, covered, request.offset_minutes, origin_ns),
        ]
    )


def draw_clocks(fetch: Fetch, request: Request) -> Component | EmptyView:
    """How far the clocks of nodes lie apart, as far as shared steps tell."""
    clocks = fetch(quality.clocks, _whole(request))
    if not clocks.nodes:
        return EmptyView(
            "It cannot be told whether the nodes' clocks agree: fewer than two nodes recorded steps.",
            "Nothing else in the data happens on all nodes at the same time.",
        )
    words = (
        f"Start of the same step (same phase, same number) against {text.plain(clocks.reference, 60)}: median, 5 and "
        "95 percent. The difference is that of the clocks and of true lateness together; the data cannot tell which. "
        f"Below {MIN_SHARED_STEPS} shared steps nothing can be told. No chart is corrected by it."
    )
    return html.Div([html.P(words, className="panel-words"), coverage_tables.clock_grid(Part.CLOCK_GRID, clocks)])


def draw_kinds(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Files read by kind."""
    return file_tables.kinds_table(fetch(quality.summary, _whole(request)).kinds)
