"""System metrics of SageMaker Debugger: one JSON object a line, many small files, read in bulk.

The fast road hands a batch of files to DuckDB with explicit columns. Whatever that would refuse or silently get wrong
(a damaged line, a row of nulls, NaN, a time outside any calendar, a node that is not named) sends just the files
concerned down the careful road, which reads one file line by line and says what it could not use.
"""

from __future__ import annotations

import gzip
import math
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import duckdb
import numpy as np
import orjson
from numpy.typing import NDArray

from data.problem import Problem, Severity
from data.readers.paths import literal_pattern
from data.series import Series
from data.sources import SourceFile

_COLUMNS = (
    "{Type: 'VARCHAR', Name: 'VARCHAR', Dimension: 'VARCHAR', Value: 'DOUBLE', NodeId: 'VARCHAR', Timestamp: 'DOUBLE'}"
)
_READ = f"""
    from read_json($paths, format = 'newline_delimited', columns = {_COLUMNS}, maximum_object_size = 1048576)
"""
_ROWS = f"""
    select cast(coalesce(s.sid, -1) as integer) as sid,
           case when r.Timestamp between 0 and 1e11 then cast(round(r.Timestamp * 1e6) as bigint) else -1 end
             as time_us,
           coalesce(r.Value, 'nan'::double) as value,
           cast(r.file_index as integer) as file
    from (select *, file_index {_READ}) r
    left join known_series s
      on r.NodeId = s.node and coalesce(r.Name, '') = s.name and coalesce(r.Dimension, '') = s.dimension
     and coalesce(r.Type, '') = s.type
"""
_NEW_SERIES = f"""
    select distinct coalesce(NodeId, ''), coalesce(Type, ''), coalesce(Name, ''), coalesce(Dimension, '') {_READ}
"""

EARLIEST_US = 946_684_800 * 10**6
"""2000-01-01: an earlier stamp is no wall clock (or another unit)."""

LATEST_US = 4_102_444_800 * 10**6
"""2100-01-01."""

LARGEST_VALUE = 1e30
"""No rate or counter is larger; sums of such values stay finite, also where they are drawn with fewer digits."""

MAX_OFFSET_US = 86_400 * 10**6
"""A record a day or more away from the minute in its file's name cannot belong to that file."""

LONGEST_NAME = 512
"""Names of nodes, devices and metrics are shown everywhere; real ones have less than 64 characters."""

MAX_LINE_BYTES = 1 << 20
_BROKEN = (EOFError, OSError, zlib.error)
_DAMAGE = "is not used: its compressed data was changed after it was written, so any value in it may be wrong"
MAX_PROBLEMS_PER_FILE = 20
"""Faulty lines named one by one; the rest of a file is summed up in one more problem."""


@dataclass
class Catalog:
    """The series met so far; a series' number is its place in the list, final ids are given at the end."""

    series: list[Series] = field(default_factory=list)
    index: dict[Series, int] = field(default_factory=dict)

    def number(self, series: Series) -> int:
        """The number of a series, a new one where it is new."""
        found = self.index.get(series)
        if found is None:
            found = self.index[series] = len(self.series)
            self.series.append(series)
        return found


@dataclass(frozen=True)
class SystemRows:
    """Records in any order: series number, microseconds since 1970, value, position of the file in the batch."""

    sid: NDArray[np.int32]
    time_us: NDArray[np.int64]
    value: NDArray[np.float64]
    file: NDArray[np.int32]

    @classmethod
    def empty(cls) -> SystemRows:
        return cls(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.int32))

    @classmethod
    def concatenate(cls, parts: Sequence[SystemRows]) -> SystemRows:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.empty()
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("sid", "time_us", "value", "file")))

    def where(self, keep: NDArray[Any]) -> SystemRows:
        return SystemRows(self.sid[keep], self.time_us[keep], self.value[keep], self.file[keep])

    def __len__(self) -> int:
        return len(self.sid)


@dataclass(frozen=True)
class SystemBatch:
    """What a batch of files held: its rows, and per file what was lost."""

    rows: SystemRows
    problems: tuple[Problem, ...]


def read(db: duckdb.DuckDBPyConnection, files: Sequence[tuple[SourceFile, str]], catalog: Catalog) -> SystemBatch:
    """Reads a batch of files (with their absolute paths); new series are added to the catalog."""
    filled = [(at, file, path) for at, (file, path) in enumerate(files) if file.size > 0]
    if not filled:
        return SystemBatch(SystemRows.empty(), ())
    damaged = [at for at, _, path in filled if path.endswith(".gz") and _is_damaged(path)]
    rows, suspects = _fast(db, [one for one in filled if one[0] not in damaged], catalog)
    parts, problems = [rows], []
    for at in sorted(damaged + suspects):
        file, path = files[at]
        kept, found = _careful(file, path, at, catalog)
        parts.append(kept)
        problems.extend(found)
    return SystemBatch(SystemRows.concatenate([p for p in parts if len(p)]), tuple(problems))


def _fast(
    db: duckdb.DuckDBPyConnection, filled: list[tuple[int, SourceFile, str]], catalog: Catalog
) -> tuple[SystemRows, list[int]]:
    """The rows of all files that DuckDB reads without a doubt, and the positions of the others."""
    if not filled:
        return SystemRows.empty(), []
    try:
        rows = _query(db, filled, catalog)
    except (duckdb.Error, UnicodeDecodeError):  # DuckDB quotes the text it refuses, and may cut a character in two
        if len(filled) == 1:
            return SystemRows.empty(), [filled[0][0]]
        half = len(filled) // 2
        left, right = _fast(db, filled[:half], catalog), _fast(db, filled[half:], catalog)
        return SystemRows.concatenate([left[0], right[0]]), left[1] + right[1]
    positions = np.array([at for at, _, _ in filled], np.int32)
    stamps_us = np.array([file.stamp_ns // 1000 for _, file, _ in filled], np.int64)
    if len(rows) and _surely_sound(rows, stamps_us):
        return SystemRows(rows.sid, rows.time_us, rows.value, positions[rows.file]), []
    doubtful = (rows.sid < 0) | (rows.time_us < EARLIEST_US) | (rows.time_us > LATEST_US)
    doubtful |= ~(np.abs(rows.value) <= LARGEST_VALUE)  # NaN is doubtful, too
    doubtful |= np.abs(rows.time_us - stamps_us[rows.file]) > MAX_OFFSET_US
    suspects = np.unique(rows.file[doubtful])
    if len(suspects):
        rows = rows.where(~np.isin(rows.file, suspects))
    return SystemRows(rows.sid, rows.time_us, rows.value, positions[rows.file]), positions[suspects].tolist()


def _surely_sound(rows: SystemRows, stamps_us: NDArray[np.int64]) -> bool:
    """Whether the extremes alone rule out every doubt, which costs less than to look at each row."""
    earliest, latest = int(rows.time_us.min()), int(rows.time_us.max())
    return bool(
        rows.sid.min() >= 0
        and earliest >= max(EARLIEST_US, int(stamps_us.max()) - MAX_OFFSET_US)
        and latest <= min(LATEST_US, int(stamps_us.min()) + MAX_OFFSET_US)
        and rows.value.min() >= -LARGEST_VALUE
        and rows.value.max() <= LARGEST_VALUE  # both are NaN where one value is
    )


def _query(db: duckdb.DuckDBPyConnection, filled: list[tuple[int, SourceFile, str]], catalog: Catalog) -> SystemRows:
    paths = [literal_pattern(path) for _, _, path in filled]
    if not catalog.series:
        of_node = {file.node: path for (_, file, _), path in zip(reversed(filled), reversed(paths), strict=True)}
        _learn(db, list(of_node.values()), catalog)
    rows = _fetch(db, paths, catalog)
    if len(rows) and int(rows.sid.min()) < 0:
        unknown = np.unique(rows.file[rows.sid < 0])
        if _learn(db, [paths[at] for at in unknown.tolist()], catalog):
            rows = _fetch(db, paths, catalog)
    return rows


def _learn(db: duckdb.DuckDBPyConnection, paths: list[str], catalog: Catalog) -> bool:
    """Adds the series of some files to the catalog; whether there was a new one."""
    before = len(catalog.series)
    for node, kind, name, dimension in db.execute(_NEW_SERIES, {"paths": paths}).fetchall():
        if node and (name or dimension or kind) and not _too_long(node, name, dimension, kind):
            catalog.number(Series(node, kind, name, dimension))
    return len(catalog.series) > before


def _fetch(db: duckdb.DuckDBPyConnection, paths: list[str], catalog: Catalog) -> SystemRows:
    import pyarrow as pa

    table = pa.table(
        {
            "sid": pa.array(range(len(catalog.series)), pa.int32()),
            "node": pa.array([s.node for s in catalog.series], pa.string()),
            "type": pa.array([s.type for s in catalog.series], pa.string()),
            "name": pa.array([s.name for s in catalog.series], pa.string()),
            "dimension": pa.array([s.dimension for s in catalog.series], pa.string()),
        }
    )
    db.register("known_series", table)
    columns: dict[str, Any] = dict(db.execute(_ROWS, {"paths": paths}).fetchnumpy())
    return SystemRows(columns["sid"], columns["time_us"], columns["value"], columns["file"])


def _careful(file: SourceFile, path: str, at: int, catalog: Catalog) -> tuple[SystemRows, list[Problem]]:
    """One file line by line: its usable rows, and a problem for each line that is not."""
    sids: list[int] = []
    times: list[int] = []
    values: list[float] = []
    faults = _Faults(file)
    try:
        with open(path, "rb") as raw:
            for number, line in _lines(raw, faults):
                record = _record(line, number, file, faults)
                if record is not None:
                    series, time_us, value = record
                    sids.append(catalog.number(series))
                    times.append(time_us)
                    values.append(value)
    except _Damaged:
        faults.add(None, _DAMAGE, max(1, len(sids)), "error")
        sids, times, values = [], [], []
    except OSError as error:
        faults.add(None, f"cannot be read: {error.strerror}", 0, "error")
    rows = SystemRows(
        np.array(sids, np.int32), np.array(times, np.int64), np.array(values), np.full(len(sids), at, np.int32)
    )
    return rows, faults.problems()


class _Damaged(Exception):
    """Packed data that do not match their own checksum."""


class _Faults:
    """Collects what is wrong with one file, bounded."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.found: list[Problem] = []
        self.more = 0

    def add(self, line: int | None, what: str, lost_rows: int = 1, severity: Severity = "warning") -> None:
        if len(self.found) >= MAX_PROBLEMS_PER_FILE:
            self.more += lost_rows
            return
        name = self.file.path.rsplit("/", 1)[-1]
        where = f"line {line} of {name}" if line is not None else name
        self.found.append(Problem(self.file.path, line, f"{where} {what}", severity, lost_rows))

    def problems(self) -> list[Problem]:
        if self.more:
            name = self.file.path.rsplit("/", 1)[-1]
            text = f"{name}: {self.more} more lines could not be used"
            self.found.append(Problem(self.file.path, None, text, "warning", self.more))
        return self.found


def _lines(raw: BinaryIO, faults: _Faults) -> Iterator[tuple[int, bytes]]:
    """Numbered lines, unpacked where the content is gzip; stops with a fault where the stream breaks."""
    packed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
    broken = "is where the compressed data breaks off" if packed else "could not be read"
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(MAX_LINE_BYTES + 1)
        except _BROKEN as error:
            _raise_damage(error)
            faults.add(number, f"{broken}; what follows is lost")
            return
        if not line:
            return
        if len(line) > MAX_LINE_BYTES:
            faults.add(number, f"is longer than {MAX_LINE_BYTES} bytes")
            if not _skip_line(stream, line):
                faults.add(number, f"{broken}; what follows is lost", 0)
                return
        elif line.strip():
            yield number, line.removeprefix(BOM_UTF8) if number == 1 else line


def _skip_line(stream: Any, line: bytes) -> bool:
    """Reads on to the end of a line, piece by piece; False where the stream breaks."""
    try:
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE_BYTES)
    except _BROKEN as error:
        _raise_damage(error)
        return False
    return True


def _is_damaged(path: str) -> bool:
    """Whether packed data were changed after they were written, which DuckDB does not check."""
    try:
        with gzip.open(path) as stream:
            while stream.read(MAX_LINE_BYTES):
                pass
    except _BROKEN as error:
        return _is_damage(error)
    return False


def _is_damage(error: BaseException) -> bool:
    """Whether an error says that bytes changed: a stream that was only cut, or has something else behind it, is right
    up to there."""
    if isinstance(error, gzip.BadGzipFile):
        return not str(error).startswith("Not a gzipped file")
    return isinstance(error, zlib.error)


def _raise_damage(error: BaseException) -> None:
    if _is_damage(error):
        raise _Damaged from error


def _record(line: bytes, number: int, file: SourceFile, faults: _Faults) -> tuple[Series, int, float] | None:
    """One line as (series, microseconds, value), or None with the fault noted."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        cut = not line.endswith(b"\n")
        faults.add(number, "is cut off in the middle of a record" if cut else "is not a valid JSON record")
        return None
    if not isinstance(record, dict):
        faults.add(number, "is JSON, but no record")
        return None
    value, stamp = _number(record.get("Value")), _number(record.get("Timestamp"))
    if value is None or abs(value) > LARGEST_VALUE:
        faults.add(number, "has no usable Value")
        return None
    time_us = _microseconds(stamp) if stamp is not None and 0 <= stamp <= 1e11 else -1
    if not EARLIEST_US <= time_us <= LATEST_US:
        faults.add(number, "has no usable Timestamp (seconds since 1970 are expected)")
        return None
    if abs(time_us - file.stamp_ns // 1000) > MAX_OFFSET_US:
        faults.add(number, "has a Timestamp more than a day away from the time in the file's name")
        return None
    name, dimension = _text(record.get("Name")), _text(record.get("Dimension"))
    kind = _text(record.get("Type"))
    if not name and not dimension and not kind:
        faults.add(number, "names neither a device nor a metric")
        return None
    node = _text(record.get("NodeId")) or file.node
    if _too_long(node, name, dimension, kind):
        faults.add(number, f"has a name of more than {LONGEST_NAME} characters")
        return None
    return Series(node, kind, name, dimension), time_us, value


def _number(value: Any) -> float | None:
    """A finite number, also one written as text; true and false count as 1 and 0, as in the fast road."""
    if isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def _too_long(*names: str) -> bool:
    return any(len(name) > LONGEST_NAME for name in names)


def _microseconds(stamp: float) -> int:
    """Rounded half up, as the fast road does: stamps with seven digits often lie exactly between two."""
    return math.floor(stamp * 1e6 + 0.5)


def _text(value: Any) -> str:
    """A text; anything else as it is written in JSON, as in the fast road."""
    return value if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()
