"""Conversions that a page asks for: one detached converter process for the whole server, however many workers.

The web process only writes requests into a directory of the store and reads small status files from it; it never
converts. The other side, the process that works the queue off, is `app.converter`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

FOLDER = ".conversion"
START_PATIENCE_S = 20.0
PROJECT_ROOT = Path(__file__).resolve().parent.parent


class State(StrEnum):
    """Where a conversion stands; `LOST` means that its process ended without saying so."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def active(self) -> bool:
        """True while it makes sense to ask again soon."""
        return self in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class ConversionStatus:
    """What is known of one job's conversion; `message` and `hint` are for people, '' where there is nothing to say."""

    job_id: str
    state: State
    stage: str = ""
    files_done: int = 0
    files_total: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    started_s: float = 0.0
    message: str = ""
    hint: str = ""
    pid: int = 0

    @property
    def fraction(self) -> float:
        """How much of the input was read, 0 to 1."""
        return min(1.0, self.bytes_done / self.bytes_total) if self.bytes_total > 0 else 0.0


class Conversions:
    """The requests and status files of one store. Cheap to make; holds no state of its own."""

    def __init__(self, store_root: Path, sources: Sequence[str] = ()) -> None:
        self.store_root = store_root
        self.sources = tuple(sources)
        self.folder = store_root / FOLDER

    def request(self, job_ids: Iterable[str]) -> None:
        """Ask for these jobs to be converted, and start the converter where none runs. Returns at once."""
        for job_id in job_ids:
            status = self.status(job_id)
            if status is None or not status.state.active:
                self.cancel_path(job_id).unlink(missing_ok=True)
                self._enqueue(job_id)
        if self.queued() and not self.converter_runs():
            self._start()

    def status(self, job_id: str) -> ConversionStatus | None:
        """Where this job's conversion stands, or None if none was ever asked for."""
        requested_s = self._requested_s(job_id)
        if requested_s is not None:
            if self.converter_runs() or time.time() - requested_s < START_PATIENCE_S:
                return ConversionStatus(job_id, State.QUEUED, message="Waiting for its turn.")
            return _lost(ConversionStatus(job_id, State.QUEUED))
        status = self._read(job_id)
        if status is not None and status.state is State.RUNNING and not self._alive(status.pid):
            return _lost(status)
        return status

    def cancel(self, job_id: str) -> None:
        """Stop this job's conversion: at once if it waits, at its next step if it runs. Otherwise nothing happens."""
        status = self.status(job_id)
        if status is None or status.state not in (
            State.QUEUED,
            State.RUNNING,
            State.LOST,
        ):
            return
        self._ensure_folders()
        self.cancel_path(job_id).touch()
        if status.state is not State.RUNNING:
            self.queue_path(job_id).unlink(missing_ok=True)
            self.write(ConversionStatus(job_id, State.CANCELLED, message="Cancelled before it started."))

    def active(self) -> list[ConversionStatus]:
        """The conversions that run or wait: the running one first, then by request."""
        running = self.status(str((_load(self.folder / "current.json") or {}).get("job_id", "")))
        waiting = [status for job_id in self.queued() if (status := self.status(job_id)) is not None]
        statuses = [running, *waiting] if running is not None else waiting
        return [status for status in statuses if status.state.active]

    def queued(self) -> list[str]:
        """The ids of the jobs that wait, oldest request first."""
        requests = [entry for path in _entries(self.folder / "queue") if (entry := _load(path)) is not None]
        requests.sort(key=lambda entry: float(entry["requested_s"]))
        return [str(entry["job_id"]) for entry in requests]

    def begin(self, status: ConversionStatus) -> None:
        """The converter takes a job from the queue."""
        self.write(status)
        _write_atomically(self.folder / "current.json", {"job_id": status.job_id})
        self.queue_path(status.job_id).unlink(missing_ok=True)

    def converter_runs(self) -> bool:
        """True while some process holds the converter's lock."""
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    @contextmanager
    def lock(self, patience_s: float = 1.0) -> Iterator[bool]:
        """Hold the converter's lock; yields False where another process has it. The system frees it if we die.

        The patience covers readers, who take the lock for an instant to see whether it is free.
        """
        self._ensure_folders()
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield _acquire(descriptor, patience_s)
        finally:
            os.close(descriptor)

    def write(self, status: ConversionStatus) -> None:
        """Publish a status; a reader sees the old one or the new one, never a part."""
        self._ensure_folders()
        _write_atomically(self.status_path(status.job_id), asdict(status))

    def status_path(self, job_id: str) -> Path:
        """The status file of a job."""
        return self.folder / "status" / f"{_slot(job_id)}.json"

    def queue_path(self, job_id: str) -> Path:
        """The request of a job; the file exists while the job waits."""
        return self.folder / "queue" / f"{_slot(job_id)}.json"

    def cancel_path(self, job_id: str) -> Path:
        """The file whose existence asks a running conversion to stop."""
        return self.folder / "cancel" / _slot(job_id)

    def _requested_s(self, job_id: str) -> float | None:
        entry = _load(self.queue_path(job_id))
        return None if entry is None else float(entry["requested_s"])

    def _read(self, job_id: str) -> ConversionStatus | None:
        entry = _load(self.status_path(job_id))
        if entry is None:
            return None
        known = {field.name for field in fields(ConversionStatus)}
        values = {key: value for key, value in entry.items() if key in known}
        return ConversionStatus(**{**values, "state": State(values["state"])})

    def _alive(self, pid: int) -> bool:
        if not self.converter_runs():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _enqueue(self, job_id: str) -> None:
        self._ensure_folders()
        _write_atomically(self.queue_path(job_id), {"job_id": job_id, "requested_s": time.time()})

    def _start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "app",
            "convert",
            "--queue",
            "--store",
            str(self.store_root),
        ]
        path = os.pathsep.join(filter(None, [str(PROJECT_ROOT), os.environ.get("PYTHONPATH", "")]))
        with open(self.folder / "converter.log", "wb") as log:
            process = subprocess.Popen(
                [*command, "--", *self.sources],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": path},
            )
        threading.Thread(target=process.wait, name="converter-reaper", daemon=True).start()

    def _ensure_folders(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("queue", "status", "cancel"):
            (self.folder / name).mkdir(exist_ok=True, mode=0o700)


def _slot(job_id: str) -> str:
    # ids come from the browser: they are hashed, so that none can ever name a path of its own
    return hashlib.sha256(job_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _lost(status: ConversionStatus) -> ConversionStatus:
    values = {**asdict(status), "state": State.LOST}
    values["message"] = "The conversion stopped without finishing; the store is as it was before."
    values["hint"] = "Convert again."
    return ConversionStatus(**values)


def _acquire(descriptor: int, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _entries(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == ".json"]
    except FileNotFoundError:
        return []


def _load(path: Path) -> dict[str, Any] | None:
    try:
        entry = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def _write_atomically(path: Path, entry: dict[str, object]) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    with os.fdopen(descriptor, "w") as stream:
        json.dump(entry, stream)
    os.replace(temporary, path)
