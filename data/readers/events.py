"""What every reader of duration events returns, whatever the format: one table of events, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from data.problem import Problem
from data.sources import SourceFile

_TEXT = pa.dictionary(pa.int32(), pa.string())

EVENT_SCHEMA = pa.schema(
    [
        pa.field("node", _TEXT, nullable=False),  # "algo-1"; the id in the file name where it has another form
        pa.field("worker", _TEXT, nullable=False),  # rank or process id in the file name; "" where it names none
        pa.field("phase", _TEXT, nullable=False),  # the lane the event was written to
        pa.field("name", _TEXT, nullable=False),
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("duration_ns", pa.int64(), nullable=False),
        pa.field("step", pa.int64(), nullable=False),  # NO_NUMBER where the event has none
        pa.field("process", pa.int64(), nullable=False),  # operating system process id, or NO_NUMBER
        pa.field("thread", pa.int64(), nullable=False),  # or NO_NUMBER
        pa.field("file", pa.int32(), nullable=False),  # index into the paths that were read
    ]
)
NO_NUMBER = -1
NO_PHASE = "Unknown"
"""The phase of an event whose lane was never given a name."""

_NODE_ID = re.compile(r"(.+?)-(algo-[0-9].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileEvents:
    """How many events one file gave."""

    events: int  # rows in the table
    without_clock: int = 0  # events left out because the file does not say when it starts
    invalid: int = 0  # events left out because their time or duration makes no sense


@dataclass(frozen=True)
class EventBatch:
    """Events of several files; `files` has one entry per path that was read, in the same order."""

    table: pa.Table
    problems: tuple[Problem, ...]
    files: tuple[FileEvents, ...]


EventPaths = Sequence[tuple[SourceFile, str]]
"""Files and where they lie on this machine (absolute paths)."""


@dataclass(frozen=True, slots=True)
class EventReader:
    """A format of duration events: which files it takes, and how they are read.

    `read` holds all events of the paths in memory: give it up to some 100 MB of files at a time.
    """

    name: str
    matches: Callable[[SourceFile], bool]
    read: Callable[[duckdb.DuckDBPyConnection, EventPaths], EventBatch]


def split_node_id(node_id: str) -> tuple[str, str]:
    """Node and worker of an id such as "151-algo-1": ("algo-1", "151"). Other ids are a node without a worker."""
    match = _NODE_ID.fullmatch(node_id)
    return (match[2], match[1]) if match else (node_id, "")
