"""Detailed traces of TensorFlow's profiler, as SageMaker Debugger starts it for a few steps.

A packed Chrome trace whose lanes are processes ("/host:CPU", "/device:GPU:0"). Times count from the start in the name
of a `.metadata` file four folders above; a trace without one keeps its durations, but has no place in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from data.readers.events import EVENT_SCHEMA, EventBatch, EventPaths, EventReader, FileEvents, split_node_id
from data.readers.trace_events import Format, Origin, read_traces
from data.readers.trace_file import Early
from data.sources import FileKind, SourceFile

_WITHOUT_CLOCK = "there is no .metadata file beside it, whose name says when it starts"
_LEVELS = 4  # plugins/profile/<time>/<host>.trace.json.gz


def _origin(file: SourceFile, paths: EventPaths, first: Early) -> Origin:
    folder = file.path.rsplit("/", _LEVELS)[0]
    named = file.path.rsplit("/", 1)[-1].split(".trace.json")[0]
    for other, _ in paths:
        if other.kind is FileKind.TENSORFLOW_METADATA and other.path.rpartition("/")[0] == folder:
            node, worker = split_node_id(other.node)
            return Origin(node or named, worker, other.stamp_ns // 1000, shared=True)
    return Origin(named, "", waiting=_WITHOUT_CLOCK, shared=True)


def _group(file: SourceFile) -> str:
    above = _LEVELS if file.kind is FileKind.TENSORFLOW_TRACE else 1
    return file.path.rsplit("/", above)[0]


_FORMAT = Format(lanes=True, origin=_origin, writer=lambda file: file.path, without_clock=_WITHOUT_CLOCK)


def _read(db: duckdb.DuckDBPyConnection, paths: EventPaths, scratch: Path) -> Iterator[EventBatch]:
    """The metadata files say everything by their names, to each trace that comes."""
    yield EventBatch(
        EVENT_SCHEMA.empty_table(),
        done={
            at: FileEvents(waiting=True)
            for at, (file, _) in enumerate(paths)
            if file.kind is FileKind.TENSORFLOW_METADATA
        },
    )
    traces = [at for at, (file, _) in enumerate(paths) if file.kind is FileKind.TENSORFLOW_TRACE]
    yield from read_traces(db, paths, scratch, _FORMAT, traces)


READER = EventReader(
    "TensorFlow trace",
    lambda file: file.kind in (FileKind.TENSORFLOW_TRACE, FileKind.TENSORFLOW_METADATA),
    _read,
    _group,
)
