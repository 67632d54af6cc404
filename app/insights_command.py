"""The command that judges jobs: brings each up to date in the store, and prints what the rules find in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import orjson

from app.choices import Refused, of_assignments
from app.commands import limits_of
from app.judgement import Choice
from app.judging import Judge
from app.pricing import cost_of
from app.settings import Settings
from components.format import plain
from components.insights import SIGNS, WORDS, Price, cost_words, waste_sentence
from data.errors import InsightsError, SourceError
from data.frames.findings import Finding, Findings
from data.queries import jobs
from data.selection import Selection

if TYPE_CHECKING:
    from rich.console import Console

    from data.sources import SourceJob

WEIGHTS: Final = ("", "low", "medium", "high")
_STYLES: Final = {"high": "bold red", "medium": "bold yellow", "low": "yellow", "failed": "red"}


def insights(settings: Settings, job: str, assignments: Sequence[str], mode: str, *, as_json: bool) -> int:
    """Print the findings of one job or of all; the weight of the worst issue, 0 where there is none.

    Raises ValueError for a threshold or mode that cannot be used, and InsightsError where no job could be judged.
    """
    from data.sources import open_source

    sources = [open_source(uri) for uri in settings.source]
    judge = Judge(settings, sources)
    _name(judge.refused)
    asked = of_assignments(assignments, mode, judge.judgement.rules, judge.judgement.defaults)
    if asked.refused:
        raise ValueError(" ".join(one.words for one in asked.refused))
    chosen = _chosen([one for source in sources for one in source.jobs()], job, settings)
    results = [_judged(settings, judge, one, asked.choice) for one in chosen]
    if as_json:
        content = {"jobs": [one.document(judge) for one in results]}
        sys.stdout.write(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        for one in results:
            one.show(judge)
    failed = [one.error for one in results if one.error is not None]
    if failed and len(failed) == len(results):
        raise failed[0]
    return max(one.weight for one in results)


class _Judged:
    """A job's findings, or why there are none."""

    def __init__(self, job: SourceJob, found: Findings | None, error: InsightsError | None) -> None:
        self.job = job
        self.found = found
        self.error = error

    @property
    def weight(self) -> int:
        issues = self.found.issues if self.found else ()
        return max((WEIGHTS.index(one.severity) for one in issues), default=0)

    def document(self, judge: Judge) -> dict[str, Any]:
        """As JSON takes it, with the same keys as a report."""
        from components.report.compose_judgement import concluded
        from components.report.values import Calendar

        head = {"job": plain(self.job.name, 400), "job_id": self.job.job_id}
        if self.found is None:
            error = self.error or InsightsError("")
            return head | {"error": error.message, "hint": error.hint, "insights": None}
        header = judge.store.fetch(jobs.any_header, Selection(self.job.job_id))
        calendar = Calendar(None if header.wall_clock else header.start_ns)
        document = concluded(self.found, calendar, cost_of(judge.store.fetch, self.job.job_id))
        return head | {"error": "", "hint": "", "insights": asdict(document)}

    def show(self, judge: Judge) -> None:
        """As people read it: a table of all rules, then a paragraph for each issue."""
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text

        console = Console(highlight=False, soft_wrap=False)
        console.rule(Text(plain(self.job.name, 120)), align="left")
        if self.found is None:
            error = self.error or InsightsError("")
            console.print(Text(f"{error.message} {error.hint}".strip()))
            return
        cost = cost_of(judge.store.fetch, self.job.job_id)
        price = Price(cost.usd_per_gpu_hour, cost.usd_per_node_hour)
        _table(console, self.found, price)
        for one in self.found.findings:
            for indent, line in _paragraph(one, price):
                console.print(Padding(Text(line), (0, 0, 0, indent)))


def _judged(settings: Settings, judge: Judge, job: SourceJob, choice: Choice) -> _Judged:
    from data.convert import convert

    try:
        convert(job, settings.store, lambda progress: None, limits=limits_of(settings))
        return _Judged(job, judge.findings(job.job_id, choice), None)
    except InsightsError as error:
        return _Judged(job, None, error)


def _chosen(found: Sequence[SourceJob], wanted: str, settings: Settings) -> list[SourceJob]:
    """All jobs, or those of this name or id. Raises SourceError where there is none."""
    where = ", ".join(settings.source)
    if not found:
        raise SourceError(f"No training job was found in {where}.", "Is it the right folder?")
    chosen = [one for one in found if not wanted or wanted in (one.name, one.job_id)]
    if not chosen:
        names = ", ".join(plain(one.name, 80) for one in found[:12])
        raise SourceError(f"There is no job {plain(wanted, 80)!r} in {where}.", f"There are: {names}.")
    return chosen


def _name(refused: Sequence[Refused]) -> None:
    """What of a profile is not used is said, and no more."""
    for one in refused:
        sys.stderr.write(f"Profile: {one.words}\n")


def _table(console: Console, found: Findings, price: Price) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("Rule", overflow="fold")
    table.add_column("State", no_wrap=True)
    for name in ("Points", "Triggered", "Wasted"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found.findings:
        kind = one.severity or one.outcome.state
        issue = one.outcome.state == "issue"
        table.add_row(
            Text(plain(one.rule, 60), style="bold" if issue else ""),
            Text(f"{SIGNS[kind]} {WORDS[kind]}", style=_STYLES.get(kind, "dim")),
            f"{one.outcome.points:,}" if one.outcome.points else "",
            f"{one.outcome.triggered:,}" if one.outcome.points else "",
            cost_words(one.outcome, price) if issue else "",
        )
    console.print(table)


def _paragraph(one: Finding, price: Price) -> Iterator[tuple[int, str]]:
    """What there is to say of an issue, or of a rule that failed: lines with their indents."""
    if one.outcome.state not in ("issue", "failed"):
        return
    yield 0, ""
    yield 0, f"{plain(one.title, 80)} ({plain(one.rule, 60)})"
    yield 2, plain(one.outcome.text, 600)
    if one.outcome.confidence:
        yield 2, plain(one.outcome.confidence, 300)
    for place in one.outcome.places:
        whose = " ".join(filter(None, (plain(place.node, 60), plain(place.device, 40)))) or "whole job"
        yield 4, f"{whose}: {plain(place.text, 200)}"
    if one.outcome.state == "issue":
        yield 2, waste_sentence(one, price)
    for words in one.advice:
        yield 2, f"> {plain(words, 400)}"
