"""One long-lived, limited process: reads mutants of one format one after the other and says how each ended."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

import duckdb

from tests.fuzz.formats import BY_NAME, Format
from tests.fuzz.mutation import mutant

MEMORY_BYTES = 3 << 30  # of address space, of which much is reserved and never used
GROWTH_BYTES = 256 << 20


def main(name: str, seed: int, first: int, count: int) -> None:
    """Says a line of JSON when it begins a mutant of number n, and one when that has ended."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kind = format_of(name)
    good = kind.seed()
    db = duckdb.connect(config={"threads": 1, "memory_limit": "512MB"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kind.path.rsplit("/", 1)[-1]
        path.write_bytes(good)
        kind.read(db, kind.source_file(len(good)), path)  # once, so that everything is loaded
        idle = highest_bytes()
        for number in range(first, first + count):
            _say({"begin": number})
            content = mutant(good, f"{seed}/{name}/{number}")
            path.write_bytes(content)
            start = time.monotonic()
            try:
                found = kind.read(db, kind.source_file(len(content)), path)
            except Exception:
                _say({"end": number, "error": traceback.format_exc(limit=-6)})
                continue
            grown = highest_bytes() - idle
            word = found.word if content.strip() or found.word != "silent" else "empty"
            answer = {"end": number, "word": word, "seconds": round(time.monotonic() - start, 3)}
            if grown > GROWTH_BYTES:
                answer["error"] = f"needed {grown >> 20} MiB more than idle"
            _say(answer)


def highest_bytes() -> int:
    """The most memory this process has had; what the kernel's usage record says may be its parent's."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def format_of(name: str) -> Format:
    """A format by its name; those with a fault are for the tests of the harness."""
    if name in BY_NAME:
        return BY_NAME[name]
    from tests.fuzz.faulty import FAULTY

    return FAULTY[name]


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
