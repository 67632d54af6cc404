"""Operators of two runs: which came, went, or take longer or shorter for a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from dash import html
from dash.development.base_component import Component

from components import format as text
from components.cards import missing
from components.markup import attributes
from components.operators import SIDES
from data.frames.comparison import OperatorChange

SHOWN: Final = 30
_VERDICTS: Final = ("added", "removed", "slower", "faster", "unchanged")
_WORDS: Final = dict(SIDES)


def operator_changes(changes: Sequence[OperatorChange]) -> html.Div:
    """The operators whose total time changed most, and how many of each verdict there are."""
    counts = Counter(one.verdict for one in changes)
    summary = " · ".join(f"{text.count(counts[verdict])} {verdict}" for verdict in _VERDICTS if counts[verdict])
    more = f" · the {SHOWN} with the largest change in total are listed" if len(changes) > SHOWN else ""
    heads = ["Operation", "Side", "Calls A", "Calls B", "A call, A", "A call, B", "Total, A", "Total, B", "Verdict"]
    head = html.Tr([html.Th(name, scope="col", className="n" if 1 < at < 8 else "") for at, name in enumerate(heads)])
    table = html.Table([html.Thead(head), html.Tbody([_row(one) for one in changes[:SHOWN]])], className="data wrapped")
    return html.Div(
        [
            html.P(summary + more, className="panel-words"),
            html.Div(
                table,
                className="table-scroll",
                tabIndex=0,
                role="region",
                **attributes(aria_label="Operators of both runs"),
            ),
        ]
    )


def _row(one: OperatorChange) -> html.Tr:
    return html.Tr(
        [
            html.Th(text.plain(one.name, 200) or "(no name)", scope="row", className="mono"),
            html.Td(_WORDS.get(one.side, one.side)),
            *(_cell(text.count(count) if count else "") for count in (one.count_a, one.count_b)),
            *(_cell(_time(value)) for value in (one.mean_a_ns, one.mean_b_ns)),
            *(_cell(_time(total) if count else "") for total, count in _totals(one)),
            html.Td(one.verdict),
        ]
    )


def _totals(one: OperatorChange) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one.total_a_ns, one.count_a), (one.total_b_ns, one.count_b)


def _time(value_ns: float) -> str:
    return "" if text.is_missing(value_ns) else text.duration(value_ns)


def _cell(words: str) -> Component:
    return html.Td(words or missing(), className="n num")
