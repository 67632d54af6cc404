"""What was understood of a source, in numbers: the product's own check, for people, scripts and tests.

Brings each job of the source up to date in the store first, so what is reported is what the dashboard shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from data.convert import DEFAULT_LIMITS, Limits, convert
from data.errors import InsightsError, MissingTable, SourceError
from data.names import natural_key
from data.queries import events as event_queries
from data.queries import functions
from data.queries import jobs as job_queries
from data.selection import Selection
from data.sources import LOOKED_FOR, FileKind, SourceJob, open_source
from data.store import Store, StoredJob

OUTCOMES = ("ok", "ok_with_warnings", "partial", "error")
"""All read; all read but something is odd; something was lost and is named; nothing could be read."""


def inspect(source_uri: str, store_root: Path, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """The object that `inspect --json` prints: `{"jobs": [...]}`. Raises SourceError where there is no job."""
    source = open_source(source_uri)
    listing = source.listing()
    if not listing.jobs:
        hint = f"Looked for {LOOKED_FOR}. {listing.note}".strip()
        raise SourceError(f"There is no training job in {source_uri}.", hint)
    store = Store(store_root, [source])
    return {"jobs": [_job(store, job, limits) for job in listing.jobs]}


def readable(report: dict[str, Any]) -> bool:
    """Whether anything could be read of any job."""
    return any(job["outcome"] != "error" for job in report["jobs"])


def _job(store: Store, job: SourceJob, limits: Limits) -> dict[str, Any]:
    try:
        convert(job, store.root, lambda progress: None, limits=limits)
        stored = store.stored(job.job_id)
    except InsightsError as error:
        return _unreadable(job, error)
    manifest = stored.manifest
    problems = _problems(store, job)
    return {
        "job": manifest.name,
        "job_id": manifest.job_id,
        "outcome": _outcome(stored, problems),
        "status": store.fetch(job_queries.header, Selection(job.job_id)).status if manifest.has_data else "Unknown",
        "ended": manifest.system_end_marker and manifest.framework_end_marker,
        "system_rows": manifest.system_rows,
        "series": len(stored.series()) if manifest.system_rows else 0,
        "duplicate_rows_dropped": manifest.duplicates,
        **_events(store, stored),
        "nodes": _nodes(stored),
        **_functions(store, job, stored),
        "problems": problems,
        "stats": _stats(stored),
        "step_duration_us": _step_durations(stored),
        "gaps": _gaps(store, job),
        "start_us": manifest.start_ns // 1000 or None,
        "end_us": manifest.end_ns // 1000 or None,
    }


_NO_FUNCTIONS: dict[str, Any] = {
    "cprofile_files_ok": 0,
    "functions": 0,
    "total_calls": None,
    "primitive_calls": None,
    "total_tottime_s": None,
    "top_by_tottime": None,
}


def _functions(store: Store, job: SourceJob, stored: StoredJob) -> dict[str, Any]:
    """What cProfile recorded, all profiles together; other profilers count no calls and measure by samples."""
    files = pq.read_table(stored.folder / "files.parquet", columns=["kind", "lost_rows"]).to_pylist()
    good = sum(file["kind"] == FileKind.PYTHON_STATS and not file["lost_rows"] for file in files)
    try:
        found = store.fetch(functions.listed, Selection(job.job_id), profiler="cprofile", limit=1)
    except MissingTable:
        return _NO_FUNCTIONS | {"cprofile_files_ok": good}
    return {
        "cprofile_files_ok": good,
        "functions": found.functions,
        "total_calls": found.ncalls,
        "primitive_calls": found.pcalls,
        "total_tottime_s": found.tottime_ns / 1e9,
        "top_by_tottime": found.rows["function"].iloc[0],
    }


def _unreadable(job: SourceJob, error: InsightsError) -> dict[str, Any]:
    message = f"{error.message} {error.hint}".strip()
    return {
        "job": job.name,
        "job_id": job.job_id,
        "outcome": "error",
        "status": "Unknown",
        "ended": False,
        "system_rows": 0,
        "series": 0,
        "duplicate_rows_dropped": 0,
        **_NO_EVENTS,
        "nodes": [],
        **_NO_FUNCTIONS,
        "problems": [{"file": job.place, "line": None, "message": message, "severity": "error", "lost_rows": 0}],
        "stats": [],
        "step_duration_us": None,
        "gaps": [],
        "start_us": None,
        "end_us": None,
    }


_NO_EVENTS: dict[str, Any] = {
    "events": 0,
    "events_valid": 0,
    "invalid_events": 0,
    "suspicious_events": 0,
    "lost_events": 0,
    "steps": 0,
    "step_numbers": [],
    "duration_sum_us": None,
    "kernels": 0,
    "kernel_dur_sum_us": None,
    "kernel_busy_us": None,
    "ranks": [],
    "by_phase": {},
    "by_rank": {},
    "first_event_us": None,
    "last_event_end_us": None,
}


def _events(store: Store, stored: StoredJob) -> dict[str, Any]:
    """What is known of events; sums and times are null where there is none."""
    manifest = stored.manifest
    found = store.fetch(event_queries.totals, Selection(manifest.job_id))
    if not manifest.events:
        return _NO_EVENTS | {"invalid_events": found.invalid, "lost_events": found.lost}
    return {
        "events": manifest.events,
        "events_valid": manifest.events - manifest.suspicious_events,
        "invalid_events": found.invalid,
        "suspicious_events": manifest.suspicious_events,
        "lost_events": found.lost,
        "steps": manifest.step_numbers,
        "step_numbers": list(found.step_numbers),
        "duration_sum_us": found.duration_ns / 1000,
        "kernels": manifest.kernels,
        "kernel_dur_sum_us": found.kernel_ns / 1000 if manifest.kernels else None,
        "kernel_busy_us": found.busy_ns / 1000 if manifest.kernels else None,
        "ranks": list(found.ranks),
        "by_phase": {
            phase: {"count": count, "sum_us": sum_ns / 1000, "mean_us": sum_ns / 1000 / count}
            for phase, count, sum_ns in found.by_phase
        },
        "by_rank": {str(rank): count for rank, count in found.by_rank},
        "first_event_us": None if found.start_ns is None else found.start_ns / 1000,
        "last_event_end_us": None if found.end_ns is None else found.end_ns / 1000,
    }


def _nodes(stored: StoredJob) -> list[str]:
    """The nodes of records and events, in natural order."""
    names = {node.name for node in stored.manifest.nodes} | {node for node, _ in stored.manifest.event_processes}
    return sorted(names, key=natural_key)


def _outcome(stored: StoredJob, problems: list[dict[str, Any]]) -> str:
    if not stored.manifest.has_data:
        return "error"
    if any(one["lost_rows"] or one["severity"] == "error" for one in problems):
        return "partial"
    return "ok_with_warnings" if any(one["severity"] != "note" for one in problems) else "ok"


def _problems(store: Store, job: SourceJob) -> list[dict[str, Any]]:
    found = store.fetch(job_queries.problems, Selection(job.job_id))
    return [
        {
            "file": job.placed(row["file"]),
            "line": None if row["line"] is None or row["line"] != row["line"] else int(row["line"]),
            "message": row["message"],
            "severity": row["severity"],
            "lost_rows": int(row["lost_rows"]),
        }
        for row in found.astype(object).where(found.notna(), None).to_dict("records")
    ]


def _stats(stored: StoredJob) -> list[dict[str, Any]]:
    if not stored.manifest.system_rows:
        return []
    series = stored.series()
    return [
        {
            "node": row["node"],
            "name": row["name"],
            "dimension": row["dimension"],
            "count": int(row["count"]),
            "mean": row["sum"] / row["count"],
            "min": row["min"],
            "max": row["max"],
        }
        for row in series[series["count"] > 0].to_dict("records")
    ]


def _step_durations(stored: StoredJob) -> dict[str, float] | None:
    path = stored.folder / "steps.parquet"
    if not path.exists():
        return None
    duration_us = pq.read_table(path, columns=["duration_ns"]).column("duration_ns").to_numpy() / 1000
    p50, p95, p99 = np.quantile(duration_us, [0.5, 0.95, 0.99]).tolist()
    return {
        "count": len(duration_us),
        "mean": float(duration_us.mean()),
        "min": float(duration_us.min()),
        "max": float(duration_us.max()),
        "p50": p50,
        "p95": p95,
        "p99": p99,
    }


def _gaps(store: Store, job: SourceJob) -> list[dict[str, Any]]:
    found = store.fetch(job_queries.gaps, Selection(job.job_id))
    return [
        {
            "node": row["node"],
            "from_s": row["start_ns"] // 1000 / 1e6,  # records have microseconds; nanoseconds would not fit a float
            "to_s": row["end_ns"] // 1000 / 1e6,
            "spot": bool(row["spot"]),
        }
        for row in found.to_dict("records")
    ]
