"""The fast road for trace files: many at once through DuckDB, with columns given, never guessed.

DuckDB refuses malformed files itself. What it would accept and get wrong is looked for in what it read: those files
are named as doubtful and give no rows, so that the careful road can take them.

Texts are looked at once for each distinct one, not for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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

_READ = f"""
SELECT file_index::INTEGER AS file, name, ph, pid, tid, ts, dur,
       args.name AS lane_name, args.start_time_since_epoch_in_micros AS start_text, args.step_num AS step_text,
       args.pid AS process_text, coalesce(args.thread_id, args.tid) AS thread_text
FROM read_json($paths, format = 'array', columns = {_COLUMNS}, hive_partitioning = false)
WHERE ph IS NULL OR ph IN ('X', 'M', 'B', 'E')
"""
_TEXTS = ("name", "ph", "pid", "tid", "lane_name", "start_text", "step_text", "process_text", "thread_text")
_STEP = r"\A-?[0-9]{1,18}\z"

_INTEGERS = (
    "SELECT place, try_cast(word AS BIGINT) AS number FROM trace_words WHERE try_cast(word AS BIGINT) IS NOT NULL"
)

_NANOSECONDS = """
SELECT place, round(us::VARCHAR::DECIMAL(22, 9) * 1000::DECIMAL(4, 0))::BIGINT AS ns FROM trace_fractions
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


@dataclass(frozen=True)
class _Text:
    """A column of text: the distinct words, and for each row which of them it is, -1 where it has none."""

    words: pa.Array
    code: NDArray[np.int32]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> _Text:
        encoded = column.combine_chunks().dictionary_encode()
        return cls(encoded.dictionary, encoded.indices.fill_null(-1).to_numpy())

    @property
    def known(self) -> NDArray[np.bool_]:
        return self.code >= 0

    def is_(self, *words: str) -> NDArray[np.bool_]:
        """Where the row's text is one of some words."""
        return self.each(pc.is_in(self.words, pa.array(words, pa.string())).to_numpy(zero_copy_only=False))

    def each(self, of_word: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What holds for the words, for each row; it does not hold where there is none."""
        return np.append(of_word, False)[self.code]


@dataclass(frozen=True)
class _Rows:
    """All rows of the files, as they were read."""

    file: NDArray[np.int32]
    ts: NDArray[np.float64]  # NaN where there is none
    dur: NDArray[np.float64]
    text: dict[str, _Text]
    is_event: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pa.Table) -> _Rows:
        text = {name: _Text.of(table.column(name)) for name in _TEXTS}
        file, ts, dur = (table.column(name).to_numpy() for name in ("file", "ts", "dur"))
        return cls(file, ts, dur, text, text["ph"].is_("X"))


def read_in_bulk(db: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> Bulk:
    """Read files at once. Raises duckdb.Error where one of them is not what DuckDB can read."""
    found = db.sql(_READ, params={"paths": [literal_pattern(path) for path in paths]}).to_arrow_table()
    rows = _Rows.of(found)
    is_meta = rows.text["ph"].is_("M")
    meta = found.select(["file", "name", "pid", "lane_name", "start_text"]).filter(pa.array(is_meta))
    lanes, renamed = _lanes(meta)
    starts = _starts(meta)
    doubtful = renamed.union(np.unique(rows.file[_doubtful(rows)]).tolist())
    doubtful.update(file for file, texts in starts.items() if len(texts) > 1)
    start_us = {file: start_value(texts[0]) for file, texts in starts.items()}
    many = np.bincount(rows.file[rows.is_event], minlength=len(paths)).tolist()
    pairs = np.bincount(rows.file[rows.text["ph"].is_("B", "E")], minlength=len(paths)).tolist()
    files, usable = [], np.zeros(len(paths), bool)
    for file in range(len(paths)):
        if file in doubtful:
            files.append(BulkFile(0, 0, 0, doubtful=True))
        elif start_us.get(file) is None:
            files.append(BulkFile(0, many[file], 0, doubtful=False))
        else:
            files.append(BulkFile(many[file], 0, pairs[file], doubtful=False))
            usable[file] = True
    begin_us = np.array([start_us.get(file) or 0 for file in range(len(paths))], np.int64)
    return Bulk(_events(db, rows, np.flatnonzero(rows.is_event & usable[rows.file]), begin_us, lanes), tuple(files))


def _lanes(meta: pa.Table) -> tuple[dict[tuple[int, str | None], str], set[int]]:
    """The lanes' names by file and number, and the files that give a lane more than one."""
    chosen = pc.and_(pc.equal(meta.column("name"), "process_name"), pc.is_valid(meta.column("lane_name")))
    lanes: dict[tuple[int, str | None], str] = {}
    renamed = set()
    for file, pid, name in _distinct(meta.filter(chosen), "file", "pid", "lane_name"):
        if lanes.setdefault((file, pid), name) != name:
            renamed.add(file)
    return lanes, renamed


def _starts(meta: pa.Table) -> dict[int, list[str]]:
    """The different start values of each file that has one."""
    found: dict[int, list[str]] = {}
    for file, text in _distinct(meta.filter(pc.is_valid(meta.column("start_text"))), "file", "start_text"):
        found.setdefault(file, []).append(text)
    return found


def _distinct(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    distinct = table.group_by(list(names), use_threads=False).aggregate([])
    return list(zip(*(distinct.column(name).to_pylist() for name in names), strict=True))


def _doubtful(rows: _Rows) -> NDArray[np.bool_]:
    """Rows that DuckDB may have read wrong: events with impossible times or steps, and what is not an event at all."""
    ts, dur, step = rows.ts, rows.dur, rows.text["step_text"]
    exact = (np.abs(ts) <= MOST_US) & (dur >= 0) & (dur <= MOST_US)
    exact &= (ts == np.trunc(ts)) | (np.abs(ts) < _FRACTIONS_EXACT_BELOW)
    exact &= (dur == np.trunc(dur)) | (dur < _FRACTIONS_EXACT_BELOW)
    numbered = pc.match_substring_regex(step.words, _STEP).to_numpy(zero_copy_only=False)
    doubtful = rows.is_event & (~exact | step.each(~numbered))
    nameless = ~rows.text["ph"].known
    if nameless.any():
        filled = ~np.isnan(ts) | ~np.isnan(dur)
        for name in ("name", "pid", "tid", "lane_name", "start_text", "step_text"):
            filled |= rows.text[name].known
        doubtful |= nameless & filled
    return doubtful


def _events(
    db: duckdb.DuckDBPyConnection,
    rows: _Rows,
    at: NDArray[np.int64],
    begin_us: NDArray[np.int64],
    lanes: dict[tuple[int, str | None], str],
) -> pa.Table:
    file = rows.file[at]
    process, _ = _integers(db, rows.text["process_text"])
    step, _ = _integers(db, rows.text["step_text"])
    (thread, has_thread), (tid, _) = _integers(db, rows.text["thread_text"]), _integers(db, rows.text["tid"])
    columns: dict[str, Any] = {
        "file": file,
        "phase": _phases(file, rows.text["pid"], at, lanes),
        "name": _names(rows.text["name"], at),
        "start_ns": begin_us[file] * 1000 + _nanoseconds(db, rows.ts[at]),
        "duration_ns": _nanoseconds(db, rows.dur[at]),
        "step": step[at],
        "process": process[at],
        "thread": np.where(has_thread, thread, tid)[at],
    }
    return pa.table(columns)


def _phases(
    file: NDArray[np.int32], pid: _Text, at: NDArray[np.int64], lanes: dict[tuple[int, str | None], str]
) -> pa.DictionaryArray:
    """The name of each event's lane."""
    code = {word: number for number, word in enumerate(pid.words.to_pylist())}
    size = len(code)
    named = sorted((one * size + code[lane], name) for (one, lane), name in lanes.items() if lane is not None and name)
    words = list(dict.fromkeys([NO_PHASE, *(name for _, name in named)]))
    number = {word: place for place, word in enumerate(words)}
    keys = np.array([key for key, _ in named], np.int64)
    phases = np.array([number[name] for _, name in named], np.int32)
    mine, own = file.astype(np.int64) * size + pid.code[at], pid.known[at]
    place = np.minimum(np.searchsorted(keys, mine), max(len(keys) - 1, 0))
    codes = np.where(own & (keys[place] == mine), phases[place], 0) if len(keys) else np.zeros(len(at), np.int64)
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(words, pa.string()))


def _names(name: _Text, at: NDArray[np.int64]) -> pa.DictionaryArray:
    """The event's own names, "" where one has none."""
    words = pa.array([*name.words.to_pylist(), ""], pa.string())
    code = np.where(name.known, name.code, len(words) - 1)[at]
    return pa.DictionaryArray.from_arrays(code.astype(np.int32), words)


def _integers(db: duckdb.DuckDBPyConnection, text: _Text) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Each row's text as a number, NO_NUMBER where it is none; and where it is one."""
    number, known = np.full(len(text.words) + 1, NO_NUMBER), np.zeros(len(text.words) + 1, bool)
    if len(text.words):
        found = _ask(db, _INTEGERS, "trace_words", {"place": np.arange(len(text.words)), "word": text.words})
        number[found["place"]], known[found["place"]] = found["number"], True
    return number[text.code], known[text.code]


def _nanoseconds(db: duckdb.DuckDBPyConnection, us: NDArray[np.float64]) -> NDArray[np.int64]:
    """Microseconds in a double as nanoseconds, rounded as their decimal text and not as their binary value."""
    ns = us.astype(np.int64) * 1000
    broken = np.flatnonzero(us != np.trunc(us))
    if len(broken):
        found = _ask(db, _NANOSECONDS, "trace_fractions", {"place": broken, "us": us[broken]})
        ns[found["place"]] = found["ns"]
    return ns


def _ask(db: duckdb.DuckDBPyConnection, query: str, name: str, columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """The answer to a query of some columns, which it knows as a table of that name."""
    db.register(name, pa.table(columns))
    try:
        found: dict[str, Any] = dict(db.execute(query).fetchnumpy())
    finally:
        db.unregister(name)
    return found
