"""Reports of the original's rules into a table: new and changed files are read, the rest comes from before."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from data import schema
from data.convert.tables import write_table
from data.errors import SourceError
from data.problem import Problem
from data.readers.original_report import FileReport, damaged, read
from data.sources import FileKind, SourceFile

if TYPE_CHECKING:
    from data.convert.run import Conversion

FILE = "reports.parquet"


def convert_reports(run: Conversion) -> int:
    """Reads the new and changed reports and writes the table, by path; how many there are."""
    rows = _kept(run)
    for file_id, file in run.to_read:
        if file.kind is not FileKind.ORIGINAL_REPORT:
            continue
        found, problems = _read(run, file)
        run.problems += problems
        run.rows_of[file_id] = 0 if found is None else 1
        if found is not None:
            rows.append(asdict(found) | {"path": file.path, "modified_ns": file.mtime_ns})
        run.step("reports", [file])
    if rows:
        rows.sort(key=lambda row: row["path"])
        write_table(pa.Table.from_pylist(rows, schema=schema.REPORTS), run.folder / FILE)
    return len(rows)


def _kept(run: Conversion) -> list[dict[str, Any]]:
    """The reports of unchanged files, from the version before."""
    if not run.previous_folder or not (run.previous_folder / FILE).exists():
        return []
    return [row for row in pq.read_table(run.previous_folder / FILE).to_pylist() if row["path"] in run.unchanged]


def _read(run: Conversion, file: SourceFile) -> tuple[FileReport | None, tuple[Problem, ...]]:
    try:
        with run.job.open(file.path) as stream:
            return read(file, stream)
    except (SourceError, OSError):
        return None, (damaged(file, "cannot be opened"),)
