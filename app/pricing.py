"""What jobs cost by the tables in force, and where Overview shows it. Not cached: the tables may change at any time."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from dash import Dash
from dash.development.base_component import Component

from app.panels import Request, register_content
from components.cards import Kpi, section_title
from components.cost import cost_content, cost_kpi
from components.panels import EmptyView, content_panel
from data.frames.cost import Billing
from data.insights.cost import Cost, job_cost
from data.queries import cost as queries
from data.queries.jobs import Priced
from data.selection import Selection
from data.store import Fetch

PANEL: Final = "overview-cost"


def cost_of(fetch: Fetch, job_id: str) -> Cost:
    """The cost of a job as a whole."""
    return _billed(fetch, job_id)[1]


def section() -> list[Component]:
    """The section of Overview."""
    return [section_title("Cost", "the whole job"), content_panel(PANEL, "", min_height=170)]


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Connect the panel to its drawing."""
    register_content(dash_app, PANEL, lambda request: draw_cost(fetch, request))


def draw_cost(fetch: Fetch, request: Request) -> Component | EmptyView:
    """Instances, prices, stages, and what is not known."""
    billing, cost = _billed(fetch, request.selection.job)
    faults = [
        f"{one.file}{f', line {one.line}' if one.line else ''}: {one.message}" for one in fetch(queries.tables).problems
    ]
    return cost_content(billing, cost, faults, request.offset_minutes)


def priced(fetch: Fetch) -> Priced:
    """The cost and the GPU-hours of any job by the tables as they are now, for the list of jobs."""
    tables = fetch(queries.tables)

    def price(billing: Billing) -> tuple[Decimal | None, Decimal | None]:
        cost = job_cost(billing, tables.prices, tables.instances)
        return cost.total_usd, cost.gpu_hours

    return price


def key_number(fetch: Fetch, job_id: str) -> Kpi:
    """The cost as a key number."""
    return cost_kpi(*_billed(fetch, job_id))


def _billed(fetch: Fetch, job_id: str) -> tuple[Billing, Cost]:
    tables = fetch(queries.tables)
    billing = fetch(queries.billing, Selection(job_id))
    return billing, job_cost(billing, tables.prices, tables.instances)
