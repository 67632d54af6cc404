"""The store as readers see it: what it opens, what it refuses, and how it goes on after a failure."""

from __future__ import annotations

import itertools
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import duckdb
import pytest

from data.errors import InsightsError, NotConverted, QueryTimeout, StoreError, UnknownJob
from data.manifest import MANIFEST
from data.queries import distribution, heatmap, jobs, steps, system
from data.selection import Selection, Window
from data.sources import open_source, trace_folders
from data.store import Database, Store, time_limit
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
    """Takes many seconds if nothing stops it."""
    return db.columns("select sum(a.range * b.range) as x from range(40000) a, range(40000) b where a.range > 7")


class Held:
    """A query that stands still while DuckDB runs it, until it is let go; then it ends unless it is stopped."""

    numbers = itertools.count()

    def __init__(self, store: Store) -> None:
        self.running, self.let_go = threading.Event(), threading.Event()
        self.end: list[Any] = []
        self._store, self._name = store, f"stand_still_{next(self.numbers)}"
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.running.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._thread.join(60)

    def result(self) -> Any:
        """Lets it go; what came of it, an error as well."""
        self.let_go.set()
        self._thread.join(60)
        (end,) = self.end
        return end

    def _ask(self) -> None:
        try:
            self.end.append(self._store.fetch(self._query))
        except InsightsError as error:
            self.end.append(error)

    def _query(self, db: Database) -> int:
        db._cursor.create_function(self._name, self._stand_still, ["BIGINT"], "BIGINT")
        rows = 100_000  # far more than DuckDB takes at once: only between two helpings does it see that it shall stop
        found: int = db.columns(f"select count({self._name}(range)) as x from range({rows})")["x"][0]
        return found

    def _stand_still(self, value: int) -> int:
        self.running.set()
        if not self.let_go.wait(60):
            self.let_go.set()
        return value


class Alarm:
    """A timer that rings when a test says so."""

    def __init__(self, interval: float, function: Callable[[], None]) -> None:
        self.interval = interval
        self.ring = function
        self.daemon = False
        self.state = "new"

    def start(self) -> None:
        self.state = "started"

    def cancel(self) -> None:
        self.state = "cancelled"


@pytest.fixture
def alarms(monkeypatch: pytest.MonkeyPatch) -> list[Alarm]:
    """The alarms of all queries from now on, in their order."""
    made: list[Alarm] = []

    def make(interval: float, function: Callable[[], None]) -> Alarm:
        made.append(Alarm(interval, function))
        return made[-1]

    monkeypatch.setattr(threading, "Timer", make)
    return made


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
    with pytest.raises(QueryTimeout) as caught:
        store.fetch(slow)
    assert "slow" in caught.value.message
    assert "0.3 s" in caught.value.message
    assert caught.value.hint
    assert store.fetch(quick) == [42]
    assert store.fetch(raw_rows, kept.job_id) == kept.manifest.system_rows


def test_a_slow_query_does_not_stop_the_others(kept: Stored, alarms: list[Alarm]) -> None:
    """Neither while it runs nor when it is stopped."""
    store = kept.store(time_limit_s=1.5)
    with Held(store) as first, Held(store) as second:
        for _ in range(5):
            assert store.fetch(quick) == [42]
        assert not first.end
        assert not second.end
        states = [(alarm.interval, alarm.state) for alarm in alarms]
        assert states == [(1.5, "started")] * 2 + [(1.5, "cancelled")] * 5
        alarms[0].ring()
        assert isinstance(first.result(), QueryTimeout)
        assert not second.end
        assert second.result() == 100_000


def test_a_limit_that_was_not_needed_stops_nothing_later(kept: Stored, alarms: list[Alarm]) -> None:
    store = kept.store(row_cap=1)
    for _ in range(3):
        assert store.fetch(quick) == [42]
    with pytest.raises(QueryTimeout):
        store.fetch(raw_rows, kept.job_id)
    with pytest.raises(UnknownJob):
        store.fetch(raw_rows, "none")
    assert [alarm.state for alarm in alarms] == ["cancelled"] * 5
    for alarm in alarms:  # one that had fired before it was cancelled, and comes only now
        alarm.ring()
    assert store.fetch(quick) == [42]


def test_what_is_being_interrupted_is_not_closed_meanwhile(alarms: list[Alarm]) -> None:
    happened: list[str] = []
    interrupting, closed = threading.Event(), threading.Event()

    class Cursor:
        def interrupt(self) -> None:
            interrupting.set()
            closed.wait(0.2)  # is there time to close it?
            happened.append("interrupted")

    with time_limit(Cursor(), 1):
        ringing = threading.Thread(target=alarms[0].ring)
        ringing.start()
        assert interrupting.wait(60)
    happened.append("closed")
    closed.set()
    ringing.join()
    assert happened == ["interrupted", "closed"]


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


FILES, EXTENSIONS = "file system operations are disabled by configuration", "external extensions is disabled"
LOCKED = "the configuration has been locked"
REFUSED = {
    FILES: [
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/hostname')",
        "select * from read_blob('/etc/hostname')",
        "select * from read_json('/etc/hostname')",
        "select * from read_parquet('/etc/hostname')",
        "select * from glob('/etc/*')",
        "select * from read_parquet('{jobs}/../../source/*')",
        "select * from read_text('{jobs}/../outside.txt')",
        "select * from read_text('{jobs}/../../outside.txt')",
        "copy (select 1) to '/tmp/never-written.csv'",
        "copy (select 1) to '{jobs}/../never-written.csv'",
        "attach '/tmp/never-written.db'",
        "attach '{jobs}/../never-written.db'",
        "install httpfs",
        "install sqlite from community",
        "export database '/tmp/never-written'",
        "import database '/tmp'",
        "select * from read_csv('https://example.com/x.csv')",
        "select * from read_parquet('s3://bucket/x.parquet')",
        "create secret (type s3)",
    ],
    EXTENSIONS: [
        "load httpfs",
        "load '{jobs}/x.duckdb_extension'",
    ],
    LOCKED: [
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
        "set lock_configuration = false",
        "set memory_limit = '100GB'",
        "set threads = 64",
        "set temp_directory = '/tmp'",
        "pragma enable_profiling",
        "reset memory_limit",
    ],
    # without access, files are no tables; and DuckDB in a program of ours has no such function at all
    "Table with name /etc/passwd does not exist": ["select * from '/etc/passwd'"],
    "Function with name getenv does not exist": ["select getenv('HOME')"],
}
KINDS = {
    FILES: duckdb.PermissionException,
    EXTENSIONS: duckdb.PermissionException,
    LOCKED: duckdb.InvalidInputException,
}


@pytest.mark.parametrize(
    ("statement", "reason"), [(statement, reason) for reason, many in REFUSED.items() for statement in many]
)
def test_the_database_reads_the_store_and_nothing_else(
    kept: Stored, locked: duckdb.DuckDBPyConnection, statement: str, reason: str
) -> None:
    """Refused by the lock, and not by chance: a file that is not there or not of that kind is another error."""
    (kept.root / "outside.txt").write_text("secret")
    (kept.root.parent / "outside.txt").write_text("secret")
    with pytest.raises(KINDS.get(reason, duckdb.CatalogException), match=re.escape(reason)):
        locked.cursor().execute(statement.format(jobs=kept.root / "jobs")).fetchall()
    assert not list(Path("/tmp").glob("never-written*"))
    assert not list(kept.root.rglob("never-written*"))


def test_the_lock_holds_after_a_query_was_stopped(kept: Stored) -> None:
    store = kept.store(time_limit_s=0.2)
    with pytest.raises(QueryTimeout):
        store.fetch(slow)
    for statement, kind, reason in (
        ("select * from read_text('/etc/hostname')", duckdb.PermissionException, FILES),
        ("set threads = 64", duckdb.InvalidInputException, LOCKED),
    ):
        with pytest.raises(kind, match=re.escape(reason)):
            store.fetch(lambda db, statement: db._cursor.execute(statement).fetchall(), statement)


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
    ("table", "damage", "unreadable"),
    [
        ("raw", "cut", {"heatmap of a window"}),
        ("raw", "gone", {"heatmap of a window"}),
        ("ticks", "cut", {"heatmap of a window", "usage in a window"}),
        ("series", "cut", {"heatmap of a window", "distribution"}),
        ("series", "gone", {"heatmap of a window", "distribution"}),
        ("histogram.", "cut", {"distribution"}),
        ("steps", "gone", {"steps"}),
        ("problems", "cut", {"problems"}),
        ("summary", "other", {"usage"}),
    ],
)
def test_a_damaged_table_is_a_sentence(found: Stored, table: str, damage: str, unreadable: set[str]) -> None:
    """For the queries that read it, and for no other."""
    (path,) = (path for path in found.folder.iterdir() if path.name.startswith(table))
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-200] if damage == "cut" else b"PAR1" + b"\0" * 500)
    store, selection = found.store(), Selection(found.job_id)
    window = Selection(found.job_id, Window((trees.START_US + 10**6) * 1000, (trees.START_US + 5 * 10**6) * 1000))
    queries: dict[str, Callable[[], object]] = {
        "heatmap of a window": lambda: store.fetch(heatmap.device_heatmap, window, "utilization", 900),
        "usage": lambda: store.fetch(system.usage_summary, selection),
        "usage in a window": lambda: store.fetch(system.usage_summary, window),
        "distribution": lambda: store.fetch(distribution.metric_histogram, selection, "cpu"),
        "steps": lambda: store.fetch(steps.histogram, selection, "log"),
        "problems": lambda: store.fetch(jobs.problems, selection),
    }
    failed = set()
    for name, query in queries.items():
        try:
            query()
        except StoreError:
            failed.add(name)
    assert failed == unreadable
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


def test_what_may_be_a_job_and_was_not_looked_through_is_noted(
    found: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_folders, "FIRST_LOOK", 2)
    monkeypatch.setattr(trace_folders, "LONG_LOOK", 2)
    assert Store(found.root, [open_source(str(tmp_path / "source"))]).source_notes == ()
    trees.write(tmp_path / "source" / "images", {f"{number}.jpg": b"" for number in range(3)})
    store = Store(found.root, [open_source(str(tmp_path / "source"))])
    (note,) = store.source_notes
    assert "images" in note
    assert len(store.jobs()) == 1


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
