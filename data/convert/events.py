"""Framework events into the event and step tables: new and changed files are read, the rest comes from before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data import schema
from data.convert.tables import write_table
from data.names import natural_key
from data.problem import Problem
from data.readers.copies import find_copies
from data.readers.events import EVENT_SCHEMA, EventReader
from data.sources import SourceFile

if TYPE_CHECKING:
    from data.convert.run import Conversion

BATCH_BYTES = 96 << 20

STEP_PREFIX = "Step:"
"""Phases and names of step events begin with this: Step:ModeKeys.TRAIN, .EVAL, .PREDICT, .GLOBAL."""


@dataclass(frozen=True)
class EventTotals:
    """Counts and times of a job's framework events; times are 0 where there are none."""

    events: int = 0
    steps: int = 0
    step_numbers: int = 0
    step_processes: int = 0
    step_phases: tuple[str, ...] = ()
    step_groups: tuple[tuple[str, str], ...] = ()
    loop: tuple[int, int, int] | None = None  # start, end and number of the first step
    start_ns: int = 0
    end_ns: int = 0


def convert_events(run: Conversion, readers: Sequence[EventReader]) -> EventTotals:
    """Reads the event files of all readers and writes the event and step tables."""
    wanted = [(reader, _without_copies(run, reader)) for reader in readers]
    tables = list(_kept(run))
    for reader, files in wanted:
        for batch in _batches(files):
            read = reader.read(run.db, [(file, run.local_path(file.path)) for _, file in batch])
            ids = pa.array([file_id for file_id, _ in batch], pa.int32())
            at = read.table.schema.get_field_index("file")
            tables.append(read.table.set_column(at, "file", ids.take(read.table.column("file"))))
            run.problems += read.problems
            run.rows_of |= {file_id: one.events for (file_id, _), one in zip(batch, read.files, strict=True)}
            run.step("steps", [file for _, file in batch])
    if not any(len(table) for table in tables):
        return EventTotals()
    together = pa.concat_tables([table.select(EVENT_SCHEMA.names).cast(EVENT_SCHEMA) for table in tables])
    return _write(run.folder, together.unify_dictionaries().combine_chunks())


def _without_copies(run: Conversion, reader: EventReader) -> list[tuple[int, SourceFile]]:
    """The reader's new and changed files that do not repeat another file byte for byte.

    Of equal files the first one by path is read, also where another one had been read before it came.
    """
    mine = [(file_id, file) for file_id, file in run.to_read if reader.matches(file)]
    sizes = {file.size for _, file in mine}
    known = [state.file for state in run.unchanged.values() if state.file.size in sizes and reader.matches(state.file)]
    files = sorted(known + [file for _, file in mine], key=lambda file: file.path)
    copies = find_copies([(file, run.local_path(file.path)) for file in files])
    ids = {file.path: file_id for file_id, file in mine}
    for at, original in copies.items():
        copy, first = files[at], files[original].path
        if copy.path in run.unchanged and run.unchanged[copy.path].copy_of == first:
            continue
        file_id = ids[copy.path] if copy.path in ids else run.forget(copy)
        run.copy_of[file_id] = first
        run.problems.append(Problem(copy.path, None, f"this file is an exact copy of {first} and was left out", "note"))
    return [item for item in mine if item[0] not in run.copy_of]


def _batches(files: Sequence[tuple[int, SourceFile]]) -> Iterator[list[tuple[int, SourceFile]]]:
    batch: list[tuple[int, SourceFile]] = []
    size = 0
    for item in files:
        if batch and size + item[1].size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item[1].size
    if batch:
        yield batch


def _kept(run: Conversion) -> Iterator[pa.Table]:
    """The events of unchanged files, from the version before."""
    if run.previous_folder and (run.previous_folder / "events.parquet").exists():
        table = pq.read_table(run.previous_folder / "events.parquet")
        if run.gone:
            table = table.filter(pc.invert(pc.is_in(table.column("file"), pa.array(sorted(run.gone), pa.int32()))))
        yield table


def _write(folder: Path, events: pa.Table) -> EventTotals:
    times = [events.column(name).to_numpy() for name in ("process", "step", "duration_ns", "start_ns")]
    events = events.take(pa.array(np.lexsort(times)))
    write_table(events, folder / "events.parquet", differences=("start_ns", "step"))
    ends = events.column("start_ns").to_numpy() + events.column("duration_ns").to_numpy()
    totals = EventTotals(events=len(events), start_ns=events.column("start_ns")[0].as_py(), end_ns=int(ends.max()))
    phase, is_step = _step_phases(events)
    if not is_step.any():
        return totals
    steps = events.filter(pa.array(is_step))
    node, nodes = _codes(steps, "node")
    table, groups = _step_table(steps, phase[is_step], node, nodes, _words(events, "phase") + _words(events, "name"))
    write_table(table, folder / "steps.parquet", differences=("start_ns", "step"))
    worker, workers = _codes(steps, "worker")
    return replace(
        totals,
        steps=len(table),
        step_numbers=_distinct_steps(phase[is_step], table.column("step").to_numpy()),
        step_processes=int(np.count_nonzero(np.bincount(node * len(workers) + worker))),
        step_phases=tuple(dict.fromkeys(one for one, _ in groups)),
        step_groups=groups,
        loop=_loop(table, groups),
    )


def _codes(table: pa.Table, name: str) -> tuple[NDArray[np.int64], list[str]]:
    """A text column as numbers, and the words they stand for."""
    column = table.column(name).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return column.indices.to_numpy().astype(np.int64), column.dictionary.to_pylist()


def _words(table: pa.Table, name: str) -> list[str]:
    return _codes(table, name)[1]


def _step_phases(events: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The phase of each event that is a step: its lane's name, else its own; and which events are steps.

    Phases are numbered through the words of the lanes and, after them, those of the names.
    """
    (lane, lanes), (name, names) = _codes(events, "phase"), _codes(events, "name")
    by_lane = np.array([word.startswith(STEP_PREFIX) for word in lanes])[lane]
    by_name = np.array([word.startswith(STEP_PREFIX) for word in names])[name]
    return np.where(by_lane, lane, len(lanes) + name), by_lane | by_name


def _step_table(
    steps: pa.Table, phase: NDArray[np.int64], node: NDArray[np.int64], nodes: list[str], phases: list[str]
) -> tuple[pa.Table, tuple[tuple[str, str], ...]]:
    """The steps with the number of their group, and the groups: phase and node, training first."""
    pair = phase * len(nodes) + node
    present = np.flatnonzero(np.bincount(pair))
    names = [(phases[one // len(nodes)], nodes[one % len(nodes)]) for one in present.tolist()]
    groups = tuple(sorted(set(names), key=lambda pair: (_phase_order(pair[0]), natural_key(pair[1]), pair[1])))
    number = np.zeros(int(present[-1]) + 1, np.int16)
    number[present] = [groups.index(one) for one in names]
    columns = [pa.array(number[pair]), steps.column("worker").cast(pa.string())]
    columns += [steps.column(name) for name in ("step", "start_ns", "duration_ns")]
    return pa.table(columns, schema=schema.STEPS), groups


def _distinct_steps(phase: NDArray[np.int64], step: NDArray[np.int64]) -> int:
    """How many different steps there are: phase and number, whichever process took them."""
    return sum(len(np.unique(step[phase == one])) for one in np.flatnonzero(np.bincount(phase)).tolist())


def _loop(steps: pa.Table, groups: Sequence[tuple[str, str]]) -> tuple[int, int, int] | None:
    """The training loop: from step 0 in training (or global) mode, else from the earliest step, to the last end."""
    if not len(steps):
        return None
    start, step = steps.column("start_ns").to_numpy(), steps.column("step").to_numpy()
    end = int((start + steps.column("duration_ns").to_numpy()).max())
    training = [at for at, (phase, _) in enumerate(groups) if phase.endswith(("TRAIN", "GLOBAL"))]
    zero = (step == 0) & np.isin(steps.column("group").to_numpy(), training)
    if zero.any():
        return int(start[zero].min()), end, 0
    first = int(np.argmin(start))
    return int(start[first]), end, int(step[first])


def _phase_order(phase: str) -> tuple[int, str]:
    """Training first, then evaluation, then the rest by name."""
    return next((at for at, word in enumerate(("TRAIN", "EVAL")) if word in phase), 2), phase
