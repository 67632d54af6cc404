"""Events after changes are those of a fresh conversion: marks and clocks that wait for other files, parts, copies."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from data.convert import events as events_module
from data.convert.job import convert_job
from data.manifest import MANIFEST
from tests import trees
from tests.data.convert.test_incremental import Job, assert_like_from_scratch, files_read
from tests.stored import convert, only_job
from tests.traces import START_US, begin, end, event, lane, start

PEVENTS = "profiler-output/framework/pevents/2026010112"
DETAILED = "profiler-output/framework/tensorflow/detailed_profiling/2026010112/000000009"
METADATA = f"{DETAILED}/81-algo-1_{START_US}_{START_US + 10**6}.metadata"
TRACE = f"{DETAILED}/plugins/profile/2026_01_01_12_00_05/algo-1.trace.json.gz"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = Job(tmp_path / "source" / "job")
    for path, content in trees.metrics_files(trees.machine(start_us=START_US, ticks=4)).items():
        job.write(path, content)
    return job


def path_of(number: int, kind: str = "horovod_timeline", node: str = "81-algo-1") -> str:
    return f"{PEVENTS}/{START_US + number}_{node}_{kind}.json"


def timeline(*events: dict[str, Any], start_us: int = START_US) -> bytes:
    return json.dumps([start(start_us), lane(1, "grad/a"), *events]).encode()


def durations_us(job: Job, store: Path) -> list[float]:
    found = assert_like_from_scratch(job, store)
    return sorted(row["duration_ns"] / 1000 for row in found.events())


def test_a_begin_mark_waits_for_its_end_in_a_later_file(job: Job, tmp_path: Path) -> None:
    store = tmp_path / "store"
    job.write(path_of(1), timeline(event(1, 7), begin(10)))
    job.write(path_of(1, node="82-algo-1"), timeline(begin(10)))
    assert durations_us(job, store) == [7]
    job.write(path_of(5), timeline(event(1, 8)))
    assert durations_us(job, store) == [7, 8]
    job.write(path_of(9), timeline(end(40)))
    assert durations_us(job, store) == [7, 8, 30]
    job.write(path_of(3), timeline(begin(20), end(21), end(25)))
    assert durations_us(job, store) == [1, 7, 8, 15]
    job.remove(path_of(1))
    assert durations_us(job, store) == [1, 8]
    job.write(path_of(1), timeline(begin(11)))
    job.remove(path_of(3))
    assert durations_us(job, store) == [8, 29]
    job.write(path_of(5), timeline(end(12)))
    assert durations_us(job, store) == [1]


def test_a_file_that_marks_of_others_pass_by_says_the_same(job: Job, tmp_path: Path) -> None:
    job.write(path_of(1), timeline(begin(10)))
    job.write(path_of(2), timeline())
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert sum("no events in it" in row["message"] for row in found.table("problems")) == 1
    job.remove(path_of(1))
    assert_like_from_scratch(job, tmp_path / "store")


def test_only_files_of_the_same_writer_are_read_again(job: Job, tmp_path: Path) -> None:
    waiting, sound = path_of(1), path_of(2, "model_timeline")
    other = path_of(1, node="82-algo-1")
    for path, content in ((waiting, timeline(begin(10))), (sound, timeline(event())), (other, timeline(begin(10)))):
        job.write(path, content)
    convert(job.folder, tmp_path / "store")
    job.write(path_of(9), timeline(end(40)))
    with files_read() as seen:
        convert(job.folder, tmp_path / "store")
    assert sorted(seen) == [waiting, path_of(9)]


def test_a_start_that_arrives_later_and_goes(job: Job, tmp_path: Path) -> None:
    store = tmp_path / "store"
    events = [lane(1, "/host:CPU"), event(100.5, 20), {}]
    job.write(TRACE, gzip.compress(json.dumps({"traceEvents": events}).encode(), mtime=0))
    found = assert_like_from_scratch(job, store)
    (row,) = found.events()
    assert (row["wall"], row["start_ns"], row["node"]) == (False, 100_500, "algo-1")
    job.write(METADATA, b"")
    (row,) = assert_like_from_scratch(job, store).events()
    assert (row["wall"], row["start_ns"], row["worker"]) == (True, START_US * 1000 + 100_500, "81")
    job.write(TRACE, gzip.compress(json.dumps({"traceEvents": [event(9, 20)]}).encode(), mtime=0))
    (row,) = assert_like_from_scratch(job, store).events()
    assert (row["wall"], row["start_ns"], row["worker"]) == (True, START_US * 1000 + 9_000, "81")
    job.write(TRACE, gzip.compress(json.dumps({"traceEvents": events}).encode(), mtime=0))
    job.remove(METADATA)
    (row,) = assert_like_from_scratch(job, store).events()
    assert row["wall"] is False
    later = METADATA.replace(str(START_US), str(START_US + 7))
    job.write(METADATA, b"")
    assert_like_from_scratch(job, store)
    job.remove(METADATA)
    job.write(later, b"")
    (row,) = assert_like_from_scratch(job, store).events()
    assert row["start_ns"] == START_US * 1000 + 107_500


def write_run(job: Job, name: str, rank: int | None, count: int, **more: Any) -> None:
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"device": rank or 0, "stream": 7}}
    events = [kernel | {"ts": START_US + 10 * at, "dur": 7 + at % 5} for at in range(count)]
    events += [event(START_US, 10 * count, name="ProfilerStep#3") | {"cat": "user_annotation"}]
    known = {} if rank is None else {"distributedInfo": {"rank": rank}}
    job.write(name, json.dumps({"traceEvents": events, **known, **more}).encode())


def test_traces_that_come_change_and_go(tmp_path: Path) -> None:
    job, store = Job(tmp_path / "run"), tmp_path / "store"
    write_run(job, "rank0.pt.trace.json", 0, 5)
    assert assert_like_from_scratch(job, store).manifest.kernels == 5
    write_run(job, "deep/rank1.pt.trace.json", 1, 9)
    write_run(job, "other.json", None, 2)
    job.write("notes.json", b'{"a": 1}')
    found = assert_like_from_scratch(job, store)
    assert found.manifest.kernels == 16
    assert found.manifest.event_processes == (("rank0", "0"), ("rank1", "1"))
    write_run(job, "rank0.pt.trace.json", 2, 3)
    assert assert_like_from_scratch(job, store).manifest.event_processes[-1] == ("rank2", "2")
    job.write("rank0 copy.trace.json", job.read("rank0.pt.trace.json"))
    assert assert_like_from_scratch(job, store).manifest.kernels == 14
    job.remove("rank0.pt.trace.json")
    assert assert_like_from_scratch(job, store).manifest.kernels == 14
    job.remove("deep/rank1.pt.trace.json")
    assert assert_like_from_scratch(job, store).manifest.kernels == 5


def ranks_of_copies(job: Job, store: Path) -> tuple[list[str], dict[str, str]]:
    """The ranks with events, an entry for each event; and the files left out, with what each repeats."""
    found = assert_like_from_scratch(job, store)
    left_out = {row["path"]: row["copy_of"] for row in found.table("files") if row["copy_of"]}
    return sorted(row["worker"] for row in found.events()), left_out


def test_the_same_bytes_under_the_names_of_two_ranks_are_two_recordings(tmp_path: Path) -> None:
    """Found in any order, a copy that names no rank repeats one that does."""
    job, store = Job(tmp_path / "run"), tmp_path / "store"
    trace = gzip.compress(json.dumps([event(START_US, 7)]).encode(), mtime=0)
    job.write("a.trace.json", trace)
    job.write("b.trace.json", trace)
    assert ranks_of_copies(job, store) == (["0"], {"b.trace.json": "a.trace.json"})
    job.write("rank1.trace.json", trace)
    assert ranks_of_copies(job, store) == (["1"], dict.fromkeys(["a.trace.json", "b.trace.json"], "rank1.trace.json"))
    job.write("rank2/trace.json", trace)
    job.write("rank2/trace (1).json", trace)
    job.write("rank2/zz.json", trace)
    ranks, left_out = ranks_of_copies(job, store)
    assert ranks == ["1", "2"]
    assert left_out["rank2/trace.json"] == left_out["rank2/zz.json"] == "rank2/trace (1).json"
    job.remove("rank1.trace.json")
    assert ranks_of_copies(job, store)[0] == ["2"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_trace_that_gives_its_rank_keeps_it_under_any_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    job = Job(tmp_path / "run")
    trace = pack(json.dumps({"traceEvents": [event(START_US, 7)], "distributedInfo": {"rank": 3}}).encode())
    job.write("rank3.trace.json", trace)
    job.write("rank4.trace.json", trace)
    assert ranks_of_copies(job, tmp_path / "store") == (["3"], {"rank4.trace.json": "rank3.trace.json"})


def test_events_lie_in_parts_and_only_those_that_lose_rows_are_written_again(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "PART_ROWS", 50)
    monkeypatch.setattr(events_module, "GROUP_ROWS", 10)
    for number in range(6):
        job.write(path_of(number), timeline(*(event(100 * number + at, 1) for at in range(60))))
    first = assert_like_from_scratch(job, tmp_path / "store")
    assert len(first.manifest.event_parts) == 6
    job.write(path_of(5), timeline(event(7, 1)))
    second = assert_like_from_scratch(job, tmp_path / "store")

    def inodes(folder: Path) -> set[int]:
        return {path.stat().st_ino for path in folder.glob("events-*.parquet")}

    kept = inodes(first.folder) & inodes(second.folder)
    assert len(kept) >= len(first.manifest.event_parts) - 2
    assert len(second.events()) == 301


def test_every_table_is_forced_to_disk(job: Job, tmp_path: Path) -> None:
    job.write(path_of(1, "merged_timeline"), timeline({**event(), "cat": "kernel", "args": {"device": 0}}))
    synced: set[str] = set()

    def noting(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink().name.removesuffix(".part"))

    source = only_job(job.folder)
    with mock.patch("os.fsync", noting):
        manifest = convert_job(source, tmp_path / "store", lambda progress: None)
    folder = tmp_path / "store" / "jobs" / source.job_id / manifest.version
    assert {path.name for path in folder.iterdir()} <= synced
    assert {MANIFEST, "kernels.parquet", "events-0.parquet"} <= synced


Change = Callable[[Job, random.Random], None]


def any_path(rng: random.Random) -> str:
    kind = rng.choice(["horovod_timeline", "model_timeline", "pythontimeline"])
    return path_of(rng.randrange(6), kind, rng.choice(["81-algo-1", "82-algo-2", "0001"]))


def some_events(rng: random.Random) -> list[dict[str, Any]]:
    found, at = [], 0
    for _ in range(rng.randrange(8)):
        at += rng.randrange(5)
        made = rng.choice([event(at, 3), begin(at), end(at), event(at, -1), event(at, 10**13)])
        found.append(made | {"pid": rng.randrange(1, 3)})
    return found


def write_timeline(job: Job, rng: random.Random) -> None:
    start_us = rng.choice([START_US, START_US + 77, 5])
    job.write(any_path(rng), timeline(*some_events(rng), start_us=start_us))


def remove(job: Job, rng: random.Random) -> None:
    paths = job.paths("framework")
    if paths:
        job.remove(rng.choice(paths))


def cut(job: Job, rng: random.Random) -> None:
    paths = job.paths("framework")
    if paths:
        path = rng.choice(paths)
        job.write(path, job.read(path)[: -rng.randrange(1, 60)])


def copy(job: Job, rng: random.Random) -> None:
    paths = [path for path in job.paths("framework") if path.startswith(PEVENTS)]
    if paths:
        job.write(any_path(rng), job.read(rng.choice(paths)))


def metadata(job: Job, rng: random.Random) -> None:
    if (job.folder / METADATA).exists():
        job.remove(METADATA)
    else:
        job.write(METADATA, b"")


def detailed(job: Job, rng: random.Random) -> None:
    job.write(TRACE, gzip.compress(json.dumps({"traceEvents": some_events(rng)}).encode(), mtime=0))


@pytest.mark.parametrize("seed", range(6))
def test_any_changes_give_what_a_fresh_conversion_gives(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(events_module, "PART_ROWS", 12)
    monkeypatch.setattr(events_module, "GROUP_ROWS", 5)
    rng = random.Random(seed)
    for _ in range(6):
        for change in rng.choices([write_timeline, write_timeline, remove, cut, copy, metadata, detailed], k=3):
            change(job, rng)
        assert_like_from_scratch(job, tmp_path / "store")
