"""Panels' callbacks: a request store in, a chart, content, or the reason why there is none out.

The browser fills the request store of each panel in view. Every request gets an answer: what goes wrong is said
in the panel's place.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from dash import Dash, Input, Output, html, no_update
from dash.development.base_component import Component

from app import urls
from app.errors import INTERNAL, explain
from app.page import local_path
from components import notices
from components.markup import attributes
from components.panels import EmptyView, FigureView
from data.errors import InsightsError, MissingTable
from data.selection import Selection

log = logging.getLogger(__name__)

_DRAWINGS = "insights-drawings"
_MAX_WIDTH_PX = 4096
_MAX_OFFSET_MINUTES = 24 * 60


@dataclass(frozen=True)
class Request:
    """What a panel is asked for. `width` is in pixels, `offset_minutes` what local time is ahead of UTC (0 = UTC)."""

    selection: Selection
    width: int
    theme: Literal["dark", "light"] = "dark"
    offset_minutes: int = 0
    query: Mapping[str, str] = field(default_factory=dict)
    search: str = ""


def drawings(dash_app: Dash) -> dict[str, Callable[[Request], Any]]:
    """What draws each panel of an app, by its id."""
    found: dict[str, Callable[[Request], Any]] = dash_app.server.extensions.setdefault(_DRAWINGS, {})
    return found


def register_figure(dash_app: Dash, panel_id: str, draw: Callable[[Request], FigureView | EmptyView]) -> None:
    """Answer the requests of a `figure_panel` with `draw`."""
    drawings(dash_app)[panel_id] = draw

    @dash_app.callback(
        Output(panel_id, "figure"),
        Output(panel_id, "style"),
        Output(f"{panel_id}-note", "children"),
        Output(f"{panel_id}-caption", "children"),
        Output(f"{panel_id}-empty", "children"),
        Input(f"{panel_id}-request", "data"),
        prevent_initial_call=True,
    )
    def update_figure(data: dict[str, Any] | None) -> tuple[Any, ...]:
        request = read_request(dash_app, data)
        if request is None:
            return (no_update,) * 5
        view = answer(draw, request, panel_id)
        marker = _marker(data)
        if isinstance(view, FigureView):
            # The server's range must win over the user's own zoom when "back" changes the window.
            view.figure.update_layout(uirevision=request.search)
            style = {"height": f"{view.height}px"} if view.height else no_update
            return view.figure, style, view.note, [html.Span(view.caption), marker], []
        return no_update, no_update, "", [], [view, marker]


def register_content(dash_app: Dash, panel_id: str, draw: Callable[[Request], Component | EmptyView]) -> None:
    """Answer the requests of a `content_panel` with `draw`."""
    drawings(dash_app)[panel_id] = draw

    @dash_app.callback(
        Output(f"{panel_id}-body", "children"),
        Input(f"{panel_id}-request", "data"),
        prevent_initial_call=True,
    )
    def update_content(data: dict[str, Any] | None) -> Any:
        request = read_request(dash_app, data)
        if request is None:
            return no_update
        return [answer(draw, request, panel_id), _marker(data)]


def read_request(dash_app: Dash, data: Mapping[str, Any] | None) -> Request | None:
    """The request in a store, with every value checked: the browser is not trusted. None for an empty store."""
    if not isinstance(data, Mapping):
        return None
    pathname, search = str(data.get("path", "")), str(data.get("search", ""))
    address = urls.parse(local_path(dash_app, pathname), search)
    if not address.selection.job:
        return None
    return Request(
        selection=address.selection,
        width=_bounded(data.get("width"), 100, _MAX_WIDTH_PX, 1000),
        theme="light" if data.get("theme") == "light" else "dark",
        offset_minutes=_bounded(data.get("offset"), -_MAX_OFFSET_MINUTES, _MAX_OFFSET_MINUTES, 0),
        query=dict(address.query),
        search=search,
    )


def _bounded(value: object, low: int, high: int, default: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    return int(min(max(value, low), high))


def filled(body: Component, draw: Callable[[Request], Component | EmptyView], request: Request, panel_id: str) -> None:
    """Put a content panel's drawing into its body before the browser has asked for it."""
    body.children = [answer(draw, request, panel_id)]
    for name, value in attributes(data_filled="page").items():
        setattr(body, name, value)


def answer(draw: Callable[[Request], Any], request: Request, panel_id: str) -> FigureView | Component:
    """The drawing, or a notice that says why there is none."""
    try:
        view = draw(request)
    except MissingTable as missing:
        view = EmptyView(missing.message, missing.hint)
    except InsightsError as error:
        return notices.failed(*explain(error))
    except Exception:
        log.exception("panel failed", extra={"panel": panel_id})
        return notices.failed(*INTERNAL)
    if isinstance(view, EmptyView):
        return notices.empty(view.reason, view.hint)
    return cast(FigureView | Component, view)


def _marker(data: Mapping[str, Any] | None) -> Component:
    """An invisible sign that this request was answered; the browser takes the loading state away by it."""
    return html.I(hidden=True, **attributes(data_answer=str((data or {}).get("serial", ""))))
