"""Where jobs lie: a source lists jobs and the files of each, and opens files. It never looks into them.

A source is a folder on this machine today (`local`). Listing jobs is cheap, so that it can be repeated; the files
of a job are listed when the job is asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Protocol

from data.errors import SourceError

LOOKED_FOR = (
    "a folder that holds profiler-output/ (one job), a profiler-output folder itself"
    " (with system/ or framework/ inside), a folder of such job folders,"
    " or traces of PyTorch's profiler (*.pt.trace.json, also packed): one file, a folder of them, or a folder of runs"
)
"""What makes a location a source, in words: for the message when nothing is found there."""


class FileKind(StrEnum):
    """What a file of a job is, judged by its path alone."""

    SYSTEM = "system"
    PYTHONTIMELINE = "pythontimeline"
    MODEL_TIMELINE = "model_timeline"
    HOROVOD_TIMELINE = "horovod_timeline"
    SMDATAPARALLEL_TIMELINE = "smdataparallel_timeline"
    MERGED_TIMELINE = "merged_timeline"
    TENSORFLOW_TRACE = "tensorflow_trace"
    TENSORFLOW_METADATA = "tensorflow_metadata"  # empty; its name says when the traces below it start
    TRACE = "trace"
    PERHAPS_TRACE = "perhaps_trace"  # JSON beside traces, whose name does not tell
    PYTHON_STATS = "python_stats"
    PYINSTRUMENT = "pyinstrument"
    ORIGINAL_REPORT = "original_report"  # what a rule of the original profiler found
    TRAINING_JOB = "training_job"
    SYSTEM_END = "system_end"
    FRAMEWORK_END = "framework_end"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a job. `path` is relative to the job's folder, with forward slashes."""

    path: str
    size: int
    mtime_ns: int
    kind: FileKind
    node: str  # as the file name gives it: "algo-1", or "151-algo-1" for framework files; "" where it gives none
    stamp_ns: int  # the time in the file name; 0 where there is none


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a job's folder that was not listed, and why."""

    path: str  # relative to the job's folder
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a job, sorted by path, and what was left out."""

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()


class SourceJob(Protocol):
    """A training job as a source lists it."""

    @property
    def job_id(self) -> str:
        """A slug and eight hex digits of source and path: the same every time the source is listed."""

    @property
    def name(self) -> str:
        """The folder's name, for showing only. Hostile text."""

    @property
    def source(self) -> str:
        """The source, as the user named it."""

    @property
    def folder(self) -> str:
        """The absolute path of the job's folder."""

    @property
    def place(self) -> str:
        """The job's folder relative to the folder that holds the source, e.g. "train-1" or "jobs/train-1"."""

    @property
    def profiled(self) -> bool:
        """False where the job's folder has nothing to read at all: the profiler was switched off."""

    def listing(self) -> Listing:
        """Walk the job's profiler output."""

    def files(self) -> tuple[SourceFile, ...]:
        """The files of `listing()`."""

    def open(self, path: str) -> BinaryIO:
        """Open a file of the job for reading. Raises SourceError where it cannot."""

    def local_path(self, path: str) -> str:
        """Where a file of the job lies on this machine."""

    def placed(self, path: str) -> str:
        """How a file is named in reports: relative to the folder that holds the source."""


@dataclass(frozen=True, slots=True)
class JobListing:
    """The jobs of a source in natural order of their names, and what in it may hold more, in words ("" for nothing)."""

    jobs: tuple[SourceJob, ...]
    note: str = ""


class Source(Protocol):
    """A place that holds one job or many."""

    @property
    def uri(self) -> str:
        """The source, as the user named it."""

    def listing(self) -> JobListing:
        """All jobs; none where there are none. Raises SourceError."""

    def jobs(self) -> tuple[SourceJob, ...]:
        """The jobs of `listing()`. Raises SourceError."""


def open_source(uri: str) -> Source:
    """The source a user named. Nothing is read before `jobs()` is called. Raises SourceError for unknown kinds."""
    from data.sources.local import LocalSource  # here, because every kind of source builds on the types above

    scheme, separator, _ = uri.partition("://")
    if separator and scheme.isalnum():
        raise SourceError(
            f"{scheme}:// sources cannot be read yet: {uri}",
            "Copy the job to a folder first, for instance with: aws s3 sync <location> <folder>",
        )
    return LocalSource(uri)


def find_job(uris: Iterable[str], job_id: str) -> SourceJob:
    """The job of this id in the sources, listed afresh. Raises SourceError where none of them holds it."""
    for uri in uris:
        for job in open_source(uri).jobs():
            if job.job_id == job_id:
                return job
    raise SourceError("This job is no longer in its source.", "Refresh the list of jobs.")
