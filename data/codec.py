"""Query results to bytes and back, for the cache: a JSON header, then raw array buffers and Arrow IPC; never code.

Decoding runs nothing that the bytes name: dataclasses come from the fixed table below, arrays from a short list of
number types, and anything else is a `FormatError`. Indexes are not kept: frames have none of meaning.
"""

from __future__ import annotations

import inspect
import math
import struct
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa

from data import frames
from data.errors import FormatError
from data.frames import comparison, cost, findings, framework, operators, original, quality, report

MAGIC = b"DIC1"
NUMBER_KINDS = "biuf"
ALIGNMENT = 8
ARROW_DTYPES: dict[str, Any] = {
    str(dtype): dtype
    for dtype in (pd.Int64Dtype(), pd.Float64Dtype(), pd.BooleanDtype(), pd.StringDtype(na_value=math.nan))
}
SPECIAL_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

MODULES = (
    frames,
    comparison,
    cost,
    findings,
    framework,
    operators,
    original,
    quality,
    report,
)
"""Whose dataclasses may be kept: all of `data.frames` but what is never cached."""

CLASSES: dict[str, type[Any]] = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if inspect.isclass(value) and is_dataclass(value) and value.__module__ == module.__name__
}


def encode(result: Any) -> bytes:
    """The bytes of a query's result: any frame or dataclass of `data.frames`, or a tuple, dict or scalar of such."""
    buffers: list[bytes] = []
    head = orjson.dumps(_encode(result, buffers))
    lengths = [len(head), *map(len, buffers)]
    parts = [MAGIC, struct.pack(f"<I{len(lengths)}Q", len(lengths), *lengths), _padded(head)]
    return b"".join([*parts, *map(_padded, buffers)])


def decode(payload: bytes) -> Any:
    """The result again, equal to what was encoded, with arrays of its own. Raises `FormatError` for other bytes."""
    try:
        if payload[:4] != MAGIC:
            raise ValueError("not an encoded result")
        (count,) = struct.unpack_from("<I", payload, 4)
        lengths = struct.unpack_from(f"<{count}Q", payload, 8)
        position = 8 + 8 * count
        parts: list[memoryview] = []
        for length in lengths:
            if position + length > len(payload):
                raise ValueError("cut short")
            parts.append(memoryview(payload)[position : position + length])
            position += length + -length % ALIGNMENT
        return _decode(orjson.loads(parts[0]), parts[1:])
    except (ValueError, KeyError, IndexError, TypeError, InvalidOperation, struct.error, pa.ArrowException) as error:
        raise FormatError(f"A cached result cannot be read: {error}") from error


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % ALIGNMENT)


def _encode(value: Any, buffers: list[bytes]) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _encode_float(float(value))
    if isinstance(value, Decimal):
        return {"m": str(value)}
    if isinstance(value, tuple | list):
        return {"t": [_encode(item, buffers) for item in value]}
    if isinstance(value, dict):
        return {"d": [[_encode(key, buffers), _encode(item, buffers)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return {"a": [value.dtype.str, list(value.shape), _array(value, buffers)]}
    if isinstance(value, pd.DataFrame):
        return {"f": [_encode_column(value, place, buffers) for place in range(value.shape[1])], "n": len(value)}
    if CLASSES.get(type(value).__name__) is type(value):
        return {"c": type(value).__name__, "v": [_encode(getattr(value, f.name), buffers) for f in fields(value)]}
    raise TypeError(f"a query's result must not hold a {type(value).__name__}")


def _encode_float(value: float) -> Any:
    if math.isfinite(value):
        return value
    return {"x": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def _array(value: np.ndarray[Any, Any], buffers: list[bytes]) -> int:
    if value.dtype.kind not in NUMBER_KINDS:
        raise TypeError(f"a query's result must not hold an array of {value.dtype}")
    buffers.append(value.tobytes())
    return len(buffers) - 1


def _encode_column(frame: pd.DataFrame, place: int, buffers: list[bytes]) -> Any:
    column = frame.iloc[:, place]
    name = str(frame.columns[place])
    if column.dtype == object:
        return [name, "object", [_encode(None if item is pd.NA else item, buffers) for item in column]]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBER_KINDS:
        return [name, column.dtype.str, _array(column.to_numpy(), buffers)]
    if str(column.dtype) not in ARROW_DTYPES:
        raise TypeError(f"a query's result must not hold a column of {column.dtype}")
    table = pa.table({"column": pa.Array.from_pandas(column)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    buffers.append(sink.getvalue().to_pybytes())
    return [name, f"arrow:{column.dtype}", len(buffers) - 1]


def _decode(value: Any, parts: list[memoryview]) -> Any:
    if not isinstance(value, dict):
        return value
    if "x" in value:
        return SPECIAL_FLOATS[value["x"]]
    if "m" in value:
        return Decimal(value["m"])
    if "t" in value:
        return tuple(_decode(item, parts) for item in value["t"])
    if "d" in value:
        return {_decode(key, parts): _decode(item, parts) for key, item in value["d"]}
    if "a" in value:
        dtype, shape, place = value["a"]
        return _decode_array(dtype, parts[place]).reshape(shape)
    if "f" in value:
        columns = {column[0]: _decode_column(column, parts) for column in value["f"]}
        return pd.DataFrame(columns, index=pd.RangeIndex(value["n"]))
    return CLASSES[value["c"]](*(_decode(item, parts) for item in value["v"]))


def _decode_array(dtype_name: str, part: memoryview) -> np.ndarray[Any, Any]:
    dtype = np.dtype(dtype_name)
    if dtype.kind not in NUMBER_KINDS:
        raise ValueError(f"an array of {dtype} is not allowed")
    return np.frombuffer(part, dtype).copy()


def _decode_column(column: Any, parts: list[memoryview]) -> Any:
    _, dtype, content = column
    if dtype == "object":
        values = np.empty(len(content), dtype=object)
        values[:] = [None] * len(content)
        for place, item in enumerate(content):
            values[place] = _decode(item, parts)
        return pd.Series(values, dtype=object)
    if dtype.startswith("arrow:"):
        table = pa.ipc.open_stream(pa.py_buffer(parts[content])).read_all()
        # not through to_pandas: it takes integers with gaps through floats, which lose their last digits
        return pd.Series(ARROW_DTYPES[dtype.removeprefix("arrow:")].__from_arrow__(table.column("column")))
    return _decode_array(dtype, parts[content])
