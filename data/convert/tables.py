"""Writing tables: each file whole, on disk before anything points at it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP = 122_880
TICK_ROW_GROUP = 16_384
"""Ticks are wide rows of which a view wants a few minutes: smaller groups, so that more of them can be skipped."""


def write_table(
    table: pa.Table,
    path: Path,
    *,
    differences: Sequence[str] = (),
    plain: Sequence[str] = (),
    row_group: int = ROW_GROUP,
) -> int:
    """Writes a Parquet file and forces it to disk; its size in bytes.

    `differences` are integers that hardly go down, and `plain` numbers that hardly repeat; all else repeats, and goes
    with a dictionary.
    """
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as sink:
        pq.write_table(
            table,
            sink,
            compression="zstd",
            compression_level=1,
            row_group_size=row_group,
            use_dictionary=[_leaf(one) for one in table.schema if one.name not in {*differences, *plain}],
            column_encoding={_leaf(table.schema.field(name)): "DELTA_BINARY_PACKED" for name in differences} or None,
            write_statistics=True,
        )
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(beside, path)
    return path.stat().st_size


def _leaf(column: pa.Field) -> str:
    """The name by which Parquet knows a column's values."""
    nested = pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)
    return f"{column.name}.list.element" if nested else column.name


def write_bytes(content: bytes, path: Path) -> None:
    """Writes a small file whole and forces it to disk."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as sink:
        sink.write(content)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(beside, path)


def sync(path: Path) -> None:
    """Forces a file, or a folder's entries, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class TableParts:
    """Writes a table piece by piece; there is no file where there was no piece."""

    def __init__(self, path: Path, kind: pa.Schema) -> None:
        self._path = path
        self._kind = kind
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> TableParts:
        return self

    def write(self, table: pa.Table) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, self._kind, compression="zstd", compression_level=1)
        self._writer.write_table(table)

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
            sync(self._path)
