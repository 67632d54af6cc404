"""Versions of a stored job: written aside, switched in one step, and never half there.

<store>/jobs/<job id>/current          the name of the version that is valid
<store>/jobs/<job id>/<version>/       its manifest and tables
<store>/jobs/<job id>/writing-*/       a conversion under way; a left one is swept by the next conversion
<store>/jobs/<job id>/lock             held by the one process that writes
<store>/quarantine/                    versions that turned out damaged
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data.convert.tables import sync, write_bytes
from data.errors import StoreError

CURRENT = "current"
_WRITING = "writing-"


def job_folder(root: Path, job_id: str) -> Path:
    """Where a job is stored; the id comes from a source's listing, never from a URL."""
    return root / "jobs" / job_id


def current_version(folder: Path) -> str:
    """The name of the valid version, "" where the job is not stored."""
    try:
        name = (folder / CURRENT).read_text().strip()
    except OSError:
        return ""
    return name if name.startswith("v") and "/" not in name and (folder / name).is_dir() else ""


@contextmanager
def writing(root: Path, job_id: str) -> Iterator[Path]:
    """The job's folder, locked against other writers. Raises StoreError where another process converts the job."""
    folder = job_folder(root, job_id)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"The store cannot be written: {error.strerror}.", "Check the store's folder.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError("Another process is converting this job.", "Wait until it is done.") from error
        for left in folder.glob(_WRITING + "*"):
            shutil.rmtree(left, ignore_errors=True)
        yield folder
    finally:
        os.close(lock)


@contextmanager
def new_version(folder: Path) -> Iterator[tuple[str, Path]]:
    """A name and an empty folder to write a version in; gone again if the writer fails."""
    version = f"v{time.time_ns()}-{uuid.uuid4().hex[:8]}"
    aside = folder / (_WRITING + version)
    aside.mkdir(mode=0o700)
    try:
        yield version, aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def publish(folder: Path, version: str, aside: Path) -> None:
    """Makes a written version the valid one; the one before stays until the next, for readers that still use it."""
    before = current_version(folder)
    sync(aside)
    aside.rename(folder / version)
    sync(folder)
    write_bytes(version.encode(), folder / CURRENT)
    sync(folder)
    for old in folder.glob("v*-*"):
        if old.is_dir() and old.name not in (version, before):
            shutil.rmtree(old, ignore_errors=True)


def quarantine(folder: Path, version: str) -> None:
    """Puts a damaged version aside, under `<store>/quarantine`, for whoever wants to know what happened to it."""
    aside = folder.parents[1] / "quarantine"
    aside.mkdir(exist_ok=True, mode=0o700)
    (folder / version).rename(aside / f"{folder.name}-{version}")
    (folder / CURRENT).unlink(missing_ok=True)


def take_over(old: Path, new: Path) -> None:
    """The same file in a new version, without a copy where the file system can link."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def check_space(root: Path, floor_bytes: int) -> None:
    """Raises StoreError where the disk of the store has less room than the floor."""
    free = shutil.disk_usage(root).free
    if free < floor_bytes:
        raise StoreError(
            f"Only {free // 10**6} MB are free where the store is; nothing is written below {floor_bytes // 10**6} MB.",
            "Free some space, remove jobs from the store, or lower the floor (INSIGHTS_FREE_SPACE_BYTES).",
        )
