"""Traces made to exhaust a reader: each is read in a process of its own, which must not need much more than idle."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.conftest import ROOT
from tests.fuzz.formats import BY_NAME

GROWTH_MIB = 256
EVENT = b'{"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":1767268800000000,"dur":5,"args":{}}'

PROGRAM = """
import json, sys
from pathlib import Path
import duckdb
from tests.fuzz.child import highest_bytes
from tests.fuzz.formats import BY_NAME
path, kind = Path(sys.argv[1]), BY_NAME["kineto"]
db = duckdb.connect(config={"threads": 1, "memory_limit": "512MB"})
small = path.with_name("rank1.pt.trace.json")
small.write_bytes(kind.seed())
kind.read(db, kind.source_file(1), small)
idle = highest_bytes()
found = kind.read(db, kind.source_file(path.stat().st_size), path)
print(json.dumps({"rows": found.rows, "problems": found.problems, "grown_mib": highest_bytes() - idle >> 20}))
"""


def listed(*events: bytes) -> bytes:
    return b'{"traceEvents":[' + b",".join(events) + b"]}"


def named(name: bytes) -> bytes:
    return EVENT.replace(b'"a"', b'"' + name + b'"')


def packed(*pieces: tuple[bytes, int]) -> bytes:
    """Each piece so many times, packed without ever being whole in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(piece) for piece, times in pieces for _ in range(times)]
    return b"".join([*parts, packer.flush()])


HOSTILE: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "two million brackets": (lambda: listed(EVENT, b"[" * 2_000_000, EVENT), 2, "doubled"),
    "a million objects inside each other": (
        lambda: listed(EVENT, b'{"a":' * 10**6 + b"1" + b"}" * 10**6, EVENT),
        2,
        "",
    ),
    "braces": (lambda: listed(EVENT, b"{" * 2_000_000), 1, "damaged"),
    "quotes": (lambda: listed(EVENT, b'"' * 5_000_000), 1, ""),
    "backslashes": (lambda: listed(EVENT, b'{"name":"' + b"\\" * 5_000_000 + b'"}'), 1, ""),
    "a name of a million letters": (lambda: listed(EVENT, named(b"x" * 10**6)), 2, ""),
    "names of 400,000 letters": (lambda: listed(*(named(b"%04d" % at * 100_000) for at in range(60))), 60, ""),
    "a name that does not end": (lambda: listed(EVENT, named(b"x" * 60_000_000)), 1, ""),
    "three million closing brackets": (lambda: listed(EVENT) + b"]" * 3_000_000, 1, ""),
    "commas": (lambda: listed(EVENT, b"," * 5_000_000 + EVENT), 2, "doubled"),
    "4 GiB of spaces, packed": (
        lambda: packed((b'{"traceEvents":[', 1), (b" " * (16 << 20), 256)),
        0,
        "larger than any",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_trace_takes_little_memory_and_costs_only_itself(name: str, tmp_path: Path) -> None:
    make, rows, words = HOSTILE[name]
    path = tmp_path / "rank0.pt.trace.json"
    path.write_bytes(make())
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["rows"] == rows
    assert found["grown_mib"] <= GROWTH_MIB
    assert any(words in problem for problem in found["problems"]) or not words


@pytest.mark.parametrize("number", ["1e1000001", "-1e1000001", "9e999999999999999999", "1e-1000001", "1e400", "-0.0"])
@pytest.mark.parametrize("place", ["ts", "dur"])
def test_a_number_beyond_all_measure_makes_one_event_invalid(number: str, place: str, tmp_path: Path) -> None:
    """Also where the file is damaged and read event by event: Python's decimals overflow. Found by a mutant."""
    kind = BY_NAME["kineto"]
    path = tmp_path / "rank0.pt.trace.json"
    old = {"ts": b'"ts":1767268800000000', "dur": b'"dur":5'}[place]
    odd = EVENT.replace(old, f'"{place}":{number}'.encode())
    with duckdb.connect() as db:
        for damage in (b"", b',{"name":}'):
            path.write_bytes(listed(EVENT, odd + damage, EVENT))
            found = kind.read(db, kind.source_file(path.stat().st_size), path)
            fine = place == "dur" and number in ("1e-1000001", "-0.0")
            assert (found.rows, found.invalid) == ((3, 0) if fine else (2, 1))
