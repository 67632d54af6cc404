"""Timelines of the SageMaker profiler: Python, model, Horovod and SMDataParallel timelines, and merged ones.

Each file is a JSON array in Chrome-trace style; `pid` numbers a lane (the phase), anew in every file, and times count
from the file's own start value. Files are rotated, so that a begin mark may end in the next file of the same writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from data.readers.events import EventBatch, EventPaths, EventReader, split_node_id
from data.readers.trace_events import Format, Origin, read_traces
from data.readers.trace_file import Early
from data.sources import FileKind, SourceFile

KINDS = (
    FileKind.PYTHONTIMELINE,
    FileKind.MODEL_TIMELINE,
    FileKind.HOROVOD_TIMELINE,
    FileKind.SMDATAPARALLEL_TIMELINE,
    FileKind.MERGED_TIMELINE,
)


def _origin(file: SourceFile, paths: EventPaths, first: Early) -> Origin:
    return Origin(*split_node_id(file.node))


def _writer(file: SourceFile) -> str:
    return f"{file.kind}/{file.node}"


_FORMAT = Format(
    lanes=True,
    origin=_origin,
    writer=_writer,
    without_clock="the file does not say when it starts (start_time_since_epoch_in_micros)",
    pid_is_lane=True,
)


def _read(db: duckdb.DuckDBPyConnection, paths: EventPaths, scratch: Path) -> Iterator[EventBatch]:
    return read_traces(db, paths, scratch, _FORMAT)


READER = EventReader("SageMaker timeline", lambda file: file.kind in KINDS, _read, _writer)
