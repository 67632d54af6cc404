"""`make fuzz`: damages a good file of every format many times, and reads each."""

from __future__ import annotations

import argparse
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.formats import FORMATS
from tests.fuzz.harness import fuzz


def main() -> int:
    """Prints a line a format; 1 where a mutant failed."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="mutants of each format")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31), help="the same seed, the same mutants")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--format", action="append", choices=[one.name for one in FORMATS], help="only this one")
    parser.add_argument("--kept", type=Path, default=Path("var/fuzz"), help="where failures are kept")
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.count} mutants of each format", flush=True)
    names = given.format or [one.name for one in FORMATS]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda name: fuzz(name, given.seed, given.count, given.kept, given.first), names):
            words = ", ".join(f"{count} {word}" for word, count in sorted(result.words.items()))
            print(f"{result.name:16} {words}; slowest {result.slowest_s:.2f} s", flush=True)
            for number, reason in result.failures:
                print(f"  FAILED {number}: {reason.strip().splitlines()[-1]}", flush=True)
            failed += len(result.failures)
    print(f"{failed} failed" + (f", kept in {given.kept}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
