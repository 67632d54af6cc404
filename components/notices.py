"""Notices: why a place is empty, what failed, what is going on. All text is plain text."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from components.markup import attributes


def empty(reason: str, hint: str = "") -> html.Div:
    """There is nothing to show here, and that is normal."""
    return html.Div(
        [
            html.Span("n/a", className="hatch-tag"),
            html.P(reason, className="notice-text"),
            *_hint(hint),
        ],
        className="notice notice-empty",
    )


def failed(message: str, hint: str = "", *, dismissible: bool = False) -> html.Div:
    """Something did not work: one sentence, one next step."""
    parts: list[Component] = [html.P(message, className="notice-text"), *_hint(hint)]
    if dismissible:
        parts.append(
            html.Button(
                "Close",
                className="button small",
                type="button",
                **attributes(data_action="dismiss-notice"),
            )
        )
    return html.Div(parts, className="notice notice-failed", role="alert")


def information(message: str) -> html.Div:
    """Something worth knowing that is no fault."""
    return html.Div([html.P(message, className="notice-text")], className="notice notice-information")


def progress_bar(percent: float | None, label: str) -> html.Div:
    """A bar from 0 to 100 percent; None is "under way, nobody knows how far"."""
    known = percent is not None
    value = min(max(percent or 0.0, 0.0), 100.0)
    aria = attributes(aria_label=label, aria_valuemin="0", aria_valuemax="100")
    if known:
        aria |= attributes(aria_valuenow=f"{value:.0f}")
    return html.Div(
        html.Div(className="progress-fill", style={"width": f"{value:.1f}%"} if known else {}),
        className="progress" if known else "progress unknown",
        role="progressbar",
        **aria,
    )


def _hint(hint: str) -> list[Component]:
    return [html.P(hint, className="notice-hint")] if hint else []
