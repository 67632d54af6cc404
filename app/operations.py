"""What Overview shows of framework events: the heaviest operators, all of them, and how their time divides up."""

from __future__ import annotations

from typing import Final

from dash import Dash, html
from dash.development.base_component import Component

from app.grids import register_download
from app.panels import Request, register_content
from components import operators as lists
from components import operators_table as table
from components.cards import absent_card, section_title
from components.panels import EmptyView, content_panel
from data.frames import JobHeader
from data.frames.operators import Operators
from data.insights.operators import operator_remarks, share_remarks
from data.queries import operators, shares
from data.store import Fetch

CPU: Final = "overview-cpu-operators"
GPU: Final = "overview-gpu-operators"
ALL: Final = "overview-operators"
SHARES: Final = "overview-framework"

_TITLE: Final = "Resource-intensive operations"
_HOW: Final = (
    "Switch framework profiling on in the profiler's configuration (detailed profiling records operators), or record a"
    " trace with torch.profiler and lay it into the job's folder."
)


def sections(header: JobHeader, span: str) -> list[Component]:
    """Both sections; each is one line where the job has no such events. `span` says what time they are about."""
    named = [side for side, _ in lists.SIDES if side in header.operator_roles]
    return [
        section_title(
            _TITLE,
            f"{span} · added up over processes and threads; an operator inside another counts in both" if named else "",
        ),
        *(_operators(header) if named else [absent_card("Operators", "The framework recorded none.", _HOW)]),
        section_title(
            "Framework time", f"{span} · added up over processes and threads" if header.operator_roles else ""
        ),
        content_panel(SHARES, "", min_height=60)
        if header.operator_roles
        else absent_card("Framework time", "No framework event was recorded.", _HOW),
    ]


def _operators(header: JobHeader) -> list[Component]:
    both = {"cpu", "gpu"} <= set(header.operator_roles)
    heaviest: list[Component] = [
        content_panel(panel_id, title, min_height=lists.LINE_PX * 9, wide=not both)
        for role, panel_id, title in (("cpu", CPU, "CPU operators"), ("gpu", GPU, "GPU operators"))
        if role in header.operator_roles
    ]
    controls = table.operators_controls(ALL, header.operator_roles)
    every = content_panel(ALL, "All operators", min_height=220, controls=controls, query_keys=("side",), wide=True)
    return [html.Div([*heaviest, every], className="grid-2")]


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Connect the panels to their drawings."""
    register_content(dash_app, CPU, lambda request: draw_heaviest(fetch, request, "cpu"))
    register_content(dash_app, GPU, lambda request: draw_heaviest(fetch, request, "gpu"))
    register_content(dash_app, ALL, lambda request: draw_all(fetch, request))
    register_content(dash_app, SHARES, lambda request: draw_shares(fetch, request))
    register_download(dash_app, ALL, "operators.csv", lambda request: table.csv_text(_listed(fetch, request)))


def draw_heaviest(fetch: Fetch, request: Request, side: str) -> Component | EmptyView:
    """The operators of a side that took longest."""
    found = fetch(operators.by_name, request.selection)
    if not (found["side"] == side).any():
        return EmptyView(f"No operator ran on the {side.upper()} here.", "Press 0 to see the whole job.")
    return lists.heaviest(found, side, operator_remarks(found, side))


def draw_all(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Every operator in a table."""
    return table.operators_table(ALL, _listed(fetch, request))


def _listed(fetch: Fetch, request: Request) -> Operators:
    return table.of_side(fetch(operators.by_name, request.selection), request.query.get("side", ""))


def draw_shares(fetch: Fetch, request: Request) -> Component | EmptyView:
    """How the time of framework events divides up."""
    found = fetch(shares.framework, request.selection)
    return lists.divided(found, share_remarks(found))
