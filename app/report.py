"""Gathers a job's report: the queries of the pages, each asked once through `fetch`, over the whole job."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from app import VERSION
from app.judgement import Choice, Judgement
from app.pricing import cost_of
from data.errors import InsightsError, NotConverted, StoreError, UnknownJob
from data.frames import Functions, FunctionTotals, Heatmap, JobHeader, OverTime, UsageSummary
from data.frames.report import Absent
from data.insights.cost import Cost
from data.insights.report import LISTED, MAX_HEATMAP_NODES, Report
from data.queries import basis, files, functions, heatmap, jobs, operators, quality, shares, steps, system
from data.selection import Selection
from data.store import Database, Fetch

P = ParamSpec("P")
R = TypeVar("R")

HEATMAP_COLUMNS = 400
MEMORY_COLUMNS = 480
STEP_COLUMNS = 1000
"""What charts of a report are reduced to, in columns: they say so."""


def gather(fetch: Fetch, job_id: str, judgement: Judgement | None = None, choice: Choice | None = None) -> Report:
    """The report of a job, judged by these rules and this choice, else by the built-in ones and their defaults.

    Raises InsightsError where there is no such job, or nothing could be read of it.
    """
    judges = judgement or Judgement()
    whole = Selection(job_id)
    header = fetch(jobs.header, whole)
    return Report(
        header=header,
        times=fetch(jobs.times, whole),
        basis=fetch(basis.basis, whole),
        usage=_filled(_part(fetch, system.usage_summary, whole)),
        operators=_part(fetch, operators.by_name, whole),
        shares=_part(fetch, shares.framework, whole),
        functions=_longest(_part(fetch, functions.listed, whole, "")),
        findings=_part(fetch, judges.findings, whole, choice or judges.defaults),
        cost=_cost(fetch, job_id),
        step_histogram=_part(fetch, steps.histogram, whole, "log"),
        step_timeline=_part(fetch, steps.timeline, whole, STEP_COLUMNS),
        heatmap=_heatmap(fetch, header),
        gpu_memory=_memory(_part(fetch, system.over_time, whole, "gpu_memory", "device", MEMORY_COLUMNS)),
        quality=fetch(quality.summary, whole),
        coverage=fetch(quality.coverage, whole),
        values=fetch(quality.values, whole),
        clocks=fetch(quality.clocks, whole),
        problems=fetch(files.problem_page, whole, "", (), 0, LISTED),
        made_ns=time.time_ns(),
        software=VERSION,
    )


def _part(fetch: Fetch, query: Callable[Concatenate[Database, P], R], *args: P.args, **kwargs: P.kwargs) -> R | Absent:
    """A part of the job, or why it is not there. What touches the job as a whole is not caught."""
    try:
        return fetch(query, *args, **kwargs)
    except (UnknownJob, NotConverted, StoreError):
        raise
    except InsightsError as error:
        return Absent(error.message, error.hint)


def _cost(fetch: Fetch, job_id: str) -> Cost | Absent:
    try:
        return cost_of(fetch, job_id)
    except (UnknownJob, NotConverted, StoreError):
        raise
    except InsightsError as error:
        return Absent(error.message, error.hint)


def _filled(usage: UsageSummary | Absent) -> UsageSummary | Absent:
    if isinstance(usage, Absent) or len(usage):
        return usage
    return Absent("No system metric was recorded.")


def _longest(found: FunctionTotals | Absent) -> FunctionTotals | Absent:
    return found if isinstance(found, Absent) else replace(found, rows=Functions(found.rows.head(LISTED)))


def _heatmap(fetch: Fetch, header: JobHeader) -> Heatmap | Absent:
    nodes = header.nodes[:MAX_HEATMAP_NODES] if len(header.nodes) > MAX_HEATMAP_NODES else ()
    frame: Any = _part(
        fetch, heatmap.device_heatmap, Selection(header.job_id, None, nodes), "utilization", HEATMAP_COLUMNS
    )
    if isinstance(frame, Absent):
        return frame
    found: Heatmap = frame
    return found if found.rows and found.maximum.size else Absent("No utilization was recorded.")


def _memory(frame: OverTime | Absent) -> OverTime | Absent:
    if isinstance(frame, Absent) or frame.groups:
        return frame
    return Absent("No GPU was recorded for this job.")
