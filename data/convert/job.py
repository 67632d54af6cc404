"""Converting one job: what changed since the last time, its rows into parts, its events, and what follows from both.

Runs in the child process that `supervise` starts; everything it reads from the source is foreign and may be damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pyarrow.parquet as pq

from data.convert import derive
from data.convert.event_tables import derive_event_tables, doubts
from data.convert.events import convert_events
from data.convert.functions import convert_functions
from data.convert.memory import derive_memory
from data.convert.parts import DEVICE_HISTOGRAMS, SeriesMap
from data.convert.progress import Progress, Report
from data.convert.record import Events, Whole, finish
from data.convert.reports import convert_reports
from data.convert.run import Conversion, plan, previous_version, same, stored_files
from data.convert.system import (
    PART_TABLES,
    FileWithId,
    SystemParts,
    batches,
    measured_nominal_ns,
    nominal_ns,
    read_batch,
    span_ns,
)
from data.convert.tables import TICK_ROW_GROUP, write_bytes, write_table
from data.convert.versions import check_space, new_version, publish, take_over, writing
from data.errors import SourceError
from data.manifest import MANIFEST, Manifest, NodeEntry, part_file
from data.operators import COMMUNICATION_KINDS
from data.problem import Problem
from data.readers import READERS
from data.readers.sagemaker_system import Catalog, SystemRows
from data.series import Metric, Series, sorted_series
from data.sources import FileKind, SourceJob

READ_AHEAD_BYTES = 1 << 30

Batch = tuple[SystemRows, tuple[Problem, ...], dict[int, int]]
"""Rows with file ids, what could not be used, and the number of rows of each file."""

_WITHOUT_DATA = (
    FileKind.TRAINING_JOB,
    FileKind.SYSTEM_END,
    FileKind.FRAMEWORK_END,
    FileKind.TENSORFLOW_METADATA,
    FileKind.ORIGINAL_REPORT,
)


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
        previous, previous_folder = previous_version(folder)
        stored = stored_files(previous_folder) if previous_folder else {}
        files = [file for file in listing.files if file.kind is not FileKind.OTHER]
        if all(file.kind in _WITHOUT_DATA for file in files):
            raise SourceError(
                f"{job.name} has no profiler data: no system metrics, framework events or Python profiles lie under"
                " profiler-output.",
                "The profiler may have been switched off for this job, or its output was not copied along.",
            )
        if previous and same(files, stored):
            return previous
        with new_version(folder) as (version, aside), _database(memory_limit_mb) as db:
            run = Conversion(job, aside, version, db, report, cancelled, previous, previous_folder)
            run.problems += [Problem(one.path, None, one.reason, "note") for one in listing.skipped]
            plan(run, files, stored)
            manifest = _convert(run)
            check_space(root, free_space_floor_bytes)
            write_bytes(msgspec.json.encode(manifest), aside / MANIFEST)
            publish(folder, version, aside)
            return manifest


def _database(memory_limit_mb: int) -> duckdb.DuckDBPyConnection:
    # One thread reads at the least cost, and where time counts, `_read` has a second core busy anyway.
    db = duckdb.connect(config={"threads": 1, "memory_limit": f"{memory_limit_mb}MB"})
    db.execute("set preserve_insertion_order = false")
    db.execute("set autoinstall_known_extensions = false")
    db.execute("set autoload_known_extensions = false")
    return db


def _convert(run: Conversion) -> Manifest:
    run.step("metrics")
    system = _system(run)
    run.step("steps")
    event_parts, memory_parts = convert_events(run, READERS)
    run.step("functions")
    functions = convert_functions(run)
    reports = convert_reports(run)
    run.step("summaries")
    whole = _derive(run, system)
    entries = system.entries.values()
    first_last = (min((one.start_ns for one in entries), default=0), max((one.end_ns for one in entries), default=0))
    files = dict(run.to_read) | {state.file_id: state.file for state in run.unchanged.values()}
    paths = {file_id: file.path for file_id, file in files.items()}
    communication = [file_id for file_id, file in files.items() if file.kind in COMMUNICATION_KINDS]
    events = derive_event_tables(run.db, run.folder, event_parts, first_last, communication)
    known = bool(event_parts or first_last[1])
    memory = derive_memory(run.db, run.folder, memory_parts, events.wall_clock if known else None)
    for file_id, doubt in [*doubts(run.db, run.folder, event_parts, events.longest_ns), *memory.doubts]:
        name = paths[file_id].rpartition("/")[2]
        run.problems.append(Problem(paths[file_id], None, f"{name}: {doubt}", "warning", derived=True))
    return finish(run, system, whole, Events(event_parts, events, memory_parts, memory), functions, reports)


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
    for at, (rows, problems, counts) in enumerate(_read(run, order, catalog)):
        system.add(rows)
        del rows
        run.problems += problems
        run.rows_of |= counts
        if at + 1 < len(order):
            system.close(order[at + 1][0][1].stamp_ns)
        run.step("metrics", [file for _, file in order[at]])
    system.finish()
    return system


def _read(run: Conversion, order: Sequence[Sequence[FileWithId]], catalog: Catalog) -> Iterator[Batch]:
    """The batches in order; of a large job each next one is read while the caller builds parts of the last.

    That shortens the wait on a second core, but two busy cores do each less: a small job costs less without.
    """
    if sum(file.size for batch in order for _, file in batch) < READ_AHEAD_BYTES:
        for batch in order:
            yield read_batch(run.db, batch, run.local_path, catalog)
        return
    with ThreadPoolExecutor(1) as reader:

        def submit(batch: Sequence[FileWithId]) -> Future[Batch]:
            return reader.submit(read_batch, run.db, batch, run.local_path, catalog)

        ahead = submit(order[0])
        for batch in order[1:]:
            found = ahead.result()
            ahead = submit(batch)
            yield found
        yield ahead.result()


def _probe(run: Conversion, files: Sequence[FileWithId], catalog: Catalog) -> dict[str, int]:
    """Meets the series and sampling interval of every node early, so that parts need not be built twice."""
    first: dict[str, FileWithId] = {}
    for item in sorted(files, key=lambda item: item[1].stamp_ns):
        if item[1].size and item[1].node not in first:
            first[item[1].node] = item
    if not first:
        return {}
    fresh = Catalog()
    rows, _, _ = read_batch(run.db, list(first.values()), run.local_path, fresh)
    for series in sorted_series(fresh.series):
        catalog.number(series)
    return measured_nominal_ns(rows, fresh)


def _take_over(run: Conversion, system: SystemParts) -> None:
    if not run.previous or not run.previous_folder:
        return
    system.numbered_nodes = [node.name for node in run.previous.nodes]
    for entry in run.previous.parts:
        for table in PART_TABLES:
            name = part_file(table, entry.part)
            take_over(run.previous_folder / name, run.folder / name)
        system.entries[entry.part] = entry
        lost = run.gone.intersection(entry.files) or run.gone.intersection(entry.duplicate_files)
        if lost:
            system.drop(entry.part, run.gone)


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
    write_table(
        tick_table,
        run.folder / "ticks.parquet",
        differences=("tick_ns", "stamp_ns"),
        plain=("cpu_mean", "network", *DEVICE_HISTOGRAMS),
        row_group=TICK_ROW_GROUP,
    )
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
