"""Two thousand damaged files of every format, and that the harness notices what may go wrong."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from tests.fuzz.formats import BY_NAME, FORMATS
from tests.fuzz.harness import fuzz
from tests.fuzz.mutation import mutant

SEED = 20_201_204
MUTANTS = 2_000


def test_no_damage_kills_hangs_or_silences_a_reader(tmp_path: Path) -> None:
    names = [one.name for one in FORMATS]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda name: fuzz(name, SEED, MUTANTS, tmp_path), names))
    failures = {one.name: one.failures for one in results if one.failures}
    assert failures == {}, f"seed {SEED}"
    for one in results:
        assert sum(one.words.values()) == MUTANTS
        assert one.words["refused"] + one.words["partly"] > MUTANTS / 10  # the damage is noticed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", "a fault of the reader"),
        ("hangs", "took more than 5 s"),
        ("dies", "ended the process"),
        ("grows", "MiB more than idle"),
        ("silent", "gave nothing, and no reason"),
    ],
)
def test_the_harness_notices(name: str, words: str, tmp_path: Path) -> None:
    result = fuzz(name, 1, 5, tmp_path)
    assert [number for number, _ in result.failures][:1] == [2]
    assert words in result.failures[0][1]
    assert sum(result.words.values()) + len(result.failures) >= 5
    assert {path.name for path in tmp_path.iterdir()} >= {f"{name}-1-2.bin", f"{name}-1-2.txt"}


def repeated(key: str, width: int) -> bytes:
    """An object with a key twice, which DuckDB refuses, quoting its first bytes: with letters of three bytes there."""
    name = "a" * width + "\N{REPLACEMENT CHARACTER}" * 40
    return f'{{"name":"{name}","Name":"{name}","{key}":1,"{key}":2}}'.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [("system", lambda width: repeated("Value", width)), ("kineto", lambda width: b"[" + repeated("ph", width) + b"]")],
)
def test_an_error_that_quotes_half_a_letter_is_no_crash(
    name: str, content: Callable[[int], bytes], tmp_path: Path
) -> None:
    """Its message then is no UTF-8, and Python raises for that: found with a mutant."""
    kind = BY_NAME[name]
    path = tmp_path / kind.path.rsplit("/", 1)[-1]
    with duckdb.connect() as db:
        for width in range(6):
            path.write_bytes(content(width))
            assert kind.read(db, kind.source_file(path.stat().st_size), path).word == "refused"


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_a_mutant_is_the_same_every_time_and_hardly_ever_the_good_file(kind: object) -> None:
    good = kind.seed()  # type: ignore[attr-defined]
    mutants = [mutant(good, f"1/{number}") for number in range(50)]
    assert mutants == [mutant(good, f"1/{number}") for number in range(50)]
    assert sum(one == good for one in mutants) < 10
