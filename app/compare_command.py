"""The command that compares two jobs: finds both, brings them up to date in the store, holds them to budgets."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.settings import Settings
from data.errors import InsightsError, SourceError

if TYPE_CHECKING:
    from components.compare_report.document import Document
    from components.compare_report.render import Format
    from data.sources import Source, SourceJob
    from data.store import Fetch


def compare(
    settings: Settings, a: str, b: str, as_format: Format, output: str, budgets: Sequence[str], mode: str
) -> bool:
    """Write the comparison of B with A. True where a budget is broken. Raises InsightsError."""
    from app.report_command import STANDARD_OUTPUT, write_whole
    from components.compare_report.render import render
    from data.insights.comparison.budget import check
    from data.sources import open_source
    from data.store import Store

    check(budgets, ())  # one that nobody can read is refused before anything is converted
    sources = [open_source(uri) for uri in settings.source]
    pairs = [_resolve(one, sources) for one in (a, b)]
    _convert(settings, [job for _, job in pairs])
    every = tuple(dict.fromkeys([*sources, *(source for source, _ in pairs)]))
    store = Store(
        settings.store, every, time_limit_s=settings.query_seconds, row_cap=settings.row_cap, prices=settings.prices
    )
    document = gather(store.fetch, pairs[0][1].job_id, pairs[1][1].job_id, budgets, mode)
    content = render(document, as_format).encode()
    if output in ("", STANDARD_OUTPUT):
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        from pathlib import Path

        write_whole(Path(output), content)
    return bool(document.broken)


def gather(fetch: Fetch, a: str, b: str, budgets: Sequence[str] = (), mode: str = "fixed") -> Document:
    """The document of two stored jobs: the queries of the page."""
    from app import VERSION
    from app.comparison import changes, comparison
    from app.judgement import Choice
    from app.pricing import cost_of
    from components.compare_report.document import compose
    from data.insights.comparison.budget import check
    from data.insights.comparison.verdict import cost_row
    from data.queries import jobs
    from data.selection import Selection

    pair = Selection(a), Selection(b)
    found = fetch(comparison, *pair)
    rows = (*found.rows, cost_row(cost_of(fetch, a).total_usd, cost_of(fetch, b).total_usd))
    return compose(
        found,
        [fetch(jobs.any_header, one) for one in pair],
        rows,
        fetch(changes, *pair, Choice("compat" if mode == "compat" else "fixed")),
        check(budgets, rows),
        software=VERSION,
        made_ns=time.time_ns(),
    )


def _resolve(wanted: str, sources: Sequence[Source]) -> tuple[Source, SourceJob]:
    """A job by its name or id in the sources, else the one job of a folder or trace. Raises SourceError."""
    from data.sources import open_source

    known = [(source, job) for source in sources for job in source.jobs() if wanted in (job.name, job.job_id)]
    if len(known) == 1:
        return known[0]
    if known:
        raise SourceError(f"{len(known)} jobs have the name {wanted!r}.", "Name one by its id or its folder.")
    try:
        source = open_source(wanted)
        jobs = source.jobs()
    except InsightsError as error:
        raise SourceError(f"There is no job {wanted!r}: {error.message}", error.hint) from error
    if len(jobs) != 1:
        raise SourceError(f"{wanted} holds {len(jobs)} jobs.", "Name the folder of one job.")
    return source, jobs[0]


def _convert(settings: Settings, jobs: Sequence[SourceJob]) -> None:
    from app.commands import limits_of
    from data.convert import convert

    for job in jobs:
        convert(job, settings.store, lambda progress: None, limits=limits_of(settings))
