"""What `inspect` reports: the numbers of plain json, in the words of the public cases."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.errors import SourceError
from data.inspection import OUTCOMES, inspect, readable
from tests import oracle, trees

WORDS = {
    "job",
    "job_id",
    "outcome",
    "status",
    "ended",
    "system_rows",
    "series",
    "duplicate_rows_dropped",
    "events",
    "events_valid",
    "invalid_events",
    "suspicious_events",
    "lost_events",
    "steps",
    "step_numbers",
    "duration_sum_us",
    "kernels",
    "kernel_dur_sum_us",
    "kernel_busy_us",
    "ranks",
    "by_phase",
    "by_rank",
    "first_event_us",
    "last_event_end_us",
    "nodes",
    "cprofile_files_ok",
    "functions",
    "total_calls",
    "primitive_calls",
    "total_tottime_s",
    "top_by_tottime",
    "problems",
    "stats",
    "step_duration_us",
    "gaps",
    "start_us",
    "end_us",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """A good job with copies, a gap and steps, a damaged one, one with nothing to read, and an unprofiled one."""
    source = tmp_path_factory.mktemp("inspected") / "my jobs"
    files = trees.metrics_files(
        trees.machine("algo-1", ticks=120, skip=range(40, 60)) + trees.machine("algo-2", ticks=120, gpus=0)
    )
    first = sorted(files)[0]
    files[first.replace(".json", " (1).json")] = files[first]
    files |= trees.step_files([trees.StepRecord(at, trees.START_US + at * 10**6, 300_000 + at) for at in range(40)])
    files |= {f"profiler-output/{part}/training_job_end.ts": b"" for part in ("system", "framework")}
    trees.write(source / "good", files)
    damaged = trees.metrics_files(trees.machine(ticks=4))
    trees.write(source / "damaged", {path: content + b"}{\n" for path, content in damaged.items()})
    trees.write(source / "nothing", {trees.metrics_path(trees.START_US, "algo-1"): b"}{\n"})
    (source / "dark/debug-output").mkdir(parents=True)
    found = inspect(str(source), source.with_name("store"))
    assert readable(found)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return source, {job["job"]: job for job in found["jobs"]}


def test_every_job_has_every_word(report: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    _, jobs = report
    assert list(jobs) == ["damaged", "dark", "good", "nothing"]
    assert all(job.keys() == WORDS for job in jobs.values())
    assert {name: job["outcome"] for name, job in jobs.items()} == {
        "damaged": "partial",
        "dark": "error",
        "good": "ok",
        "nothing": "error",
    }
    assert all(job["outcome"] in OUTCOMES for job in jobs.values())


def test_the_numbers_of_a_good_job(report: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    source, jobs = report
    job = jobs["good"]
    rows = oracle.system_rows(source / "good")
    distinct, steps = oracle.distinct(rows), oracle.steps(source / "good")
    assert job["system_rows"] == len(distinct)
    assert job["duplicate_rows_dropped"] == len(rows) - len(distinct)
    assert job["nodes"] == ["algo-1", "algo-2"]
    assert (job["status"], job["ended"], job["events"]) == ("Completed", True, len(steps))
    assert job["start_us"] == min(distinct[0].time_us, steps[0].start_us)
    assert job["end_us"] == max(distinct[-1].time_us, max(step.start_us + step.duration_us for step in steps))
    expected = {
        (node, name, dimension): [row.value for row in distinct if row.series == (node, kind, name, dimension)]
        for node, kind, name, dimension in {row.series for row in distinct}
    }
    assert job["series"] == len(expected) == len(job["stats"])
    for one in job["stats"]:
        values = expected[one["node"], one["name"], one["dimension"]]
        assert (one["count"], one["min"], one["max"]) == (len(values), min(values), max(values))
        assert one["mean"] == pytest.approx(math.fsum(values) / len(values))


def test_gaps_and_steps_of_a_good_job(report: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    source, jobs = report
    gaps = [(one["node"], one["from_s"], one["to_s"], one["spot"]) for one in jobs["good"]["gaps"]]
    expected = oracle.gaps(oracle.system_rows(source / "good"))
    assert gaps == [(node, start / 1e6, end / 1e6, spot) for node, start, end, spot in expected]
    durations = np.array([step.duration_us for step in oracle.steps(source / "good")])
    found = jobs["good"]["step_duration_us"]
    assert (found["count"], found["min"], found["max"]) == (40, durations.min(), durations.max())
    assert found["mean"] == pytest.approx(durations.mean())
    assert [found["p50"], found["p95"], found["p99"]] == pytest.approx(np.quantile(durations, [0.5, 0.95, 0.99]))


def test_events_of_a_good_job(report: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    source, jobs = report
    job, steps = jobs["good"], oracle.steps(source / "good")
    total = sum(step.duration_us for step in steps)
    assert (job["events_valid"], job["invalid_events"], job["suspicious_events"], job["lost_events"]) == (40, 0, 0, 0)
    assert (job["steps"], job["step_numbers"], job["duration_sum_us"]) == (40, list(range(40)), total)
    assert job["by_phase"] == {"Step:ModeKeys.TRAIN": {"count": 40, "sum_us": total, "mean_us": total / 40}}
    assert (job["kernels"], job["kernel_dur_sum_us"], job["kernel_busy_us"]) == (0, None, None)
    assert (job["ranks"], job["by_rank"]) == ([], {})
    assert job["first_event_us"] == steps[0].start_us
    assert job["last_event_end_us"] == max(step.start_us + step.duration_us for step in steps)
    assert (jobs["nothing"]["events"], jobs["nothing"]["duration_sum_us"]) == (0, None)


def test_a_folder_of_traces(tmp_path: Path) -> None:
    """Two ranks; kernels overlap on one GPU, another one is busy meanwhile, and one event cannot be true."""
    kernel = {"ph": "X", "cat": "kernel", "pid": 0, "name": "k"}
    step = {"ph": "X", "cat": "user_annotation", "pid": 1, "name": "ProfilerStep#7"}
    events = [
        kernel | {"ts": trees.START_US + 10, "dur": 20, "args": {"device": 0}},
        kernel | {"ts": trees.START_US + 20, "dur": 30, "args": {"device": 0}},
        kernel | {"ts": trees.START_US + 25, "dur": 5.5, "args": {"device": 1}},
        step | {"ts": trees.START_US, "dur": 100},
        step | {"ts": trees.START_US, "dur": -1},
        step | {"ts": trees.START_US, "dur": 10**12},
    ]
    damaged = json.dumps({"traceEvents": [*events[:4], {}], "distributedInfo": {"rank": 3}}).replace("{}", '{"ph" "X"}')
    trees.write(
        tmp_path / "run", {"rank0.pt.trace.json": json.dumps(events).encode(), "b.trace.json": damaged.encode()}
    )
    (job,) = inspect(str(tmp_path / "run"), tmp_path / "store")["jobs"]
    assert (job["outcome"], job["events"], job["invalid_events"], job["suspicious_events"]) == ("partial", 9, 1, 1)
    assert (job["events_valid"], job["lost_events"]) == (8, 1)
    assert (job["kernels"], job["kernel_dur_sum_us"], job["kernel_busy_us"]) == (6, 111.0, 91.0)
    assert (job["ranks"], job["by_rank"], job["nodes"]) == ([0, 3], {"0": 4, "3": 4}, ["rank0", "rank3"])
    assert (job["steps"], job["step_numbers"]) == (1, [7])
    assert job["duration_sum_us"] == 311.0
    assert job["by_phase"]["kernel"] == {"count": 6, "sum_us": 111.0, "mean_us": 18.5}
    assert (job["first_event_us"], job["last_event_end_us"]) == (trees.START_US, trees.START_US + 100)


def test_problems_name_files_from_the_folder_around_the_source(
    report: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    _, jobs = report
    file = f"my jobs/damaged/{trees.metrics_path(trees.START_US, 'algo-1')}"
    (problem,) = jobs["damaged"]["problems"]
    assert (problem["file"], problem["line"], problem["lost_rows"]) == (file, 4 * 13 + 1, 1)
    (problem,) = jobs["dark"]["problems"]
    assert (problem["file"], problem["line"], problem["severity"]) == ("my jobs/dark", None, "error")
    assert jobs["nothing"]["system_rows"] == 0
    assert jobs["nothing"]["problems"]
    assert jobs["nothing"]["start_us"] is None


def test_a_source_where_nothing_could_be_read(report: tuple[Path, dict[str, dict[str, Any]]], tmp_path: Path) -> None:
    source, _ = report
    assert not readable(inspect(str(source / "nothing"), tmp_path / "store"))


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_source_without_a_job_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError) as caught:
        inspect(str(tmp_path / name), tmp_path / "store")
    assert name in caught.value.message
    assert caught.value.hint
