"""What jobs cost by the tables in force. Never cached: the tables may change while the server runs."""

from __future__ import annotations

from data.insights.cost import Cost, job_cost
from data.queries import cost
from data.selection import Selection
from data.store import Fetch


def cost_of(fetch: Fetch, job_id: str) -> Cost:
    """The cost of a job as a whole."""
    tables = fetch(cost.tables)
    return job_cost(fetch(cost.billing, Selection(job_id)), tables.prices, tables.instances)
