"""Small traces for tests: events in memory, and what a reader makes of the files that they lie in."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from data.problem import Problem
from data.readers.events import EVENT_SCHEMA, EventPaths, EventReader, FileEvents
from data.readers.trace_memory import MEMORY_SCHEMA
from data.sources import FileKind, SourceFile

START_US = 1_767_268_800_000_000
"""2026-01-01 12:00 UTC."""


def start(value: object = START_US) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": value}}


def lane(pid: object, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def event(ts: object = 1, dur: object = 2, pid: object = 1, name: object = "e", **args: object) -> dict[str, Any]:
    return {"name": name, "ph": "X", "pid": pid, "ts": ts, "dur": dur, "args": args}


def begin(ts: object, name: str = "b", pid: object = 1, tid: object = 0) -> dict[str, Any]:
    return {"name": name, "ph": "B", "pid": pid, "tid": tid, "ts": ts}


def end(ts: object, pid: object = 1, tid: object = 0) -> dict[str, Any]:
    return {"ph": "E", "pid": pid, "tid": tid, "ts": ts}


def memory(
    ts: object,
    size: object,
    allocated: object,
    reserved: object = 4096,
    kind: object = 1,
    device: object = 0,
    pid: int = 7,
) -> dict[str, Any]:
    """A record of PyTorch's allocator: bytes that it took or, if negative, gave back, and its totals after that."""
    args = {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": size, "Device Id": device}
    more = {"Device Type": kind, "Addr": 140076061556736, "finished": False, "Ev Idx": 3}
    head = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": pid, "tid": 8, "ts": ts}
    return head | {"args": args | more}


@dataclass(frozen=True)
class Found:
    """What a reader gave for some files."""

    table: pa.Table
    problems: tuple[Problem, ...]
    files: tuple[FileEvents, ...]
    memory: pa.Table = field(default_factory=MEMORY_SCHEMA.empty_table)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The events by file and start."""
        found: list[dict[str, Any]] = self.table.to_pylist()
        return sorted(found, key=lambda row: [repr(row[key]).rjust(25) for key in ("file", "start_ns")] + [repr(row)])

    @property
    def starts_us(self) -> list[float]:
        """Starts after START_US."""
        return [(row["start_ns"] - START_US * 1000) / 1000 for row in self.rows]

    @property
    def lost(self) -> int:
        return sum(one.lost_rows for one in self.problems)


def source_file(
    path: Path, kind: FileKind = FileKind.PYTHONTIMELINE, node: str = "81-algo-1", stamp_ns: int = 0, inside: str = ""
) -> tuple[SourceFile, str]:
    size = path.stat().st_size if path.exists() else 0
    return SourceFile(inside or path.name, size, 0, kind, node, stamp_ns), str(path)


def read_files(reader: EventReader, paths: EventPaths) -> Found:
    """Reads the files as a conversion does, but all of them."""
    tables, problems = [EVENT_SCHEMA.empty_table()], list[Problem]()
    memories = [MEMORY_SCHEMA.empty_table()]
    files: dict[int, FileEvents] = {}
    with tempfile.TemporaryDirectory() as scratch, duckdb.connect(config={"threads": 1}) as db:
        for batch in reader.read(db, paths, Path(scratch)):
            assert batch.table.schema == EVENT_SCHEMA
            batch.table.validate(full=True)
            tables.append(batch.table)
            if batch.memory is not None:
                batch.memory.validate(full=True)
                memories.append(batch.memory)
            problems += batch.problems
            assert not files.keys() & batch.done.keys()
            files |= batch.done
        assert list(Path(scratch).iterdir()) == []
    assert sorted(files) == list(range(len(paths)))
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    records = pa.concat_tables(memories)
    found = Found(table, tuple(problems), tuple(files[at] for at in range(len(paths))), records)
    assert sum(one.memory for one in found.files) == len(records)
    assert [one.events for one in found.files] == [
        sum(row["file"] == at for row in found.rows) for at in range(len(paths))
    ]
    return found


def read_texts(
    reader: EventReader, folder: Path, *texts: str | bytes, kind: FileKind = FileKind.PYTHONTIMELINE
) -> Found:
    """Reads files of these contents, named 0.json and so on, in their order."""
    paths: list[tuple[SourceFile, str]] = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        paths.append(source_file(path, kind, stamp_ns=number))
    return read_files(reader, paths)


def without(rows: Sequence[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in keys} for row in rows]
