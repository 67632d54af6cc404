"""The operators of a job: how often each framework event of a name occurred, and how long it took, in all and itself.

Self times need the events of a thread in their order. They are taken from time to time: a stretch holds half a million
events, and what still runs at its end goes on into the next one, so memory does not grow with the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from data import schema
from data.convert.tables import write_table
from data.nesting import self_times
from data.operators import EVENTS, GROUP, KEY, LANE

STRETCH_EVENTS = 1 << 19

_GROUPS = f"""
select {GROUP}, count(*) as count, sum(duration_ns)::bigint as total_ns, max(duration_ns) as longest_ns,
       min(duration_ns) as shortest_ns, role = 'cpu' and bool_and(thread <> '') as nested, {KEY} as key
from {EVENTS} where role <> '' group by {GROUP}, key
order by role, total_ns desc, name, node, worker, phase, category, device
"""  # noqa: S608 (our own words)
_NESTING = f"from {EVENTS} where role = 'cpu' and thread <> ''"
_CPU_EVENTS = f"""
select {LANE} as lane, {KEY} as key, start_ns, end_ns {_NESTING} and start_ns >= $from_ns and start_ns < $to_ns
"""

_FIRST, _LAST = -(1 << 62), 1 << 62
Columns = dict[str, NDArray[Any]]


def derive_operators(
    db: duckdb.DuckDBPyConnection, folder: Path, files: Sequence[str], longest_ns: int, communication: Sequence[int]
) -> tuple[str, ...]:
    """Writes `operators.parquet` and returns the roles that occur. `communication` are files of nothing else."""
    shown = {"files": list(files), "longest_ns": longest_ns, "communication": list(communication) or [-1]}
    groups = db.sql(_GROUPS, params=shown).to_arrow_table()
    if not len(groups):
        return ()
    keys, own_ns = _own_times(db, shown)
    nested = groups.column("nested").to_numpy()
    at = np.searchsorted(keys, groups.column("key").to_numpy()) if len(keys) else np.zeros(len(groups), np.int64)
    times = own_ns[np.minimum(at, len(keys) - 1)] if len(keys) else np.zeros(len(groups), np.int64)
    columns = {name: groups.column(name) for name in groups.column_names}
    columns["self_ns"] = pa.array(times, mask=~nested)
    table = pa.table([columns[name] for name in schema.OPERATORS.names], schema=schema.OPERATORS)
    write_table(table, folder / "operators.parquet", plain=("total_ns", "self_ns"))
    return tuple(sorted(set(groups.column("role").to_pylist())))


def _own_times(db: duckdb.DuckDBPyConnection, shown: dict[str, object]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The time that each group of CPU operators has for itself: keys in order, and nanoseconds."""
    found = [
        added(part["key"], self_times(part["lane"], part["start_ns"], part["end_ns"], part["key"], within))
        for part, within in _stretches(db, shown)
    ]
    if not found:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return added(*(np.concatenate(column) for column in zip(*found, strict=True)))


def added(key: NDArray[np.uint64], value: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The sum of the values of each key, in the order of keys."""
    keys, place = np.unique(key, return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, place, value)
    return keys, total


def _stretches(db: duckdb.DuckDBPyConnection, shown: dict[str, object]) -> Iterator[tuple[Columns, tuple[int, int]]]:
    """The CPU operators from time to time, each with those that began before and still run; and the time meant."""
    edges = _edges(db, shown)
    running: Columns = {}
    for from_ns, to_ns in pairwise(edges):
        part: Columns = dict(db.execute(_CPU_EVENTS, {**shown, "from_ns": from_ns, "to_ns": to_ns}).fetchnumpy())  # type: ignore[arg-type]
        if running:
            part = {name: np.concatenate([running[name], part[name]]) for name in part}
        yield part, (from_ns, to_ns)
        still = part["end_ns"] > to_ns
        running = {name: values[still] for name, values in part.items()}


def _edges(db: duckdb.DuckDBPyConnection, shown: dict[str, object]) -> list[int]:
    """Times between which there are about as many operators as a stretch holds; none where there is no operator."""
    count = _value(db, f"select count(*) {_NESTING}", shown)
    if not count:
        return []
    many = -(-count // STRETCH_EVENTS)
    at = [place / many for place in range(1, many)]
    cuts = _value(db, f"select approx_quantile(start_ns, {at}) {_NESTING}", shown) if at else []
    return [_FIRST, *sorted(set(cuts)), _LAST]


def _value(db: duckdb.DuckDBPyConnection, query: str, shown: dict[str, object]) -> Any:
    ((value,),) = db.execute(query, shown).fetchall()
    return value
