"""The router: a path to a screen. It listens to the path only: a zoom changes the query and never rebuilds a page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from app import urls
from app.conversion import State as Stage
from app.errors import explain
from app.page import AnyPage, JobPage, Page, address_of, local_path
from app.pages import converting, first_run, not_found
from app.panels import Request, filled
from app.services import Services, services
from app.urls import Address
from components import shell
from components.shell import ShellId
from data.errors import InsightsError, NotConverted, UnknownJob
from data.queries import jobs
from data.selection import Selection
from data.store import Fetch


@dataclass(frozen=True)
class Screen:
    """What the router puts on the page; `watch` asks the browser to look after running conversions."""

    main: Component
    crumbs: Component | str = ""
    age: Component | str = ""
    watch: bool = False


def match(pages: Sequence[AnyPage], pathname: str) -> AnyPage | None:
    """The page of a path without prefix; None where there is no such page. What the path names, `urls.parse` reads."""
    parts = _parts(pathname)
    for page in pages:
        wanted = _parts(page.pattern)
        if len(wanted) == len(parts) and all(
            want == part or want.startswith("<") for want, part in zip(wanted, parts, strict=True)
        ):
            return page
    return None


def register(dash_app: Dash, pages: Sequence[AnyPage], fetch: Fetch) -> None:
    """Draw the screen of the path, and draw it again after a refresh."""
    router = Router(dash_app, pages, fetch)

    @dash_app.callback(
        Output(ShellId.MAIN, "children"),
        Output(ShellId.CRUMBS, "children"),
        Output(ShellId.AGE, "children"),
        Output(ShellId.WATCH, "disabled"),
        Input(ShellId.URL, "pathname"),
        Input(ShellId.REFRESHED, "data"),
        State(ShellId.URL, "search"),
    )
    def show_screen(pathname: str | None, _refreshed: int | None, search: str | None) -> tuple[Any, ...]:
        screen = router.screen(local_path(dash_app, pathname), search or "")
        # the list of jobs refreshes itself in place, which keeps its scroll position
        stay = ctx.triggered_id == ShellId.REFRESHED and isinstance(router.page(pathname), Page)
        main = no_update if stay and router.has_jobs() else screen.main
        return main, screen.crumbs, screen.age, not screen.watch


class Router:
    """Paths to screens, for one app."""

    def __init__(self, dash_app: Dash, pages: Sequence[AnyPage], fetch: Fetch) -> None:
        self._dash_app = dash_app
        self._pages = pages
        self._fetch = fetch

    @property
    def _services(self) -> Services:
        return services(self._dash_app)

    @property
    def home(self) -> str:
        """The address of the list of jobs, with the prefix."""
        return address_of(self._dash_app, "/")

    def page(self, pathname: str | None) -> AnyPage | None:
        """The page of a path of the browser."""
        return match(self._pages, local_path(self._dash_app, pathname))

    def has_jobs(self) -> bool:
        """Whether there is any job to show."""
        return bool(self._services.store.job_ids())

    def screen(self, path: str, search: str) -> Screen:
        """The screen of a path without prefix."""
        page = match(self._pages, path) if path else None
        if page is None:
            return Screen(not_found.layout(self.home), shell.crumbs([("Jobs", self.home), ("Not found", "")]))
        address = urls.parse(path, search)
        if isinstance(page, JobPage):
            return self._job_screen(page, address)
        return self._page_screen(page, address)

    def _page_screen(self, page: Page, address: Address) -> Screen:
        store = self._services.store
        if not self.has_jobs():
            return Screen(first_run.layout(self._looked()), age=shell.age("listed", store.listed_ns))
        return Screen(
            page.layout(address),
            shell.crumbs([(page.title, "")]),
            shell.age("listed", store.listed_ns),
            watch=bool(self._services.conversions.active()),
        )

    def _looked(self) -> list[tuple[str, str]]:
        """The sources, each with the reason why it holds no job, as far as it is known."""
        looked = []
        for source in self._services.store.sources:
            try:
                reason = source.listing().note
            except InsightsError as error:
                reason = " ".join(filter(None, (error.message, error.hint)))
            looked.append((source.uri, reason))
        return looked

    def _job_screen(self, page: JobPage, address: Address) -> Screen:
        job_id = address.selection.job
        try:
            header = self._fetch(jobs.any_header if page.without_data else jobs.header, Selection(job_id))
        except NotConverted:
            return self._converting_screen(job_id)
        except UnknownJob:
            return Screen(
                not_found.layout(self.home, job_id=job_id), shell.crumbs([("Jobs", self.home), ("Not found", "")])
            )
        except InsightsError as error:
            return self._broken_screen(job_id, error)
        changed = self._services.store.changed(job_id)
        path, search = urls.build(Address(Selection(job_id), urls.COMPARE))
        compare = address_of(self._dash_app, path) + search
        head = shell.job_header(header, page.tab, self._tabs(job_id), changed=changed, compare=compare)
        status = self._services.conversions.status(job_id)
        body = page.layout(address, header)
        for panel_id, draw in page.first:
            request = Request(address.selection, width=1000)
            filled(body[f"{panel_id}-body"], partial(draw, self._fetch), request, panel_id)
        main = html.Div(
            [head, html.Div(id=ShellId.PROGRESS, className="jobs-progress"), body],
            # a new key makes the browser build the page anew after a refresh, so that every panel asks again
            key=f"{job_id}-{page.tab}-{header.version}-{time.time_ns()}",
        )
        age = (
            shell.age("newest data", header.data_end_ns)
            if header.status == "InProgress"
            else shell.age("read", header.converted_ns)
        )
        steps = [("Jobs", self.home), (header.name, "")]
        return Screen(main, shell.crumbs(steps), age, watch=status is not None and status.state.active)

    def _broken_screen(self, job_id: str, error: InsightsError) -> Screen:
        """A stored job that cannot be read: why, and a way to convert it again."""
        status = self._services.conversions.status(job_id)
        name = self._name(job_id)
        return Screen(
            converting.broken(name, *explain(error), self._quality_link(job_id)),
            shell.crumbs([("Jobs", self.home), (name, "")]),
            watch=status is not None and status.state.active,
        )

    def _quality_link(self, job_id: str) -> str:
        """Where it is said what is wrong with the files of a job; "" where nothing of it is stored."""
        try:
            self._fetch(jobs.any_header, Selection(job_id))
        except InsightsError:
            return ""
        return address_of(self._dash_app, urls.job_path(job_id, urls.QUALITY))

    def _name(self, job_id: str) -> str:
        job = self._services.store.job(job_id)
        return job.name if job is not None else job_id

    def _converting_screen(self, job_id: str) -> Screen:
        conversions = self._services.conversions
        status = conversions.status(job_id)
        if status is None or status.state is Stage.DONE:
            conversions.request([job_id])
            status = conversions.status(job_id)
        name = self._name(job_id)
        return Screen(
            converting.layout(name, status),
            shell.crumbs([("Jobs", self.home), (name, "")]),
            watch=status is not None and status.state.active,
        )

    def _tabs(self, job_id: str) -> dict[str, str]:
        return {
            page.tab: address_of(self._dash_app, urls.job_path(job_id, page.tab))
            for page in self._pages
            if isinstance(page, JobPage)
        }


def _parts(pathname: str) -> list[str]:
    return [part for part in pathname.split("/") if part]
