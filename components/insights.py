"""What the rules found: a list with one entry a rule that opens to where, how sure, what to do, and what it wastes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from components import format as text
from components.controls import segments
from components.markup import attributes
from components.thresholds import Base, threshold_rows
from data.frames.findings import COMPAT, FIXED, Figure, FigureTable, Finding, Findings, Mode, Outcome, Place
from data.insights.original import OriginalVerdict

SIGNS: Final = {
    "high": "▲",
    "medium": "◆",
    "low": "◇",
    "no issue": "✓",
    "not enough data": "…",
    "n/a": "–",
    "failed": "✕",
    "summary": "≡",
}
"""The shape of every state, drawn by the style sheet; an issue has the one of its severity."""

WORDS: Final = {
    "high": "Issue, high",
    "medium": "Issue, medium",
    "low": "Issue, low",
    "no issue": "No issue",
    "not enough data": "Not enough data",
    "n/a": "n/a",
    "failed": "Failed",
    "summary": "Summary",
}

MODE_WORDS: Final = {
    FIXED: "Each rule as it is meant, right where the original counted wrongly.",
    COMPAT: "Counted as the original reports did, faults included, to compare with one of them. Rules it did not have"
    " are left out.",
}
ORIGINS: Final = {"original": "rule of the original", "ours": "rule of this dashboard", "custom": "rule of your own"}


SHOWN_ROWS: Final = 12


@dataclass(frozen=True)
class Price:
    """US dollars of an hour; None where no price is known."""

    gpu_hour: Decimal | None = None
    node_hour: Decimal | None = None


@dataclass(frozen=True)
class Surroundings:
    """What the list needs besides findings: links, words for times, a price, the server's thresholds, what is open."""

    href: Callable[[Place], str]  # where a place is seen
    when: Callable[[tuple[int, int]], str]  # a window in words
    price: Price = Price()
    base: Base = field(default_factory=dict)
    mode: Mode = FIXED  # the server's own
    opened: frozenset[str] | None = None  # names of rules; None is the worst issue
    originals: Mapping[str, OriginalVerdict] = field(default_factory=dict)  # what the original's own reports said


def insights_list(found: Findings, around: Surroundings, refused: Sequence[str] = ()) -> html.Div:
    """All findings in their order, with the way of counting above."""
    opened = around.opened
    if opened is None:
        opened = frozenset(one.rule for one in found.issues[:1])
    items: list[Component] = [_item(one, around, one.rule in opened) for one in found.findings]
    return html.Div(
        [
            _line(found),
            _tools(found, around),
            *([_refused(refused)] if refused else []),
            html.Ul(items, className="insight-list"),
        ],
        className="insights",
    )


def _line(found: Findings) -> html.Div:
    issues, rules = len(found.issues), len(found.findings)
    words = f"Showing {text.counted(rules, 'rule')}, {issues or 'none'} found an issue"
    several = sum(bool(one.outcome.wasted_gpu_s or one.outcome.wasted_node_s) for one in found.issues) > 1
    more = [html.Span("Wastes overlap: do not add them up.", className="panel-note")] if several else []
    return html.Div([html.Span(words, className="insights-count"), *more], className="insights-line", role="status")


def _tools(found: Findings, around: Surroundings) -> html.Div:
    options = ((FIXED, "As meant"), (COMPAT, "As the original counted"))
    moved = [one.rule for one in found.findings if any(_moved(one, around.base))]
    reset = [
        html.Button(
            "Reset all",
            className="button small quiet",
            type="button",
            title="Back to the defaults, for all rules",
            **attributes(data_reset="*"),
        )
    ]
    return html.Div(
        [
            html.Div(
                [
                    segments("mode", options, default=around.mode, label="Way of counting"),
                    *(reset if moved else []),
                ],
                className="insight-choices",
            ),
            html.P(MODE_WORDS[found.mode], className="panel-note"),
        ],
        className="insight-tools",
    )


def _moved(one: Finding, base: Base) -> list[str]:
    return [
        parameter.name
        for parameter in one.parameters
        if parameter.value != base.get((one.rule, parameter.name), parameter.default)
    ]


def _refused(refused: Sequence[str]) -> html.Div:
    return html.Div(
        [html.P(text.plain(words, 400)) for words in refused], className="notice-warning insight-refused", role="alert"
    )


def _item(one: Finding, around: Surroundings, opened: bool) -> html.Li:
    kind = one.severity or one.outcome.state
    body = [_body(one, around)] if opened else []
    return html.Li(
        html.Details(
            [_summary(one, kind, around), *body],
            open=opened,
            className=f"insight {kind.replace(' ', '-').replace('/', '')}",
            **attributes(data_insight=one.rule),
        ),
        id=f"overview-insight-{one.rule}",  # keeps the entry itself when its place in the list changes
    )


def _summary(one: Finding, kind: str, around: Surroundings) -> html.Summary:
    """As few components as can be: the page slows down with each, and there are many rules."""
    issue = one.outcome.state == "issue"
    cost = cost_words(one.outcome, around.price) if issue else ""
    title: list[str | Component] = [text.plain(one.title, 80)]
    if _moved(one, around.base):
        title.append(html.Span("changed"))
    parts: list[Component] = [
        html.Div(title, className="insight-title"),
        html.Span(WORDS[kind], className="chip insight-badge"),
        html.Code(text.plain(one.rule, 60)),
    ]
    if cost:
        parts.append(html.Span(cost, className="insight-cost num"))
    if issue:
        parts.append(html.Div(text.plain(one.outcome.text, 600), className="insight-says"))
    return html.Summary(parts, **attributes(data_sign=SIGNS[kind]))


def cost_words(outcome: Outcome, price: Price) -> str:
    """What an issue wastes at most, in the fewest words: hours, and money where a price is known."""
    waste = _wasted(outcome, price)
    if waste is None:
        return ""
    usd = f" · {text.money(waste.usd)}" if waste.usd is not None else ""
    words = text.hours(waste.hours)
    return f"{words if words.startswith('under') else f'up to {words}'} {waste.of}-h{usd}"


@dataclass(frozen=True)
class _Waste:
    hours: Decimal
    of: str  # GPU | node
    usd_per_hour: Decimal | None

    @property
    def usd(self) -> Decimal | None:
        return None if self.usd_per_hour is None else self.hours * self.usd_per_hour


def _wasted(outcome: Outcome, price: Price) -> _Waste | None:
    """What a cure could give back at most: of GPUs, else of nodes; None where the rule cannot tell."""
    for seconds, of, usd in (
        (outcome.wasted_gpu_s, "GPU", price.gpu_hour),
        (outcome.wasted_node_s, "node", price.node_hour),
    ):
        if seconds is not None:
            return _Waste(Decimal(seconds) / 3600, of, usd)
    return None


def _body(one: Finding, around: Surroundings) -> html.Div:
    outcome = one.outcome
    issue = outcome.state == "issue"
    sentence = html.P(text.plain(outcome.text, 600), className="insight-sentence")
    unsure = html.P(text.plain(outcome.confidence, 300), className="insight-unsure")
    claim = html.P([text.plain(one.claim, 300), html.Span(f" · {ORIGINS.get(one.origin, '')}")], className="panel-note")
    evidence: list[Component | None] = [
        None if issue else sentence,
        unsure if outcome.confidence else None,
        _places(outcome.places, around),
        _numbers(outcome),
        _original(around.originals.get(one.rule)),
        *(_table(table) for table in outcome.tables),
        claim,
    ]
    cure: list[Component | None] = [
        _waste(one, around.price) if issue else None,
        _advice(one) if issue or outcome.state == "failed" else None,
        threshold_rows(one, around.base),
    ]
    halves = [html.Div([part for part in half if part is not None]) for half in (evidence, cure)]
    return html.Div(halves, className="insight-body")


def _titled(words: str, *content: Component) -> html.Div:
    return html.Div([html.H4(words, className="column-title"), *content], className="insight-part")


def _original(verdict: OriginalVerdict | None) -> html.Div | None:
    """What the profiler's own report said, and why it differs where that is known."""
    if verdict is None:
        return None
    agrees = "It agrees." if verdict.agrees else "It differs. " + " ".join(verdict.reasons or ("Why is not known.",))
    words = html.P(f"{verdict.text[:1].upper()}{verdict.text[1:]}. {agrees}", className="insight-sentence")
    return _titled("The original's report", words)


def _places(places: Sequence[Place], around: Surroundings) -> html.Div | None:
    if not places:
        return None
    return _titled("Where", html.Ul([_place(place, around) for place in places], className="insight-places"))


def _place(place: Place, around: Surroundings) -> html.Li:
    whose = " ".join(filter(None, (text.plain(place.node, 60), text.plain(place.device, 40)))) or "whole job"
    when = around.when(place.window) if place.window else ""
    words: list[Component] = [html.Span(whose, className="insight-whose")]
    if when:
        words.append(html.Span(when, className="num insight-when"))
    words.append(html.Span("Nodes →", className="insight-go"))
    return html.Li(
        [
            dcc.Link(words, href=around.href(place), title="Show in Nodes"),
            html.Span(text.plain(place.text, 200), className="insight-what"),
        ]
    )


def _numbers(outcome: Outcome) -> html.Dl | None:
    rows = [(one.name, _figure(one)) for one in outcome.figures]
    if outcome.points:
        rows.append((f"Looked at ({text.plain(outcome.points_are, 60) or 'points'})", text.count(outcome.points)))
        rows.append(("Times triggered", text.count(outcome.triggered)))
        if outcome.violations != outcome.triggered:
            rows.append(("Violations", text.count(outcome.violations)))
    if not rows:
        return None
    pairs: list[Component] = []
    for name, value in rows:
        words = text.plain(name, 100)
        pairs += [html.Dt(words[:1].upper() + words[1:]), html.Dd(value, className="num")]
    return html.Dl(pairs, className="facts insight-figures")


def _figure(one: Figure) -> str:
    value = text.number(one.value) if one.unit == "%" else text.significant(one.value)
    return value if value == text.MISSING or not one.unit else f"{value} {text.plain(one.unit, 40)}"


def _table(table: FigureTable) -> html.Div:
    """Figures that belong together; the first rows of many."""
    numeric = [all(not isinstance(value, str) for value in column) for column in zip(*table.rows, strict=False)]
    kinds = ["n" if is_number else "" for is_number in numeric] or [""] * len(table.columns)
    names = zip(table.columns, kinds, strict=False)
    head = html.Tr([html.Th(text.plain(name, 60), scope="col", className=kind) for name, kind in names])
    rows = [html.Tr([_cell(value) for value in row]) for row in table.rows[:SHOWN_ROWS]]
    more = len(table.rows) - SHOWN_ROWS
    note = [html.P(f"and {text.counted(more, 'more row')}", className="panel-note")] if more > 0 else []
    name = text.plain(table.name, 100)
    content = html.Table([html.Thead(head), html.Tbody(rows)], className="data insight-table")
    scroll = html.Div(content, className="table-scroll", tabIndex=0, role="region", **attributes(aria_label=name))
    return _titled(name[:1].upper() + name[1:], scroll, *note)


def _cell(value: str | float | None) -> html.Td:
    if isinstance(value, str):
        return html.Td(text.plain(value, 120))
    return html.Td(text.significant(value), className="n")


def _waste(one: Finding, price: Price) -> html.Div:
    return _titled("What it wastes", html.P(waste_sentence(one, price), className="insight-waste"))


def waste_sentence(one: Finding, price: Price) -> str:
    """What a cure could give back at most, in hours, share and money, and how much earlier the job could end."""
    waste = _wasted(one.outcome, price)
    if waste is None:
        words = "These data do not tell."
    else:
        share = f" ({text.share(one.share)} of the job's {waste.of} time)" if one.share is not None else ""
        words = f"At most {text.hours(waste.hours)} {waste.of}-hours{share}"
        if waste.usd is not None:
            words += f": {text.money(waste.usd)} at {text.price(waste.usd_per_hour)} per {waste.of}-hour"
        words += "."
    if one.outcome.saved_s is not None:
        words += f" If fixed, the job could end up to {text.duration(one.outcome.saved_s * text.NS_PER_S)} earlier."
    return words


def _advice(one: Finding) -> html.Div:
    lines = [html.Li(text.plain(words, 400)) for words in one.advice]
    return _titled("What to do", html.Ul(lines, className="insight-advice"))
