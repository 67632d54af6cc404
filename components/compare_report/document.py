"""A comparison as it is written to a file: every value of the page, missing ones as null."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from components import format as text
from data.frames import JobHeader
from data.frames.comparison import BudgetResult, Comparison, Fact, FindingChange, Row

SCHEMA = "debugger-insights/comparison"
VERSION = 1
_SENTENCE = 1200


@dataclass(frozen=True)
class RunName:
    """One of the runs."""

    job_id: str
    name: str
    status: str
    instances: str
    duration_s: float


@dataclass(frozen=True)
class Figure:
    """A figure of both runs; None is not known."""

    key: str
    phase: str
    name: str
    unit: str
    a: float | None
    b: float | None
    difference: float | None
    percent: float | None
    low_95: float | None
    high_95: float | None
    smallest_found: float | None
    tested: bool
    verdict: str
    note: str


@dataclass(frozen=True)
class Change:
    """What became of a rule's finding."""

    rule: str
    title: str
    change: str
    a: str | None  # the sentence, None where the run was not judged
    b: str | None


@dataclass(frozen=True)
class Document:
    """The whole comparison."""

    schema: str
    version: int
    software: str
    made: str  # UTC
    a: RunName
    b: RunName
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    figures: tuple[Figure, ...]
    findings: tuple[Change, ...]
    budgets: tuple[BudgetResult, ...]

    @property
    def broken(self) -> tuple[BudgetResult, ...]:
        return tuple(one for one in self.budgets if one.broken)


def compose(
    comparison: Comparison,
    headers: Sequence[JobHeader],
    rows: Sequence[Row],
    changes: Sequence[FindingChange],
    budgets: Sequence[BudgetResult],
    *,
    software: str,
    made_ns: int,
) -> Document:
    """The document of a comparison; `rows` are its figures with those that follow from prices."""
    return Document(
        schema=SCHEMA,
        version=VERSION,
        software=software,
        made=text.moment(made_ns).strftime("%Y-%m-%dT%H:%M:%SZ"),
        a=_run(headers[0]),
        b=_run(headers[1]),
        facts=tuple(_fact(fact) for fact in comparison.parity.facts),
        warnings=tuple(text.plain(warning, _SENTENCE) for warning in comparison.parity.warnings),
        figures=tuple(_figure(row) for row in rows),
        findings=tuple(_change(one) for one in changes),
        budgets=tuple(BudgetResult(one.budget, one.broken, text.plain(one.text, _SENTENCE)) for one in budgets),
    )


def _run(header: JobHeader) -> RunName:
    length_s = (header.end_ns - header.start_ns) / text.NS_PER_S
    return RunName(header.job_id, text.plain(header.name), header.status, text.plain(header.instances), length_s)


def _fact(fact: Fact) -> Fact:
    return Fact(text.plain(fact.name), text.plain(fact.a), text.plain(fact.b), fact.same, fact.unfair)


def _figure(row: Row) -> Figure:
    return Figure(
        key=row.key,
        phase=text.plain(row.phase),
        name=row.name,
        unit=row.unit,
        a=_known(row.a),
        b=_known(row.b),
        difference=_known(row.difference),
        percent=_known(row.percent),
        low_95=_known(row.low),
        high_95=_known(row.high),
        smallest_found=_known(row.smallest),
        tested=row.basis == "tested",
        verdict=row.verdict,
        note=text.plain(row.note, _SENTENCE),
    )


def _change(one: FindingChange) -> Change:
    a, b = (text.plain(side.outcome.text, _SENTENCE) if side else None for side in (one.a, one.b))
    return Change(text.plain(one.rule), text.plain(one.title), one.change, a, b)


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
