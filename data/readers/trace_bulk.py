"""The fast road for trace files: many at once through DuckDB, with columns given, never guessed.

DuckDB refuses malformed files itself. What it would accept and get wrong is looked for in what it read: those files
are named as doubtful and give no rows, so that the careful road can take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from data.readers.events import NO_NUMBER, NO_PHASE
from data.readers.paths import literal_pattern
from data.readers.trace_careful import MOST_US, start_value

_ARGS = ("name", "start_time_since_epoch_in_micros", "step_num", "pid", "thread_id", "tid")
_COLUMNS = {
    "name": "VARCHAR",
    "ph": "VARCHAR",
    "pid": "VARCHAR",
    "tid": "VARCHAR",
    "ts": "DOUBLE",
    "dur": "DOUBLE",
    "args": "STRUCT({})".format(", ".join(f"{key} VARCHAR" for key in _ARGS)),
}
_FRACTIONS_EXACT_BELOW = 1e12  # microseconds: a double holds them to three decimals

_LOAD = f"""
CREATE OR REPLACE TEMP TABLE trace_rows AS
SELECT file_index::INTEGER AS file, name, ph, pid, tid, ts, dur,
       args.name AS lane_name, args.start_time_since_epoch_in_micros AS start_text, args.step_num AS step_text,
       args.pid AS process_text, coalesce(args.thread_id, args.tid) AS thread_text
FROM read_json($paths, format = 'array', columns = {_COLUMNS}, hive_partitioning = false)
WHERE ph IS NULL OR ph IN ('X', 'M', 'B', 'E')
"""

_CHECK = f"""
SELECT file,
       count(*) FILTER (ph = 'X') AS events,
       count(*) FILTER (ph IN ('B', 'E')) AS pairs,
       coalesce(bool_or(
           CASE WHEN ph = 'X' THEN NOT coalesce(
                   ts BETWEEN -{MOST_US} AND {MOST_US} AND dur BETWEEN 0 AND {MOST_US}
                   AND (ts = trunc(ts) OR abs(ts) < {_FRACTIONS_EXACT_BELOW})
                   AND (dur = trunc(dur) OR dur < {_FRACTIONS_EXACT_BELOW}), false)
                OR (step_text IS NOT NULL AND NOT regexp_full_match(step_text, '-?[0-9]{{1,18}}'))
                WHEN ph IS NULL THEN coalesce(name, pid, tid, lane_name, start_text, step_text) IS NOT NULL
                    OR ts IS NOT NULL OR dur IS NOT NULL
                ELSE false END), false) AS doubtful,
       list(DISTINCT start_text) FILTER (ph = 'M' AND start_text IS NOT NULL) AS starts
FROM trace_rows GROUP BY file
"""

_LANES = """
CREATE OR REPLACE TEMP TABLE trace_lanes AS
SELECT file, pid, min(lane_name) AS lane, count(DISTINCT lane_name) AS names
FROM trace_rows WHERE ph = 'M' AND name = 'process_name' AND lane_name IS NOT NULL GROUP BY file, pid
"""


def _ns(column: str) -> str:
    """Microseconds in a double as nanoseconds, rounded as their decimal text and not as their binary value."""
    decimal = f"round({column}::VARCHAR::DECIMAL(22, 9) * 1000::DECIMAL(4, 0))::BIGINT"
    return f"CASE WHEN {column} = trunc({column}) THEN {column}::BIGINT * 1000 ELSE {decimal} END"


_EVENTS = f"""
SELECT rows.file, coalesce(nullif(lanes.lane, ''), '{NO_PHASE}') AS phase, coalesce(rows.name, '') AS name,
       starts.start_us * 1000 + {_ns("ts")} AS start_ns, {_ns("dur")} AS duration_ns,
       coalesce(try_cast(step_text AS BIGINT), {NO_NUMBER}) AS step,
       coalesce(try_cast(process_text AS BIGINT), {NO_NUMBER}) AS process,
       coalesce(try_cast(thread_text AS BIGINT), try_cast(rows.tid AS BIGINT), {NO_NUMBER}) AS thread
FROM trace_rows AS rows
JOIN (SELECT unnest($files::INTEGER[]) AS file, unnest($starts_us::BIGINT[]) AS start_us) AS starts
  ON starts.file = rows.file
LEFT JOIN trace_lanes AS lanes ON lanes.file = rows.file AND lanes.pid = rows.pid
WHERE ph = 'X'
"""


@dataclass(frozen=True, slots=True)
class BulkFile:
    """What the bulk read found in one file."""

    events: int  # rows in the table; 0 where the file is doubtful
    without_clock: int
    pairs: int  # begin and end events
    doubtful: bool  # read it again, carefully


@dataclass(frozen=True)
class Bulk:
    """Rows of several files: the columns of EVENT_SCHEMA without node and worker, `file` counting from 0."""

    table: pa.Table
    files: tuple[BulkFile, ...]


def read_in_bulk(db: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> Bulk:
    """Read files at once. Raises duckdb.Error where one of them is not what DuckDB can read."""
    with _temporary_tables(db):
        db.execute(_LOAD, {"paths": [literal_pattern(path) for path in paths]})
        db.execute(_LANES)
        renamed = {file for (file,) in db.execute("SELECT file FROM trace_lanes WHERE names > 1").fetchall()}
        files = [BulkFile(0, 0, 0, doubtful=False)] * len(paths)
        starts_us: dict[int, int] = {}
        for file, events, pairs, doubtful, starts in db.execute(_CHECK).fetchall():
            start_us = start_value(starts[0]) if starts else None
            if doubtful or file in renamed or len(starts or ()) > 1:
                files[file] = BulkFile(0, 0, 0, doubtful=True)
            elif start_us is None:
                files[file] = BulkFile(0, events, pairs, doubtful=False)
            else:
                files[file] = BulkFile(events, 0, pairs, doubtful=False)
                starts_us[file] = start_us
        chosen = {"files": list(starts_us), "starts_us": list(starts_us.values())}
        table = db.sql(_EVENTS, params=chosen).to_arrow_table()
    return Bulk(table, tuple(files))


@contextmanager
def _temporary_tables(db: duckdb.DuckDBPyConnection) -> Iterator[None]:
    try:
        yield
    finally:
        for table in ("trace_rows", "trace_lanes"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
