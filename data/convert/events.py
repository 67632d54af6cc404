"""Framework events into the store: new and changed files are read batch by batch, the rest comes from before.

Events, and the records of memory allocators that stand among them, are kept in parts of about a million rows, each
sorted in pieces, so that a trace of any size needs little memory. What is asked for all the time is derived from them
once (`event_tables`, `memory`).
"""

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
from data.convert.tables import sync
from data.convert.versions import take_over
from data.manifest import EventPart, part_file
from data.problem import Problem
from data.readers.copies import find_copies
from data.readers.events import EVENT_SCHEMA, EventReader
from data.readers.trace_memory import MEMORY_SCHEMA
from data.sources import SourceFile

if TYPE_CHECKING:
    from data.convert.run import Conversion

PART_ROWS = 1 << 20
GROUP_ROWS = 1 << 15
GROUP_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Kind:
    """What is kept in parts: a table, and how its columns are written."""

    table: schema.Table
    columns: pa.Schema
    time: str  # the column that orders the rows
    plain: tuple[str, ...]  # columns that hardly repeat
    differences: tuple[str, ...]  # integers that hardly go down
    statistics: tuple[str, ...]  # columns by which readers skip rows


EVENTS = Kind(
    schema.Table.EVENTS,
    EVENT_SCHEMA,
    "start_ns",
    plain=("args", "duration_ns"),
    differences=("start_ns",),
    statistics=("start_ns", "duration_ns", "step", "category", "phase", "name", "file"),
)
MEMORY = Kind(
    schema.Table.MEMORY,
    MEMORY_SCHEMA,
    "time_ns",
    plain=(),
    differences=("time_ns", "place"),
    statistics=("time_ns", "device_kind", "file"),
)


def convert_events(
    run: Conversion, readers: Sequence[EventReader]
) -> tuple[tuple[EventPart, ...], tuple[EventPart, ...]]:
    """Reads the event files of all readers and writes the parts of the tables of events and of memory records."""
    mine: dict[str, list[tuple[int, SourceFile]]] = {reader.name: [] for reader in readers}
    for file_id, file, reader in _without_copies(run, readers):
        mine[reader.name].append((file_id, file))
    before = run.previous if run.previous_folder else None
    parts = EventParts(run.folder, EVENTS, _kept(run, EVENTS, before.event_parts if before else ()))
    memory = EventParts(run.folder, MEMORY, _kept(run, MEMORY, before.memory_parts if before else ()))
    for reader in readers:
        files = mine[reader.name]
        if not files:
            continue
        ids = pa.array([file_id for file_id, _ in files], pa.int32())
        paths = [(file, run.local_path(file.path)) for _, file in files]
        for batch in reader.read(run.db, paths, run.folder):
            parts.add(_with_ids(batch.table, ids))
            if batch.memory is not None:
                memory.add(_with_ids(batch.memory, ids))
            run.problems += batch.problems
            run.events_of |= {files[place][0]: found for place, found in batch.done.items()}
            run.step("steps", [files[place][1] for place in batch.done])
    return parts.close(), memory.close()


def _with_ids(table: pa.Table, ids: pa.Array) -> pa.Table:
    """With ids of files in place of their places among the paths."""
    at = table.schema.get_field_index("file")
    return table.set_column(at, table.schema.field("file"), ids.take(table.column("file")))


def _without_copies(run: Conversion, readers: Sequence[EventReader]) -> list[tuple[int, SourceFile, EventReader]]:
    """The new and changed files that do not repeat another file byte for byte, each with its reader.

    Of equal files the first one by path is read, also where another one had been read before it came.
    """
    mine = [(file_id, file, reader) for file_id, file in run.to_read if (reader := _reader_of(file, readers))]
    sizes = {file.size for _, file, _ in mine}
    known = [
        (state.file, reader)
        for state in run.unchanged.values()
        if state.file.size in sizes and (reader := _reader_of(state.file, readers))
    ]
    owned = sorted([*known, *((file, reader) for _, file, reader in mine)], key=lambda one: one[0].path)
    paths = [(file, run.local_path(file.path)) for file, _ in owned]
    copies = find_copies(paths, lambda at: owned[at][1].writer(*paths[at], run.folder))
    ids = {file.path: file_id for file_id, file, _ in mine}
    for at, original in copies.items():
        copy, first = owned[at][0], owned[original][0].path
        if copy.path in run.unchanged and run.unchanged[copy.path].copy_of == first:
            continue
        file_id = ids[copy.path] if copy.path in ids else run.forget(copy)
        run.copy_of[file_id] = first
        run.problems.append(Problem(copy.path, None, f"this file is an exact copy of {first} and was left out", "note"))
    return [item for item in mine if item[0] not in run.copy_of]


def _reader_of(file: SourceFile, readers: Sequence[EventReader]) -> EventReader | None:
    return next((reader for reader in readers if reader.matches(file)), None)


def _kept(run: Conversion, kind: Kind, parts: Sequence[EventPart]) -> Iterator[tuple[EventPart, pa.Table | None]]:
    """The parts of the version before; those that lose rows of a changed file as the table that is left of them."""
    if not run.previous_folder:
        return
    for part in parts:
        name = part_file(kind.table, part.part)
        if not run.gone.intersection(part.files):
            take_over(run.previous_folder / name, run.folder / name)
            yield part, None
            continue
        table = pq.read_table(run.previous_folder / name)
        left = table.filter(pc.invert(pc.is_in(table.column("file"), pa.array(sorted(run.gone), pa.int32()))))
        yield part, left


class EventParts:
    """Writes rows to parts, whose numbers go on from those that are kept."""

    def __init__(self, folder: Path, kind: Kind, kept: Iterator[tuple[EventPart, pa.Table | None]]) -> None:
        self._folder = folder
        self._kind = kind
        self._parts: list[EventPart] = []
        self._held: list[pa.Table] = []
        self._held_rows = 0
        self._held_bytes = 0
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0
        self._files: set[int] = set()
        left = []
        for part, table in kept:
            if table is None:
                self._parts.append(part)
            else:
                left.append(table)
        self._next = max((part.part for part in self._parts), default=-1) + 1
        for table in left:
            self.add(table.select(kind.columns.names).cast(kind.columns))

    def add(self, table: pa.Table) -> None:
        """Takes rows; writes them once there are enough for a row group."""
        if not len(table):
            return
        self._held.append(table)
        self._held_rows += len(table)
        self._held_bytes += table.nbytes
        if self._held_rows >= GROUP_ROWS or self._held_bytes >= GROUP_BYTES:
            self._flush()

    def close(self) -> tuple[EventPart, ...]:
        """Writes what is left; all parts."""
        self._flush()
        self._end_part()
        return tuple(self._parts)

    def _flush(self) -> None:
        if not self._held:
            return
        table = pa.concat_tables(self._held).unify_dictionaries().combine_chunks()
        self._held, self._held_rows, self._held_bytes = [], 0, 0
        time_ns = table.column(self._kind.time).to_numpy()
        if (time_ns[1:] < time_ns[:-1]).any():
            table = table.take(pa.array(np.argsort(time_ns, kind="stable")))
        if self._writer is None:
            self._writer = _writer(self._path, self._kind)
        self._writer.write_table(table, row_group_size=len(table))
        self._rows += len(table)
        self._files.update(pc.unique(table.column("file")).to_pylist())
        if self._rows >= PART_ROWS:
            self._end_part()

    @property
    def _path(self) -> Path:
        return self._folder / part_file(self._kind.table, self._next)

    def _end_part(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        sync(self._path)
        self._parts.append(EventPart(self._next, self._rows, tuple(sorted(self._files))))
        self._writer, self._rows, self._files = None, 0, set()
        self._next += 1


def _writer(path: Path, kind: Kind) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        kind.columns,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in kind.columns.names if name not in (*kind.differences, *kind.plain)],
        column_encoding=dict.fromkeys(kind.differences, "DELTA_BINARY_PACKED"),
        write_statistics=list(kind.statistics),
    )
