"""The end of a conversion: the tables of files and problems, and the manifest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data import facts, schema
from data.convert.event_tables import EventTotals
from data.convert.functions import FunctionTotals
from data.convert.memory import MemoryTotals
from data.convert.run import Conversion, FileState
from data.convert.system import SystemParts
from data.convert.tables import write_table
from data.errors import SourceError
from data.manifest import EventPart, Manifest, NodeEntry, PartEntry
from data.problem import Problem
from data.readers.events import FileEvents
from data.sources import FileKind, SourceFile

_PROBLEM_COLUMNS = ("file", "line", "message", "severity", "lost_rows", "derived")


@dataclass(frozen=True)
class Whole:
    """What the manifest tells of all parts together."""

    nodes: tuple[NodeEntry, ...] = ()
    levels: tuple[int, ...] = ()
    gpu_p95: float | None = None
    cpu_p95: float | None = None
    gpu_trend: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Events:
    """What the manifest tells of framework events and memory records: their parts, and what follows from them."""

    parts: tuple[EventPart, ...]
    totals: EventTotals
    memory_parts: tuple[EventPart, ...]
    memory: MemoryTotals

    @property
    def wall_clock(self) -> bool:
        """Whether anything says when the job was."""
        return self.totals.wall_clock if self.parts else self.memory.wall

    @property
    def span(self) -> tuple[int, int]:
        """First start and last end, 0 where there is none."""
        starts = [time_ns for time_ns in (self.totals.start_ns, self.memory.start_ns) if time_ns]
        return min(starts, default=0), max(self.totals.end_ns, self.memory.end_ns)


def finish(
    run: Conversion,
    system: SystemParts,
    whole: Whole,
    events: Events,
    functions: FunctionTotals,
    reports: int,
) -> Manifest:
    """Writes the last tables; the manifest that makes the version complete once it is written, too."""
    training_job = _training_job(run)
    states = _states(run)
    _keep_old_problems(run)
    _write_files(run, states)
    kinds = {state.file.kind for state in states}
    entries = tuple(system.entries[part] for part in sorted(system.entries))
    system_start, system_end = _span(entries)
    events_start, events_end = events.span
    starts = [time_ns for time_ns in (system_start, events_start) if time_ns]
    problems = [one for one in run.problems if one.severity != "note"]
    return Manifest(
        schema_version=schema.SCHEMA_VERSION,
        version=run.version,
        job_id=run.job.job_id,
        name=run.job.name,
        source=run.job.source,
        place=run.job.place,
        converted_ns=time.time_ns(),
        span_ns=system.span,
        parts=entries,
        nodes=whole.nodes,
        levels=whole.levels,
        gpu_p95=whole.gpu_p95,
        cpu_p95=whole.cpu_p95,
        gpu_trend=whole.gpu_trend,
        system_rows=sum(entry.rows for entry in entries),
        start_ns=min(starts, default=functions.start_ns),
        end_ns=max(system_end, events_end) or functions.end_ns,
        system_start_ns=system_start,
        system_end_ns=system_end,
        **_of_events(events),
        functions=functions.rows,
        function_nodes=functions.nodes,
        function_phases=functions.phases,
        reports=reports,
        files=len(states),
        raw_bytes=sum(state.file.size for state in states),
        duplicates=sum(entry.duplicates for entry in entries),
        problems=len(problems),
        lost_rows=sum(one.lost_rows for one in problems),
        stored_bytes=sum(path.stat().st_size for path in run.folder.iterdir()),
        system_end_marker=FileKind.SYSTEM_END in kinds,
        framework_end_marker=FileKind.FRAMEWORK_END in kinds,
        training_job=training_job,
    )


def _of_events(found: Events) -> dict[str, Any]:
    """What the manifest tells of framework events and memory records."""
    events, memory = found.totals, found.memory
    return {
        "event_parts": found.parts,
        "memory_parts": found.memory_parts,
        "memory_records": memory.records,
        "memory_kinds": memory.kinds,
        "memory_bin_ns": memory.bin_ns,
        "events": events.events,
        "suspicious_events": events.suspicious,
        "longest_ns": events.longest_ns,
        "wall_clock": found.wall_clock,
        "event_processes": events.processes,
        "kernels": events.kernels,
        "operator_roles": events.operator_roles,
        "lanes": events.lanes,
        "lane_bin_ns": events.lane_bin_ns,
        "steps": events.steps,
        "step_numbers": events.step_numbers,
        "step_processes": events.step_processes,
        "step_phases": events.step_phases,
        "step_groups": events.step_groups,
        "loop_start_ns": events.loop[0] if events.loop else None,
        "loop_end_ns": events.loop[1] if events.loop else None,
        "first_step": events.loop[2] if events.loop else None,
    }


def _state(run: Conversion, file_id: int, file: SourceFile) -> FileState:
    """What is kept of a file that was read."""
    events = run.events_of.get(file_id, FileEvents())
    rows = run.rows_of.get(file_id, events.events)
    return FileState(file_id, file, rows, run.copy_of.get(file_id, ""), events.invalid, events.waiting)


def _span(entries: Sequence[PartEntry]) -> tuple[int, int]:
    """First and last record of the parts; 0 where there is none."""
    first = min((entry.start_ns for entry in entries), default=0)
    return first, max((entry.end_ns for entry in entries), default=0)


def _states(run: Conversion) -> list[FileState]:
    """All files of the job by their paths, with what was read of them now or before."""
    read = (_state(run, file_id, file) for file_id, file in run.to_read)
    return sorted([*run.unchanged.values(), *read], key=lambda state: state.file.path)


def _training_job(run: Conversion) -> str | None:
    """training-job.json as text; a problem where it cannot be read."""
    if not any(file.kind is FileKind.TRAINING_JOB for file in _files(run)):
        return None
    try:
        with run.job.open(facts.FILE_NAME) as stream:
            content = stream.read(facts.LARGEST_BYTES + 1)
    except (SourceError, OSError):
        run.problems.append(Problem(facts.FILE_NAME, None, f"{facts.FILE_NAME} cannot be read", "warning"))
        return None
    parsed = facts.parse_training_job(content)
    if isinstance(parsed, Problem):
        run.problems.append(parsed)
        return None
    run.problems += [Problem(facts.FILE_NAME, None, f"{facts.FILE_NAME}: {one}", "note") for one in parsed.problems]
    return content.decode("utf-8-sig", "replace")


def _files(run: Conversion) -> list[SourceFile]:
    return [state.file for state in run.unchanged.values()] + [file for _, file in run.to_read]


def _keep_old_problems(run: Conversion) -> None:
    """Problems of files that were not read again are still true."""
    if run.previous_folder:
        for row in pq.read_table(run.previous_folder / "problems.parquet").to_pylist():
            known = row["file_path"] in run.unchanged and row["file_path"] != facts.FILE_NAME
            if known and not row["derived"]:
                run.problems.append(
                    Problem(row["file_path"], row["line"], row["message"], row["severity"], row["lost_rows"])
                )


def _write_files(run: Conversion, states: Sequence[FileState]) -> None:
    run.problems.sort(key=lambda one: (one.file, one.line or 0, one.message))
    lost: dict[str, int] = {}
    for one in run.problems:
        lost[one.file] = lost.get(one.file, 0) + one.lost_rows
    table = pa.table(
        [
            [state.file_id for state in states],
            [state.file.path for state in states],
            [state.file.kind.value for state in states],
            [state.file.size for state in states],
            [state.file.mtime_ns for state in states],
            [state.file.node for state in states],
            [state.file.stamp_ns for state in states],
            [state.rows for state in states],
            [lost.get(state.file.path, 0) for state in states],
            [state.invalid for state in states],
            [state.waiting for state in states],
            [state.copy_of for state in states],
        ],
        schema=schema.FILES,
    )
    write_table(table, run.folder / "files.parquet")
    problems = pa.table(
        [[getattr(one, name) for one in run.problems] for name in _PROBLEM_COLUMNS],
        schema=schema.PROBLEMS,
    )
    write_table(problems, run.folder / "problems.parquet")
