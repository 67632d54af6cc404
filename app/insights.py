"""The Insights panel: findings for what the address asks for, links to where they show, and thresholds as a file."""

from __future__ import annotations

from typing import Any, Final

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from app import urls
from app.choices import MODE_KEY, of_query
from app.judgement import Choice
from app.page import address_of
from app.panels import Request, read_request, register_content
from app.pricing import cost_of
from app.profiles import FILE_NAME, profile_text
from app.services import services
from app.urls import Address
from app.views import origin_of
from components import format as text
from components.insights import Price, Surroundings, insights_list
from components.panels import EmptyView, content_panel
from data.errors import InsightsError
from data.frames import JobHeader
from data.frames.findings import Findings, Place
from data.insights.original import OriginalVerdict, original_verdict
from data.queries import jobs, reports
from data.selection import Selection, Window
from data.store import Fetch

PANEL: Final = "overview-insights"
SAVE: Final = "overview-insights-save"
DOWNLOAD: Final = "overview-insights-download"
OPENED_KEY: Final = "insight"
"""The rules whose entries are open, divided by full stops; without the key it is the worst issue."""

_SHORTEST_NS: Final = 20 * text.NS_PER_S
"""A shorter stretch is shown with something around it: single samples tell nothing."""


def panel() -> html.Section:
    """The empty panel and its button."""
    save = html.Button(
        "Save thresholds",
        id=SAVE,
        className="button small",
        type="button",
        title=f"The thresholds in force as {FILE_NAME}",
    )
    controls = html.Div([save, dcc.Download(id=DOWNLOAD)], className="grid-controls")
    return content_panel(PANEL, "Insights", min_height=320, controls=controls, query_keys=(MODE_KEY, OPENED_KEY, "*_*"))


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Connect the panel to the rules, and its button to a file."""
    register_content(dash_app, PANEL, lambda request: draw_insights(dash_app, fetch, request))

    @dash_app.callback(
        Output(DOWNLOAD, "data"),
        Input(SAVE, "n_clicks"),
        State(f"{PANEL}-request", "data"),
        prevent_initial_call=True,
    )
    def save_thresholds(clicks: int | None, data: dict[str, Any] | None) -> Any:
        request = read_request(dash_app, data)
        if not clicks or request is None:
            return no_update
        try:
            found, _ = _findings(dash_app, fetch, request)
        except InsightsError:
            return no_update
        return {"content": profile_text(found), "filename": FILE_NAME, "type": "application/toml"}


def draw_insights(dash_app: Dash, fetch: Fetch, request: Request) -> Component | EmptyView:
    """What every rule found in the whole job."""
    judgement = services(dash_app).judgement
    found, refused = _findings(dash_app, fetch, request)
    header = fetch(jobs.header, Selection(request.selection.job))

    def href(place: Place) -> str:
        path, search = nodes_address(place, header)
        return address_of(dash_app, path) + search

    opened = request.query.get(OPENED_KEY)
    around = Surroundings(
        href=href,
        when=lambda window: _when(window, header, request.offset_minutes),
        price=_price(fetch, request.selection.job),
        base={(rule, name): value for rule, name, value in judgement.defaults.thresholds},
        mode=judgement.defaults.mode,
        opened=None if opened is None else frozenset(opened.split(".")),
        originals=_originals(fetch, request.selection.job, found),
    )
    return insights_list(found, around, refused)


def _findings(dash_app: Dash, fetch: Fetch, request: Request) -> tuple[Findings, tuple[str, ...]]:
    judgement = services(dash_app).judgement
    asked = of_query(request.query, judgement.rules, judgement.defaults)
    choice: Choice = asked.choice
    found = fetch(judgement.findings, Selection(request.selection.job), choice)
    return found, tuple(one.words for one in asked.refused)


def _originals(fetch: Fetch, job_id: str, found: Findings) -> dict[str, OriginalVerdict]:
    """What the original's own reports in the job's folder said, by rule."""
    written = {one.rule: one for one in fetch(reports.original, Selection(job_id)).reports}
    return {one.rule: original_verdict(written[one.rule], one) for one in found.findings if one.rule in written}


def _price(fetch: Fetch, job_id: str) -> Price:
    """What an hour costs; unknown also where the tables of prices cannot be read, which other panels say."""
    try:
        cost = cost_of(fetch, job_id)
    except InsightsError:
        return Price()
    return Price(cost.usd_per_gpu_hour, cost.usd_per_node_hour)


def nodes_address(place: Place, header: JobHeader) -> tuple[str, str]:
    """Path and query of Nodes at a place: its node, its time, and the chart that shows it."""
    nodes = (place.node,) if place.node in header.nodes and len(header.nodes) > 1 else ()
    query = (("metric", place.metric),) if place.metric in ("gpu_memory", "io_wait") else ()
    selection = Selection(header.job_id, shown_window(place.window, header), nodes)
    path, search = urls.build(Address(selection, urls.NODES, query))
    return path, search + ("#nodes-step-timeline" if place.metric == "steps" else "")


def shown_window(window: tuple[int, int] | None, header: JobHeader) -> Window | None:
    """The time to look at: the finding's own, a short one with something around it; None for the whole job."""
    if window is None:
        return None
    start_ns, end_ns = window
    missing_ns = max(_SHORTEST_NS - (end_ns - start_ns), 0)
    start_ns = max(start_ns - missing_ns // 2, header.start_ns)
    end_ns = min(end_ns + missing_ns // 2, header.end_ns + 1)
    return Window(start_ns, end_ns) if end_ns > start_ns else None


def _when(window: tuple[int, int], header: JobHeader, offset_minutes: int) -> str:
    start_ns, end_ns = window
    origin_ns = origin_of(header)
    if origin_ns is not None:
        return f"{text.elapsed(start_ns - origin_ns)} – {text.elapsed(end_ns - origin_ns)}"
    whole_ns = header.end_ns - header.start_ns if end_ns - start_ns >= text.NS_PER_S else end_ns - start_ns
    return f"{text.clock(start_ns, offset_minutes, whole_ns)} – {text.clock(end_ns, offset_minutes, whole_ns)}"
