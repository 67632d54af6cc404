"""Framework events into the store: new and changed files are read batch by batch, the rest comes from before.

Events are kept in parts of about a million rows, each sorted in pieces, so that a trace of any size needs little
memory. What is asked for all the time, steps and kernels, is derived from them once (`event_tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from data.sources import SourceFile

if TYPE_CHECKING:
    from data.convert.run import Conversion

PART_ROWS = 1 << 20
GROUP_ROWS = 1 << 15
GROUP_BYTES = 32 << 20
_DIFFERENCES = ("start_ns",)
_PLAIN = ("args", "duration_ns")


def convert_events(run: Conversion, readers: Sequence[EventReader]) -> tuple[EventPart, ...]:
    """Reads the event files of all readers and writes the parts of the event table."""
    mine: dict[str, list[tuple[int, SourceFile]]] = {reader.name: [] for reader in readers}
    for file_id, file, reader in _without_copies(run, readers):
        mine[reader.name].append((file_id, file))
    parts = EventParts(run.folder, _kept(run))
    for reader in readers:
        files = mine[reader.name]
        if not files:
            continue
        ids = pa.array([file_id for file_id, _ in files], pa.int32())
        paths = [(file, run.local_path(file.path)) for _, file in files]
        for batch in reader.read(run.db, paths, run.folder):
            at = batch.table.schema.get_field_index("file")
            parts.add(batch.table.set_column(at, EVENT_SCHEMA.field("file"), ids.take(batch.table.column("file"))))
            run.problems += batch.problems
            run.events_of |= {files[place][0]: found for place, found in batch.done.items()}
            run.step("steps", [files[place][1] for place in batch.done])
    return parts.close()


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


def _kept(run: Conversion) -> Iterator[tuple[EventPart, pa.Table | None]]:
    """The parts of the version before; those that lose rows of a changed file as the table that is left of them."""
    if not run.previous or not run.previous_folder:
        return
    for part in run.previous.event_parts:
        name = part_file(schema.Table.EVENTS, part.part)
        if not run.gone.intersection(part.files):
            take_over(run.previous_folder / name, run.folder / name)
            yield part, None
            continue
        table = pq.read_table(run.previous_folder / name)
        left = table.filter(pc.invert(pc.is_in(table.column("file"), pa.array(sorted(run.gone), pa.int32()))))
        yield part, left


class EventParts:
    """Writes events to parts, whose numbers go on from those that are kept."""

    def __init__(self, folder: Path, kept: Iterator[tuple[EventPart, pa.Table | None]]) -> None:
        self._folder = folder
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
            self.add(table.select(EVENT_SCHEMA.names).cast(EVENT_SCHEMA))

    def add(self, table: pa.Table) -> None:
        """Takes events; writes them once there are enough for a row group."""
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
        start_ns = table.column("start_ns").to_numpy()
        if (start_ns[1:] < start_ns[:-1]).any():
            table = table.take(pa.array(np.argsort(start_ns, kind="stable")))
        if self._writer is None:
            self._writer = _writer(self._path)
        self._writer.write_table(table, row_group_size=len(table))
        self._rows += len(table)
        self._files.update(pc.unique(table.column("file")).to_pylist())
        if self._rows >= PART_ROWS:
            self._end_part()

    @property
    def _path(self) -> Path:
        return self._folder / part_file(schema.Table.EVENTS, self._next)

    def _end_part(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        sync(self._path)
        self._parts.append(EventPart(self._next, self._rows, tuple(sorted(self._files))))
        self._writer, self._rows, self._files = None, 0, set()
        self._next += 1


def _writer(path: Path) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        EVENT_SCHEMA,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in EVENT_SCHEMA.names if name not in (*_DIFFERENCES, *_PLAIN)],
        column_encoding=dict.fromkeys(_DIFFERENCES, "DELTA_BINARY_PACKED"),
        write_statistics=["start_ns", "duration_ns", "step", "category", "phase", "name", "file"],
    )
