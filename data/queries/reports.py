"""What the original profiler's own rules said of a job."""

from __future__ import annotations

import pyarrow.parquet as pq

from data.frames.original import OriginalReport, OriginalReports
from data.names import natural_key
from data.selection import Selection
from data.store import Database

_MOST_PARAMETERS = 100


def original(db: Database, selection: Selection) -> OriginalReports:
    """The newest report of each rule, over the whole job; of two of the same age, that in the folder named last."""
    stored = db.job(selection.job)
    if not stored.manifest.reports:
        return OriginalReports((), 0)
    table = pq.read_table(stored.folder / "reports.parquet").to_pylist()
    newest: dict[str, OriginalReport] = {}
    for row in sorted(table, key=lambda row: (row["modified_ns"], natural_key(row["path"]))):
        newest[row["rule"]] = OriginalReport(**row | {"parameters": _parameters(row["parameters"])})
    return OriginalReports(tuple(newest[rule] for rule in sorted(newest)), len(table) - len(newest))


def _parameters(text: str) -> tuple[tuple[str, str], ...]:
    """The lines `name:value` of a report."""
    pairs = (line.partition(":") for line in text.splitlines()[:_MOST_PARAMETERS])
    return tuple((name.strip(), value.strip()) for name, _, value in pairs if name.strip())
