"""Jobs: the list, and what is known of one: header, times, gaps, problems."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

import pandas as pd

from data.errors import InsightsError, NotConverted, SourceError
from data.facts import UNKNOWN, TrainingJob, status_of
from data.frames import (
    GAPS_COLUMNS,
    JOB_LIST_COLUMNS,
    PROBLEMS_COLUMNS,
    Gaps,
    JobHeader,
    JobList,
    JobListPage,
    JobTimes,
    JobTotals,
    Problems,
)
from data.frames.cost import Billing
from data.manifest import Manifest
from data.names import natural_key
from data.queries import description
from data.queries.bins import selected_nodes
from data.queries.cost import billing_of
from data.selection import Selection
from data.store import Database, StoredJob

_WHOLE = {"issues", "start_ns", "duration_ns", "nodes", "gpus", "problems", "lost_rows", "stored_bytes"}
_PRICED = ("cost_usd", "gpu_hours")
_REAL = {"wasted_gpu_hours", "billed_s", *_PRICED, "gpu_p95", "cpu_p95"}
_SEARCHED = ("name", "status", "instances", "source")

Priced = Callable[[Billing], tuple[Decimal | None, Decimal | None]]
"""Says what a job costs and how many GPU-hours it took; None where that is not known."""


Shown = Literal["all", "issues", "high"]
"""Which jobs: all, those in which a rule found an issue, those with one that weighs much."""

_SEVERITIES = ("", "low", "medium", "high")


def job_list(
    db: Database,
    search: str,
    sort: tuple[tuple[str, str], ...],
    start: int,
    stop: int,
    priced: Priced = lambda billing: (None, None),
    shown: Shown = "all",
) -> JobListPage:
    """Rows start to stop of the jobs that contain the words; unknown values sort last, ties by id.

    Only the jobs that are shown are priced, all of them where the list is sorted by what comes out.
    """
    rows = _all_rows(db)
    for word in search.casefold().split():
        rows = [row for row in rows if any(word in str(row[key]).casefold() for key in _SEARCHED)]
    rows = [row for row in rows if _is_shown(row, shown)]
    rows.sort(key=lambda row: (natural_key(row["name"]), row["job_id"]))
    by_price = any(column in _PRICED for column, _ in sort)
    if by_price:
        _price(rows, priced)
    for column, direction in reversed(sort):
        if column in JOB_LIST_COLUMNS and column != "gpu_trend":
            _sort(rows, column, direction == "desc")
        if column == "problems":  # what was lost weighs more than what is only odd
            _sort(rows, "lost_rows", direction == "desc")
        if column == "issues":  # one that weighs much comes before many that do not
            _sort(rows, "severity", direction == "desc")
    # Types column by column: numbers beside unknown ones would pass through floats and lose their last digits.
    kinds = dict.fromkeys(_WHOLE, "Int64") | dict.fromkeys(_REAL, "Float64")
    chosen = rows[start:stop]
    if not by_price:
        _price(chosen, priced)
    columns = {name: pd.Series([row[name] for row in chosen], dtype=kinds.get(name)) for name in JOB_LIST_COLUMNS}
    return JobListPage(JobList(pd.DataFrame(columns)), len(rows))


def totals(db: Database) -> JobTotals:
    """Counts over all jobs."""
    rows = _all_rows(db)
    stored = [db.job(row["job_id"]).manifest for row in rows if row["state"] in ("stored", "changed")]
    return JobTotals(
        jobs=len(rows),
        stored=len(stored),
        not_converted=sum(row["state"] == "not converted" for row in rows),
        unreadable=sum(row["state"] == "unreadable" for row in rows),
        in_progress=sum(row["status"] == "InProgress" for row in rows),
        gpus=sum(row["gpus"] or 0 for row in rows),
        raw_bytes=sum(manifest.raw_bytes for manifest in stored),
        stored_bytes=sum(manifest.stored_bytes for manifest in stored),
    )


def header(db: Database, selection: Selection) -> JobHeader:
    """What every page of a job shows above its tabs. Raises SourceError where nothing of the job could be read."""
    if not db.job(selection.job).manifest.has_data:
        raise SourceError(f"{NOTHING_READ} {_first_problem(db, selection)}".strip(), "Look at the files in its folder.")
    return any_header(db, selection)


def any_header(db: Database, selection: Selection) -> JobHeader:
    """The same, also for a job of which nothing could be read: its times are then 0 and it has no nodes."""
    manifest = db.job(selection.job).manifest
    described = description.described(manifest)
    status, detail = _status(manifest, described)
    intervals = sorted(node.interval_ns for node in manifest.nodes if node.interval_ns)
    return JobHeader(
        job_id=manifest.job_id,
        name=manifest.name,
        status=status,
        status_detail=detail,
        source=manifest.source,
        instances=described.instances if described else "",
        framework=described.framework if described else "",
        nodes=_node_names(manifest),
        start_ns=manifest.start_ns,
        end_ns=manifest.end_ns,
        interval_ns=intervals[len(intervals) // 2] if intervals else 0,
        intervals_ns=tuple(sorted({node.nominal_ns for node in manifest.nodes})),
        gpus=sum(node.gpus for node in manifest.nodes),
        cpus=sum(node.cpus for node in manifest.nodes),
        step_count=manifest.steps,
        step_numbers=manifest.step_numbers,
        step_processes=manifest.step_processes,
        operator_roles=manifest.operator_roles,
        phases=manifest.step_phases,
        function_count=manifest.functions,
        function_phases=manifest.function_phases,
        data_end_ns=manifest.end_ns,
        converted_ns=manifest.converted_ns,
        stored_bytes=manifest.stored_bytes,
        raw_bytes=manifest.raw_bytes,
        problems=manifest.problems,
        lost_rows=manifest.lost_rows,
        version=manifest.version,
        measured=bool(manifest.system_rows),
        wall_clock=_placed(manifest),
        events=manifest.events,
        kernels=manifest.kernels,
        memory_kinds=manifest.memory_kinds,
    )


def times(db: Database, selection: Selection) -> JobTimes:
    """Start, end and phases of the whole job (reference 5.2); without steps the phases are unknown."""
    stored = db.job(selection.job)
    manifest, described = stored.manifest, description.described(stored.manifest)
    start = manifest.system_start_ns or manifest.start_ns
    end = manifest.system_end_ns or manifest.end_ns
    loop_start, loop_end = manifest.loop_start_ns, manifest.loop_end_ns
    duration = end - start
    parts: dict[str, int | None] = {"initialization": None, "loop": None, "finalization": None}
    if loop_start is not None and loop_end is not None:
        parts = {
            "initialization": loop_start - start,
            "loop": loop_end - loop_start,
            "finalization": abs(end - loop_end),
        }
    percents = {
        name: None if value is None or not duration else value / duration * 100 for name, value in parts.items()
    }
    return JobTimes(
        start_ns=start,
        end_ns=end,
        duration_ns=duration,
        loop_start_ns=loop_start,
        loop_end_ns=loop_end,
        loop_duration_ns=parts["loop"],
        initialization_ns=parts["initialization"],
        finalization_ns=parts["finalization"],
        initialization_percent=percents["initialization"],
        loop_percent=percents["loop"],
        finalization_percent=percents["finalization"],
        billed_s=described.billable_s if described else None,
        training_s=described.training_s if described else None,
        first_step=manifest.first_step,
        spot_gaps=_spot_gaps(db, stored),
        steps_reason=""
        if parts["loop"] is not None
        else "The framework recorded no steps, so the phases of the training are unknown.",
    )


def gaps(db: Database, selection: Selection) -> Gaps:
    """Times without a record, per node."""
    stored = db.job(selection.job)
    if not stored.manifest.system_rows:
        return Gaps(pd.DataFrame(columns=list(GAPS_COLUMNS)))
    path = stored.file("gaps.parquet", "This job has no system metrics.")
    frame = db.frame("select node, start_ns, end_ns, spot from read_parquet($files) order by start_ns", files=[path])
    return Gaps(frame[frame["node"].isin(selected_nodes(stored, selection))].reset_index(drop=True))


def problems(db: Database, selection: Selection) -> Problems:
    """What could not be read, file by file."""
    stored = db.job(selection.job)
    frame = db.frame(
        "select file_path as file, line, message, severity, lost_rows from read_parquet($files)",
        files=[str(stored.folder / "problems.parquet")],
    )
    frame = frame.sort_values(["file", "line"], kind="stable", na_position="first").reset_index(drop=True)
    return Problems(frame[list(PROBLEMS_COLUMNS)].astype({"line": "Int64", "lost_rows": "Int64"}))


NOTHING_READ = "None of this job's files holds anything that can be read."


def _first_problem(db: Database, selection: Selection) -> str:
    found = problems(db, selection)
    if found.empty:
        return ""
    return f"First of {len(found)} problems: {found['file'].iloc[0]}: {found['message'].iloc[0]}."


def _spot_gaps(db: Database, stored: StoredJob) -> tuple[tuple[int, int], ...]:
    """Stretches that no node recorded, longer than 60 s."""
    frame = gaps(db, Selection(stored.manifest.job_id))
    frame = frame[frame["spot"]] if len(frame) else frame
    found: list[tuple[int, int]] = []
    for start, end in sorted(zip(frame["start_ns"], frame["end_ns"], strict=True)):
        if found and start < found[-1][1]:
            found[-1] = (max(found[-1][0], int(start)), min(found[-1][1], int(end)))
        else:
            found.append((int(start), int(end)))
    return tuple(found)


def _node_names(manifest: Manifest) -> tuple[str, ...]:
    """The nodes of the system metrics; of the events where there are none, and then of the Python profiles."""
    measured = tuple(node.name for node in manifest.nodes)
    return measured or tuple(dict.fromkeys(node for node, _ in manifest.event_processes)) or manifest.function_nodes


def _placed(manifest: Manifest) -> bool:
    """Whether anything says when the job was."""
    return manifest.wall_clock or bool(manifest.system_rows)


def _status(manifest: Manifest, described: TrainingJob | None) -> tuple[str, str]:
    newest_ns = manifest.end_ns if _placed(manifest) else None
    ends = (manifest.system_end_marker, manifest.framework_end_marker)
    status, detail = status_of(described, *ends, newest_ns, time.time_ns())
    undated = newest_ns is None and described is None and status == UNKNOWN
    return status, "nothing says when it was" if undated else detail


def _all_rows(db: Database) -> list[dict[str, Any]]:
    return [_row(db, job_id) for job_id in db.store.job_ids()]


def _is_shown(row: dict[str, Any], shown: Shown) -> bool:
    return bool(row["issues"]) if shown == "issues" else row["worst"] == "high" if shown == "high" else True


def _judged(db: Database, job_id: str, version: str) -> dict[str, Any]:
    """What the rules found, as far as it was kept with this version of the job."""
    found = db.store.issues(job_id, version)
    if found is None:
        return {}
    wasted_h = None if found.wasted_gpu_s is None else found.wasted_gpu_s / 3600
    severity = _SEVERITIES.index(found.worst) if found.worst in _SEVERITIES else 0
    return {"issues": found.issues, "worst": found.worst, "severity": severity, "wasted_gpu_hours": wasted_h}


def _price(rows: list[dict[str, Any]], priced: Priced) -> None:
    for row in rows:
        if row["manifest"] is not None:
            found = priced(billing_of(row["manifest"]))
            row |= {name: None if value is None else float(value) for name, value in zip(_PRICED, found, strict=True)}


def _row(db: Database, job_id: str) -> dict[str, Any]:
    """A job as a row; what is not known without converting it is None."""
    listed = db.store.job(job_id)
    row: dict[str, Any] = dict.fromkeys(JOB_LIST_COLUMNS)
    row |= {
        "job_id": job_id,
        "source": "",
        "status": "Unknown",
        "status_detail": "",
        "state_detail": "",
        "instances": "",
        "gpu_trend": (),
        "worst": "",
        "severity": None,
        "manifest": None,
    }
    if listed is not None:
        row |= {"name": listed.name, "source": listed.source}
    try:
        manifest = db.job(job_id).manifest
    except NotConverted:
        unprofiled = listed is not None and not listed.profiled
        row["state"] = "unreadable" if unprofiled else "not converted"
        row["state_detail"] = "There is no profiler-output in this job's folder." if unprofiled else ""
        return row | ({} if listed else {"name": job_id})
    except InsightsError as error:
        return row | {"state": "unreadable", "state_detail": error.message, "name": row["name"] or job_id}
    if not manifest.has_data:
        row |= {
            "problems": manifest.problems,
            "lost_rows": manifest.lost_rows,
            "stored_bytes": manifest.stored_bytes,
        }
        return row | {"state": "unreadable", "state_detail": NOTHING_READ}
    described = description.described(manifest)
    status, detail = _status(manifest, described)
    end, start = manifest.system_end_ns or manifest.end_ns, manifest.system_start_ns or manifest.start_ns
    return row | {
        **_judged(db, job_id, manifest.version),
        "manifest": manifest,
        "name": manifest.name,
        "source": manifest.source,
        "status": status,
        "status_detail": detail,
        "state": "changed" if db.store.known_changed(job_id) else "stored",
        "start_ns": start if start and _placed(manifest) else None,
        "duration_ns": end - start if end else None,
        "billed_s": described.billable_s if described else None,
        "instances": described.instances if described else "",
        "nodes": len(_node_names(manifest)) or None,
        "gpus": sum(node.gpus for node in manifest.nodes) if manifest.nodes else None,
        "gpu_p95": manifest.gpu_p95,
        "cpu_p95": manifest.cpu_p95,
        "gpu_trend": tuple(float("nan") if value is None else value for value in manifest.gpu_trend),
        "problems": manifest.problems,
        "lost_rows": manifest.lost_rows,
        "stored_bytes": manifest.stored_bytes,
    }


def _sort(rows: list[dict[str, Any]], column: str, descending: bool) -> None:
    """Sorts in place and keeps the order of equals; None stays last in both directions."""
    known = [row for row in rows if row[column] is not None and row[column] != ""]
    unknown = [row for row in rows if row[column] is None or row[column] == ""]
    known.sort(
        key=lambda row: natural_key(row[column]) if isinstance(row[column], str) else row[column], reverse=descending
    )
    rows[:] = known + unknown
