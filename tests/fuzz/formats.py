"""The formats that are fuzzed: a good file of each, and how one file is read by its reader."""

from __future__ import annotations

import cProfile
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from data import facts
from data.problem import Problem
from data.readers import READERS, original_report, python_stats, reader_of, sagemaker_system
from data.sources import SourceFile
from data.sources.layout import classify, classify_trace
from tests import trees


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    rows: int
    problems: tuple[str, ...]
    invalid: int = 0

    @property
    def word(self) -> str:
        """How the file ended: read, partly read, or refused with a reason; silent where none of these is true."""
        if self.rows:
            return "partly" if self.problems or self.invalid else "read"
        return "refused" if self.problems else "silent"


@dataclass(frozen=True)
class Format:
    """A format: the name its files have, a good file, and its reader."""

    name: str
    path: str
    seed: Callable[[], bytes]
    read: Callable[[duckdb.DuckDBPyConnection, SourceFile, Path], Outcome]
    inside: str = ""  # the path inside a profiler output; "" for traces

    def source_file(self, size: int) -> SourceFile:
        if self.inside:
            return classify(self.path, self.inside, size, 0)
        return classify_trace(self.path, size, 0, named=False)


def _events(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
    reader = reader_of(file)
    assert reader in READERS
    rows, invalid = 0, 0
    problems: list[Problem] = []
    for batch in reader.read(db, [(file, str(path))], path.parent):
        batch.table.validate(full=True)
        rows += len(batch.table)
        problems += batch.problems
        invalid += sum(one.invalid for one in batch.done.values())
    return Outcome(rows, tuple(one.message for one in problems), invalid)


def _system(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
    batch = sagemaker_system.read(db, [(file, str(path))], sagemaker_system.Catalog())
    return Outcome(len(batch.rows), tuple(one.message for one in batch.problems))


def _profile(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
    with path.open("rb") as stream:
        found = python_stats.read(file, stream)
    return Outcome(len(found.rows), tuple(one.message for one in found.problems))


def _original(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
    with path.open("rb") as stream:
        found, problems = original_report.read(file, stream)
    return Outcome(0 if found is None else 1, tuple(one.message for one in problems))


def _training_job(db: duckdb.DuckDBPyConnection, file: SourceFile, path: Path) -> Outcome:
    found = facts.parse_training_job(path.read_bytes())
    if isinstance(found, Problem):
        return Outcome(0, (found.message,))
    return Outcome(1, tuple(str(one) for one in found.problems))


def _metrics() -> bytes:
    (content,) = trees.metrics_files(trees.machine(ticks=4, cores=2)).values()
    return content


def _lane(pid: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def _timeline() -> bytes:
    start = {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": trees.START_US}}
    events = [start, _lane(1, "Step:ModeKeys.TRAIN"), _lane(2, "DataLoaderIter")]
    for number in range(12):
        args = {"step_num": str(number), "pid": 905, "worker_id": 0}
        events.append({"name": "e", "ph": "X", "pid": 1 + number % 2, "ts": number * 100, "dur": 90.5, "args": args})
    return json.dumps(events, indent=0).encode()


def _horovod() -> bytes:
    start = {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": trees.START_US}}
    lines = [json.dumps(one) for one in (start, _lane(1, "tensor.1"), _lane(2, "tensor.2"))]
    for number in range(10):
        lines.append(json.dumps({"name": "ALLREDUCE", "ph": "B", "pid": 1 + number % 2, "ts": number * 50}))
        lines.append(json.dumps({"ph": "E", "pid": 1 + number % 2, "ts": number * 50 + 20}))
    return ("[\n" + ",\n".join(lines) + ",\n").encode()


def _tensorflow() -> bytes:
    events = [_lane(49, "/host:CPU"), _lane(3, "/device:GPU:0")]
    events += [
        {"ph": "X", "pid": 49, "tid": 7, "ts": number * 3.25, "dur": 1.000001, "name": "op:MatMul"}
        for number in range(12)
    ]
    return gzip.compress(json.dumps({"displayTimeUnit": "ns", "metadata": {}, "traceEvents": [*events, {}]}).encode())


def _kineto() -> bytes:
    events: list[dict[str, Any]] = []
    for number in range(10):
        ts = trees.START_US + number * 100
        cpu = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": ts, "dur": 50, "args": {}}
        args = {"device": 0, "stream": 7, "correlation": number, "grid": [1, 2, 3], "warps": [{"a": 1}, {"b": 2}]}
        gpu = {"ph": "X", "cat": "kernel", "name": "void k<4>(a&)", "pid": 0, "tid": 7, "ts": ts + 20, "dur": 9.5}
        events += [cpu, gpu | {"args": args}]
    head = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}}
    return json.dumps(head | {"traceEvents": events, "traceName": "x.json", "log": ["a", "b"]}, indent=1).encode()


def _dump() -> bytes:
    profile = cProfile.Profile()
    profile.runcall(json.dumps, [{"a": [1, 2, {"b": None}]}] * 3, indent=1)
    profile.create_stats()
    return trees.profile_file(dict(profile.stats))


def _tree() -> bytes:
    leaf = {
        "function": "f",
        "file_path": "a.py",
        "line_no": 3,
        "time": 0.25,
        "is_application_code": True,
        "children": [],
    }
    root = leaf | {"function": "main", "time": 1.0, "children": [leaf, leaf | {"function": "g", "time": 0.5}]}
    return json.dumps({"start_time": 1.0, "duration": 1.0, "sample_count": 9, "root_frame": root}).encode()


def _report() -> bytes:
    gpus = {f"gpu{number}": {"gpu_95": 13.5, "p25": 0.0, "upper": None} for number in range(4)}
    counts = {"RuleTriggered": 8, "Violations": 8, "Datapoints": 1001, "RuleParameters": "window:500\npatience:1000"}
    return json.dumps(counts | {"Details": {"algo-1": gpus | {"last_timestamp": 1607121600000000}}}).encode()


def _described() -> bytes:
    job = {"TrainingJobName": "a", "TrainingJobStatus": "Completed", "BillableTimeInSeconds": 60}
    resources = {"InstanceType": "ml.p3.8xlarge", "InstanceCount": 2, "VolumeSizeInGB": 30}
    moves = [{"Status": "Training", "StartTime": "2020-12-04T22:40:00Z", "EndTime": 1607122600.5, "StatusMessage": "x"}]
    return json.dumps(job | {"ResourceConfig": resources, "SecondaryStatusTransitions": moves}).encode()


_PEVENTS = "framework/pevents/2020120422/1607121600000000_81-algo-1_"
_DETAILED = "framework/tensorflow/detailed_profiling/2020120422/000000009/plugins/profile/x/algo-1.trace.json.gz"
_INTERVAL = "train-9-stepstart-1607121600000000.0_train-9-stepend-1607121601000000.0"
_PROFILES = "framework/pytorch/{}/81-algo-1/" + _INTERVAL + "/"


def _inside(name: str, path: str, seed: Callable[[], bytes], read: Any) -> Format:
    return Format(name, f"profiler-output/{path}", seed, read, path)


FORMATS: tuple[Format, ...] = (
    _inside("system", f"system/incremental/2020120422/{trees.START_US // 10**6}.algo-1.json", _metrics, _system),
    _inside("system-gzip", "system/1607121600.algo-1.json.gz", lambda: gzip.compress(_metrics(), mtime=0), _system),
    _inside("pythontimeline", _PEVENTS + "pythontimeline.json", _timeline, _events),
    _inside("horovod", _PEVENTS + "horovod_timeline.json", _horovod, _events),
    _inside("tensorflow", _DETAILED, _tensorflow, _events),
    Format("kineto", "rank0.pt.trace.json", _kineto, _events),
    Format("kineto-gzip", "rank0.pt.trace.json.gz", lambda: gzip.compress(_kineto(), mtime=0), _events),
    _inside("cprofile", _PROFILES.format("cprofile") + "python_stats", _dump, _profile),
    _inside("pyinstrument", _PROFILES.format("pyinstrument") + "python_stats.json", _tree, _profile),
    _inside("original-report", "profiler-reports/LowGPUUtilization.json", _report, _original),
    Format("training-job", "training-job.json", _described, _training_job, "training-job.json"),
)

BY_NAME = {one.name: one for one in FORMATS}
