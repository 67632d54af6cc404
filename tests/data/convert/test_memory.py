"""What allocators held, in the store: lines and bins worked out by hand, and the same however it is cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.convert import events as events_module
from data.convert import memory as memory_module
from tests.data.convert.test_incremental import Job, assert_like_from_scratch
from tests.stored import Stored, convert
from tests.traces import START_US, event, memory

START_NS = START_US * 1000


def trace(rank: int, *events: dict[str, Any]) -> bytes:
    return json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": list(events)}).encode()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "source" / "job")


def test_lines_are_processes_and_devices_in_natural_order(job: Job, tmp_path: Path) -> None:
    rank10 = [memory(START_US + 9, 5, 5), memory(START_US + 4, 5, 10, pid=9), memory(START_US + 5, 1, 1, kind=0)]
    rank2 = [memory(START_US + at, 1, 1, device=device) for at, device in ((1, 1), (2, 0), (3, 1))]
    job.write("rank10.trace.json", trace(10, event(START_US, 20), *rank10))
    job.write("rank2.trace.json", trace(2, *rank2))
    found = assert_like_from_scratch(job, tmp_path / "store")
    paths = {row["file"]: row["path"] for row in found.table("files")}
    lines = [
        (
            *(row[name] for name in ("line", "node", "process", "device_kind", "device")),
            paths[row["file"]][:6],
            *((row[name] - START_NS) // 1000 for name in ("start_ns", "end_ns")),
            row["records"],
        )
        for row in found.table("memory_lines")
    ]
    assert lines == [
        (0, "rank2", "7", "cuda", 0, "rank2.", 2, 2, 1),
        (1, "rank2", "7", "cuda", 1, "rank2.", 1, 3, 2),
        (2, "rank10", "7", "cuda", 0, "rank10", 9, 9, 1),
        (3, "rank10", "9", "cuda", 0, "rank10", 4, 4, 1),
        (4, "rank10", "7", "cpu", 0, "rank10", 5, 5, 1),
    ]
    assert (found.manifest.memory_records, found.manifest.memory_kinds) == (6, ("cpu", "cuda"))
    assert found.manifest.events == 1


def test_a_bin_has_extremes_last_rise_and_counts(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bin: it is 4,001 ns wide, from the first record to behind the last, and begins at a multiple of that."""
    monkeypatch.setattr(memory_module, "MOST_BINS", 1)
    monkeypatch.setattr(memory_module, "FEWEST_BINS", 1)
    first_ns = START_NS + 6675
    assert first_ns % 4001 == 0
    totals = [(0, 40, 140), (1, -60, 80), (2, 20, 100), (2, 50, 150), (3, -30, 120), (4, -100, 20)]
    records = [memory(f"{START_US + 6 + at}.675", size, total, 200 + at) for at, size, total in totals]
    job.write("a.trace.json", trace(0, *records))
    found = convert(job.folder, tmp_path / "store")
    one = {"line": 0, "bin_ns": first_ns, "low": 20, "high": 150, "high_ns": first_ns + 2000, "last": 20, "rise": 70}
    one |= {"reserved_high": 204, "reserved_last": 204, "largest": 50, "allocations": 3, "frees": 3, "uncounted": 0}
    assert found.table("memory_bins") == [one]
    assert found.manifest.memory_bin_ns == 4001


@pytest.mark.parametrize(("stretch", "cells"), [(1, 10), (7, 40), (1000, 40)])
def test_bins_are_the_same_however_the_records_are_cut(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stretch: int, cells: int
) -> None:
    """Against plain Python, bin by bin; the CPU's line has batches of shared memory in it."""
    monkeypatch.setattr(memory_module, "MOST_BINS", cells)
    monkeypatch.setattr(memory_module, "FEWEST_BINS", cells)
    monkeypatch.setattr(memory_module, "STRETCH_RECORDS", stretch)
    monkeypatch.setattr(events_module, "GROUP_ROWS", 16)
    monkeypatch.setattr(events_module, "PART_ROWS", 64)
    totals, records, expected = {0: 0, 1: 0}, [], list[tuple[int, int, int, int, bool]]()
    for at in range(200):
        kind, size = at * 7 % 2, (at * 37 % 11 + 1) * 512
        shared = kind == 0 and at % 5 == 0
        size = -size if at % 3 == 2 and totals[kind] >= size else size
        totals[kind] += 0 if shared else size
        total = 0 if shared else totals[kind]
        records.append(memory(START_US + 3 * (at // 2), size, total, 9, kind=kind))
        expected.append((1 - kind, START_NS + 3000 * (at // 2), size, total, not shared))
    written = sorted(range(200), key=lambda at: (at // 40 * 7 % 5, at))  # as several threads come one after another
    job.write("a.trace.json", trace(0, *(records[at] for at in written)))
    found = convert(job.folder, tmp_path / "store")
    width_ns = found.manifest.memory_bin_ns
    by_bin: dict[tuple[int, int], list[tuple[int, int, int, int, bool]]] = {}
    for row in expected:
        by_bin.setdefault((row[0], row[1] // width_ns * width_ns), []).append(row)
    rows = found.table("memory_bins")
    assert [(row["line"], row["bin_ns"]) for row in rows] == sorted(by_bin)
    for row in rows:
        mine = by_bin[row["line"], row["bin_ns"]]
        known = [one for one in mine if one[4]]
        held = [one[3] for one in known]
        assert (row["low"], row["high"]) == (min(held, default=None), max(held, default=None))
        assert row["last"] == (held[-1] if held else None)
        assert row["uncounted"] == len(mine) - len(known)
        assert (row["allocations"], row["frees"]) == (sum(a[2] > 0 for a in known), sum(a[2] < 0 for a in known))
        rises = [held[b] - held[a] for b in range(len(held)) for a in range(b)]
        assert row["rise"] == (max([0, *rises]) if held else None)


def test_records_come_and_go_with_their_files(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "PART_ROWS", 4)
    monkeypatch.setattr(events_module, "GROUP_ROWS", 2)
    for rank in range(3):
        records = [memory(START_US + at, 1, at + 1) for at in range(5)]
        job.write(f"rank{rank}.trace.json", trace(rank, event(START_US, 9), *records))
    first = assert_like_from_scratch(job, tmp_path / "store")
    assert len(first.memory()) == 15
    job.write("rank1.trace.json", trace(1, event(START_US, 9)))
    second = assert_like_from_scratch(job, tmp_path / "store")
    assert sorted({row["node"] for row in second.memory()}) == ["rank0", "rank2"]

    def inodes(found: Stored) -> set[int]:
        return {path.stat().st_ino for path in found.folder.glob("memory-*.parquet")}

    assert inodes(first) & inodes(second)
    for rank in (0, 2):
        job.write(f"rank{rank}.trace.json", trace(rank, event(START_US, 9)))
    third = assert_like_from_scratch(job, tmp_path / "store")
    assert (third.memory(), third.table("memory_lines"), third.manifest.memory_parts) == ([], [], ())
    assert (third.manifest.memory_records, third.manifest.memory_kinds) == (0, ())


def test_without_a_clock_times_count_from_the_start(job: Job, tmp_path: Path) -> None:
    job.write("a.trace.json", trace(0, event(5, 20), memory(10, 1, 1), memory(30, 1, 2)))
    manifest = convert(job.folder, tmp_path / "store").manifest
    assert (manifest.wall_clock, manifest.start_ns, manifest.end_ns) == (False, 5_000, 30_000)
    assert manifest.memory_records == 2


def test_without_a_clock_beside_files_that_have_one_there_is_no_place_in_time(job: Job, tmp_path: Path) -> None:
    job.write("a.trace.json", trace(0, event(5, 20), memory(10, 1, 1)))
    job.write("b.trace.json", trace(1, event(START_US, 20), memory(START_US, 1, 1)))
    found = convert(job.folder, tmp_path / "store")
    assert [row["node"] for row in found.table("memory_lines")] == ["rank1"]
    assert found.manifest.memory_records == 1
    assert len(found.memory()) == 2


def test_a_job_of_memory_records_alone_has_data(job: Job, tmp_path: Path) -> None:
    job.write("a.trace.json", trace(0, memory(10, 1, 1), memory(30, 1, 2)))
    manifest = convert(job.folder, tmp_path / "store").manifest
    assert manifest.has_data
    assert (manifest.wall_clock, manifest.start_ns, manifest.end_ns) == (False, 10_000, 30_000)


def test_more_processes_than_make_sense_are_cut_with_a_word(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "MOST_LINES", 2)
    records = [memory(START_US + at, 1, 1, pid=pid) for at, pid in enumerate((1, 2, 2, 3, 3))]
    job.write("a.trace.json", trace(0, *records))
    found = convert(job.folder, tmp_path / "store")
    assert [row["process"] for row in found.table("memory_lines")] == ["2", "3"]
    assert found.manifest.memory_records == 4
    assert [row["message"] for row in found.table("problems") if "processes" in row["message"]] == [
        "a.trace.json: there are memory records of more than 2 processes and devices: the last are left out"
    ]
