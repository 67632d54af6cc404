"""Framework events into the event and step tables: new and changed files are read, the rest comes from before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
            read = reader.read(run.db, [(file, run.job.local_path(file.path)) for _, file in batch])
            ids = pa.array([file_id for file_id, _ in batch], pa.int32())
            at = read.table.schema.get_field_index("file")
            tables.append(read.table.set_column(at, "file", ids.take(read.table.column("file"))))
            run.problems += read.problems
            run.rows_of |= {file_id: one.events for (file_id, _), one in zip(batch, read.files, strict=True)}
            run.step("steps", [file for _, file in batch])
    if not any(len(table) for table in tables):
        return EventTotals()
    return _write(run.folder, pa.concat_tables([_plain(table) for table in tables]))


def _without_copies(run: Conversion, reader: EventReader) -> list[tuple[int, SourceFile]]:
    """The reader's new and changed files that do not repeat another file byte for byte.

    Of equal files the first one by path is read, also where another one had been read before it came.
    """
    mine = [(file_id, file) for file_id, file in run.to_read if reader.matches(file)]
    sizes = {file.size for _, file in mine}
    known = [state.file for state in run.unchanged.values() if state.file.size in sizes and reader.matches(state.file)]
    files = sorted(known + [file for _, file in mine], key=lambda file: file.path)
    copies = find_copies([(file, run.job.local_path(file.path)) for file in files])
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


def _plain(table: pa.Table) -> pa.Table:
    """Text columns without dictionaries: those of different files would not fit together."""
    fields = [pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type) for one in EVENT_SCHEMA]
    return table.select(EVENT_SCHEMA.names).cast(pa.schema(fields))


def _write(folder: Path, events: pa.Table) -> EventTotals:
    times = [events.column(name).to_numpy() for name in ("process", "step", "duration_ns", "start_ns")]
    events = events.take(pa.array(np.lexsort(times)))
    write_table(events, folder / "events.parquet", integers=("start_ns",))
    is_step = pc.or_(
        pc.starts_with(events.column("phase"), STEP_PREFIX), pc.starts_with(events.column("name"), STEP_PREFIX)
    )
    steps = events.filter(is_step)
    in_lane = pc.starts_with(steps.column("phase"), STEP_PREFIX)
    phase = pc.if_else(in_lane, steps.column("phase"), steps.column("name")).combine_chunks().dictionary_encode()
    node = steps.column("node").combine_chunks().dictionary_encode()
    pair = phase.indices.to_numpy().astype(np.int64) * len(node.dictionary) + node.indices.to_numpy()
    present, at = np.unique(pair, return_inverse=True)
    names = [
        (phase.dictionary[one // len(node.dictionary)].as_py(), node.dictionary[one % len(node.dictionary)].as_py())
        for one in present.tolist()
    ]
    order = sorted(range(len(names)), key=lambda i: (_phase_order(names[i][0]), natural_key(names[i][1]), names[i][1]))
    groups = tuple(names[i] for i in order)
    table = pa.table(
        [np.argsort(order)[at].astype(np.int16) if len(at) else []]
        + [steps.column(name) for name in ("worker", "step", "start_ns", "duration_ns")],
        schema=schema.STEPS,
    )
    if len(table):
        write_table(table, folder / "steps.parquet", integers=("start_ns",))
    ends = pc.add(events.column("start_ns"), events.column("duration_ns"))
    return EventTotals(
        events=len(events),
        steps=len(table),
        step_numbers=_distinct(phase.indices, table.column("step")) if len(table) else 0,
        step_processes=len(steps.group_by(["node", "worker"]).aggregate([])),
        step_phases=tuple(dict.fromkeys(phase for phase, _ in groups)),
        step_groups=groups,
        loop=_loop(table, groups),
        start_ns=pc.min(events.column("start_ns")).as_py(),
        end_ns=pc.max(ends).as_py(),
    )


def _distinct(phase: pa.Array, step: pa.ChunkedArray) -> int:
    """How many different steps there are: phase and number, whichever process took them."""
    pairs = np.stack([phase.to_numpy().astype(np.int64), step.to_numpy()])
    return int(np.unique(pairs, axis=1).shape[1])


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
