"""Records of PyTorch's memory allocators: instant events "[memory]", one for each allocation and each free.

Each holds what was allocated (negative where it was freed), and what the allocator holds in all after that. The numbers
stand in the arguments of the event.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

NAME = "[memory]"
KIND = "i"
CATEGORY = "cpu_instant_event"

_TEXT = pa.dictionary(pa.int32(), pa.string())
MEMORY_SCHEMA = pa.schema(
    [
        pa.field("node", _TEXT, nullable=False),
        pa.field("worker", _TEXT, nullable=False),
        pa.field("process", _TEXT, nullable=False),
        pa.field("thread", _TEXT, nullable=False),
        pa.field("device_kind", _TEXT, nullable=False),  # cpu, cuda, ...
        pa.field("device", pa.int32(), nullable=False),  # -1 where a kind has only one
        pa.field("time_ns", pa.int64(), nullable=False),  # since 1970 UTC; see `wall`
        pa.field("bytes", pa.int64(), nullable=False),  # allocated, negative where they were freed
        pa.field("allocated", pa.int64(), nullable=False),  # by the process on the device in all, as it is written
        pa.field("reserved", pa.int64(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),  # among the records of the file, which tells equal times apart
        pa.field("wall", pa.bool_(), nullable=False),  # False: time_ns counts from a moment that is not known
        pa.field("file", pa.int32(), nullable=False),
    ]
)

MOST_BYTES = 1 << 50
"""A pebibyte: no device holds as much."""

_KINDS = (
    *("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan"),
    *("metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone"),
)
"""PyTorch's kinds of devices by number (c10/core/DeviceType.h)."""

_LIMITS = {
    "Device Type": (0, 127),
    "Device Id": (-1, 9_999),
    "Bytes": (-MOST_BYTES, MOST_BYTES),
    "Total Allocated": (0, MOST_BYTES),
    "Total Reserved": (0, MOST_BYTES),
}
"""The arguments that are read, and what is possible."""

_PATHS = [f'$."{key}"' for key in _LIMITS]
_NUMBERS = ", ".join(
    f"case when regexp_full_match(found[{at}], '-?[0-9]{{1,19}}') then try_cast(found[{at}] as bigint) end"
    for at in range(1, len(_LIMITS) + 1)
)
_QUERY = f"""
select {_NUMBERS}
from (select place, case when json_valid(args) then json_extract_string(args, {_PATHS}) end as found from memory_args)
order by place
"""

Numbers = dict[str, NDArray[np.int64]]
"""The arguments of some records by their names."""


def numbers(db: duckdb.DuckDBPyConnection, args: pa.Array) -> tuple[Numbers, list[tuple[str, NDArray[np.int64]]]]:
    """The arguments of some records, and which of them cannot be used: why, and their places."""
    db.register("memory_args", pa.table({"place": pa.array(np.arange(len(args))), "args": args}))
    try:
        table = db.sql(_QUERY).to_arrow_table()
    finally:
        db.unregister("memory_args")
    found = {key: column.combine_chunks() for key, column in zip(_LIMITS, table.columns, strict=True)}
    return {key: column.fill_null(0).to_numpy() for key, column in found.items()}, list(_faults(found))


def _faults(found: dict[str, pa.Array]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """What is wrong with the records, each named once, by the first of its arguments that is wrong."""
    fine = np.ones(len(next(iter(found.values()))), bool)
    for key, (least, most) in _LIMITS.items():
        known = found[key].is_valid().to_numpy(zero_copy_only=False)
        values = found[key].fill_null(0).to_numpy()
        negative = known & (values < 0) & (least == 0)
        beyond = known & ~negative & ((values < least) | (values > most))
        for reason, wrong in (("no usable", ~known), ("a negative", negative), ("an impossible", beyond)):
            places = np.flatnonzero(fine & wrong)
            if len(places):
                yield f"{reason} {key}", places
        fine &= known & ~negative & ~beyond


def device_kinds(types: NDArray[np.int64]) -> pa.Array:
    """PyTorch's numbers of kinds of devices in words."""
    seen, codes = np.unique(types, return_inverse=True)
    words = [_KINDS[kind] if kind < len(_KINDS) else f"device type {kind}" for kind in seen.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words, pa.string()))
