"""The store as readers see it: jobs, their manifests, queries over their Parquet files, and prices beside them.

Opens only what this program wrote. Every query runs on a cursor of its own, within a time limit and a row cap, on a
DuckDB that can read nothing but the store.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data import schema
from data.convert.versions import CURRENT, current_version, job_folder, writing
from data.errors import InsightsError, MissingTable, NotConverted, QueryTimeout, SourceError, StoreError, UnknownJob
from data.issues import IssueSummary, issues_changed_ns, read_issues
from data.manifest import Manifest, part_file, read_manifest
from data.prices import PriceBook
from data.selection import Window
from data.sources import FileKind, Source, SourceJob

LISTED_ANEW_NS = 5 * 10**9
"""A job that is not known is looked for in the sources again, at most this often."""

P = ParamSpec("P")
R = TypeVar("R")


class StoredJob:
    """One version of a stored job: its manifest, and where its tables lie."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._series: pd.DataFrame | None = None

    def file(self, name: str, missing: str) -> str:
        """The path of a table of the whole job. Raises MissingTable with the reason where the job has none."""
        rows = {
            "steps.parquet": self.manifest.steps,
            "events.parquet": self.manifest.events,
            "functions.parquet": self.manifest.functions,
            "operators.parquet": len(self.manifest.operator_roles),
        }
        if not rows.get(name, self.manifest.system_rows):
            raise MissingTable(missing)
        return str(self.folder / name)

    def part_files(self, table: str, window: Window | None = None) -> list[str]:
        """The files of a table kept by part, those that overlap the window."""
        return [
            str(self.folder / part_file(table, part.part))
            for part in self.manifest.parts
            if window is None or (part.start_ns < window.end_ns and part.end_ns >= window.start_ns)
        ]

    def series(self) -> pd.DataFrame:
        """All series with their names and statistics. Raises MissingTable where the job has no system metrics."""
        if self._series is None:
            path = self.file("series.parquet", "This job has no system metrics.")
            frame = pq.read_table(path).to_pandas()
            texts = frame.select_dtypes("string").columns
            self._series = frame.astype(dict.fromkeys(texts, object))  # Arrow-backed text is slow in small pieces
        return self._series


class Database:
    """What a query works with: stored jobs, and SQL over their files."""

    def __init__(self, store: Store, cursor: duckdb.DuckDBPyConnection, row_cap: int) -> None:
        self.store = store
        self._cursor = cursor
        self._row_cap = row_cap

    def job(self, job_id: str) -> StoredJob:
        """A stored job. Raises UnknownJob or NotConverted."""
        return self.store.stored(job_id)

    def columns(self, sql: str, **parameters: Any) -> dict[str, NDArray[Any]]:
        """The columns of a result. Raises QueryTimeout where it has more rows than the cap."""
        result: dict[str, NDArray[Any]] = dict(self._cursor.execute(self._capped(sql), parameters).fetchnumpy())  # type: ignore[arg-type]
        self._check(len(next(iter(result.values()))) if result else 0)
        return result

    def frame(self, sql: str, **parameters: Any) -> pd.DataFrame:
        """A result as a frame. Raises QueryTimeout where it has more rows than the cap."""
        frame = self._cursor.execute(self._capped(sql), parameters).df()
        self._check(len(frame))
        return frame

    def _capped(self, sql: str) -> str:
        return f"select * from ({sql}) limit {self._row_cap + 1}"  # noqa: S608 (our own query and a number)

    def _check(self, rows: int) -> None:
        if rows > self._row_cap:
            raise QueryTimeout(
                f"This view needs more than {self._row_cap:,} rows.", "Choose a shorter window or fewer nodes."
            )


class Fetch(Protocol):
    """Runs a query with these arguments; the one seam between pages and data."""

    def __call__(self, query: Callable[Concatenate[Database, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """The query's result. Raises InsightsError."""


class Store:
    """All jobs of the sources, and what is stored of them."""

    def __init__(
        self,
        root: Path,
        sources: Sequence[Source] = (),
        *,
        time_limit_s: float = 5.0,
        row_cap: int = 3_000_000,
        prices: Path | None = None,
    ) -> None:
        self.root = root.absolute()
        self.sources = tuple(sources)
        self.time_limit_s = time_limit_s
        self.row_cap = row_cap
        self.price_book = PriceBook(prices)
        self.source_problems: tuple[InsightsError, ...] = ()
        self.source_notes: tuple[str, ...] = ()
        self.listed_ns = 0
        self._jobs: dict[str, SourceJob] = {}
        self._changed: dict[str, bool] = {}
        self._opened: dict[str, StoredJob] = {}
        self._issues: dict[str, tuple[str, int, IssueSummary | None]] = {}
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.RLock()
        (self.root / "jobs").mkdir(parents=True, exist_ok=True, mode=0o700)
        self.refresh()

    def refresh(self) -> None:
        """Lists the sources again; a source that cannot be read becomes one of `source_problems`."""
        jobs: dict[str, SourceJob] = {}
        problems: list[InsightsError] = []
        notes: list[str] = []
        for source in self.sources:
            try:
                listing = source.listing()
            except SourceError as error:
                problems.append(error)
                continue
            jobs |= {job.job_id: job for job in listing.jobs}
            notes += [listing.note] if listing.note else []
        with self._lock:
            self._jobs, self._changed = jobs, {}
            self.source_problems, self.source_notes = tuple(problems), tuple(notes)
            self.listed_ns = time.time_ns()

    def jobs(self) -> tuple[SourceJob, ...]:
        """The jobs of all sources, as last listed."""
        return tuple(self._jobs.values())

    def job(self, job_id: str) -> SourceJob | None:
        """A job as its source lists it."""
        return self._jobs.get(job_id)

    def job_ids(self) -> list[str]:
        """All jobs of the sources; without any source, all jobs in the store."""
        if self.sources:
            return list(self._jobs)
        return sorted(entry.name for entry in os.scandir(self.root / "jobs") if entry.is_dir(follow_symlinks=False))

    def version(self, job_id: str) -> str:
        """The stored version of a job, "" where it is not converted or not known."""
        return current_version(job_folder(self.root, job_id)) if self._known(job_id) else ""

    def stored(self, job_id: str) -> StoredJob:
        """A stored job, opened once per version. Raises UnknownJob, NotConverted, or StoreError."""
        if not self._known(job_id):
            raise UnknownJob("There is no such job here.", "It may have been removed; go back to the list of jobs.")
        folder = job_folder(self.root, job_id)
        version = current_version(folder)
        opened = self._opened.get(job_id)
        if opened is not None and opened.manifest.version == version:
            return opened
        if not version:
            raise NotConverted("This job has not been converted yet.", "Open it to convert it.")
        manifest = read_manifest(folder / version)
        if manifest.schema_version != schema.SCHEMA_VERSION:
            raise NotConverted("This job was stored by another version of the program.", "Open it to convert it again.")
        opened = self._opened[job_id] = StoredJob(folder / version, manifest)
        return opened

    def issues(self, job_id: str, version: str) -> IssueSummary | None:
        """What the rules found in this version of a job, read once per change of the file; None where not judged."""
        changed_ns = issues_changed_ns(self.root, job_id)
        if not changed_ns:
            return None
        known = self._issues.get(job_id)
        if known is None or known[:2] != (version, changed_ns):
            known = self._issues[job_id] = (version, changed_ns, read_issues(self.root, job_id, version))
        return known[2]

    def changed(self, job_id: str) -> bool:
        """Whether the source's files differ from those that were converted; looked at once per refresh."""
        job = self._jobs.get(job_id)
        if job is None:
            return False
        if job_id not in self._changed:
            try:
                stored = self.stored(job_id)
                self._changed[job_id] = _fingerprint(job) != _stored_fingerprint(stored)
            except InsightsError:
                self._changed[job_id] = False
        return self._changed[job_id]

    def known_changed(self, job_id: str) -> bool:
        """Like `changed`, but without looking where nobody has looked yet."""
        return self._changed.get(job_id, False)

    def remove(self, job_id: str) -> None:
        """Takes a job out of the store; its source is not touched. Raises UnknownJob or StoreError."""
        if not self._known(job_id):
            raise UnknownJob("There is no such job here.")
        with writing(self.root, job_id) as folder:
            (folder / CURRENT).unlink(missing_ok=True)
            self._opened.pop(job_id, None)
            shutil.rmtree(folder, ignore_errors=True)

    def ready(self, free_space_floor_bytes: int = 0) -> list[str]:
        """Why the store cannot serve or take conversions, in words; empty where it can."""
        jobs = self.root / "jobs"
        if not os.access(jobs, os.R_OK | os.X_OK):
            return ["The store cannot be read."]
        reasons = [] if os.access(jobs, os.W_OK) else ["The store cannot be written: nothing is converted."]
        free = shutil.disk_usage(jobs).free
        if free < free_space_floor_bytes:
            reasons.append(f"Only {free // 10**6} MB are free where the store is: nothing is converted.")
        return reasons

    def fetch(self, query: Callable[Concatenate[Database, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs a query. Raises InsightsError; a version replaced while it was read is read again."""
        try:
            return self._run(query, *args, **kwargs)
        except _UNREADABLE as error:
            if not _of_a_table(error):
                raise
        with self._lock:
            self._opened.clear()
        try:
            return self._run(query, *args, **kwargs)
        except _UNREADABLE as error:
            if not _of_a_table(error):
                raise
            raise StoreError("The stored data of this job cannot be read.", "Convert the job again.") from error

    def _run(self, query: Callable[Concatenate[Database, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        cursor = self._database().cursor()
        name = getattr(query, "__name__", "query")
        try:
            with time_limit(cursor, self.time_limit_s):
                return query(Database(self, cursor, self.row_cap), *args, **kwargs)
        except duckdb.InterruptException as error:
            raise QueryTimeout(
                f"The query for this view ({name}) took longer than {self.time_limit_s:g} s and was stopped.",
                "Choose a shorter window or fewer nodes.",
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise QueryTimeout(
                f"The query for this view ({name}) needs more memory than a query may use.",
                "Choose a shorter window or fewer nodes.",
            ) from error
        except (duckdb.FatalException, duckdb.InternalException):
            with self._lock:
                self._connection = None
            raise
        finally:
            cursor.close()

    def _database(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._connection is None:
                self._connection = _locked_database(self.root)
            return self._connection

    def _known(self, job_id: str) -> bool:
        """Whether an id, which may come from a URL, is one of ours: looked up, never tried as a path."""
        if not self.sources:
            return job_id in self.job_ids()
        if job_id not in self._jobs and time.time_ns() - self.listed_ns > LISTED_ANEW_NS:
            self.refresh()  # another worker may have listed it meanwhile
        return job_id in self._jobs


class Interruptible(Protocol):
    """What can be told from another thread to stop."""

    def interrupt(self) -> None:
        """Stops what runs."""


@contextmanager
def time_limit(cursor: Interruptible, seconds: float) -> Iterator[None]:
    """Interrupts a cursor that takes longer; behind this nothing touches it any more, so that it can be closed."""
    running, lock = True, threading.Lock()

    def stop() -> None:
        with lock:
            if running:
                cursor.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:  # a timer that has just fired either is through by now, or finds that there is nothing to stop
            running = False


_UNREADABLE = (duckdb.IOException, duckdb.InvalidInputException, pa.ArrowInvalid, FileNotFoundError)
"""What DuckDB and pyarrow raise where a table is gone or damaged, and in other cases, too."""


def _of_a_table(error: Exception) -> bool:
    return ".parquet" in str(error)


def _locked_database(root: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that reads the store and nothing else, in this order (later settings lock earlier ones)."""
    connection = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
    folder = str(root / "jobs").replace("'", "''")
    for statement in (
        "set autoinstall_known_extensions = false",
        "set autoload_known_extensions = false",
        "set temp_directory = ''",
        "set parquet_metadata_cache = true",  # files never change under their name
        f"set allowed_directories = ['{folder}']",
        "set enable_external_access = false",
        "set lock_configuration = true",
    ):
        connection.execute(statement)
    return connection


def _fingerprint(job: SourceJob) -> set[tuple[str, int, int]]:
    return {(file.path, file.size, file.mtime_ns) for file in job.files() if file.kind is not FileKind.OTHER}


def _stored_fingerprint(stored: StoredJob) -> set[tuple[str, int, int]]:
    table = pq.read_table(stored.folder / "files.parquet", columns=["path", "size", "mtime_ns"])
    return set(zip(*(table.column(name).to_pylist() for name in ("path", "size", "mtime_ns")), strict=True))
