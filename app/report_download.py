"""The menu "Download report" in the head of a job: a report in one of the formats, made when it is asked for."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update

from app import urls
from app.choices import of_query
from app.page import job_id_of, local_path
from app.report import gather
from app.services import services
from components.report.render import FORMATS, render
from components.shell import REPORT_WORDS, ShellId, report_button
from data.names import slug
from data.store import Fetch


def register(dash_app: Dash, fetch: Fetch) -> None:
    """Answer the buttons of the menu."""

    @dash_app.callback(
        Output(ShellId.REPORT_DOWNLOAD, "data"),
        *(Input(report_button(name), "n_clicks") for name in FORMATS),
        State(ShellId.REPORT_ANONYMOUS, "value"),
        State(ShellId.URL, "pathname"),
        State(ShellId.URL, "search"),
        running=[(Output(ShellId.REPORT_WORDS, "children"), "Preparing…", REPORT_WORDS)],
        prevent_initial_call=True,
    )
    def download_report(*values: Any) -> Any:
        *clicks, chosen, pathname, search = values
        job_id = job_id_of(dash_app, pathname)
        as_format = next((name for name in FORMATS if ctx.triggered_id == report_button(name)), None)
        if as_format is None or not any(clicks) or not job_id:
            return no_update
        nameless = bool(chosen)
        judgement = services(dash_app).judgement
        query = dict(urls.parse(local_path(dash_app, pathname), str(search or "")).query)
        asked = of_query(query, judgement.rules, judgement.defaults)
        report = gather(fetch, job_id, judgement, asked.choice)
        stem = "report" if nameless else f"{slug(report.header.name)}-report"
        return {
            "content": render(report, as_format, nameless=nameless),
            "filename": f"{stem}.{as_format}",
            "type": FORMATS[as_format][1],
        }
