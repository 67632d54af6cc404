"""Profiles of Python code by interval of a training: cProfile's dumps and Pyinstrument's trees, as rows of functions.

A file gives all of its functions or, where anything in it is damaged, none and one problem: shares of half a profile
would mislead.
"""

from __future__ import annotations

import math
from typing import BinaryIO, Final

from data.problem import Problem
from data.readers.functions import FileFunctions, FunctionRow
from data.readers.marshal_values import MarshalError, Value, read_entries
from data.readers.pyinstrument import TreeError, read_tree
from data.readers.python_intervals import interval_of
from data.sources import FileKind, SourceFile

MAX_BYTES: Final = 32 << 20
MAX_FUNCTIONS: Final = 100_000
MAX_CALLS: Final = 1 << 53
MAX_SECONDS: Final = 1e8
"""Three years: larger numbers are damage, and sums stay far from the limit of 64 bits."""

PROFILERS: Final = {FileKind.PYTHON_STATS: "cprofile", FileKind.PYINSTRUMENT: "pyinstrument"}


def read(file: SourceFile, stream: BinaryIO) -> FileFunctions:
    """The functions of one file, and what is wrong with it. Raises OSError where it cannot be read at all."""
    content = stream.read(MAX_BYTES + 1)
    interval = interval_of(file.path)
    problems = []
    if not interval.known:
        words = f"its folder {interval.folder} is not named by steps and times: its functions belong to no window"
        problems.append(Problem(file.path, None, words, "warning"))
    try:
        if len(content) > MAX_BYTES:
            raise MarshalError(f"is larger than {MAX_BYTES >> 20} MiB")
        rows = read_tree(content) if file.kind is FileKind.PYINSTRUMENT else read_dump(content)
    except (MarshalError, TreeError) as error:
        return FileFunctions(interval, (), (damaged(file, str(error)),))
    return FileFunctions(interval, rows, tuple(problems))


def damaged(file: SourceFile, reason: str) -> Problem:
    """The one problem of a file that gives nothing. How many functions it held is unknown: it counts as one record."""
    folder = interval_of(file.path).folder
    return Problem(file.path, None, f"the Python profile of {folder} cannot be used: it {reason}", "warning", 1)


def read_dump(content: bytes) -> tuple[FunctionRow, ...]:
    """The functions of a dump of cProfile. Raises MarshalError."""
    found: dict[tuple[str, int, str], FunctionRow] = {}
    for key, value in read_entries(content):
        row = _row(key, value)
        found[row.code_file, row.line, row.function] = row
    if len(found) > MAX_FUNCTIONS:
        raise MarshalError(f"holds more than {MAX_FUNCTIONS:,} functions")
    return tuple(found.values())


def _row(key: Value, value: Value) -> FunctionRow:
    match key, value:
        case (str() as code_file, int() as line, str() as function), (
            int() as primitive,
            int() as calls,
            int() | float() as own,
            int() | float() as cumulative,
            _,
        ) if 0 <= primitive <= MAX_CALLS and 0 <= calls <= MAX_CALLS and abs(line) < 1 << 31:
            return FunctionRow(code_file, line, function, calls, primitive, _ns(own), _ns(cumulative))
    raise MarshalError("holds an entry that is no function with its calls and times")


def _ns(seconds: float) -> int:
    if not math.isfinite(seconds) or abs(seconds) > MAX_SECONDS:
        raise MarshalError("holds a time that makes no sense")
    return round(seconds * 1e9)
