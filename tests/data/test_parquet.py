"""Exports as Parquet, read again by pyarrow: kinds, gaps, hostile text."""

from __future__ import annotations

import io
import math
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.parquet import parquet_bytes


def read(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> pa.Table:
    return pq.read_table(io.BytesIO(parquet_bytes(columns, rows)))


def test_kinds_and_gaps() -> None:
    time = datetime(2020, 12, 4, 22, 39, 21, 1)  # noqa: DTZ001 - as the chart's clock shows it
    found = read(("i", "f", "t", "s", "b"), [(1, 1, time, "a", True), (None, 2.5, None, None, None)])
    assert [str(field.type) for field in found.schema] == ["int64", "double", "timestamp[us]", "string", "bool"]
    assert found.to_pylist()[0] == {"i": 1, "f": 1.0, "t": time, "s": "a", "b": True}
    assert set(found.to_pylist()[1].values()) == {None, 2.5}


def test_mixed_columns_are_text_and_nan_is_missing() -> None:
    found = read(("mixed", "f"), [(1, math.nan), ("x", 1.0)])
    assert found.to_pydict() == {"mixed": ["1", "x"], "f": [None, 1.0]}


def test_large_whole_numbers_keep_their_digits() -> None:
    assert read(("ns",), [(1_607_121_586_528_517_001,), (None,)]).to_pydict()["ns"] == [1_607_121_586_528_517_001, None]


def test_hostile_names_are_kept_as_text() -> None:
    found = read(("a", "a"), [("=cmd()", "\ud800")])
    assert found.schema.names == ["a", "a 2"]
    assert found.to_pylist() == [{"a": "=cmd()", "a 2": "?"}]


def test_no_rows_and_uneven_rows() -> None:
    assert read(("a",), []).num_rows == 0
    with pytest.raises(ValueError, match="as long as the head"):
        parquet_bytes(("a", "b"), [(1,)])
