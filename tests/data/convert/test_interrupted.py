"""Whatever ends a conversion early, the store holds what it held before, or all of the new, and goes on from there."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from data.convert import DEFAULT_LIMITS, Limits, Progress
from data.convert import convert as convert_in_child
from data.convert.versions import CURRENT, check_space, job_folder, writing
from data.errors import InsightsError, SourceError, StoreError
from data.manifest import MANIFEST
from data.sources import SourceJob
from tests import oracle, trees
from tests.conftest import ROOT
from tests.stored import convert, only_job, stored_now


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One node for 100 seconds, and some steps."""
    job = tmp_path / "source" / "job"
    trees.write(job, trees.metrics_files(trees.machine(ticks=200)))
    steps = [trees.StepRecord(at, trees.START_US + at * 10**6, 900_000) for at in range(40)]
    trees.write(job, trees.step_files(steps))
    return job


def change(source: Path, number: int) -> list[oracle.Row]:
    """Adds another minute, and changes a file; the rows as they are now."""
    start = trees.START_US + (number + 3) * trees.MINUTE_US
    trees.write(source, trees.metrics_files(trees.machine(start_us=start, ticks=20)))
    return rows_of(source)


def rows_of(source: Path) -> list[oracle.Row]:
    return sorted(set(oracle.system_rows(source)))


def order(job: SourceJob, store: Path) -> bytes:
    limits = asdict(DEFAULT_LIMITS)
    return json.dumps({"source": job.source, "job_id": job.job_id, "store": str(store), "limits": limits}).encode()


def refused(job: SourceJob, store: Path, limits: Limits = DEFAULT_LIMITS) -> InsightsError:
    with pytest.raises(InsightsError) as caught:
        convert_in_child(job, store, lambda progress: None, limits=limits)
    assert caught.value.message
    return caught.value


def leftovers(store: Path, job: SourceJob) -> list[str]:
    return [path.name for path in job_folder(store, job.job_id).iterdir() if path.name.startswith("writing-")]


def test_a_conversion_killed_after_any_change(source: Path, tmp_path: Path) -> None:
    """Each conversion dies one change of the file system later than the one before it."""
    store, killed, job = tmp_path / "store", tmp_path / "killed", only_job(source)
    for number in range(2):
        change(source, number)
        before = convert(source, store).rows()
    after = change(source, 2)
    command = [sys.executable, "-m", "tests.data.convert.killed", str(store), str(killed)]
    subprocess.run(command, input=order(job, store), check=True, stdout=subprocess.PIPE, cwd=ROOT)
    stores = sorted(killed.iterdir(), key=lambda left: int(left.name))
    found = [which(source, left, before, after) for left in stores]
    switched = found.index("after")
    assert found == ["before"] * switched + ["after"] * (len(stores) - switched)
    assert switched > 20
    assert leftovers(stores[switched - 10], job)
    for left in (*stores[::8], *stores[switched - 2 : switched + 2]):
        assert convert(source, left).rows() == after
        assert leftovers(left, job) == []


def which(source: Path, store: Path, before: list[oracle.Row], after: list[oracle.Row]) -> str:
    found = stored_now(source, store)
    rows = found.rows() if found else []
    return "before" if rows == before else "after" if rows == after else f"{len(rows)} rows of neither"


class FullDisk:
    """The same function, but the disk is full at some of its calls."""

    def __init__(self, original: Callable[..., Any], full: range) -> None:
        self.original = original
        self.full = full
        self.calls = itertools.count()
        self.failed = 0

    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        """Also as a method."""
        return partial(self, instance)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if next(self.calls) in self.full:
            self.failed += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.original(*arguments, **named)


@pytest.mark.parametrize(
    ("call", "at_least"), [("os.replace", 15), ("pathlib.Path.rename", 1), ("pyarrow.parquet.write_table", 15)]
)
def test_a_full_disk_at_any_change_leaves_the_store_as_it_was(
    source: Path, tmp_path: Path, call: str, at_least: int
) -> None:
    """Of these calls the first fails, then the second, until one more is not made: no later failure hides it."""
    store, job = tmp_path / "store", only_job(source)
    first = convert(source, store)
    before, after = first.rows(), change(source, 1)
    module, _, name = call.rpartition(".")
    original = getattr(Path if module == "pathlib.Path" else sys.modules[module], name)
    for at in itertools.count():
        disk = FullDisk(original, range(at, at + 1))
        with mock.patch(call, disk):
            reason = reason_of_failure(source, store)
        if not disk.failed:
            break
        assert reason == errno.ENOSPC
        assert stored_now(source, store) == first
        assert first.rows() == before
        assert leftovers(store, job) == []
    assert reason is None
    assert at >= at_least
    assert which(source, store, before, after) == "after"


def reason_of_failure(source: Path, store: Path) -> int | None:
    """Converts; the error number where that failed."""
    try:
        convert(source, store)
    except OSError as error:
        return error.errno
    return None


@pytest.mark.parametrize(("links", "shared"), [(0, 0), (7, 2)])
def test_where_files_cannot_be_linked_they_are_copied(source: Path, tmp_path: Path, links: int, shared: int) -> None:
    """Two parts of five tables, of which the change touches the first."""
    store = tmp_path / "store"
    far = trees.machine(start_us=trees.START_US + 3600 * 10**6, ticks=4)
    trees.write(source, trees.metrics_files(far))
    first = convert(source, store)
    before, after = first.rows(), change(source, 1)
    full, linked = FullDisk(shutil.copyfile, range(1, 2)), FullDisk(os.link, range(links, 99))
    with mock.patch("os.link", linked), mock.patch("shutil.copyfile", full):
        assert reason_of_failure(source, store) == errno.ENOSPC
    assert (full.failed, linked.failed) == (1, 2)
    assert which(source, store, before, after) == "before"
    with mock.patch("os.link", FullDisk(os.link, range(links, 99))):
        second = convert(source, store)
    assert second.rows() == after
    assert sum(path.samefile(second.folder / path.name) for path in first.folder.iterdir()) == shared


def test_the_version_before_stays_for_its_readers_and_no_other(source: Path, tmp_path: Path) -> None:
    versions = []
    for number in range(4):
        change(source, number)
        versions.append(convert(source, tmp_path / "store").folder)
    assert [folder.exists() for folder in versions] == [False, False, True, True]
    names = {path.name for path in versions[0].parent.iterdir()}
    assert names == {CURRENT, "lock", versions[2].name, versions[3].name}


def test_only_one_process_writes_a_job(source: Path, tmp_path: Path) -> None:
    first = convert(source, tmp_path / "store")
    change(source, 1)
    with writing(tmp_path / "store", first.job_id):
        with pytest.raises(StoreError, match="Another process is converting"):
            convert(source, tmp_path / "store")
        error = refused(only_job(source), tmp_path / "store")
        assert isinstance(error, StoreError)
        assert "Another process" in error.message
    assert stored_now(source, tmp_path / "store") == first
    assert convert(source, tmp_path / "store").rows() == rows_of(source)


def test_nothing_is_written_below_the_floor_of_free_space(source: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        convert(source, tmp_path / "store", free_space_floor_bytes=1 << 60)
    assert "MB are free" in caught.value.message
    assert caught.value.hint
    assert stored_now(source, tmp_path / "store") is None
    assert not list((tmp_path / "store").rglob("*.parquet"))


def test_space_that_runs_out_meanwhile(source: Path, tmp_path: Path) -> None:
    first = convert(source, tmp_path / "store", free_space_floor_bytes=1000)
    change(source, 1)
    plenty, little = mock.Mock(free=10**9), mock.Mock(free=999)
    with mock.patch("shutil.disk_usage", side_effect=[plenty, little]), pytest.raises(StoreError):
        convert(source, tmp_path / "store", free_space_floor_bytes=1000)
    assert stored_now(source, tmp_path / "store") == first


def test_enough_space_is_no_reason(tmp_path: Path) -> None:
    check_space(tmp_path, 1)


@pytest.mark.parametrize(("call", "path"), [("os.mkdir", "jobs/{job_id}"), ("os.open", "jobs/{job_id}/lock")])
def test_a_store_that_cannot_be_written_says_so(source: Path, tmp_path: Path, call: str, path: str) -> None:
    store, job = tmp_path / "store", only_job(source)
    closed = str(store / path.format(job_id=job.job_id))
    original = getattr(os, call.removeprefix("os."))

    def refuse(at: str | Path, *arguments: Any, **named: Any) -> Any:
        if str(at) == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), closed)
        return original(at, *arguments, **named)

    with mock.patch(call, refuse), pytest.raises(StoreError, match=r"cannot be written: Permission denied") as caught:
        convert(source, store)
    assert caught.value.hint
    assert stored_now(source, store) is None


def test_a_store_that_is_a_file_says_so(source: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        convert(source, tmp_path / "store")


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe\x00", b'{"schema_version": 1}'])
def test_a_damaged_manifest_is_written_anew(source: Path, tmp_path: Path, damage: bytes) -> None:
    first = convert(source, tmp_path / "store")
    (first.folder / MANIFEST).write_bytes(damage)
    second = convert(source, tmp_path / "store")
    assert second.folder != first.folder
    assert second.rows() == rows_of(source)


@pytest.mark.parametrize("current", ["nothing-of-that-name", "..", "\0"])
def test_a_damaged_pointer_is_written_anew(source: Path, tmp_path: Path, current: str) -> None:
    first = convert(source, tmp_path / "store")
    (first.folder.parent / CURRENT).write_text(current)
    assert convert(source, tmp_path / "store").rows() == rows_of(source)


def test_a_cancelled_conversion_changes_nothing(source: Path, tmp_path: Path) -> None:
    for after in (0, 3):
        calls = iter(range(100))

        def cancelled(calls: Iterator[int] = calls, after: int = after) -> bool:
            return next(calls) >= after

        with pytest.raises(StoreError, match="cancelled"):
            convert(source, tmp_path / "store", cancelled=cancelled)
        assert stored_now(source, tmp_path / "store") is None
    assert convert(source, tmp_path / "store").rows() == rows_of(source)


def test_progress_never_goes_back(source: Path, tmp_path: Path) -> None:
    reports: list[Progress] = []
    convert_in_child(only_job(source), tmp_path / "store", reports.append)
    done = [(one.files_done, one.bytes_done) for one in reports]
    assert done == sorted(done)
    assert (reports[-1].files_done, reports[-1].bytes_done) == (reports[-1].files_total, reports[-1].bytes_total)
    assert {one.stage for one in reports} >= {"listing", "metrics", "steps", "summaries"}
    found = stored_now(source, tmp_path / "store")
    assert found is not None
    assert found.rows() == rows_of(source)


def test_a_child_that_runs_out_of_time_is_no_exception(source: Path, tmp_path: Path) -> None:
    assert isinstance(refused(only_job(source), tmp_path / "store", Limits(seconds=0)), StoreError)
    assert stored_now(source, tmp_path / "store") is None


def test_a_job_without_data_says_so(tmp_path: Path) -> None:
    (tmp_path / "job/profiler-output/system").mkdir(parents=True)
    error = refused(only_job(tmp_path / "job"), tmp_path / "store")
    assert isinstance(error, SourceError)
    assert "no profiler data" in error.message


def test_a_job_that_has_gone_says_so(source: Path, tmp_path: Path) -> None:
    job = only_job(source)
    source.rename(source.with_name("elsewhere"))
    assert isinstance(refused(job, tmp_path / "store"), InsightsError)


def test_cancelling_stops_the_child(source: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cancelled"):
        convert_in_child(only_job(source), tmp_path / "store", lambda progress: None, lambda: True)
    assert stored_now(source, tmp_path / "store") is None
    assert convert(source, tmp_path / "store").rows() == rows_of(source)
