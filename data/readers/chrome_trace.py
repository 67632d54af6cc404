"""Traces of PyTorch's profiler (Kineto), one file a rank and recording, and Chrome traces of other tools.

A phase is the category of an event, the name of its process where it has none. Times count from
`baseTimeNanoseconds`, else from 1970 where they are that large, else from a moment that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

from data.readers.events import EventBatch, EventPaths, EventReader
from data.readers.trace_events import Format, Origin, read_traces
from data.readers.trace_file import Early, early, plain
from data.sources import FileKind, SourceFile

_RANKS = (
    re.compile(r"rank[-_ ]?(\d{1,6})(?!\d)", re.IGNORECASE),
    re.compile(r"worker[-_ ]?(\d{1,6})(?!\d)", re.IGNORECASE),
    re.compile(r"rank\D.*?(\d{1,6})\.(?:pt\.)?trace\.json", re.IGNORECASE),
)


def rank_of(path: str) -> int | None:
    """The rank that a file's name gives, else its folder's."""
    for part in reversed(path.split("/")):
        for pattern in _RANKS:
            if match := pattern.search(part):
                return int(match[1])
    return None


def _origin(file: SourceFile, paths: EventPaths, first: Early) -> Origin:
    """Without any rank it is 0: a run of one process writes none."""
    rank = (rank_of(file.path) or 0) if first.rank is None else first.rank
    return Origin(f"rank{rank}", str(rank))


def _writer(file: SourceFile, path: str, scratch: Path) -> str:
    """The rank, where the file itself gives none."""
    rank = rank_of(file.path)
    if rank is None:
        return ""
    try:
        stream, _ = plain(path, scratch)
    except OSError:
        return ""
    with stream:
        return str(rank) if early(stream).rank is None else ""


def _format(certain: bool) -> Format:
    return Format(
        lanes=False,
        origin=_origin,
        writer=lambda file: file.path,
        without_clock="times in the file do not count from 1970",
        when_empty="error" if certain else "note",
    )


def _reader(kind: FileKind, name: str) -> EventReader:
    form = _format(kind is FileKind.TRACE)

    def read(db: duckdb.DuckDBPyConnection, paths: EventPaths, scratch: Path) -> Iterator[EventBatch]:
        return read_traces(db, paths, scratch, form)

    return EventReader(name, lambda file: file.kind is kind, read, writer=_writer)


READER = _reader(FileKind.TRACE, "PyTorch trace")

PERHAPS = _reader(FileKind.PERHAPS_TRACE, "JSON that may be a trace")
"""Other JSON files beside traces: read where they turn out to be traces, else passed over with a note."""
