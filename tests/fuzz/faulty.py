"""Readers with the faults that the harness has to notice: each fails on the third mutant it meets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from data.sources import SourceFile
from tests.fuzz.formats import Format, Outcome

GOOD = b'{"good": true}'


def _failing(fail: Callable[[], Outcome]) -> Callable[[duckdb.DuckDBPyConnection, SourceFile, Path], Outcome]:
    calls = 0

    def read(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
        nonlocal calls
        calls += 1
        return fail() if calls == 4 else Outcome(1, ())  # the first call reads the good file

    return read


def _raise() -> Outcome:
    raise KeyError("a fault of the reader")


def _hang() -> Outcome:
    time.sleep(60)
    return Outcome(1, ())


def _die() -> Outcome:
    os.abort()


def _grow() -> Outcome:
    return Outcome(len(bytearray(os.urandom(1024) * (400 << 10))), ())


FAULTS: dict[str, Callable[[], Outcome]] = {
    "raises": _raise,
    "hangs": _hang,
    "dies": _die,
    "grows": _grow,
    "silent": lambda: Outcome(0, ()),
}

FAULTY = {name: Format(name, "training-job.json", lambda: GOOD, _failing(fail)) for name, fail in FAULTS.items()}
