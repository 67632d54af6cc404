"""Two runs side by side in words and tables: the head, whether the comparison is fair, verdicts, findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from components import format as text
from components.cards import missing
from components.figures.steps import phase_name
from components.markup import attributes
from components.shell import status_chip
from data.frames import JobHeader
from data.frames.comparison import SINGLE, Change, Fact, FindingChange, Parity, Row, Verdict

_SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "better": ("▲", "good"),
    "worse": ("▼", "bad"),
    "higher": ("↑", ""),
    "lower": ("↓", ""),
    "equal": ("=", ""),
    "no detectable difference": ("≈", ""),
    "cannot be judged": ("?", "unknown"),
}
_CHANGES: Final[Mapping[Change, tuple[str, str]]] = {
    "new": ("▼", "bad"),
    "still there": ("●", "warning"),
    "not judged in A": ("▼", "warning"),
    "cannot be judged in B": ("?", "unknown"),
    "without object in B": ("–", "unknown"),
    "fixed": ("▲", "good"),
    "no issue": ("=", ""),
}


def head(runs: Sequence[tuple[str, JobHeader, str]], swap: str) -> html.Div:
    """Both runs by name with their facts, and the way to swap them: (letter, header, address) each, and an address."""
    return html.Div(
        [
            html.Div([_run(*run) for run in runs], className="compare-runs"),
            html.Div(dcc.Link("Swap A and B", href=swap, className="button"), className="actions"),
        ],
        className="compare-head",
        # the window of the address is in the time of A
        id="job",
        **attributes(
            data_job_start_ns=str(runs[0][1].start_ns),
            data_job_end_ns=str(runs[0][1].end_ns),
            data_title=text.plain(f"{runs[0][1].name} and {runs[1][1].name}"),
        ),
    )


def _run(letter: str, header: JobHeader, href: str) -> html.Div:
    role = "baseline" if letter == "A" else "compared with A"
    facts: list[str | Component] = [
        status_chip(header.status, header.status_detail),
        text.plain(header.instances) or text.counted(len(header.nodes), "node"),
        text.counted(header.gpus, "GPU") if header.gpus else "no GPU",
        text.duration(header.end_ns - header.start_ns),
    ]
    return html.Div(
        [
            html.Div([html.Span(letter, className="run-letter"), role], className="run-role"),
            html.H2(dcc.Link(text.plain(header.name), href=href), className="run-name"),
            html.Div([html.Span(fact) for fact in facts], className="page-sub"),
        ],
        className=f"compare-run run-{letter.lower()}",
    )


def choice(links: Sequence[tuple[str, str, str]]) -> html.Ul:
    """Jobs to compare with: name, machines, and the address of the comparison."""
    return html.Ul(
        [
            html.Li(
                [
                    # a plain link: the path stays the same, so that the page would not be built anew
                    html.A(text.plain(name) or "(no name)", href=href),
                    html.Span(text.plain(machines), className="panel-note"),
                ]
            )
            for name, machines, href in links
        ],
        className="choice",
    )


def parity_banner(found: Parity) -> html.Div:
    """What is not alike and what that makes unfair; the whole list of facts behind it."""
    differing, alike = found.differing, [fact for fact in found.facts if fact.same]
    level, sign = ("warning", "◆") if found.warnings else ("good", "✓")
    title = (
        "These runs are alike in all that is known of them."
        if not differing
        else f"These runs differ in {_listed([fact.name for fact in differing])}."
    )
    return html.Div(
        [
            html.Span(sign, className=f"level {level}", **attributes(aria_hidden="true")),
            html.Div(
                [
                    html.Div(title, className="verdict-text"),
                    html.Ul([html.Li(text.plain(warning, 400)) for warning in found.warnings], className="parity-list"),
                    html.Details(
                        [html.Summary(f"All {len(found.facts)} facts"), _facts([*differing, *alike])],
                        className="parity-facts",
                    ),
                ]
            ),
        ],
        className=f"verdict {level if found.warnings else ''}".strip(),
    )


def _listed(names: Sequence[str]) -> str:
    shown = [text.plain(name, 60) for name in names[:6]]
    more = [f"{len(names) - 6} more"] if len(names) > 6 else []
    words = [*shown, *more]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _facts(facts: Sequence[Fact]) -> html.Div:
    rows = [
        html.Tr(
            [
                html.Th(text.plain(fact.name, 80), scope="row"),
                html.Td(text.plain(fact.a) or missing()),
                html.Td(text.plain(fact.b) or missing()),
                html.Td("same" if fact.same else "differs"),
            ]
        )
        for fact in facts
    ]
    return _table(["", "A", "B", ""], rows, "Facts of both runs")


def verdict_table(rows: Sequence[Row]) -> html.Div:
    """Every figure of both runs, what differs, how sure that is, and the verdict."""
    heads = ["Figure", "A", "B", "B − A", "%", "Verdict", "How sure"]
    return _table(heads, [_verdict_row(row) for row in rows], "Figures of both runs", "verdicts")


def _verdict_row(row: Row) -> html.Tr:
    name: list[str | Component] = [row.name]
    if row.phase:
        name.append(html.Span(text.plain(phase_name(row.phase), 60), className="panel-note"))
    return html.Tr(
        [
            html.Th(name, scope="row"),
            *(_number(value, row.unit) for value in (row.a, row.b)),
            _number(row.difference, row.unit, signed=True),
            _number(row.percent, "%", signed=True),
            html.Td(_badge(row.verdict)),
            html.Td(_sure(row), className="sure"),
        ]
    )


def _number(value: float, unit: str, *, signed: bool = False) -> html.Td:
    if math.isnan(value):
        return html.Td(missing(), className="n")
    return html.Td(amount(value, unit, signed=signed), className="n num")


def amount(value: float, unit: str, *, signed: bool = False) -> str:
    """A figure with its unit, with a plus where it is a difference."""
    words = {
        "s": lambda: text.duration(value * text.NS_PER_S),
        "bytes/s": lambda: text.byte_rate(value),
        "USD": lambda: f"{text.number(value, 2)} USD",
        "%": lambda: text.percent(value, 1),
    }.get(unit, lambda: f"{text.number(value, 0 if abs(value) >= 100 else 2)} {unit}")()
    return f"+{words}" if signed and value > 0 else words


def _badge(verdict: Verdict) -> html.Span:
    sign, kind = _SIGNS[verdict]
    return html.Span(
        [html.Span(sign, **attributes(aria_hidden="true")), verdict], className=f"chip verdict-chip {kind}".strip()
    )


def _sure(row: Row) -> list[str | Component]:
    note = html.Div(text.plain(row.note, 300), className="panel-note")
    if row.basis == SINGLE:
        return [note] if row.key == "cost" else ["one value each, not tested", note]
    if math.isnan(row.low):
        return [note]
    bounds = f"95 %: {amount(row.low, row.unit, signed=True)} to {amount(row.high, row.unit, signed=True)}"
    return [f"{bounds}; {amount(row.smallest, row.unit)} would have been found", note]


def findings_table(changes: Sequence[FindingChange]) -> html.Div:
    """What became of each finding; rules that found nothing in either run are counted only."""
    shown = [one for one in changes if one.change != "no issue"]
    quiet = len(changes) - len(shown)
    note = f"{text.counted(quiet, 'rule')} found no issue in either run, or could not be applied."
    if not shown:
        return html.Div(html.P(note, className="panel-words"))
    rows = [
        html.Tr(
            [
                html.Td(_change(one.change)),
                html.Th(
                    [text.plain(one.rule, 60), html.Span(text.plain(one.title), className="panel-note")], scope="row"
                ),
                *(html.Td(text.plain(side.outcome.text, 400) if side else missing()) for side in (one.a, one.b)),
            ]
        )
        for one in shown
    ]
    return html.Div(
        [
            _table(["", "Rule", "A", "B"], rows, "Findings of both runs", "changes"),
            html.P(note, className="panel-words"),
        ]
    )


def _change(change: Change) -> html.Span:
    sign, kind = _CHANGES[change]
    return html.Span(
        [html.Span(sign, **attributes(aria_hidden="true")), change], className=f"chip verdict-chip {kind}".strip()
    )


def _table(heads: Sequence[str], rows: Sequence[Component], label: str, name: str = "") -> html.Div:
    numeric = {"A", "B", "B − A", "%"} if name == "verdicts" else set()
    head_row = html.Tr([html.Th(head, scope="col", className="n" if head in numeric else "") for head in heads])
    return html.Div(
        html.Table([html.Thead(head_row), html.Tbody(list(rows))], className=f"data wrapped {name}".strip()),
        className="table-scroll",
        tabIndex=0,
        role="region",
        **attributes(aria_label=label),
    )
