"""One run of a conversion: what was stored before, which files are new or changed, and what was found so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from data import schema
from data.convert.progress import Progress, Report
from data.convert.system import FileWithId
from data.convert.versions import current_version, quarantine
from data.errors import StoreError
from data.manifest import Manifest, is_complete, read_manifest
from data.problem import Problem
from data.readers import group_of
from data.readers.events import FileEvents
from data.sources import FileKind, SourceFile, SourceJob


@dataclass(frozen=True)
class FileState:
    """A file as it was when it was read."""

    file_id: int
    file: SourceFile
    rows: int = 0
    copy_of: str = ""
    invalid: int = 0
    waiting: bool = False


@dataclass
class Conversion:
    """One run: where it writes, what was there before, and what has been done."""

    job: SourceJob
    folder: Path
    version: str
    db: duckdb.DuckDBPyConnection
    report: Report
    cancelled: Callable[[], bool]
    previous: Manifest | None = None
    previous_folder: Path | None = None
    files: list[FileState] = field(default_factory=list)
    unchanged: dict[str, FileState] = field(default_factory=dict)
    to_read: list[FileWithId] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)  # ids of files removed or about to be read again
    problems: list[Problem] = field(default_factory=list)
    rows_of: dict[int, int] = field(default_factory=dict)
    events_of: dict[int, FileEvents] = field(default_factory=dict)
    copy_of: dict[int, str] = field(default_factory=dict)
    next_id: int = 0
    bytes_done: int = 0
    files_done: int = 0
    folders: dict[str, str] = field(default_factory=dict)

    def local_path(self, path: str) -> str:
        """The absolute path of a listed file; whether it stays inside the job is looked at once for each folder."""
        folder, _, name = path.rpartition("/")
        if folder not in self.folders:
            self.folders[folder] = self.job.local_path(path).removesuffix(f"/{name}")
        return f"{self.folders[folder]}/{name}"

    def step(self, stage: str, done: Sequence[SourceFile] = ()) -> None:
        """Reports progress; raises StoreError where the user has cancelled."""
        if self.cancelled():
            raise StoreError("The conversion was cancelled.", "Nothing was changed; open the job to start it again.")
        self.files_done += len(done)
        self.bytes_done += sum(file.size for file in done)
        total = sum(file.size for _, file in self.to_read)
        self.report(Progress(stage, self.files_done, len(self.to_read), self.bytes_done, total))

    def forget(self, file: SourceFile) -> int:
        """Takes an unchanged file for a new one, so that nothing of it is kept; its new id."""
        self.gone.add(self.unchanged.pop(file.path).file_id)
        self.to_read.append((self.next_id, file))
        self.next_id += 1
        return self.next_id - 1


def previous_version(folder: Path) -> tuple[Manifest | None, Path | None]:
    """The valid version, if it is one that this program can go on from."""
    name = current_version(folder)
    if not name:
        return None, None
    try:
        manifest = read_manifest(folder / name)
        whole = is_complete(folder / name, manifest)
    except (StoreError, OSError):
        whole = False
    if not whole:
        quarantine(folder, name)
        return None, None
    return (manifest, folder / name) if manifest.schema_version == schema.SCHEMA_VERSION else (None, None)


def stored_files(folder: Path) -> dict[str, FileState]:
    table = pq.read_table(folder / "files.parquet").to_pylist()
    return {
        row["path"]: FileState(
            row["file"],
            SourceFile(row["path"], row["size"], row["mtime_ns"], FileKind(row["kind"]), row["node"], row["stamp_ns"]),
            row["rows"],
            row["copy_of"],
            row["invalid"],
            row["waiting"],
        )
        for row in table
    }


def _unlike(file: SourceFile, state: FileState | None) -> bool:
    return state is None or (file.size, file.mtime_ns) != (state.file.size, state.file.mtime_ns)


def same(files: Sequence[SourceFile], stored: dict[str, FileState]) -> bool:
    return len(files) == len(stored) and not any(_unlike(file, stored.get(file.path)) for file in files)


def plan(run: Conversion, files: Sequence[SourceFile], stored: dict[str, FileState]) -> None:
    """Decides which files are read.

    A file that changed or went away brings those along whose rows were dropped because it had the same ones. One that
    changed, came or went away brings those along which were waiting for it.
    """
    present = {file.path: file for file in files}
    changed = {path for path, file in present.items() if path in stored and _unlike(file, stored[path])}
    removed = {path for path in stored if path not in present}
    by_id = {state.file_id: path for path, state in stored.items()}
    parts = run.previous.parts if run.previous else ()
    while True:
        touched = {stored[path].file_id for path in changed | removed}
        more = {
            by_id[one]
            for part in parts
            if part.duplicates and touched.intersection(part.duplicate_files)
            for one in part.duplicate_files
            if by_id.get(one) in present
        } | {path for path, state in stored.items() if state.copy_of in changed | removed and path in present}
        groups = {group_of(stored[path].file) for path in removed}
        groups |= {group_of(file) for path, file in present.items() if path not in stored or path in changed}
        more |= {
            path
            for path, state in stored.items()
            if state.waiting and path in present and group_of(present[path]) in groups
        }
        more -= changed
        if not more:
            break
        changed |= more
    run.next_id = max((state.file_id for state in stored.values()), default=-1) + 1
    run.gone = {stored[path].file_id for path in changed | removed}
    for path, file in present.items():
        if path in stored and path not in changed:
            run.unchanged[path] = replace(stored[path], file=file)
        else:
            run.to_read.append((run.next_id, file))
            run.next_id += 1
