"""The screen of a job that is not in the store yet: its conversion's progress, or why it ended without a result."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from app.conversion import Conversions, ConversionStatus
from app.conversion import State as Stage
from app.page import job_id_of
from components import notices
from components.format import byte_size, count, duration, plain
from components.markup import attributes
from components.shell import ShellId


class Id(StrEnum):
    """Ids of this screen."""

    CANCEL = "converting-cancel"
    RETRY = "converting-retry"


def layout(name: str, status: ConversionStatus | None) -> html.Div:
    """A card with the progress, which the shared watch keeps up to date."""
    return html.Div(
        html.Section(
            [html.H1(plain(name)), html.Div(progress(status), id=ShellId.PROGRESS)],
            className="card",
        ),
        className="middle",
        **attributes(data_title=plain(name)),
    )


def broken(name: str, message: str, hint: str, quality: str = "") -> html.Div:
    """A card for a stored job that cannot be read, with a way to convert it again.

    `quality` is the address of what is wrong with its files, "" where nothing is known of them.
    """
    files = [dcc.Link("See its files", href=quality, className="button")] if quality else []
    return html.Div(
        html.Section(
            [
                html.H1(plain(name)),
                html.P("This job could not be opened.", className="lead"),
                notices.failed(plain(message, 600), plain(hint, 600)),
                html.Div(id=ShellId.PROGRESS, className="broken-progress"),
                html.Div([_retry_button(), *files], className="actions"),
            ],
            className="card",
        ),
        className="middle",
        **attributes(data_title=plain(name)),
    )


def progress(status: ConversionStatus | None) -> list[Component]:
    """How far the conversion is, in a bar and in figures; one that ended says how."""
    if status is not None and not status.state.active and status.state is not Stage.DONE:
        return _ended(status)
    lead = "This job is being read. It opens by itself when that is done."
    if status is not None and status.state is Stage.QUEUED:
        lead = "Waiting to be read. This job opens by itself when that is done."
    cancel = html.Button("Cancel", id=Id.CANCEL, className="button", type="button")
    return [
        html.P(lead, className="lead"),
        notices.progress_bar(percent(status), "Conversion"),
        html.Dl([_figure(words, value) for words, value in figures(status)], className="converting-figures"),
        html.Div(cancel, className="actions"),
    ]


def percent(status: ConversionStatus | None) -> float | None:
    """How much was read; None while nothing is known."""
    if status is None or status.state is Stage.QUEUED or status.bytes_total <= 0:
        return None
    return 100 * status.fraction


def figures(status: ConversionStatus | None, now_s: float | None = None) -> list[tuple[str, str]]:
    """Files, size, rate and time left, in words; an en dash where not known yet."""
    if status is None or status.bytes_total <= 0:
        return [("Files", "–"), ("Read", "–"), ("Rate", "–"), ("Time left", "–")]
    elapsed_s = max((time.time() if now_s is None else now_s) - status.started_s, 0.001)
    rate = status.bytes_done / elapsed_s
    left_s = (status.bytes_total - status.bytes_done) / rate if rate > 0 and elapsed_s > 0.5 else None
    return [
        ("Files", f"{count(status.files_done)} of {count(status.files_total)}"),
        ("Read", f"{byte_size(status.bytes_done)} of {byte_size(status.bytes_total)}"),
        ("Rate", f"{byte_size(rate)}/s" if status.bytes_done else "–"),
        ("Time left", "–" if left_s is None else duration(max(round(left_s), 1) * 1_000_000_000)),
    ]


def register(dash_app: Dash, conversions: Conversions) -> None:
    """Cancel, and try again."""

    @dash_app.callback(
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Input(Id.CANCEL, "n_clicks"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def cancel_conversion(clicks: int | None, pathname: str) -> Any:
        if not clicks:
            return no_update
        conversions.cancel(job_id_of(dash_app, pathname))
        return no_update

    @dash_app.callback(
        Output(ShellId.REFRESHED, "data", allow_duplicate=True),
        Input(Id.RETRY, "n_clicks"),
        State(ShellId.URL, "pathname"),
        prevent_initial_call=True,
    )
    def convert_again(clicks: int | None, pathname: str) -> Any:
        if not clicks:
            return no_update
        conversions.request([job_id_of(dash_app, pathname)])
        return time.time_ns()


def _ended(status: ConversionStatus) -> list[Component]:
    lead = "This job could not be opened."
    if status.state is Stage.CANCELLED:
        lead = "This job has not been read."
        words = notices.information("The conversion was cancelled; nothing was stored.")
    else:
        words = notices.failed(plain(status.message, 600) or "The conversion failed.", plain(status.hint, 600))
    return [
        html.P(lead, className="lead"),
        words,
        html.Div(_retry_button(), className="actions"),
    ]


def _retry_button() -> html.Button:
    return html.Button("Convert again", id=Id.RETRY, className="button primary", type="button")


def _figure(words: str, value: str) -> html.Div:
    return html.Div([html.Dt(words), html.Dd(value)])
