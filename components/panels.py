"""Panels: cards that ask for their own data once they come into view, and what a drawing function may answer.

A panel knows no query. It holds an empty request store; the browser fills it, one callback answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import plotly.graph_objects as go
from dash import dcc, html
from dash.development.base_component import Component

from components.markup import attributes

Children = str | Component | Sequence[str | Component]


@dataclass(frozen=True)
class FigureView:
    """A chart, the grey words beside its title (unit, resolution), and one sentence below it."""

    figure: go.Figure
    note: Children = ""
    caption: Children = ""
    height: int = 0
    """Height of the chart in pixels where the data decide it; 0 keeps the height of the panel."""


@dataclass(frozen=True)
class EmptyView:
    """Why there is nothing to draw, and what could be done about it."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class LegendItem:
    """One entry of a legend: a label beside a mark in the colour of a metric."""

    label: str
    metric: str = ""
    mark: Literal["box", "band", "line", "dotted", "hatch", "open"] = "line"


GRAPH_CONFIG: Final[Any] = {
    "displayModeBar": False,
    "doubleClick": False,
    "scrollZoom": False,
    "showTips": False,
}
"""Plotly's own double click would autorange to the data; ours goes back to the whole job."""


def figure_panel(
    panel_id: str,
    title: str,
    *,
    height: int,
    metric: str = "",
    controls: Component | None = None,
    legend: Sequence[LegendItem] = (),
    wide: bool = False,
    query_keys: Sequence[str] | None = None,
) -> html.Section:
    """A card with a chart of `height` pixels.

    `query_keys` are the keys of the URL besides window and nodes that the panel depends on (`metric`, `scale`);
    None is all of them, and a panel that names its own is not asked again when another one's key changes.
    """
    chart = html.Div(
        [
            dcc.Graph(
                id=panel_id,
                config=GRAPH_CONFIG,
                style={"height": f"{height}px"},
                responsive=True,
            ),
        ],
        className="chart",
        role="img",
        **attributes(aria_label=title, aria_describedby=f"{panel_id}-caption"),
    )
    return _panel(
        panel_id,
        [
            _head(panel_id, title, controls, legend),
            chart,
            html.Div(id=f"{panel_id}-caption", className="panel-caption"),
            html.Div(id=f"{panel_id}-empty", className="panel-empty", role="status"),
        ],
        metric=metric,
        wide=wide,
        query_keys=query_keys,
        min_height=height,
    )


def content_panel(
    panel_id: str,
    title: str,
    *,
    min_height: int,
    controls: Component | None = None,
    wide: bool = False,
    query_keys: Sequence[str] | None = (),
) -> html.Section:
    """A card whose body is not a chart: a table, a list, sentences. Without a title it has no head."""
    parts: list[Component] = [_head(panel_id, title, controls, ())] if title else []
    parts.append(
        html.Div(
            id=f"{panel_id}-body",
            className="panel-body",
            style={"minHeight": f"{min_height}px"},
        )
    )
    return _panel(
        panel_id,
        parts,
        metric="",
        wide=wide,
        query_keys=query_keys,
        min_height=min_height,
    )


def grid_panel(
    panel_id: str,
    title: str,
    grid: Component,
    *,
    controls: Component | None = None,
    query_keys: Sequence[str] | None = (),
) -> html.Section:
    """A card whose body is a grid that asks for its rows by itself, once this panel has been asked for."""
    answer = html.I(id=f"{panel_id}-answer", hidden=True)
    body = html.Div([grid, answer], className="panel-grid")
    parts: list[Component] = [_head(panel_id, title, controls, ()), body]
    return _panel(panel_id, parts, metric="", wide=False, query_keys=query_keys, min_height=120)


def _panel(
    panel_id: str,
    parts: list[Component],
    *,
    metric: str,
    wide: bool,
    query_keys: Sequence[str] | None,
    min_height: int,
) -> html.Section:
    keys = "*" if query_keys is None else " ".join(query_keys)
    return html.Section(
        [dcc.Store(id=f"{panel_id}-request"), *parts],
        className="card panel loading wide" if wide else "card panel loading",
        style={"minHeight": f"{min_height + 44}px"},
        **attributes(data_panel=panel_id, data_query_keys=keys),
        **_metric(metric),
    )


def _head(panel_id: str, title: str, controls: Component | None, legend: Sequence[LegendItem]) -> html.Div:
    """Title, note, and at the right the legend and the controls."""
    right: list[Component] = []
    if legend:
        right.append(legend_row(legend))
    if controls is not None:
        right.append(controls)
    return html.Div(
        [
            html.H3(title, className="panel-title"),
            html.Span(id=f"{panel_id}-note", className="panel-note"),
            html.Div(right, className="panel-right"),
        ],
        className="panel-head",
    )


def legend_row(items: Sequence[LegendItem]) -> html.Div:
    """A legend in words and marks, in place of Plotly's."""
    return html.Div(
        [
            html.Span(
                [
                    html.I(className=f"mark mark-{item.mark}", **_metric(item.metric)),
                    item.label,
                ],
                className="legend-item",
            )
            for item in items
        ],
        className="legend",
    )


def _metric(metric: str) -> dict[str, Any]:
    return attributes(data_metric=metric) if metric else {}
