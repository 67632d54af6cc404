"""Cards of figures in words: the strip of key numbers, lists of facts, sentences, and the bare strip of a minimap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from dash import dcc, html
from dash.development.base_component import Component

from components.format import MISSING
from components.markup import attributes
from components.panels import GRAPH_CONFIG


@dataclass(frozen=True)
class Kpi:
    """A key number: what it is, the number, its unit, and one short remark that puts it in place."""

    label: str
    value: str
    unit: str = ""
    note: str = ""
    metric: str = ""


def missing() -> html.Span:
    """A value that was not measured: hatched, never 0."""
    return html.Span(MISSING, className="hatch-tag")


def kpi_strip(kpis: Sequence[Kpi]) -> html.Div:
    """Key numbers side by side."""
    return html.Div([_card(kpi) for kpi in kpis], className="kpis", role="list")


def _card(kpi: Kpi) -> html.Div:
    dot = [html.Span(className="dot", **attributes(data_metric=kpi.metric))] if kpi.metric else []
    absent = kpi.value == MISSING
    unit = [html.Span(kpi.unit, className="kpi-unit")] if kpi.unit and not absent else []
    return html.Div(
        [
            html.Div([*dot, kpi.label], className="kpi-label"),
            html.Div([missing() if absent else kpi.value, *unit], className="kpi-value num"),
            html.Div(kpi.note, className="kpi-note", title=kpi.note),
        ],
        className="kpi",
        role="listitem",
    )


def facts(rows: Sequence[tuple[str, str]]) -> html.Dl:
    """Names and values, one below the other."""
    parts: list[Component] = []
    for name, value in rows:
        parts += [html.Dt(name), html.Dd(missing() if value == MISSING else value, className="num")]
    return html.Dl(parts, className="facts")


def absent_card(what: str, reason: str, hint: str = "") -> html.Div:
    """Panels that a job cannot have, said once in one line."""
    return html.Div(
        [
            html.Span(what, className="panel-title"),
            missing(),
            html.Span(" ".join(part for part in (reason, hint) if part), className="panel-note"),
        ],
        className="card absent wide",
    )


def strip_panel(panel_id: str, label: str, *, height: int) -> html.Section:
    """A chart without a card of its own, for a toolbar."""
    chart = dcc.Graph(id=panel_id, config=cast(Any, GRAPH_CONFIG), style={"height": f"{height}px"}, responsive=True)
    return html.Section(
        [
            dcc.Store(id=f"{panel_id}-request"),
            html.Div(chart, className="chart", role="img", **attributes(aria_label=label)),
            html.Span(id=f"{panel_id}-note", hidden=True),
            html.Div(id=f"{panel_id}-caption", className="visually-hidden"),
            html.Div(id=f"{panel_id}-empty", className="panel-empty"),
        ],
        className="panel strip loading",
        **attributes(data_panel=panel_id, data_query_keys=""),
    )


def section_title(title: str, note: str = "") -> html.H2:
    """The head of a group of cards."""
    return html.H2([title, html.Span(note, className="section-note")], className="section-title")
