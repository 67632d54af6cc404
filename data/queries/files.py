"""The files of a job and what is wrong with them, block by block: searched, sorted, and all of it however long."""

from __future__ import annotations

from collections.abc import Sequence

from data.frames.quality import FILE_ROWS_COLUMNS, PROBLEM_ROWS_COLUMNS, FilePage, FileRows, ProblemPage, ProblemRows
from data.selection import Selection
from data.store import Database, StoredJob

FOUND = """
    select file_path as path, count(*)::bigint as problems,
           (count(*) filter (severity <> 'note'))::bigint as faults,
           (count(*) filter (severity = 'error'))::bigint as errors
    from read_parquet($problems) group by file_path
"""
"""Per file: how many problems, how many of them are more than notes, and how many are errors."""

_SEVERITY = "case severity when 'error' then 0 when 'warning' then 1 else 2 end"
_PROBLEM_ORDER = {"severity": _SEVERITY} | {name: name for name in ("file", "line", "message", "lost_rows")}
_FILE_ORDER = {name: f'"{name}"' for name in FILE_ROWS_COLUMNS}


def tables(stored: StoredJob) -> dict[str, list[str]]:
    """The stored tables of files and problems, as parameters of a query."""
    return {name: [str(stored.folder / f"{name}.parquet")] for name in ("files", "problems")}


def problem_page(
    db: Database, selection: Selection, search: str, sort: tuple[tuple[str, str], ...], start: int, stop: int
) -> ProblemPage:
    """Rows start to stop of the problems that contain the words; errors first unless asked for otherwise."""
    condition, words = _containing(search, "file_path || ' ' || message || ' ' || severity")
    order = _order(sort, _PROBLEM_ORDER, f"{_SEVERITY}, lost_rows desc")
    source = f"from read_parquet($problems) where {condition}"
    problems = tables(db.job(selection.job))["problems"]
    rows = db.frame(
        f"select severity, file_path as file, line, message, lost_rows {source}"
        f" order by {order}, file, line nulls first, message limit {stop - start:d} offset {start:d}",
        problems=problems,
        **words,
    )
    total = db.columns(f"select count(*)::bigint as total {source}", problems=problems, **words)["total"]
    kept = rows[list(PROBLEM_ROWS_COLUMNS)].astype({"line": "Int64", "lost_rows": "Int64"})
    return ProblemPage(ProblemRows(kept), int(total[0]))


def file_page(
    db: Database,
    selection: Selection,
    search: str,
    every: bool,
    sort: tuple[tuple[str, str], ...],
    start: int,
    stop: int,
) -> FilePage:
    """Rows start to stop of the files that contain the words; only those with something to say unless all are asked."""
    condition, words = _containing(search, "path || ' ' || kind || ' ' || copy_of")
    if not every:
        condition += " and (lost_rows > 0 or copy_of <> '' or problems > 0)"
    order = _order(sort, _FILE_ORDER, "lost_rows desc, problems desc")
    source = (
        f"from (select path, kind, size, rows, lost_rows, copy_of, coalesce(problems, 0) as problems"
        f" from read_parquet($files) left join ({FOUND}) using (path)) where {condition}"
    )
    files = tables(db.job(selection.job))
    rows = db.frame(
        f"select path as file, kind, size as size_bytes, rows, lost_rows, problems, copy_of {source}"
        f" order by {order}, file limit {stop - start:d} offset {start:d}",
        **files,
        **words,
    )
    total = db.columns(f"select count(*)::bigint as total {source}", **files, **words)["total"]
    kept = rows[list(FILE_ROWS_COLUMNS)].astype(dict.fromkeys(("size_bytes", "rows", "lost_rows", "problems"), "Int64"))
    return FilePage(FileRows(kept), int(total[0]))


def _containing(search: str, text: str) -> tuple[str, dict[str, str]]:
    """A condition that a text contains every word, whatever the case, and its parameters."""
    words = {f"word{at}": word for at, word in enumerate(search.lower().split())}
    return " and ".join(["true", *(f"contains(lower({text}), ${name})" for name in words)]), words


def _order(sort: Sequence[tuple[str, str]], columns: dict[str, str], default: str) -> str:
    """The terms of an order, of known columns only; `default` where nothing known is asked for."""
    terms = [
        f"{columns[column]} {'desc' if direction == 'desc' else 'asc'} nulls last"
        for column, direction in sort
        if column in columns
    ]
    return ", ".join(terms) or default
