"""Compare: two runs side by side, whether that is fair, and whether what differs is more than noise."""

from __future__ import annotations

from enum import StrEnum
from functools import partial

from dash import Dash, html
from dash.development.base_component import Component

from app import side_by_side, urls
from app.comparison import changes, comparison, operators_apart, steps_apart
from app.judgement import Choice
from app.page import address_of
from app.panels import Request, register_content, register_figure
from app.pricing import cost_of
from app.urls import Address
from components import comparison as tables
from components import operator_changes
from components.cards import section_title
from components.figures import waterfall
from components.figures.axes import View
from components.markup import attributes
from components.panels import EmptyView, FigureView, content_panel, figure_panel
from data.errors import UnknownJob
from data.insights.comparison.verdict import cost_row
from data.queries import jobs
from data.selection import Selection, Window
from data.store import Fetch

KEYS = ("a", "b")
NEWEST = 40
"""Jobs offered where only one run is chosen."""


class Id(StrEnum):
    """Panels of this page."""

    CHOICE = "compare-choice"
    HEAD = "compare-runs"
    PARITY = "compare-parity"
    VERDICT = "compare-verdict"
    FINDINGS = "compare-findings"
    LINES = side_by_side.LINES
    HEATMAP_A = side_by_side.HEATMAP_A
    HEATMAP_B = side_by_side.HEATMAP_B
    DIFFERENCE = side_by_side.DIFFERENCE
    HISTOGRAM = side_by_side.HISTOGRAM
    STEPS = side_by_side.STEPS
    WATERFALL = "compare-waterfall"
    OPERATORS = "compare-operators"


def layout(address: Address) -> html.Div:
    """The page with empty panels; without two jobs, how to choose them."""
    if not address.selection.job or not address.get("b"):
        return _choose(address)
    return html.Div(
        [
            content_panel(Id.HEAD, "", min_height=84, query_keys=KEYS),
            content_panel(Id.PARITY, "", min_height=60, query_keys=KEYS),
            section_title("Verdict", "B against A · whole job"),
            content_panel(Id.VERDICT, "", min_height=420, query_keys=KEYS),
            section_title("Step time", "why it changed, by kinds of events"),
            figure_panel(Id.WATERFALL, "From the mean step of A to that of B", height=280, wide=True, query_keys=KEYS),
            content_panel(Id.OPERATORS, "Operators that changed", min_height=120, query_keys=KEYS),
            *side_by_side.sections(),
            section_title("Insights", "what became of what the rules found"),
            content_panel(Id.FINDINGS, "", min_height=120, query_keys=(*KEYS, "mode")),
        ],
        className="compare",
    )


def _choose(address: Address) -> html.Div:
    """How to choose two runs; where one is chosen, the newest others to choose from."""
    words: list[Component] = [
        html.H1("Compare two runs"),
        html.P("Tick two jobs in the list of jobs, then press Compare.", className="lead"),
    ]
    if address.selection.job:
        words.append(html.P("Or choose one of the newest here:", className="sentence"))
        words.append(content_panel(Id.CHOICE, "", min_height=120, query_keys=KEYS))
    return html.Div(html.Section(words, className="card"), className="middle", **attributes(data_title="Compare"))


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Connect the panels to their drawings."""
    register_content(dash_app, Id.CHOICE, partial(draw_choice, fetch, dash_app))
    register_content(dash_app, Id.HEAD, partial(draw_head, fetch, dash_app))
    register_content(dash_app, Id.PARITY, lambda request: draw_parity(fetch, request))
    register_content(dash_app, Id.VERDICT, lambda request: draw_verdict(fetch, request))
    register_figure(dash_app, Id.WATERFALL, lambda request: draw_waterfall(fetch, request))
    register_content(dash_app, Id.OPERATORS, lambda request: draw_operators(fetch, request))
    side_by_side.register(dash_app, fetch, pair)
    register_content(dash_app, Id.FINDINGS, lambda request: draw_findings(fetch, request))


def pair(request: Request) -> tuple[Selection, Selection]:
    """The jobs of a request. Raises UnknownJob where the second is not named."""
    other = request.query.get("b", "")
    if not other:
        raise UnknownJob("No second job is named.", "Choose two jobs in the list, then press Compare.")
    return Selection(request.selection.job), Selection(other)


def draw_choice(fetch: Fetch, dash_app: Dash, request: Request) -> Component | EmptyView:
    """The newest other jobs that are stored, as links to the comparison with this one."""
    page = fetch(jobs.job_list, "", (("start_ns", "desc"),), 0, NEWEST)
    rows = page.rows[page.rows["state"].isin(("stored", "changed"))]
    others = [row for row in rows.to_dict("records") if row["job_id"] != request.selection.job]
    if not others:
        return EmptyView("There is no other converted job here.", "Add the folder of another run to the source.")
    links = []
    for row in others:
        path, search = urls.build(Address(request.selection, urls.COMPARE, (("b", str(row["job_id"])),)))
        links.append((str(row["name"]), str(row["instances"]), address_of(dash_app, path) + search))
    return tables.choice(links)


def draw_head(fetch: Fetch, dash_app: Dash, request: Request) -> Component | EmptyView:
    """Both runs by name, with a way to swap them."""
    a, b = pair(request)
    runs = [
        (letter, fetch(jobs.any_header, one), address_of(dash_app, urls.job_path(one.job)))
        for letter, one in (("A", a), ("B", b))
    ]
    rest = tuple((key, value) for key, value in request.query.items() if key != "b")
    path, search = urls.build(Address(b, urls.COMPARE, (("b", a.job), *rest)))
    return tables.head(runs, address_of(dash_app, path) + search)


def draw_parity(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Whether the comparison is fair."""
    return tables.parity_banner(fetch(comparison, *pair(request)).parity)


def draw_verdict(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Every figure with its verdict."""
    a, b = pair(request)
    costs = [cost_of(fetch, one.job).total_usd for one in (a, b)]
    return tables.verdict_table((*fetch(comparison, a, b).rows, cost_row(*costs)))


def draw_waterfall(fetch: Fetch, request: Request) -> FigureView | EmptyView:
    """Where the mean step became longer or shorter."""
    view = View(Window(0, 1), request.theme, revision=request.search)
    return waterfall.step_waterfall(fetch(steps_apart, *pair(request)), view)


def draw_operators(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Operators that came, went or changed."""
    return operator_changes.operator_changes(fetch(operators_apart, *pair(request)))


def draw_findings(fetch: Fetch, request: Request) -> Component | EmptyView:
    """What became of the findings."""
    choice = Choice("compat" if request.query.get("mode") == "compat" else "fixed")
    return tables.findings_table(fetch(changes, *pair(request), choice))
