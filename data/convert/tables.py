"""Writing tables: each file whole, on disk before anything points at it."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP = 122_880
TICK_ROW_GROUP = 16_384
"""Ticks are wide rows of which a view wants a few minutes: smaller groups, so that more of them can be skipped."""


def write_table(table: pa.Table, path: Path, *, integers: tuple[str, ...] = (), row_group: int = ROW_GROUP) -> int:
    """Writes a Parquet file and forces it to disk; its size in bytes. `integers` (sorted times) go as differences."""
    dictionary = [name for name in table.column_names if name not in integers]
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as sink:
        pq.write_table(
            table,
            sink,
            compression="zstd",
            compression_level=1,
            row_group_size=row_group,
            use_dictionary=dictionary,
            column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED") or None,
            write_statistics=True,
        )
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(beside, path)
    return path.stat().st_size


def write_bytes(content: bytes, path: Path) -> None:
    """Writes a small file whole and forces it to disk."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as sink:
        sink.write(content)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(beside, path)


def sync_folder(folder: Path) -> None:
    """Forces a folder's entries to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
