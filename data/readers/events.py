"""What every reader of duration events returns, whatever the format: one table of events, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from data.problem import Problem
from data.sources import SourceFile

_TEXT = pa.dictionary(pa.int32(), pa.string())

EVENT_SCHEMA = pa.schema(
    [
        pa.field("node", _TEXT, nullable=False),  # "algo-1"; the id in the file name where it has another form
        pa.field("worker", _TEXT, nullable=False),  # rank, or process id in the file name; "" where there is none
        pa.field("process", _TEXT, nullable=False),  # as it is written, numbers too: they may exceed 64 bits; or ""
        pa.field("thread", _TEXT, nullable=False),
        pa.field("phase", _TEXT, nullable=False),  # the lane the event was written to, or its category
        pa.field("category", _TEXT, nullable=False),  # "" where it names none
        pa.field("name", _TEXT, nullable=False),
        pa.field("start_ns", pa.int64(), nullable=False),  # since 1970 UTC; see `wall`
        pa.field("duration_ns", pa.int64(), nullable=False),
        pa.field("step", pa.int64(), nullable=False),  # NO_NUMBER where the event has none
        pa.field("device", _TEXT, nullable=False),  # number of the GPU as text; "" for the CPU side
        pa.field("stream", pa.int64(), nullable=False),  # or NO_NUMBER
        pa.field("bytes", pa.int64(), nullable=False),  # or NO_NUMBER
        pa.field("args", pa.string()),  # the arguments as strict JSON; null where there are none
        pa.field("wall", pa.bool_(), nullable=False),  # False: start_ns counts from a moment that is not known
        pa.field("file", pa.int32(), nullable=False),  # index into the paths that were read
    ]
)
NO_NUMBER = -1
NO_PHASE = "Unknown"
"""The phase of an event whose lane was never given a name."""

_NODE_ID = re.compile(r"(.+?)-(algo-[0-9].*)|([0-9]+)-(.+)", re.DOTALL)


@dataclass(slots=True)
class FileEvents:
    """What one file gave."""

    events: int = 0  # rows in the table
    memory: int = 0  # records of memory allocators
    invalid: int = 0  # events and records left out because their time, duration or numbers make no sense
    waiting: bool = False  # it goes together with other files: marks without their other half, a clock in another name


@dataclass(frozen=True)
class EventBatch:
    """Some events; `file` counts through the paths that are read."""

    table: pa.Table
    problems: tuple[Problem, ...] = ()
    done: dict[int, FileEvents] = field(default_factory=dict)
    """The files that are read to their end with this batch, by their place among the paths."""
    memory: pa.Table | None = None
    """Records of memory allocators, as `trace_memory.MEMORY_SCHEMA` has them."""


EventPaths = Sequence[tuple[SourceFile, str]]
"""Files and where they lie on this machine (absolute paths)."""


@dataclass(frozen=True, slots=True)
class EventReader:
    """A format of duration events: which files it takes, and how they are read.

    `read` gives the events of all paths batch by batch, so that no file has to fit into memory, and may use the folder
    it is given for files of its own. `group` names the files that complete each other: a file that is `waiting` is read
    again when another one of its group changes. `writer` gives the one writer that the name of a file gives and nothing
    else does, from the file, where it lies, and the same folder; "" where there is none.
    """

    name: str
    matches: Callable[[SourceFile], bool]
    read: Callable[[duckdb.DuckDBPyConnection, EventPaths, Path], Iterator[EventBatch]]
    group: Callable[[SourceFile], str] = lambda file: file.path
    writer: Callable[[SourceFile, str, Path], str] = lambda file, path, scratch: ""


def split_node_id(node_id: str) -> tuple[str, str]:
    """Node and worker of an id such as "151-algo-1": ("algo-1", "151"). Other ids are a node without a worker."""
    match = _NODE_ID.fullmatch(node_id)
    if match is None:
        return node_id, ""
    return (match[2], match[1]) if match[2] else (match[4], match[3])
