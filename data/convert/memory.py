"""What the allocators of a job's processes held over time, from their records: once, in bins, for whoever looks at it.

Records are taken from time to time, a quarter of a million of them, and what was held at the end of a stretch goes on
into the next one, so memory does not grow with the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from data import memory, schema
from data.convert.tables import write_table
from data.manifest import EventPart, part_file
from data.names import natural_key
from data.readers.paths import literal_pattern

STRETCH_RECORDS = 1 << 18
MOST_BINS = 4096
FEWEST_BINS = 512
MOST_CELLS = 250_000
MOST_LINES = 100_000
"""Of processes and devices in files; a trace in which each record is of another process makes no sense."""

_FIRST, _LAST = -(1 << 62), 1 << 62
_OF_LINE = ("node", "process", "device_kind", "device")
_SPAN = "select count(*) filter (wall) as placed from read_parquet($files)"
_LINES = """
select node::varchar as node, process::varchar as process, device_kind::varchar as device_kind, device, file,
       min(time_ns) as start_ns, max(time_ns) as end_ns, count(*) as records
from read_parquet($files) where wall = $wall group by all
order by records desc, node, process, device_kind, device, start_ns limit $most
"""
_CUTS = "select approx_quantile(time_ns, $at::float[]) from read_parquet($files) where wall = $wall"
_RECORDS = """
select line, device_kind = 'cpu' as cpu, time_ns, bytes, allocated, reserved
from (select node::varchar as node, process::varchar as process, device_kind::varchar as device_kind, device,
             time_ns, bytes, allocated, reserved, place
      from read_parquet($files) where wall = $wall and time_ns >= $from_ns and time_ns < $to_ns)
join memory_lines using (node, process, device_kind, device) order by line, time_ns, place, allocated
"""


@dataclass(frozen=True)
class MemoryTotals:
    """What the manifest tells of a job's memory records; times are 0 where there are none."""

    records: int = 0
    kinds: tuple[str, ...] = ()
    bin_ns: int = 0
    wall: bool = True
    start_ns: int = 0
    end_ns: int = 0
    doubts: tuple[tuple[int, str], ...] = ()  # what is odd about a file, in words


def derive_memory(
    db: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[EventPart], wall: bool | None
) -> MemoryTotals:
    """Writes lines and their bins from the records whose times count as `wall` says; as their own do where it is None.

    A line is what one process allocates on one device.
    """
    if not parts:
        return MemoryTotals()
    files = [literal_pattern(str(folder / part_file(schema.Table.MEMORY, part.part))) for part in parts]
    if wall is None:
        ((placed,),) = db.execute(_SPAN, {"files": files}).fetchall()
        wall = placed > 0
    shown: dict[str, object] = {"files": files, "wall": wall}
    found = db.sql(_LINES, params={**shown, "most": MOST_LINES + 1}).to_arrow_table().to_pylist()
    words = f"there are memory records of more than {MOST_LINES:,} processes and devices: the last are left out"
    cut = [(row["file"], words) for row in found[MOST_LINES:]]
    lines = _numbered(found[:MOST_LINES])
    if not len(lines):
        return MemoryTotals()
    start_ns, end_ns = min(lines.column("start_ns").to_pylist()), max(lines.column("end_ns").to_pylist())
    count = len(set(lines.column("line").to_pylist()))
    records = sum(lines.column("records").to_pylist())
    bin_ns = -(-(end_ns + 1 - start_ns) // min(max(MOST_CELLS // count, FEWEST_BINS), MOST_BINS))
    write_table(lines, folder / "memory_lines.parquet")
    db.register("memory_lines", lines.group_by(["line", *_OF_LINE]).aggregate([]))
    try:
        bins = _bins(_stretches(db, shown, records), count, bin_ns)
    finally:
        db.unregister("memory_lines")
    write_table(bins, folder / "memory_bins.parquet", differences=("bin_ns", "high_ns"), plain=("high", "low", "last"))
    kinds = tuple(sorted(set(lines.column("device_kind").to_pylist())))
    return MemoryTotals(records, kinds, bin_ns, wall, start_ns, end_ns, tuple(cut))


def _numbered(rows: list[dict[str, Any]]) -> pa.Table:
    """Lines in natural order with their numbers; the rows of a line, one for each file, by time."""
    keys = sorted({tuple(row[name] for name in _OF_LINE) for row in rows}, key=_order)
    numbers = {key: number for number, key in enumerate(keys)}
    found = [row | {"line": numbers[tuple(row[name] for name in _OF_LINE)]} for row in rows]
    found.sort(key=lambda row: (row["line"], row["start_ns"], row["end_ns"], row["records"]))
    return pa.Table.from_pylist(found, schema=schema.MEMORY_LINES)


def _order(line: tuple[Any, ...]) -> tuple[object, ...]:
    node, process, kind, device = line
    return natural_key(node), node, kind == "cpu", kind, device, natural_key(process), process


Records = dict[str, NDArray[np.int64]]


def _stretches(db: duckdb.DuckDBPyConnection, shown: dict[str, object], records: int) -> Iterator[Records]:
    """The records from time to time, of each time by line and then in their order."""
    many = -(-records // STRETCH_RECORDS)
    cuts: list[int] = []
    if many > 1:
        at = [place / many for place in range(1, many)]
        ((cuts,),) = db.execute(_CUTS, {**shown, "at": at}).fetchall()
    for from_ns, to_ns in pairwise([_FIRST, *sorted(set(cuts)), _LAST]):
        found = db.execute(_RECORDS, {**shown, "from_ns": from_ns, "to_ns": to_ns}).fetchnumpy()
        yield {name: np.asarray(column) for name, column in found.items()}


def _bins(stretches: Iterator[Records], lines: int, bin_ns: int) -> pa.Table:
    """The bins of all lines that are not empty. A bin may lie in two stretches: what each gives is pooled again."""
    held = np.full(lines, memory.UNKNOWN, np.int64)
    keys, parts = list[NDArray[np.int64]](), list[memory.Stretches]()
    for one in stretches:
        line, allocated = one["line"].astype(np.int64), one["allocated"]
        tells = memory.counted(line, one["cpu"].astype(bool), one["bytes"], allocated, held)
        told = np.flatnonzero(tells)
        held[line[told]] = allocated[told]  # of several, the last one stays
        number = one["time_ns"] // bin_ns
        change = np.append(True, (line[1:] != line[:-1]) | (number[1:] != number[:-1]))[: len(line)]
        records = memory.of_records(one["time_ns"], one["bytes"], allocated, one["reserved"], tells)
        _, pooled = memory.pooled(np.cumsum(change), records)
        keys.append(np.stack([line[change], number[change]]))
        parts.append(pooled)
    line, number = np.concatenate(keys, axis=1)
    order = np.lexsort((number, line))  # stable: earlier stretches first
    line, number = line[order], number[order]
    whole = {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
    change = np.append(True, (line[1:] != line[:-1]) | (number[1:] != number[:-1]))
    _, whole = memory.pooled(np.cumsum(change), whole)
    columns = {"line": line[change], "bin_ns": number[change] * bin_ns} | whole
    unknown = whole["high"] == memory.UNKNOWN
    arrays = [
        pa.array(columns[field.name], field.type, mask=unknown if field.name in memory.KNOWN else None)
        for field in schema.MEMORY_BINS
    ]
    return pa.table(arrays, schema=schema.MEMORY_BINS)
