"""The table of statements about a job's data: what was found, which panels it touches, what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from components import format as text
from components.levels import level_sign
from components.markup import attributes
from data.insights.statement import Panels, Statement


def statement_table(statements: Sequence[Statement], href: Callable[[Statement], str]) -> html.Div:
    """What to know before a number is trusted: what was found, what it touches, what it means."""
    heads: list[str | Component] = [
        html.Span("Weight", className="visually-hidden"),
        "What was found",
        "Touches",
        "What it means",
        html.Span("Where", className="visually-hidden"),
    ]
    head = html.Tr([html.Th(name, scope="col") for name in heads])
    rows = [_statement_row(one, href) for one in statements]
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="data statements")
    return html.Div(
        table,
        className="table-scroll",
        tabIndex=0,
        role="region",
        **attributes(aria_label="What to know before trusting"),
    )


def _statement_row(one: Statement, href: Callable[[Statement], str]) -> html.Tr:
    link: list[Component] = []
    if one.window is not None:
        link.append(dcc.Link("Show in Nodes →", href=href(one)))
    return html.Tr(
        [
            html.Td(level_sign(one.level)),
            html.Th(text.plain(one.found, 400), scope="row"),
            html.Td(_touched(one.touches)),
            html.Td(text.plain(one.means, 400)),
            html.Td(link, className="n"),
        ]
    )


def _touched(panels: Panels) -> str:
    return "; ".join(f"{page}: {', '.join(titles)}" for page, titles in panels) or "no panel"
