"""Complete events of the SageMaker profiler's pythontimeline and model_timeline files.

Each file is a JSON array in Chrome-trace style; `pid` numbers a lane (the phase), anew in every file, and times count
from the file's own start value. DuckDB reads whole files in bulk. A file that it refuses, or that holds anything
which it would read silently wrong, is read again event by event (`trace_careful`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from data.problem import Problem
from data.readers.copies import find_copies
from data.readers.events import EVENT_SCHEMA, EventBatch, EventPaths, EventReader, FileEvents, split_node_id
from data.readers.trace_bulk import read_in_bulk
from data.readers.trace_careful import read_carefully
from data.sources import FileKind, SourceFile

BULK_BYTES = 64 << 20  # raw bytes that DuckDB reads at once: bounds memory, and the work repeated for a bad file

_ENDS_BYTES = 256
_WHOLE_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_WHOLE_END = re.compile(rb"\]\s*\Z")


def matches(file: SourceFile) -> bool:
    """Whether this reader takes the file."""
    return file.kind in (FileKind.PYTHONTIMELINE, FileKind.MODEL_TIMELINE)


def read(db: duckdb.DuckDBPyConnection, paths: EventPaths) -> EventBatch:
    """All complete events of the files, and what is wrong with these. Copies of a file count once."""
    reading = _Reading(db, paths)
    whole: list[int] = []
    for index in range(len(paths)):
        if index in reading.copies:
            reading.leave_out_copy(index)
        elif _looks_whole(paths[index][1]):
            whole.append(index)
        else:
            reading.carefully(index)
    for portion in _portions(whole, [paths[index][0].size for index in range(len(paths))]):
        reading.in_bulk(portion)
    return reading.batch()


READER = EventReader(name="SageMaker timeline", matches=matches, read=read)


class _Reading:
    """The tables, counts and problems of one call, gathered file by file."""

    def __init__(self, db: duckdb.DuckDBPyConnection, paths: EventPaths) -> None:
        self.copies = find_copies(paths)
        self._db = db
        self._paths = paths
        self._tables: list[pa.Table] = []
        self._problems: list[Problem] = []
        self._files = [FileEvents(0)] * len(paths)

    def leave_out_copy(self, index: int) -> None:
        original = self._paths[self.copies[index]][0].path
        self._note(index, f"this file is an exact copy of {original} and was left out", severe=False)

    def in_bulk(self, indexes: Sequence[int]) -> None:
        """Read files through DuckDB; where it refuses one of them, halve until that one is found."""
        try:
            bulk = read_in_bulk(self._db, [self._paths[index][1] for index in indexes])
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            if len(indexes) == 1:
                self.carefully(indexes[0])
            else:
                middle = len(indexes) // 2
                self.in_bulk(indexes[:middle])
                self.in_bulk(indexes[middle:])
            return
        for index, found in zip(indexes, bulk.files, strict=True):
            if found.doubtful:
                self.carefully(index)
            else:
                self._count(index, FileEvents(found.events, found.without_clock), found.pairs)
        if bulk.table.num_rows:
            self._tables.append(self._complete(bulk.table, indexes))

    def carefully(self, index: int) -> None:
        """Read one file event by event."""
        file, path = self._paths[index]
        found = read_carefully(path, file.path)
        self._problems.extend(found.problems)
        self._count(index, FileEvents(len(found.names), found.without_clock, found.invalid), found.pairs)
        if not found.names:
            return
        columns = {
            "file": pa.array(np.zeros(len(found.names), dtype=np.int32)),
            "phase": pa.array(found.phases, pa.string()),
            "name": pa.array(found.names, pa.string()),
            "start_ns": pa.array(np.asarray(found.start_ns)),
            "duration_ns": pa.array(np.asarray(found.duration_ns)),
            "step": pa.array(np.asarray(found.steps)),
            "process": pa.array(np.asarray(found.processes)),
            "thread": pa.array(np.asarray(found.threads)),
        }
        self._tables.append(self._complete(pa.table(columns), [index]))

    def batch(self) -> EventBatch:
        table = pa.concat_tables([EVENT_SCHEMA.empty_table(), *self._tables]).unify_dictionaries()
        return EventBatch(table, tuple(self._problems), tuple(self._files))

    def _complete(self, table: pa.Table, indexes: Sequence[int]) -> pa.Table:
        """A table whose file numbers count within `indexes`, as EVENT_SCHEMA has it."""
        portion = table.column("file").combine_chunks()
        ids = [split_node_id(self._paths[index][0].node) for index in indexes]
        columns: dict[str, Any] = {
            "node": pa.array([node for node, _ in ids], pa.string()).dictionary_encode().take(portion),
            "worker": pa.array([worker for _, worker in ids], pa.string()).dictionary_encode().take(portion),
            "phase": table.column("phase").dictionary_encode(),
            "name": table.column("name").dictionary_encode(),
            "file": pa.array(indexes, pa.int32()).take(portion),
        }
        for name in ("start_ns", "duration_ns", "step", "process", "thread"):
            columns[name] = table.column(name)
        return pa.table([columns[name] for name in EVENT_SCHEMA.names], schema=EVENT_SCHEMA)

    def _count(self, index: int, counts: FileEvents, pairs: int) -> None:
        self._files[index] = counts
        if counts.without_clock:
            self._note(
                index,
                "the file does not say when it starts (start_time_since_epoch_in_micros), so its "
                f"{counts.without_clock} events have no place in time and were left out",
            )
        if pairs:
            self._note(index, f"{pairs} begin and end events were left out: only complete events are read")

    def _note(self, index: int, message: str, *, severe: bool = True) -> None:
        self._problems.append(Problem(self._paths[index][0].path, None, message, "warning" if severe else "note"))


def _looks_whole(path: str) -> bool:
    """Whether the file begins and ends like a closed array; DuckDB takes some for whole that are not."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(_ENDS_BYTES)
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _ENDS_BYTES))
            tail = stream.read(_ENDS_BYTES)
    except OSError:
        return False
    return _WHOLE_START.match(head) is not None and _WHOLE_END.search(tail) is not None


def _portions(indexes: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Split files into groups of about BULK_BYTES."""
    portion: list[int] = []
    portion_bytes = 0
    for index in indexes:
        if portion and portion_bytes + sizes[index] > BULK_BYTES:
            yield portion
            portion, portion_bytes = [], 0
        portion.append(index)
        portion_bytes += sizes[index]
    if portion:
        yield portion
