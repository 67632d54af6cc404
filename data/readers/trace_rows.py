"""The rows of a trace file as they are written: events, begin and end marks, descriptions of lanes, in their order.

DuckDB parses a piece at a time, with columns given and never guessed. A piece that it refuses is mended where its
faults are well known, and else read event by event (`trace_scan`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.readers import trace_memory
from data.readers.paths import literal_pattern
from data.readers.trace_file import Piece, Pieces
from data.readers.trace_repair import finite, repaired
from data.readers.trace_scan import Damage, Found, Text, not_closed, scan

ARGS = ("name", "start_time_since_epoch_in_micros", "step_num", "pid", "thread_id", "tid", "stream", "device", "bytes")
"""Arguments that have a meaning for every format; a row has each as text under "args.<name>"."""

TEXTS = ("ph", "name", "cat", "pid", "tid", "args")
MARKS = ("X", "M", "B", "E")
MOST_US = 2_000_000_000_000_000  # 63 years: with any start value, start plus duration fits int64 nanoseconds

_LARGEST_EVENT = 2 << 20  # DuckDB reserves several times as much; a piece with a larger one is read event by event
_EXACT_BELOW_US = float(1 << 43)  # a double holds smaller microseconds to three decimals
_SCAN_ROWS = 50_000
_SAMPLE_BYTES = 1 << 18
_HAS_LONG_FRACTION = re.compile(rb'"ts"\s*:\s*"?\d{13,}\.\d*[1-9]')  # begins with a word, which makes it fast
_LONG_FRACTION = re.compile(rb'("(?:ts|dur)"\s*:\s*)"?(\d{13,}\.\d*[1-9]\d*)"?')
_PATHS = [f'$."{name}"' for name in ARGS]
_SAYS_SOMETHING = ("name", "cat", "pid", "tid", "ts", "dur")
_PLAIN = ("cpu_op", "python_function", "user_annotation", trace_memory.CATEGORY)
"""Categories of PyTorch that make up most of a trace and have none of these arguments: not looked for."""

_SAYS = " OR ".join(f"{name} IS NOT NULL" for name in _SAYS_SOMETHING)
_COLUMNS = "{ph: 'VARCHAR', name: 'VARCHAR', cat: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR', %s, args: 'JSON'}"
_QUERY = f"""
SELECT coalesce(ph, '') AS ph, name, cat, pid, tid, ts, dur, args::VARCHAR AS args,
       CASE WHEN args IS NOT NULL AND coalesce(cat, '') NOT IN {_PLAIN}
            THEN json_extract_string(args, {_PATHS}) END AS found
FROM read_json($path, format = 'array', columns = %s, maximum_object_size = {_LARGEST_EVENT})
WHERE ph IN {MARKS} OR (ph = '{trace_memory.KIND}' AND name = '{trace_memory.NAME}')
   OR (ph IS NULL AND ({_SAYS}))
"""
_AS_DOUBLE = _QUERY % (_COLUMNS % "ts: 'DOUBLE', dur: 'DOUBLE'")
_AS_TEXT = _QUERY % (_COLUMNS % "ts: 'VARCHAR', dur: 'VARCHAR'")

SCHEMA = pa.schema(
    [(name, pa.string()) for name in TEXTS]
    + [("ts_ns", pa.int64()), ("dur_ns", pa.int64()), ("line", pa.int64())]
    + [(f"args.{name}", pa.string()) for name in ARGS]
)
"""Times are null where there is none that could be used; lines are -1 where they were not counted."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a file in its order, and what was damaged there."""

    table: pa.Table
    damages: tuple[Damage, ...] = ()
    piece: Piece | None = None  # where they stand, if their lines were not counted

    def line(self, row: int) -> int | None:
        """The line of a row, found by walking through its piece where need be."""
        if self.piece is None:
            return int(self.table.column("line")[row].as_py())
        events = (one for one in scan(Text(self.piece.text, lambda size: b"", self.piece.line)) if _is_row(one))
        found = next(islice(events, row, None), None)
        return found[0] if isinstance(found, tuple) else None


def read_rows(db: duckdb.DuckDBPyConnection, pieces: Pieces, scratch: Path) -> Iterator[Rows]:
    """All rows of a file; afterwards `pieces` has what the file says about itself."""
    parser = _Parser(db, scratch / "piece.json")
    for piece in pieces:
        if not piece.text.strip():
            if not piece.closed and pieces.facts.has_events:
                yield Rows(SCHEMA.empty_table(), (not_closed(piece.line),))
            continue
        found = _parsed(parser, pieces, piece)
        if found is not None:
            yield found
        else:
            yield from _scanned(pieces, piece)
    if pieces.replaced_bytes:
        text = f"{pieces.replaced_bytes} bytes are not valid UTF-8 text and were replaced"
        yield Rows(SCHEMA.empty_table(), (Damage(None, text, "warning"),))


def _parsed(parser: _Parser, pieces: Pieces, piece: Piece) -> Rows | None:
    """A piece through DuckDB, mended if need be; None where it has to be read event by event."""
    ending = () if piece.closed else (not_closed(piece.line + piece.text.count(b"\n")),)
    table = parser.table(piece.text)
    if table is not None:
        return Rows(table, ending, piece)
    text = piece.text.decode("utf-8", "replace")
    lost_bytes = text.count("\ufffd") - piece.text.count(b"\xef\xbf\xbd")
    mended, faults = repaired(text)
    if not lost_bytes and not faults:
        return None
    table = parser.table(mended.encode("utf-8", "replace"))
    if table is None:
        return None
    pieces.replaced_bytes += lost_bytes
    damages = []
    for what in dict.fromkeys(what for _, what in faults):
        places = [at for at, one in faults if one == what]
        line = piece.line + text.count("\n", 0, places[0])
        damages.append(Damage(line, f"{what}: {len(places)} mended", "warning"))
    return Rows(table, (*damages, *ending), piece)


class _Parser:
    """Strict JSON through DuckDB.

    A double does not hold microseconds since 1970 with their fractions: where a file has such numbers, its times are
    read as text, which takes longer, and so does looking for them.
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, target: Path) -> None:
        self._db = db
        self._target = target
        self._long_fractions = False

    def table(self, text: bytes) -> pa.Table | None:
        """The rows of some events; None where they are not strict JSON."""
        found = self._query(text)
        if found is None or self._long_fractions:
            return None if found is None else _table(found, _exact_ns)
        if (pc.max(found.column("ts")).as_py() or 0.0) >= _EXACT_BELOW_US and _is_fractional(text):
            self._long_fractions = True
            return self.table(text)
        return _table(found, _ns)

    def _query(self, text: bytes) -> pa.Table | None:
        if self._long_fractions:
            text = _LONG_FRACTION.sub(rb'\1"\2"', text)
        with open(self._target, "wb") as file:
            file.writelines((b"[", text, b"]"))
        query = _AS_TEXT if self._long_fractions else _AS_DOUBLE
        try:
            return self._db.sql(query, params={"path": literal_pattern(str(self._target))}).to_arrow_table()
        except duckdb.InterruptException:
            raise
        except (duckdb.Error, UnicodeDecodeError):  # DuckDB quotes what it refuses, and may cut a character in two
            return None
        finally:
            self._target.unlink(missing_ok=True)


def _is_fractional(text: bytes) -> bool:
    """Whether times have decimals: all that one writer writes have them, so that a sample of each piece tells."""
    return _HAS_LONG_FRACTION.search(text, 0, _SAMPLE_BYTES) is not None


def _table(found: pa.Table, to_ns: Callable[[pa.Array], pa.Array]) -> pa.Table:
    """What the query gives as SCHEMA has it."""
    columns = {name: found.column(name).combine_chunks() for name in (*TEXTS, "ts", "dur", "found")}
    columns["args"] = _finite_args(columns["args"])
    for name in ("ts", "dur"):
        columns[f"{name}_ns"] = to_ns(columns[name])
    columns["line"] = pa.array(np.full(len(found), -1))
    columns |= _arguments(columns["found"])
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def _arguments(found: pa.ListArray) -> dict[str, pa.Array]:
    """The columns of ARGS; most of them are empty in most pieces, which is cheap to see."""
    is_set = found.flatten().is_valid().to_numpy(zero_copy_only=False).reshape(-1, len(ARGS)).any(axis=0)
    return {
        f"args.{name}": pc.list_element(found, place) if is_set[place] else pa.nulls(len(found), pa.string())
        for place, name in enumerate(ARGS)
    }


def _finite_args(args: pa.Array) -> pa.Array:
    """Arguments without NaN and infinity, which DuckDB takes for JSON."""
    if not _has_letters(args, b"nan") and not _has_letters(args, b"inf"):
        return args
    odd = pc.fill_null(pc.match_substring_regex(args, r"(?i)[:\[,]\s*-?(?:nan|inf)"), False)
    if not pc.any(odd).as_py():
        return args
    return pc.replace_with_mask(args, odd, pa.array(map(finite, args.filter(odd).to_pylist()), args.type))


def _has_letters(texts: pa.Array, three: bytes) -> bool:
    """Whether three small or capital letters stand anywhere in the texts."""
    small = np.frombuffer(texts.buffers()[2] or b"", np.uint8) | 0x20
    return bool(((small[:-2] == three[0]) & (small[1:-1] == three[1]) & (small[2:] == three[2])).any())


def _ns(us: pa.Array) -> pa.Array:
    """Microseconds in doubles as nanoseconds, rounded half up as their decimal text would be; null where unusable."""
    value: NDArray[np.float64] = us.to_numpy(zero_copy_only=False).astype(np.float64)
    usable = np.abs(value) <= MOST_US  # NaN is not
    value = np.where(usable, value, 0.0)
    whole = np.floor(value)
    ns = whole.astype(np.int64) * 1000 + np.floor((value - whole) * 1000 + 0.500001).astype(np.int64)
    return pa.array(ns, mask=~usable)


def _exact_ns(us: pa.Array) -> pa.Array:
    return pa.array(
        [to_ns(Decimal(one)) if one is not None and _is_number(one) else None for one in us.to_pylist()], pa.int64()
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _scanned(pieces: Pieces, piece: Piece) -> Iterator[Rows]:
    """A piece event by event; goes on into the next one where an event does, and gives back what it did not use."""
    window = Text(piece.text + (b"" if piece.last else piece.between), pieces.take, piece.line)
    until = None if piece.last else len(piece.text)
    rows: list[dict[str, Any]] = []
    damages: list[Damage] = []
    for found in scan(window, until=until, take_end=pieces.facts.add):
        if isinstance(found, Damage):
            damages.append(found)
        elif _is_row(found):
            rows.append(_row(*found))
        if len(rows) + len(damages) >= _SCAN_ROWS:
            yield Rows(pa.Table.from_pylist(rows, schema=SCHEMA), tuple(damages))
            rows, damages = [], []
    pieces.replaced_bytes += window.replaced
    pieces.over = window.position == len(window.text) and window.ended
    pieces.give_back(window.rest(), window.line)
    if piece.last and piece.closed:
        damages = [one for one in damages if one != not_closed(window.line)]
    yield Rows(pa.Table.from_pylist(rows, schema=SCHEMA), tuple(damages))


def _is_row(found: Found) -> bool:
    """Whether something in the list is an event that is used, or one without a kind, as the query has it."""
    if isinstance(found, Damage):
        return False
    ph = found[1].get("ph")
    if ph == trace_memory.KIND:
        return bool(found[1].get("name") == trace_memory.NAME)
    return ph in MARKS if ph is not None else any(found[1].get(key) is not None for key in _SAYS_SOMETHING)


def _row(line: int, event: dict[str, Any]) -> dict[str, Any]:
    args = event.get("args")
    row: dict[str, Any] = {name: plain_text(event.get(name)) for name in TEXTS if name != "args"}
    row["ph"] = row["ph"] or ""
    row |= {"ts_ns": to_ns(event.get("ts")), "dur_ns": to_ns(event.get("dur")), "line": line}
    row["args"] = None if args is None else finite(json.dumps(args, default=_number, separators=(",", ":")))
    if isinstance(args, dict) and row["cat"] not in _PLAIN:
        row |= {f"args.{name}": plain_text(args.get(name)) for name in ARGS}
    return row


def _number(value: Any) -> Any:
    return float(value)


def to_ns(value: object) -> int | None:
    """Microseconds as JSON gives them, as whole nanoseconds; None for what is no number or out of range."""
    if type(value) is int:  # the common case; True and False are no numbers here
        return value * 1000 if -MOST_US <= value <= MOST_US else None
    if not isinstance(value, float | Decimal | str):
        return None
    try:
        number = Decimal(value)
    except ArithmeticError:
        return None
    if not number.is_finite() or not -MOST_US <= number <= MOST_US:  # abs() would overflow for some
        return None
    return int((number * 1000).to_integral_value(ROUND_HALF_UP))


def plain_text(value: object) -> str | None:
    """A value as text that can be stored, as DuckDB would give it: no half surrogate pairs."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=_number, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def integers(words: pa.Array | pa.ChunkedArray, missing: int) -> NDArray[np.int64]:
    """Texts as whole numbers, `missing` where one is none."""
    encoded = pc.dictionary_encode(words.combine_chunks() if isinstance(words, pa.ChunkedArray) else words)
    numbers = np.array([_integer(one, missing) for one in encoded.dictionary.to_pylist()] + [missing], np.int64)
    found: NDArray[np.int64] = numbers[encoded.indices.fill_null(-1).to_numpy()]
    return found


def _integer(text: str, missing: int) -> int:
    word = text.strip()
    if not word.isascii() or not word.removeprefix("-").isdecimal() or len(word) > 20:
        return missing
    number = int(word)
    return number if -(1 << 63) <= number < 1 << 63 else missing
