"""Callbacks that all pages share: arriving at an address, refresh, and looking after conversions."""

from __future__ import annotations

import time
from typing import Any, Final

from dash import ClientsideFunction, Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from app.conversion import ConversionStatus
from app.conversion import State as Stage
from app.page import job_id_of
from app.pages import converting, jobs
from app.services import services
from components import notices
from components.format import plain
from components.shell import ShellId

REFRESH_SECONDS: Final = 8.0
"""How long a refresh of the list may look for changed files."""
SHOWN_CONVERSIONS: Final = 3


def register(dash_app: Dash) -> None:
    """Register them; the app must have its services."""
    dash_app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("insights", "arrived"),
        Output(ShellId.ARRIVED, "data"),
        Input(ShellId.URL, "pathname"),
        Input(ShellId.URL, "search"),
    )
    converting.register(dash_app, services(dash_app).conversions)
    _register_refresh(dash_app)
    _register_watch(dash_app)
    _register_jobs(dash_app)


def _register_refresh(dash_app: Dash) -> None:
    @dash_app.callback(
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Output(ShellId.NOTICE, "children"),
        Input(ShellId.REFRESH, "n_clicks"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def refresh(clicks: int | None, pathname: str) -> tuple[Any, Any]:
        if not clicks:
            return no_update, no_update
        store, conversions = services(dash_app).store, services(dash_app).conversions
        store.refresh()
        job_id = job_id_of(dash_app, pathname)
        conversions.request(_changed(dash_app, [job_id] if job_id else store.job_ids()))
        return time.time_ns(), []


def _changed(dash_app: Dash, job_ids: list[str]) -> list[str]:
    """The stored jobs among these whose files have changed, as far as there is time to look."""
    store = services(dash_app).store
    deadline_s = time.monotonic() + REFRESH_SECONDS
    return [
        job_id
        for job_id in job_ids
        if time.monotonic() < deadline_s and store.version(job_id) and store.changed(job_id)
    ]


def _register_watch(dash_app: Dash) -> None:
    """While something converts, the browser asks twice a second; what has ended is shown by a refresh."""

    @dash_app.callback(
        Output(ShellId.PROGRESS, "children"),
        Output(ShellId.WATCH, "disabled", allow_duplicate=True),
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Output(ShellId.WATCHED, "data"),
        Input(ShellId.WATCH, "n_intervals"),
        State(ShellId.URL, "pathname"),
        State(ShellId.WATCHED, "data"),
        prevent_initial_call=True,
    )
    def watch_conversions(_ticks: int, pathname: str, watched: list[str] | None) -> tuple[Any, ...]:
        job_id = job_id_of(dash_app, pathname)
        active = _active(dash_app, job_id)
        ids = [status.job_id for status in active]
        ended = not active or bool(set(watched or []) - set(ids))
        if job_id and services(dash_app).store.version(job_id) == "":
            shown: Any = converting.progress(active[0]) if active else no_update
        else:
            shown = [_row(dash_app, status) for status in active[:SHOWN_CONVERSIONS]]
            shown += _more(len(active) - SHOWN_CONVERSIONS)
            shown = html.Div(shown, className="card") if shown else []
        return shown, not active, time.time_ns() if ended else no_update, ids


def _active(dash_app: Dash, job_id: str) -> list[ConversionStatus]:
    conversions = services(dash_app).conversions
    if not job_id:
        return conversions.active()
    status = conversions.status(job_id)
    return [status] if status is not None and status.state.active else []


def _row(dash_app: Dash, status: ConversionStatus) -> Component:
    job = services(dash_app).store.job(status.job_id)
    name = plain(job.name) if job is not None else status.job_id
    figures = dict(converting.figures(status))
    waiting = status.state is Stage.QUEUED
    return html.Div(
        [
            html.Span(name, className="name"),
            notices.progress_bar(_percent(status), f"Converting {name}"),
            html.Span("waiting" if waiting else figures["Read"], className="muted" if waiting else "num"),
            html.Span("" if waiting else figures["Rate"], className="num muted"),
        ],
        className="progress-row",
    )


def _percent(status: ConversionStatus) -> float | None:
    """One that waits has an empty bar, so that the moving ones are those at work."""
    return 0.0 if status.state is Stage.QUEUED else converting.percent(status)


def _more(count: int) -> list[Component]:
    return [html.Div(f"and {count} more waiting", className="progress-row muted")] if count > 0 else []


def _register_jobs(dash_app: Dash) -> None:
    """What the list of jobs asks of store and conversions."""

    @dash_app.callback(
        Output(ShellId.WATCH, "disabled", allow_duplicate=True),
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Input(jobs.Id.CONVERT_ALL, "n_clicks"),
        prevent_initial_call=True,
    )
    def convert_all(clicks: int | None) -> tuple[Any, Any]:
        if not clicks:
            return no_update, no_update
        store = services(dash_app).store
        waiting = [job_id for job_id in store.job_ids() if not store.version(job_id)]
        services(dash_app).conversions.request(waiting)
        return False, time.time_ns()

    @dash_app.callback(
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Input(jobs.Id.REMOVE, "n_clicks"),
        State(jobs.Id.REMOVE_TARGET, "data"),
        prevent_initial_call=True,
    )
    def remove_job(clicks: int | None, job_id: str | None) -> Any:
        if not clicks or not isinstance(job_id, str):
            return no_update
        services(dash_app).store.remove(job_id)
        return time.time_ns()
