"""Converting one job: what changed since the last time, its rows into parts, its events, and what follows from both.

Runs in the child process that `supervise` starts; everything it reads from the source is foreign and may be damaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data import facts, schema
from data.convert import derive
from data.convert.events import EventTotals, convert_events
from data.convert.parts import SeriesMap
from data.convert.progress import Progress, Report
from data.convert.system import FileWithId, SystemParts, batches, measured_nominal_ns, nominal_ns, read_batch, span_ns
from data.convert.tables import TICK_ROW_GROUP, write_bytes, write_table
from data.convert.versions import check_space, current_version, new_version, publish, take_over, writing
from data.errors import SourceError, StoreError
from data.manifest import MANIFEST, Manifest, NodeEntry, is_complete, part_file, read_manifest
from data.problem import Problem
from data.readers import READERS
from data.readers.sagemaker_system import Catalog
from data.series import Metric, Series, sorted_series
from data.sources import FileKind, SourceFile, SourceJob

_DATA_KINDS = (FileKind.SYSTEM, FileKind.PYTHONTIMELINE, FileKind.MODEL_TIMELINE)


@dataclass(frozen=True)
class FileState:
    """A file as it was when it was read."""

    file_id: int
    file: SourceFile
    rows: int = 0
    copy_of: str = ""


@dataclass
class Conversion:
    """One run: where it writes, what was there before, and what has been done."""

    job: SourceJob
    folder: Path
    version: str
    db: duckdb.DuckDBPyConnection
    report: Report
    cancelled: Callable[[], bool]
    previous: Manifest | None = None
    previous_folder: Path | None = None
    files: list[FileState] = field(default_factory=list)
    unchanged: dict[str, FileState] = field(default_factory=dict)
    to_read: list[FileWithId] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)  # ids of files removed or about to be read again
    problems: list[Problem] = field(default_factory=list)
    rows_of: dict[int, int] = field(default_factory=dict)
    copy_of: dict[int, str] = field(default_factory=dict)
    bytes_done: int = 0
    files_done: int = 0

    def step(self, stage: str, done: Sequence[SourceFile] = ()) -> None:
        """Reports progress; raises StoreError where the user has cancelled."""
        if self.cancelled():
            raise StoreError("The conversion was cancelled.", "Nothing was changed; open the job to start it again.")
        self.files_done += len(done)
        self.bytes_done += sum(file.size for file in done)
        total = sum(file.size for _, file in self.to_read)
        self.report(Progress(stage, self.files_done, len(self.to_read), self.bytes_done, total))


def convert_job(
    job: SourceJob,
    root: Path,
    report: Report,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    free_space_floor_bytes: int = 0,
    memory_limit_mb: int = 512,
) -> Manifest:
    """Brings the stored job up to date with its source and returns its manifest.

    Raises SourceError where the job has nothing that can be read, StoreError where the store cannot be written.
    """
    report(Progress("listing", 0, 0, 0, 0))
    with writing(root, job.job_id) as folder:
        check_space(root, free_space_floor_bytes)
        listing = job.listing()
        previous, previous_folder = _previous(folder)
        stored = _stored_files(previous_folder) if previous_folder else {}
        files = [file for file in listing.files if file.kind is not FileKind.OTHER]
        if not any(file.kind in _DATA_KINDS for file in files):
            raise SourceError(
                f"{job.name} has no profiler data: no system metrics and no framework events under profiler-output.",
                "The profiler may have been switched off for this job, or its output was not copied along.",
            )
        if previous and _same(files, stored):
            return previous
        with new_version(folder) as (version, aside), _database(memory_limit_mb) as db:
            run = Conversion(job, aside, version, db, report, cancelled, previous, previous_folder)
            run.problems += [Problem(one.path, None, one.reason, "note") for one in listing.skipped]
            _plan(run, files, stored)
            manifest = _convert(run)
            check_space(root, free_space_floor_bytes)
            write_bytes(manifest.model_dump_json().encode(), aside / MANIFEST)
            publish(folder, version, aside)
            return manifest


def _database(memory_limit_mb: int) -> duckdb.DuckDBPyConnection:
    db = duckdb.connect(config={"threads": 2, "memory_limit": f"{memory_limit_mb}MB"})
    db.execute("set preserve_insertion_order = false")
    db.execute("set autoinstall_known_extensions = false")
    db.execute("set autoload_known_extensions = false")
    return db


def _previous(folder: Path) -> tuple[Manifest | None, Path | None]:
    """The valid version, if it is one that this program can go on from."""
    name = current_version(folder)
    if not name:
        return None, None
    try:
        manifest = read_manifest(folder / name)
        usable = manifest.schema_version == schema.SCHEMA_VERSION and is_complete(folder / name, manifest)
    except (StoreError, OSError):
        return None, None
    return (manifest, folder / name) if usable else (None, None)


def _stored_files(folder: Path) -> dict[str, FileState]:
    table = pq.read_table(folder / "files.parquet").to_pylist()
    return {
        row["path"]: FileState(
            row["file"],
            SourceFile(row["path"], row["size"], row["mtime_ns"], FileKind(row["kind"]), "", 0),
            row["rows"],
            row["copy_of"],
        )
        for row in table
    }


def _unlike(file: SourceFile, state: FileState | None) -> bool:
    return state is None or (file.size, file.mtime_ns) != (state.file.size, state.file.mtime_ns)


def _same(files: Sequence[SourceFile], stored: dict[str, FileState]) -> bool:
    return len(files) == len(stored) and not any(_unlike(file, stored.get(file.path)) for file in files)


def _plan(run: Conversion, files: Sequence[SourceFile], stored: dict[str, FileState]) -> None:
    """Decides which files are read.

    A file that changed or went away brings those along whose rows were dropped because it had the same ones.
    """
    present = {file.path: file for file in files}
    changed = {path for path, file in present.items() if path in stored and _unlike(file, stored[path])}
    removed = {path for path in stored if path not in present}
    by_id = {state.file_id: path for path, state in stored.items()}
    parts = run.previous.parts if run.previous else ()
    while True:
        touched = {stored[path].file_id for path in changed | removed}
        more = {
            by_id[one]
            for part in parts
            if part.duplicates and touched.intersection(part.duplicate_files)
            for one in part.duplicate_files
            if by_id.get(one) in present
        } | {path for path, state in stored.items() if state.copy_of in changed | removed and path in present}
        more -= changed
        if not more:
            break
        changed |= more
    next_id = max((state.file_id for state in stored.values()), default=-1) + 1
    run.gone = {stored[path].file_id for path in changed | removed}
    for path, file in present.items():
        if path in stored and path not in changed:
            run.unchanged[path] = replace(stored[path], file=file)
        else:
            run.to_read.append((next_id, file))
            next_id += 1


def _convert(run: Conversion) -> Manifest:
    run.step("metrics")
    system = _system(run)
    run.step("steps")
    events = convert_events(run, READERS)
    run.step("summaries")
    whole = _derive(run, system)
    return _finish(run, system, whole, events)


def _system(run: Conversion) -> SystemParts:
    """Reads new and changed metric files; parts that none of them touches are taken over as they are."""
    files = [(file_id, file) for file_id, file in run.to_read if file.kind is FileKind.SYSTEM]
    catalog, nominal = Catalog(), dict[str, int]()
    if run.previous and run.previous_folder and (run.previous_folder / "series.parquet").exists():
        for row in pq.read_table(run.previous_folder / "series.parquet").to_pylist():
            catalog.number(Series(row["node"], row["type"], row["name"], row["dimension"]))
        nominal = {node.name: node.nominal_ns for node in run.previous.nodes}
    nominal = _probe(run, files, catalog) | nominal
    span = run.previous.span_ns if run.previous else span_ns([file for _, file in files], nominal.values())
    system = SystemParts(run.folder, catalog, nominal, span)
    _take_over(run, system)
    order = batches(files, span)
    for at, batch in enumerate(order):
        rows, problems, counts = read_batch(run.db, batch, run.job.local_path, catalog)
        system.add(rows)
        del rows
        run.problems += problems
        run.rows_of |= counts
        if at + 1 < len(order):
            system.close(order[at + 1][0][1].stamp_ns)
        run.step("metrics", [file for _, file in batch])
    system.finish()
    return system


def _probe(run: Conversion, files: Sequence[FileWithId], catalog: Catalog) -> dict[str, int]:
    """Meets the series and sampling interval of every node early, so that parts need not be built twice."""
    first: dict[str, FileWithId] = {}
    for item in sorted(files, key=lambda item: item[1].stamp_ns):
        if item[1].size and item[1].node not in first:
            first[item[1].node] = item
    if not first:
        return {}
    fresh = Catalog()
    rows, _, _ = read_batch(run.db, list(first.values()), run.job.local_path, fresh)
    for series in sorted_series(fresh.series):
        catalog.number(series)
    return measured_nominal_ns(rows, fresh)


def _take_over(run: Conversion, system: SystemParts) -> None:
    if not run.previous or not run.previous_folder:
        return
    for entry in run.previous.parts:
        for table in (*(t.value for t in (schema.Table.RAW, schema.Table.ROLLUP)), "coarse", "histogram", "stamps"):
            name = part_file(table, entry.part)
            take_over(run.previous_folder / name, run.folder / name)
        system.entries[entry.part] = entry
        system.numbered_nodes = [node.name for node in run.previous.nodes]
        lost = run.gone.intersection(entry.files) or run.gone.intersection(entry.duplicate_files)
        if lost:
            system.drop(entry.part, run.gone)


@dataclass(frozen=True)
class Whole:
    """What the manifest tells of all parts together."""

    nodes: tuple[NodeEntry, ...] = ()
    levels: tuple[int, ...] = ()
    gpu_p95: float | None = None
    cpu_p95: float | None = None
    gpu_trend: tuple[float | None, ...] = ()


def _derive(run: Conversion, system: SystemParts) -> Whole:
    """Writes what all parts together give; builds the parts again where a node's interval turns out otherwise."""
    ids = sorted(system.entries)
    if not ids:
        return Whole()
    names = system.nodes()
    tick_table, found = derive.ticks(run.folder, ids)
    before = system.intervals_ns()
    system.nominal = {names[one.node]: nominal_ns(one.interval_ns) for one in found if one.interval_ns}
    nominal = system.intervals_ns()
    if nominal != before:
        system.rebuild(lambda rows: rows)
    series = system.catalog.series
    series_map = SeriesMap.of(series, names, {name: ns // 1000 for name, ns in nominal.items()})
    levels, bins = derive.levels(run.folder, ids, series_map)
    series_table = derive.series_table(series, bins)
    write_table(series_table, run.folder / "series.parquet")
    write_table(tick_table, run.folder / "ticks.parquet", integers=("tick_ns",), row_group=TICK_ROW_GROUP)
    summary = derive.summary_table(tick_table, names)
    write_table(summary, run.folder / "summary.parquet")
    write_table(derive.histogram_table(run.folder, ids), run.folder / "histogram.parquet")
    write_table(derive.gaps_table(found, names), run.folder / "gaps.parquet")
    highest: dict[str, float] = {}
    for row in summary.to_pylist():
        highest[row["metric"]] = max(highest.get(row["metric"], row["p95"]), row["p95"])
    return Whole(
        nodes=tuple(_node(one, names, nominal, series, series_map) for one in found),
        levels=levels,
        gpu_p95=highest.get("GPU"),
        cpu_p95=highest.get("CPU"),
        gpu_trend=derive.gpu_trend(tick_table),
    )


def _node(
    one: derive.NodeTicks, names: Sequence[str], nominal: dict[str, int], series: Sequence[Series], known: SeriesMap
) -> NodeEntry:
    mine = known.node == one.node
    return NodeEntry(
        name=names[one.node],
        nominal_ns=nominal[names[one.node]],
        interval_ns=one.interval_ns,
        ticks=len(one.first_ns),
        start_ns=int(one.first_ns[0]),
        end_ns=int(one.last_ns[-1]),
        cpus=int(np.sum(mine & (known.metric == int(Metric.CPU)))),
        gpus=int(np.sum(mine & (known.metric == int(Metric.GPU)))),
    )


def _finish(
    run: Conversion,
    system: SystemParts,
    whole: Whole,
    events: EventTotals,
) -> Manifest:
    training_job = _training_job(run)
    read = (FileState(i, file, run.rows_of.get(i, 0), run.copy_of.get(i, "")) for i, file in run.to_read)
    states = [*run.unchanged.values(), *read]
    states.sort(key=lambda state: state.file.path)
    _keep_old_problems(run)
    run.problems.sort(key=lambda one: (one.file, one.line or 0, one.message))
    _write_files(run, states)
    kinds = {state.file.kind for state in states}
    entries = tuple(system.entries[part] for part in sorted(system.entries))
    system_start = min((entry.start_ns for entry in entries), default=0)
    system_end = max((entry.end_ns for entry in entries), default=0)
    rows = sum(entry.rows for entry in entries)
    starts = [time_ns for time_ns in (system_start, events.start_ns) if time_ns]
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
        system_rows=rows,
        start_ns=min(starts, default=0),
        end_ns=max(system_end, events.end_ns),
        system_start_ns=system_start,
        system_end_ns=system_end,
        events=events.events,
        steps=events.steps,
        step_phases=events.step_phases,
        step_groups=events.step_groups,
        loop_start_ns=events.loop[0] if events.loop else None,
        loop_end_ns=events.loop[1] if events.loop else None,
        first_step=events.loop[2] if events.loop else None,
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
            if row["file_path"] in run.unchanged and row["file_path"] != facts.FILE_NAME:
                run.problems.append(
                    Problem(row["file_path"], row["line"], row["message"], row["severity"], row["lost_rows"])
                )


def _write_files(run: Conversion, states: Sequence[FileState]) -> None:
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
            [state.rows for state in states],
            [lost.get(state.file.path, 0) for state in states],
            [state.copy_of for state in states],
        ],
        schema=schema.FILES,
    )
    write_table(table, run.folder / "files.parquet")
    problems = pa.table(
        [[getattr(one, name) for one in run.problems] for name in ("file", "line", "message", "severity", "lost_rows")],
        schema=schema.PROBLEMS,
    )
    write_table(problems, run.folder / "problems.parquet")
