"""What the files of a job are called: from a path inside the job to its kind, node and time.

The same for every kind of source, because the profiler names files alike on disk and in object storage.
"""

from __future__ import annotations

import re

from data.sources import FileKind, SourceFile

PROFILER_OUTPUT = "profiler-output"
TRAINING_JOB_FILE = "training-job.json"
REPORTS = "profiler-reports"
"""The folder in which the original's rules leave their reports."""

END_MARKER = "training_job_end.ts"
PARTS = ("system", "framework")
"""The folders of a profiler output; a folder that holds one of them is taken for one."""

_COPY = r"(?: ?\(\d{1,3}\))?"  # what browsers and file managers add to the name of a second copy
_SYSTEM_NAME = re.compile(rf"(\d{{10}})\.(.+?){_COPY}\.json(?:\.gz)?", re.ASCII)
_EVENT_NAME = re.compile(
    rf"(\d+)_(.+)_((?:python|model_|horovod_|smdataparallel_|merged_)timeline){_COPY}\.json(?:\.gz)?", re.ASCII
)
_TENSORFLOW_TRACE = re.compile(r"tensorflow/detailed_profiling/.*[^/]\.trace\.json(?:\.gz)?", re.ASCII | re.IGNORECASE)
_TENSORFLOW_METADATA = re.compile(r"tensorflow/detailed_profiling/(?:.*/)?([^/]+)_(\d{16})_\d+\.metadata", re.ASCII)
_JSON_NAME = re.compile(r".+\.json(?:\.gz)?", re.ASCII | re.IGNORECASE | re.DOTALL)
_TRACE_NAME = re.compile(rf"(?:.*[._-])?trace{_COPY}\.json(?:\.gz)?", re.ASCII | re.IGNORECASE | re.DOTALL)
_ADDED = re.compile(r"(?<=\.json)(?!\.gz)\.[a-z]{2,12}\Z", re.ASCII | re.IGNORECASE)
_TRACE_TIME = re.compile(r"[._](1\d{12}|1\d{15}|1\d{18})\.", re.ASCII)
_RANK_FOLDER = re.compile(r"(?:rank|worker)[-_ ]?\d+", re.ASCII | re.IGNORECASE)
_PYTHON_PROFILES = {"python_stats": FileKind.PYTHON_STATS, "python_stats.json": FileKind.PYINSTRUMENT}
_PROFILER_FOLDER = re.compile(r"(?:^|/)(?:cprofile|pyinstrument)/", re.IGNORECASE)
_REPORT = re.compile(rf"(?:.*/)?{REPORTS}/[A-Za-z][A-Za-z0-9_]{{0,63}}\.json", re.ASCII)
_PROCESS = re.compile(r".+?-(?=algo-[0-9])", re.DOTALL)
_LATEST_NS = (1 << 63) - 1
_NS_PER_NAME_UNIT = {16: 1_000, 19: 1}  # digits of the time in an event file's name: microseconds, nanoseconds


def classify(path: str, inside: str, size: int, mtime_ns: int) -> SourceFile:
    """Describe a file. `path` is relative to the job's folder, `inside` to its profiler output ("" if outside)."""
    kind, node, stamp_ns = _classify(path, inside)
    return SourceFile(path=path, size=size, mtime_ns=mtime_ns, kind=kind, node=node, stamp_ns=stamp_ns)


def classify_report(path: str, inside: str, size: int, mtime_ns: int) -> SourceFile:
    """Describe a file of a folder of reports: it is one of these, or of no kind."""
    kind = FileKind.ORIGINAL_REPORT if _REPORT.fullmatch(path) and "/" not in inside else FileKind.OTHER
    return SourceFile(path=path, size=size, mtime_ns=mtime_ns, kind=kind, node="", stamp_ns=0)


def node_of(path: str) -> str:
    """The node that a file's name gives, without the process that event files put before it; "" where it gives none."""
    kind, node, _ = _classify(path, path.partition(f"{PROFILER_OUTPUT}/")[2] or path)
    process = None if kind is FileKind.SYSTEM else _PROCESS.match(node)
    return node[process.end() :] if process else node


def _classify(path: str, inside: str) -> tuple[FileKind, str, int]:
    if path == TRAINING_JOB_FILE:
        return FileKind.TRAINING_JOB, "", 0
    part, _, rest = inside.partition("/")
    name = rest.rpartition("/")[2]
    if rest == END_MARKER and part in PARTS:
        return (FileKind.SYSTEM_END if part == "system" else FileKind.FRAMEWORK_END), "", 0
    if part == "system" and (match := _SYSTEM_NAME.fullmatch(name)):
        return FileKind.SYSTEM, match[2], _stamp_ns(match[1], 1_000_000_000)
    if part == "framework" and (match := _EVENT_NAME.fullmatch(name)):
        return FileKind(match[3]), match[2], _stamp_ns(match[1][:19], _NS_PER_NAME_UNIT.get(len(match[1]), 0))
    if part == "framework" and _TENSORFLOW_TRACE.fullmatch(rest):
        return FileKind.TENSORFLOW_TRACE, "", 0
    if part == "framework" and (match := _TENSORFLOW_METADATA.fullmatch(rest)):
        return FileKind.TENSORFLOW_METADATA, match[1], _stamp_ns(match[2], 1000)
    if part == "framework" and name in _PYTHON_PROFILES and _PROFILER_FOLDER.search(rest):
        return _PYTHON_PROFILES[name], "", 0
    if _REPORT.fullmatch(path):
        return FileKind.ORIGINAL_REPORT, "", 0
    return FileKind.OTHER, "", 0


def _stamp_ns(digits: str, unit_ns: int) -> int:
    """The time that a name gives; one that is out of all reason is the latest that can be stored."""
    return min(int(digits) * unit_ns, _LATEST_NS)


def classify_trace(path: str, size: int, mtime_ns: int, *, named: bool) -> SourceFile:
    """Describe a file of a folder of traces, `path` relative to that; `named` where the user named just this file.

    A file that is called like one of the profiler's is one, wherever it lies; a named one also where something was
    added to its name, such as ".corrupt" or ".bak".
    """
    name = path.rpartition("/")[2]
    known = _ADDED.sub("", name) if named else name
    for part in PARTS:
        kind, node, stamp_ns = _classify(path, f"{part}/{known}")
        if kind not in (FileKind.OTHER, FileKind.SYSTEM_END, FileKind.FRAMEWORK_END):
            return SourceFile(path=path, size=size, mtime_ns=mtime_ns, kind=kind, node=node, stamp_ns=stamp_ns)
    kind = FileKind.OTHER
    if named or is_trace(name):
        kind = FileKind.TRACE
    elif _JSON_NAME.fullmatch(name):
        kind = FileKind.PERHAPS_TRACE
    time = _TRACE_TIME.search(name)
    stamp_ns = int(time[1].ljust(19, "0")) if time else 0
    return SourceFile(path=path, size=size, mtime_ns=mtime_ns, kind=kind, node="", stamp_ns=stamp_ns)


def is_trace(name: str) -> bool:
    """Whether a file is surely a trace, by its name."""
    return _TRACE_NAME.fullmatch(name) is not None


def may_be_trace(name: str) -> bool:
    """Whether a file may be a trace, by its name."""
    return _JSON_NAME.fullmatch(name) is not None


def is_rank_folder(name: str) -> bool:
    """Whether a folder holds one rank of a run, and is no run of its own."""
    return _RANK_FOLDER.fullmatch(name) is not None
