"""A source on this machine: a folder that is a job, or holds jobs."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from data.errors import SourceError
from data.names import natural_key, slug
from data.sources import JobListing, Listing, Skipped, SourceFile, SourceJob
from data.sources.layout import (
    PARTS,
    PROFILER_OUTPUT,
    TRAINING_JOB_FILE,
    classify,
    classify_report,
    classify_trace,
    is_rank_folder,
)
from data.sources.rule_output import report_folders
from data.sources.trace_folders import Held, holds_traces, look_through

_UNPROFILED_SIGNS = ("debug-output", "output")  # a training job's folder, although no profiler wrote into it
_HINT = "Name a folder that holds profiler-output/ or traces, a folder of such folders, or one trace file."
_MOST_NAMED = 3
_DEEPEST = 24  # folders below the profiler output; real ones need eight
_ODD_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class LocalJob:
    """A job whose files lie in a folder of this machine."""

    job_id: str
    name: str
    source: str
    folder: str
    place: str
    profiled: bool
    profiler_folder: str  # relative to `folder`; "" where the folder itself is the profiler output
    traces: bool = False  # a folder of traces, without a profiler output
    only: str = ""  # the one file that the source names, "" for a folder

    def listing(self) -> Listing:
        """Walk the job's profiler output, and reports of rules beside it.

        Symbolic links, odd names and special files are skipped.
        """
        found: list[SourceFile | Skipped] = []
        if self.only:
            status = _lstat(os.path.join(self.folder, self.only))
            if status is not None:
                return Listing((classify_trace(self.only, status.st_size, status.st_mtime_ns, named=True),))
        elif self.traces:
            found.extend(_walk(self.folder, "", _as_trace))
        elif self.profiled:
            found.extend(_walk(os.path.join(self.folder, self.profiler_folder), self.profiler_folder, classify))
            if self.profiler_folder:  # else they lie in what was just walked
                for folder in report_folders(self.folder, self.profiler_folder):
                    found.extend(_walk(os.path.join(self.folder, folder), folder, classify_report))
        description = self._describe_training_job()
        if description is not None and not self.traces:
            found.append(description)
        found.sort(key=lambda item: item.path)
        files = tuple(item for item in found if isinstance(item, SourceFile))
        return Listing(files, tuple(item for item in found if isinstance(item, Skipped)))

    def files(self) -> tuple[SourceFile, ...]:
        """The files of `listing()`."""
        return self.listing().files

    def open(self, path: str) -> BinaryIO:
        """Open a regular file inside the job's folder; links are not followed."""
        full_path = self.local_path(path)
        try:
            descriptor = os.open(full_path, _READ_FLAGS)
        except OSError as error:
            raise _unreadable(full_path, error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError(f"{path} is not a regular file.")
        return os.fdopen(descriptor, "rb")

    def local_path(self, path: str) -> str:
        """The absolute path of a file of the job. Raises SourceError for a path that leads out of the job's folder."""
        pieces = path.split("/")
        if "\0" in path or any(piece in ("", ".", "..") for piece in pieces):
            raise SourceError(f"{path!r} is not the path of a file in this job.")
        parent = os.path.join(self.folder, *pieces[:-1])
        home = os.path.realpath(self.folder)
        if os.path.commonpath([home, os.path.realpath(parent)]) != home:
            raise SourceError(f"{path!r} leads out of the job's folder.")
        return os.path.join(parent, pieces[-1])

    def placed(self, path: str) -> str:
        """How a file is named in reports: relative to the folder that holds the source."""
        return "/".join(piece for piece in (self.place, path) if piece)

    def _describe_training_job(self) -> SourceFile | None:
        status = _lstat(os.path.join(self.folder, TRAINING_JOB_FILE))
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        return classify(TRAINING_JOB_FILE, "", status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A folder of this machine: one job, or a folder of jobs."""

    uri: str

    def jobs(self) -> tuple[SourceJob, ...]:
        """The jobs of `listing()`."""
        return self.listing().jobs

    def listing(self) -> JobListing:
        """The job that the folder or file is, else the jobs that are its direct children."""
        root = _root_of(self.uri)
        if _is_file(root):
            return JobListing((self._made(str(Path(root).parent), root, "", only=Path(root).name),))
        names = sorted(_folder_names(self.uri, root), key=natural_key)
        job = self._job(root, root)
        if job is not None and job.profiled:
            return JobListing((job,))
        if job is None and holds_traces(root):
            return JobListing((self._made(root, root, "", traces=True),))
        jobs, in_part = self._children(names, root)
        if jobs and all(child.traces and is_rank_folder(child.name) for child in jobs):
            return JobListing((self._made(root, root, "", traces=True),), in_part)
        if job is None or any(child.profiled for child in jobs):
            return JobListing(tuple(jobs), in_part)
        return JobListing((job,))

    def _children(self, names: Sequence[str], root: str) -> tuple[list[LocalJob], str]:
        """The folders inside the source that are jobs, and that others may be, too, in words."""
        jobs = {name: self._job(os.path.join(root, name), root) for name in names}
        others = [name for name, job in jobs.items() if job is None]
        held = look_through([os.path.join(root, name) for name in others])
        for name, found in zip(others, held, strict=True):
            if found is Held.TRACES:
                jobs[name] = self._made(os.path.join(root, name), root, "", traces=True)
        in_part = [_shown(name) for name, found in zip(others, held, strict=True) if found is Held.NOT_KNOWN]
        return [job for job in jobs.values() if job is not None], _in_part(self.uri, in_part)

    def _job(self, folder: str, root: str) -> LocalJob | None:
        """The job that a folder is, or None."""
        shape = _shape_of(folder)
        if shape is None:
            return None
        profiled, profiler_folder = shape
        if profiled and not profiler_folder and folder == root and Path(folder).name == PROFILER_OUTPUT:
            # The profiler output itself was named: the job is the folder around it.
            folder, profiler_folder = str(Path(folder).parent), PROFILER_OUTPUT
        return self._made(folder, root, profiler_folder, profiled=profiled)

    def _made(
        self,
        folder: str,
        root: str,
        profiler_folder: str,
        *,
        profiled: bool = True,
        traces: bool = False,
        only: str = "",
    ) -> LocalJob:
        relative = os.path.relpath(folder, Path(root).parent)
        key = os.fsencode(root) + b"\0" + os.fsencode(folder)
        name = _shown(only or Path(folder).name)
        return LocalJob(
            job_id=f"{slug(name)}-{hashlib.sha256(key).hexdigest()[:8]}",
            name=name,
            source=self.uri,
            folder=folder,
            place="" if relative == os.curdir else _shown(relative.replace(os.sep, "/")),
            profiled=profiled,
            profiler_folder=profiler_folder,
            traces=traces,
            only=only,
        )


def _shape_of(folder: str) -> tuple[bool, str] | None:
    """Whether a folder is a job: (has profiler output, where), or None."""
    if _is_folder(os.path.join(folder, PROFILER_OUTPUT)):
        return True, PROFILER_OUTPUT
    if any(_is_folder(os.path.join(folder, part)) for part in PARTS):
        return True, ""
    if any(_is_folder(os.path.join(folder, sign)) for sign in _UNPROFILED_SIGNS):
        return False, ""
    described = _lstat(os.path.join(folder, TRAINING_JOB_FILE))
    return (False, "") if described is not None and stat.S_ISREG(described.st_mode) else None


def _root_of(uri: str) -> str:
    """The absolute path of a source. A source may be a link: it keeps the name that the user gave it."""
    if not uri or "\0" in uri:
        raise SourceError("No folder was named.", _HINT)
    try:
        return os.path.normpath(Path(uri).expanduser().absolute())
    except RuntimeError as error:  # a home folder that cannot be found out
        raise SourceError(f"There is no folder {uri}.", _HINT) from error


def _folder_names(uri: str, root: str) -> list[str]:
    """The names of the folders directly inside the source. Raises SourceError where it cannot be listed."""
    try:
        with os.scandir(root) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except NotADirectoryError as error:
        raise SourceError(f"{uri} is a file, not a folder.", _HINT) from error
    except FileNotFoundError as error:
        raise SourceError(f"There is no folder {uri}.", _HINT) from error
    except OSError as error:
        raise _unreadable(uri, error) from error


def _in_part(uri: str, names: Sequence[str]) -> str:
    """That some folders were looked through in part, in words."""
    if not names:
        return ""
    more = [f"{len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else []
    folders = "1 folder is" if len(names) == 1 else f"{len(names):,} folders are"
    return (
        f"In {uri} {folders} too large to be looked through for traces: {', '.join([*names[:_MOST_NAMED], *more])}."
        " What holds some can be named as a source of its own."
    )


def _as_trace(path: str, inside: str, size: int, mtime_ns: int) -> SourceFile:
    return classify_trace(path, size, mtime_ns, named=False)


_Classify = Callable[[str, str, int, int], SourceFile]


def _walk(top: str, prefix: str, describe: _Classify) -> Iterator[SourceFile | Skipped]:
    """All files below a folder. A folder that cannot be listed is reported, and the rest is walked."""
    pending = [""]
    while pending:
        inside = pending.pop()
        try:
            with os.scandir(os.path.join(top, inside)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(_joined(prefix, inside), f"this folder could not be listed: {_reason(error)}")
            continue
        for entry in found:
            path = _joined(inside, entry.name)
            item = _look_at(entry, path, _joined(prefix, path), describe)
            if item is not None:
                yield item
            else:
                pending.append(path)


def _look_at(entry: os.DirEntry[str], inside: str, path: str, describe: _Classify) -> SourceFile | Skipped | None:
    """A file to list, a reason to skip the entry, or None for a folder to walk."""
    if _ODD_CHARACTERS.search(entry.name):
        return Skipped(_shown(path), "its name holds control characters or is not valid text")
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Skipped(path, f"it could not be looked at: {_reason(error)}")
    if stat.S_ISDIR(status.st_mode):
        deep = inside.count("/") >= _DEEPEST
        return Skipped(path, f"it lies more than {_DEEPEST} folders deep") if deep else None
    if stat.S_ISLNK(status.st_mode):
        return Skipped(path, "symbolic links are not followed")
    if not stat.S_ISREG(status.st_mode):
        return Skipped(path, "it is not a regular file")
    return describe(path, inside, status.st_size, status.st_mtime_ns)


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}/{path}" if prefix and path else prefix or path


def _shown(text: str) -> str:
    """Text that can be shown and stored: no control characters, no undecodable bytes."""
    return _ODD_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text)


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_file(path: str) -> bool:
    status = _lstat(path)
    return status is not None and stat.S_ISREG(status.st_mode)


def _is_folder(path: str) -> bool:
    status = _lstat(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno is not None else "unknown reason"


def _unreadable(path: str, error: OSError) -> SourceError:
    if error.errno == errno.ELOOP:
        return SourceError(f"{_shown(path)} is a symbolic link, and links are not followed.")
    hint = "Check its permissions." if error.errno in (errno.EACCES, errno.EPERM) else ""
    return SourceError(f"{_shown(path)} cannot be read: {_reason(error)}.", hint)
