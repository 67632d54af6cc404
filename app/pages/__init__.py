"""The pages, in the order of the registry. A page is `layout`, `register` and one line here; screens that stand in
for a page (not found, first run, converting) are no pages of their own."""

from __future__ import annotations

from typing import Final

from app import urls
from app.page import AnyPage, JobPage, Page
from app.pages import compare, jobs, nodes, overview, quality

PAGES: Final[tuple[AnyPage, ...]] = (
    Page("/", "Jobs", jobs.layout, jobs.register),
    JobPage("/jobs/<job>", "Overview", urls.OVERVIEW, overview.layout, overview.register, overview.FIRST),
    JobPage("/jobs/<job>/nodes", "Nodes", urls.NODES, nodes.layout, nodes.register),
    JobPage("/jobs/<job>/quality", "Data quality", urls.QUALITY, quality.layout, quality.register, without_data=True),
    Page("/compare", "Compare", compare.layout, compare.register),
)
