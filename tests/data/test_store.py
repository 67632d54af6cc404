"""The store as readers see it: what it opens, what it refuses, and how it goes on after a failure."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from data.errors import MissingTable, NotConverted, QueryTimeout, StoreError, UnknownJob
from data.manifest import MANIFEST
from data.queries import distribution, heatmap, jobs, steps, system
from data.selection import Selection, Window
from data.sources import open_source
from data.store import Database, Store
from tests import oracle, trees
from tests.stored import Stored, convert


def write_job(job: Path, ticks: int = 20) -> None:
    trees.write(job, trees.metrics_files(trees.machine(ticks=ticks)))
    trees.write(job, trees.step_files([trees.StepRecord(0, trees.START_US + 1, 100)]))


@pytest.fixture
def found(tmp_path: Path) -> Stored:
    write_job(tmp_path / "source" / "job")
    return convert(tmp_path / "source" / "job", tmp_path / "store")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """A stored job that no test changes."""
    folder = tmp_path_factory.mktemp("kept")
    write_job(folder / "source" / "job")
    return convert(folder / "source" / "job", folder / "store")


def raw_rows(db: Database, job_id: str) -> int:
    """How many raw rows a job has."""
    return len(db.columns("select sid from read_parquet($files)", files=db.job(job_id).part_files("raw"))["sid"])


def slow(db: Database) -> dict[str, Any]:
    """Takes minutes if nothing stops it."""
    return db.columns("select sum(a.range * b.range) as x from range(1000000) a, range(10000000) b where a.range > 7")


def quick(db: Database) -> list[int]:
    """Takes no time."""
    found: list[int] = db.columns("select 42 as x")["x"].tolist()
    return found


BAD_IDS = ["", ".", "..", "../x", "../../etc/passwd", "/etc/passwd", "jobs", "x" * 5000, "a\0b", "%2e%2e", "job-*", "ü"]


@pytest.mark.parametrize("job_id", BAD_IDS)
def test_ids_are_looked_up_and_never_tried_as_paths(kept: Stored, job_id: str) -> None:
    for store in (kept.store(), Store(kept.root)):
        assert store.version(job_id) == ""
        assert store.job(job_id) is None
        with pytest.raises(UnknownJob) as caught:
            store.fetch(jobs.header, Selection(job_id))
        assert job_id not in caught.value.message or job_id in ("", ".")
        with pytest.raises(UnknownJob):
            store.remove(job_id)


def test_a_job_of_the_store_that_no_source_lists_is_unknown(kept: Stored, tmp_path: Path) -> None:
    write_job(tmp_path / "other")
    other = Store(kept.root, [open_source(str(tmp_path / "other"))])
    assert other.version(kept.job_id) == ""
    with pytest.raises(UnknownJob):
        other.fetch(jobs.header, Selection(kept.job_id))
    assert Store(kept.root).fetch(jobs.header, Selection(kept.job_id)).name == "job"


def test_a_listed_job_that_is_not_converted_says_so(tmp_path: Path) -> None:
    write_job(tmp_path / "job")
    store = Store(tmp_path / "store", [open_source(str(tmp_path / "job"))])
    (job,) = store.jobs()
    assert store.version(job.job_id) == ""
    with pytest.raises(NotConverted) as caught:
        store.fetch(jobs.header, Selection(job.job_id))
    assert caught.value.hint


def test_a_query_is_stopped_at_its_time_limit_and_the_next_one_works(kept: Stored) -> None:
    store = kept.store(time_limit_s=0.3)
    started = time.monotonic()
    with pytest.raises(QueryTimeout) as caught:
        store.fetch(slow)
    assert time.monotonic() - started < 10
    assert "slow" in caught.value.message
    assert caught.value.hint
    assert store.fetch(quick) == [42]
    assert store.fetch(raw_rows, kept.job_id) == kept.manifest.system_rows


def test_a_slow_query_does_not_stop_the_others(kept: Stored) -> None:
    store = kept.store(time_limit_s=1.5)
    caught: list[Exception] = []

    def run() -> None:
        try:
            store.fetch(slow)
        except QueryTimeout as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(5):
        assert store.fetch(quick) == [42]
    thread.join(20)
    assert len(caught) == 1


def test_a_limit_that_was_not_needed_stops_nothing_later(kept: Stored) -> None:
    store = kept.store(time_limit_s=0.2)
    for _ in range(4):
        assert store.fetch(quick) == [42]
        time.sleep(0.1)


def test_a_result_above_the_row_cap_is_refused(kept: Stored) -> None:
    rows = kept.manifest.system_rows
    assert kept.store(row_cap=rows).fetch(raw_rows, kept.job_id) == rows
    with pytest.raises(QueryTimeout) as caught:
        kept.store(row_cap=rows - 1).fetch(raw_rows, kept.job_id)
    assert caught.value.hint

    def as_frame(db: Database) -> int:
        return len(db.frame("select * from range(100)"))

    assert kept.store(row_cap=100).fetch(as_frame) == 100
    with pytest.raises(QueryTimeout):
        kept.store(row_cap=99).fetch(as_frame)


def test_too_much_memory_is_a_timeout_and_the_next_query_works(kept: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(db: Database) -> Any:
        return db.columns("select list(range) as x from range(100000000)")

    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda config: connect(config=config | {"memory_limit": "100MB"}))
    store = kept.store(time_limit_s=60)
    with pytest.raises(QueryTimeout, match="memory"):
        store.fetch(greedy)
    assert store.fetch(quick) == [42]


@pytest.fixture(scope="module")
def locked(kept: Stored) -> duckdb.DuckDBPyConnection:
    return kept.store()._database()


@pytest.mark.parametrize(
    "statement",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/hostname')",
        "select * from read_blob('/etc/hostname')",
        "select * from read_json('/etc/hostname')",
        "select * from read_parquet('/etc/hostname')",
        "select * from '/etc/passwd'",
        "select * from glob('/etc/*')",
        "select * from read_parquet('{jobs}/../../source/*')",
        "select * from read_text('{jobs}/../outside.txt')",
        "select * from read_text('{jobs}/../../outside.txt')",
        "copy (select 1) to '/tmp/never-written.csv'",
        "copy (select 1) to '{jobs}/../never-written.csv'",
        "attach '/tmp/never-written.db'",
        "attach '{jobs}/../never-written.db'",
        "install httpfs",
        "load httpfs",
        "load '{jobs}/x.duckdb_extension'",
        "install sqlite from community",
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
        "set lock_configuration = false",
        "set memory_limit = '100GB'",
        "set threads = 64",
        "set temp_directory = '/tmp'",
        "pragma enable_profiling",
        "reset memory_limit",
        "export database '/tmp/never-written'",
        "import database '/tmp'",
        "select * from read_csv('https://example.com/x.csv')",
        "select * from read_parquet('s3://bucket/x.parquet')",
        "select getenv('HOME')",
        "create secret (type s3)",
    ],
)
def test_the_database_reads_the_store_and_nothing_else(
    kept: Stored, locked: duckdb.DuckDBPyConnection, statement: str
) -> None:
    (kept.root / "outside.txt").write_text("secret")
    (kept.root.parent / "outside.txt").write_text("secret")
    with pytest.raises(duckdb.Error):
        locked.cursor().execute(statement.format(jobs=kept.root / "jobs")).fetchall()
    assert not list(Path("/tmp").glob("never-written*"))
    assert not list(kept.root.rglob("never-written*"))


def test_the_lock_holds_after_a_query_was_stopped(kept: Stored) -> None:
    store = kept.store(time_limit_s=0.2)
    with pytest.raises(QueryTimeout):
        store.fetch(slow)
    with pytest.raises(duckdb.Error):
        store.fetch(lambda db: db.columns("select * from read_text('/etc/hostname')"))


def test_a_new_version_is_seen_at_once(found: Stored) -> None:
    store = found.store()
    assert store.fetch(raw_rows, found.job_id) == found.manifest.system_rows
    write_job(found.source, ticks=30)
    second = convert(found.source, found.root)
    assert store.version(found.job_id) == second.folder.name
    assert store.fetch(raw_rows, found.job_id) == second.manifest.system_rows > found.manifest.system_rows


def test_a_version_replaced_while_it_is_read(found: Stored) -> None:
    """Its reader goes on with the files of the version it began with: they stay until the conversion after the next."""
    store = found.store()
    changes = iter((30, 40))

    def reads_during_a_conversion(db: Database) -> int:
        stored = db.job(found.job_id)
        ticks = next(changes, 0)
        if ticks:
            write_job(found.source, ticks)
            convert(found.source, found.root)
        return len(db.columns("select sid from read_parquet($f)", f=stored.part_files("raw"))["sid"])

    assert store.fetch(reads_during_a_conversion) == found.manifest.system_rows


def test_a_version_that_vanishes_while_it_is_read_is_read_again(found: Stored) -> None:
    store = found.store()
    tries = []

    def reads_too_late(db: Database) -> int:
        stored = db.job(found.job_id)
        tries.append(stored.folder)
        if len(tries) == 1:
            for ticks in (30, 40):
                write_job(found.source, ticks)
                convert(found.source, found.root)
        return len(db.columns("select sid from read_parquet($f)", f=stored.part_files("raw"))["sid"])

    rows = store.fetch(reads_too_late)
    assert rows == len(set(oracle.system_rows(found.source)))
    assert [folder.exists() for folder in tries] == [False, True]


def test_series_that_vanish_while_they_are_read_are_read_again(found: Stored) -> None:
    """Not only what DuckDB reads."""
    store, expected = found.store(), len(found.series())
    tries = []

    def reads_series_too_late(db: Database) -> int:
        stored = db.job(found.job_id)
        tries.append(stored.folder)
        if len(tries) == 1:
            for ticks in (30, 40):
                write_job(found.source, ticks)
                convert(found.source, found.root)
        return len(stored.series())

    assert store.fetch(reads_series_too_late) == expected


@pytest.mark.parametrize(
    ("table", "damage"),
    [
        *((table, "cut") for table in ("raw", "ticks", "series", "problems")),
        *((table, "gone") for table in ("raw", "series", "steps")),
        ("summary", "other"),
    ],
)
def test_a_damaged_table_is_a_sentence(found: Stored, table: str, damage: str) -> None:
    path = next(path for path in found.folder.iterdir() if path.name.startswith(table))
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-200] if damage == "cut" else b"PAR1" + b"\0" * 500)
    store, selection = found.store(), Selection(found.job_id)
    window = Selection(found.job_id, Window((trees.START_US + 10**6) * 1000, (trees.START_US + 5 * 10**6) * 1000))
    failed = []
    for query, arguments in (
        (heatmap.device_heatmap, (window, "utilization", 900)),
        (system.usage_summary, (selection,)),
        (system.usage_summary, (window,)),
        (distribution.metric_histogram, (selection, "cpu")),
        (steps.histogram, (selection, "log")),
        (jobs.problems, (selection,)),
    ):
        try:
            store.fetch(query, *arguments)
        except (StoreError, MissingTable) as error:
            failed.append(type(error))
    assert set(failed) == {StoreError} or (damage == "gone" and failed)
    assert convert(found.source, found.root).rows() == sorted(set(oracle.system_rows(found.source)))


def test_a_damaged_manifest_is_a_sentence_and_converting_mends_it(found: Stored) -> None:
    store = found.store()
    for content in (b"", b"{}", b"\xff"):
        (stored := Path(store.root / "jobs" / found.job_id / store.version(found.job_id) / MANIFEST)).write_bytes(
            content
        )
        fresh = found.store()
        with pytest.raises((StoreError, NotConverted)) as caught:
            fresh.fetch(jobs.header, Selection(found.job_id))
        assert caught.value.message
        assert caught.value.hint
        convert(found.source, found.root)
        assert fresh.fetch(jobs.header, Selection(found.job_id)).name == "job"
        assert stored.parent.name != fresh.version(found.job_id)


def test_another_schema_is_not_opened(found: Stored) -> None:
    content = (found.folder / MANIFEST).read_bytes()
    (found.folder / MANIFEST).write_bytes(content.replace(b'"schema_version":', b'"schema_version":9'))
    with pytest.raises(NotConverted, match="another version"):
        found.store().fetch(jobs.header, Selection(found.job_id))


def test_remove_takes_the_job_from_the_store_and_nothing_from_its_source(found: Stored) -> None:
    before = {path: path.read_bytes() for path in found.source.rglob("*") if path.is_file()}
    store = found.store()
    store.fetch(jobs.header, Selection(found.job_id))
    store.remove(found.job_id)
    assert not (found.root / "jobs" / found.job_id).exists()
    assert {path: path.read_bytes() for path in found.source.rglob("*") if path.is_file()} == before
    assert store.version(found.job_id) == ""
    with pytest.raises(NotConverted):
        store.fetch(jobs.header, Selection(found.job_id))
    assert convert(found.source, found.root).rows() == sorted(set(oracle.system_rows(found.source)))
    assert store.fetch(jobs.header, Selection(found.job_id)).name == "job"


def test_removing_twice_is_no_harm(found: Stored) -> None:
    store = found.store()
    store.remove(found.job_id)
    store.remove(found.job_id)
    with pytest.raises(UnknownJob):
        Store(found.root).remove(found.job_id)


def test_a_source_that_cannot_be_read_does_not_hide_the_others(found: Stored, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    sources = [open_source(str(gone)), open_source(str(found.source))]
    gone.rmdir()
    store = Store(found.root, sources)
    assert [job.job_id for job in store.jobs()] == [found.job_id]
    assert len(store.source_problems) == 1
    assert str(gone) in store.source_problems[0].message


@pytest.mark.parametrize("name", ["st [o]re*?", "it's $files;--", 'quo"te ü'])
def test_a_store_may_have_any_name(tmp_path: Path, name: str) -> None:
    write_job(tmp_path / "job")
    found = convert(tmp_path / "job", tmp_path / name)
    store = found.store()
    assert store.fetch(raw_rows, found.job_id) == found.manifest.system_rows
    assert store.fetch(system.usage_summary, Selection(found.job_id)) is not None
    assert store.fetch(steps.histogram, Selection(found.job_id), "log").steps == 1


def test_a_store_behind_a_link(found: Stored, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(found.root)
    store = Store(tmp_path / "link", [open_source(str(found.source))])
    assert store.fetch(raw_rows, found.job_id) == found.manifest.system_rows


def test_a_store_is_ready_until_its_folder_is_gone_or_its_disk_is_full(found: Stored) -> None:
    store = found.store()
    assert store.ready() == []
    (reason,) = store.ready(free_space_floor_bytes=1 << 60)
    assert "MB are free" in reason
    shutil.rmtree(found.root)
    assert store.ready()


def test_many_threads_ask_at_once(kept: Stored) -> None:
    store, rows, answers = kept.store(time_limit_s=30), kept.manifest.system_rows, []

    def ask() -> None:
        for _ in range(5):
            answers.append(store.fetch(raw_rows, kept.job_id))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [rows] * 30
