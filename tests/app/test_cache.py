"""The cache: what it remembers, when it asks again, and that its folder can hold no code."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask

from app import cache
from data.errors import MissingTable
from data.frames import MetricHistogram, NodeHistogram
from data.selection import Selection, Window
from tests.conftest import ROOT

WHOLE = Selection("train-1-0a1b2c3d")


@dataclass
class FakeStore:
    """Runs queries with itself as database, and counts them."""

    versions: dict[str, str] = field(default_factory=lambda: {"train-1-0a1b2c3d": "v1"})
    calls: int = 0

    def fetch(self, query: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return query(self, *args, **kwargs)

    def version(self, job_id: str) -> str:
        return self.versions.get(job_id, "")


def histogram(db: Any, selection: Selection, metric: str = "cpu") -> MetricHistogram:
    nodes = (NodeHistogram("algo-1", np.arange(50), 0, 0, 1, 2, 1225, 1.5, float("nan")),)
    return MetricHistogram(metric, nodes, 1.0, 2.0)


def job_list(db: Any, search: str) -> tuple[str, ...]:
    return (search,)


def missing(db: Any, selection: Selection) -> MetricHistogram:
    raise MissingTable("no GPUs")


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def fetch(store: FakeStore, folder: Path) -> cache.CachedFetch:
    return cache.cached_fetch(store, Flask("test"), folder)


def test_the_second_answer_equals_the_first_and_costs_no_query(fetch: cache.CachedFetch, store: FakeStore) -> None:
    first, second = fetch(histogram, WHOLE), fetch(histogram, WHOLE)
    assert store.calls == 1
    assert second.nodes[0].counts.tolist() == first.nodes[0].counts.tolist()
    assert (second.metric, second.p95, second.nodes[0].node) == ("cpu", 2.0, "algo-1")


@pytest.mark.parametrize(
    "other",
    [
        lambda fetch: fetch(histogram, Selection(WHOLE.job, Window(1, 2))),
        lambda fetch: fetch(histogram, Selection(WHOLE.job, None, ("algo-1",))),
        lambda fetch: fetch(histogram, WHOLE, "gpu"),
        lambda fetch: fetch(histogram, WHOLE, metric="gpu"),
    ],
)
def test_other_arguments_are_another_answer(
    fetch: cache.CachedFetch, store: FakeStore, other: Callable[[Any], Any]
) -> None:
    fetch(histogram, WHOLE)
    other(fetch)
    assert store.calls == 2


def test_a_new_version_of_the_job_is_asked_again(fetch: cache.CachedFetch, store: FakeStore) -> None:
    fetch(histogram, WHOLE)
    store.versions[WHOLE.job] = "v2"
    fetch(histogram, WHOLE)
    assert store.calls == 2


def test_a_new_layout_of_the_store_is_asked_again(
    fetch: cache.CachedFetch, store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(histogram, WHOLE)
    monkeypatch.setattr(cache, "SCHEMA_VERSION", 999)
    fetch(histogram, WHOLE)
    assert store.calls == 2


def test_what_depends_on_more_than_a_version_is_not_kept(
    fetch: cache.CachedFetch, store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LIVE", frozenset({f"{__name__}.histogram"}))
    for _ in range(2):
        fetch(job_list, "a")
        fetch(histogram, WHOLE)
        fetch(histogram, Selection("not-converted-00000000"))
    assert store.calls == 6


def test_a_missing_table_is_said_every_time(fetch: cache.CachedFetch) -> None:
    for _ in range(2):
        with pytest.raises(MissingTable, match="no GPUs"):
            fetch(missing, WHOLE)


def test_eight_askers_at_once_cost_one_query(fetch: cache.CachedFetch, store: FakeStore) -> None:
    barrier = threading.Barrier(8)

    def ask() -> None:
        barrier.wait()
        fetch(histogram, WHOLE)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.calls == 1


def test_a_second_process_finds_what_the_first_one_kept(
    fetch: cache.CachedFetch, store: FakeStore, folder: Path
) -> None:
    fetch(histogram, WHOLE)
    other = FakeStore()
    cache.cached_fetch(other, Flask("other"), folder)(histogram, WHOLE)
    assert other.calls == 0


def test_the_folder_is_private_and_so_are_its_files(fetch: cache.CachedFetch, folder: Path) -> None:
    fetch(histogram, WHOLE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


PICKLE = b"cos\nsystem\n(S'touch PLANTED'\ntR."


@pytest.mark.parametrize("mark", [b"", b"B", b"I", b"P"])
def test_a_planted_pickle_is_never_loaded(
    fetch: cache.CachedFetch, store: FakeStore, folder: Path, mark: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    fetch(histogram, WHOLE)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:4] + mark + PICKLE)
    assert fetch(histogram, WHOLE).metric == "cpu"
    assert store.calls == 2
    assert not (folder.parent / "PLANTED").exists()


def test_the_cache_takes_bytes_only() -> None:
    with pytest.raises(TypeError):
        cache.BytesSerializer().dumps({"a": 1})


def test_what_the_cache_writes_it_reads() -> None:
    serializer = cache.BytesSerializer()
    assert [serializer.loads(serializer.dumps(value)) for value in (b"\0x", b"", 7)] == [b"\0x", b"", 7]
    assert serializer.loads(b"\x80\x05K\x07.") is None  # a pickle


def test_nothing_of_ours_imports_pickle_or_marshal() -> None:
    root = Path(cache.__file__).parents[1]
    offenders = [
        path
        for package in ("app", "components", "data")
        for path in (root / package).rglob("*.py")
        if any(f"import {name}" in path.read_text() for name in ("pickle", "marshal", "pstats", "joblib", "shelve"))
    ]
    assert offenders == []


def test_another_process_makes_the_same_key(fetch: cache.CachedFetch) -> None:
    script = (
        "from tests.app.test_cache import *; print(cache.CachedFetch(FakeStore(), None)._key(histogram, (WHOLE,), {}))"
    )
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert other.stdout.strip() == fetch._key(histogram, (WHOLE,), {})


def test_a_query_of_two_jobs_is_asked_again_when_either_changes(fetch: cache.CachedFetch, store: FakeStore) -> None:
    store.versions["b"] = "v1"

    def both(db: Any, a: Selection, b: Selection) -> tuple[str, ...]:
        return a.job, b.job

    pair = (WHOLE, Selection("b"))
    for _ in range(2):
        assert fetch(both, *pair) == (WHOLE.job, "b")
    assert store.calls == 1
    store.versions["b"] = "v2"
    fetch(both, *pair)
    assert store.calls == 2
    store.versions["b"] = ""
    fetch(both, *pair)
    fetch(both, *pair)
    assert store.calls == 4


def test_another_program_asks_again(
    fetch: cache.CachedFetch, store: FakeStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(histogram, WHOLE)
    monkeypatch.setattr(cache, "program_version", lambda: "newer")
    cache.cached_fetch(store, Flask("test"), folder)(histogram, WHOLE)
    assert store.calls == 2
