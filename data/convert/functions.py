"""Python profiles into the table of functions: new and changed files are read, the rest comes from before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data import schema
from data.convert.tables import write_table
from data.errors import SourceError
from data.names import natural_key
from data.readers.functions import FileFunctions
from data.readers.python_intervals import interval_of
from data.readers.python_stats import PROFILERS, damaged, read
from data.sources import SourceFile

if TYPE_CHECKING:
    from data.convert.run import Conversion

FILE = "functions.parquet"


@dataclass(frozen=True)
class FunctionTotals:
    """What the manifest tells of a job's Python profiles; times are 0 where there are none."""

    rows: int = 0
    nodes: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    start_ns: int = 0
    end_ns: int = 0


def convert_functions(run: Conversion) -> FunctionTotals:
    """Reads the new and changed profiles and writes the table of functions."""
    tables = list(_kept(run))
    for file_id, file in run.to_read:
        if file.kind in PROFILERS:
            found = _read(run, file)
            run.problems += found.problems
            run.rows_of[file_id] = len(found.rows)
            tables.append(_table(file_id, file, found))
            run.step("functions", [file])
    if not any(len(table) for table in tables):
        return FunctionTotals()
    together = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    together = together.take(_order(run, together))
    write_table(together, run.folder / FILE)
    return _totals(together)


def _read(run: Conversion, file: SourceFile) -> FileFunctions:
    try:
        with run.job.open(file.path) as stream:
            return read(file, stream)
    except (SourceError, OSError):
        return FileFunctions(interval_of(file.path), (), (damaged(file, "cannot be opened"),))


def _kept(run: Conversion) -> Iterator[pa.Table]:
    """The functions of unchanged files, from the version before."""
    if run.previous_folder and (run.previous_folder / FILE).exists():
        table = pq.read_table(run.previous_folder / FILE).cast(schema.FUNCTIONS)
        gone = pa.array(sorted(run.gone), pa.int32())
        yield table.filter(pc.invert(pc.is_in(table.column("file"), gone)))


def _table(file_id: int, file: SourceFile, found: FileFunctions) -> pa.Table:
    """One file's functions, the one with the most own time first."""
    rows = sorted(found.rows, key=lambda row: (-row.tottime_ns, row))
    same: dict[str, Any] = {
        "file": file_id,
        "profiler": PROFILERS[file.kind],
        **{name: getattr(found.interval, name) for name in schema.INTERVAL_COLUMNS},
    }
    columns = []
    for field in schema.FUNCTIONS:
        if field.name in same:
            values = pa.array([same[field.name]], getattr(field.type, "value_type", field.type))
            column = values.take(pa.array(np.zeros(len(rows), np.int32)))
        else:
            column = pa.array([getattr(row, field.name) for row in rows], getattr(field.type, "value_type", field.type))
        columns.append(column.dictionary_encode() if pa.types.is_dictionary(field.type) else column)
    return pa.table(columns, schema=schema.FUNCTIONS)


def _order(run: Conversion, table: pa.Table) -> pa.Array:
    """The files in the order of their paths, so that it does not matter when each was read."""
    files = [(state.file.path, state.file_id) for state in run.unchanged.values()]
    files += [(file.path, file_id) for file_id, file in run.to_read]
    rank = np.zeros(max(file_id for _, file_id in files) + 1, np.int64)
    rank[[file_id for _, file_id in sorted(files)]] = np.arange(len(files))
    return pa.array(np.argsort(rank[table.column("file").to_numpy()], kind="stable"))


def _totals(table: pa.Table) -> FunctionTotals:
    phases = set(table.column("job_phase").unique().to_pylist())
    return FunctionTotals(
        rows=len(table),
        nodes=tuple(sorted(set(table.column("node").unique().to_pylist()), key=lambda name: (natural_key(name), name))),
        phases=tuple(phase for phase in schema.JOB_PHASES if phase in phases),
        start_ns=pc.min(table.column("start_ns")).as_py() or 0,
        end_ns=pc.max(table.column("end_ns")).as_py() or 0,
    )
