"""Rows of an export as a Parquet file: numbers as numbers, times as times, everything else as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LONGEST_TEXT = 4096


def parquet_bytes(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """The file; a column whose values are of several kinds becomes text. Raises ValueError where rows do not fit."""
    if any(len(row) != len(columns) for row in rows):
        raise ValueError("a row is not as long as the head")
    names = _distinct(columns)
    arrays = [_column([row[at] for row in rows]) for at in range(len(columns))]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, names=names), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _column(values: list[Any]) -> pa.Array:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_())
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        return pa.array(values, pa.int64())
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pa.array([None if value is None else float(value) for value in values], pa.float64(), from_pandas=True)
    if known and all(isinstance(value, datetime) for value in known):
        return pa.array(values, pa.timestamp("us"))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return str(value)[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _distinct(columns: Sequence[str]) -> list[str]:
    """Names of columns, those that come again with a number."""
    seen: dict[str, int] = {}
    names = []
    for column in columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(column if seen[column] == 1 else f"{column} {seen[column]}")
    return names
