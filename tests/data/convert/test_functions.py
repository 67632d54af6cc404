"""Python profiles in the store: what is written, what of it stays when files change, and jobs of nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from data.convert import functions
from data.readers.functions import LAST_STEP
from data.sources import SourceFile
from tests import trees
from tests.data.convert.test_incremental import Job, assert_like_from_scratch, everything
from tests.stored import convert

US = trees.START_US
STEP = ("train.py", 10, "step")
SLEEP = ("~", 0, "<built-in method time.sleep>")


def stats(own_s: float, calls: int = 3) -> trees.FunctionStats:
    return {SLEEP: (calls, calls, own_s, own_s, {STEP: (1, 1, own_s, own_s)}), STEP: (1, 2, own_s / 4, own_s, {})}


def step_path(step: int, node_id: str = "81-algo-1") -> str:
    start_us = US + step * 1_000_000
    return trees.profile_path(f"train-{step}-stepstart", start_us, f"train-{step}-stepend", start_us + 900_000, node_id)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Two steps on two nodes, and what came before the first step."""
    job = Job(tmp_path / "source" / "job")
    for node in ("81-algo-1", "82-algo-2"):
        for step in (9, 10):
            job.write(step_path(step, node), trees.profile_file(stats(step / 8)))
    before = trees.profile_path("prestepzero-*-start", US, "train-0-stepstart", US + 500_000)
    job.write(before, trees.profile_file(stats(2.0)))
    return job


def test_a_job_of_python_profiles_alone_is_a_job_with_data(job: Job, tmp_path: Path) -> None:
    found = convert(job.folder, tmp_path / "store")
    assert found.manifest.has_data
    assert (found.manifest.functions, found.manifest.function_nodes) == (10, ("algo-1", "algo-2"))
    assert found.manifest.function_phases == ("initialization", "training_loop")
    assert (found.manifest.start_ns, found.manifest.end_ns) == (US * 1000, (US + 10_900_000) * 1000)
    assert found.manifest.problems == 0


def test_rows_are_the_functions_with_their_intervals(job: Job, tmp_path: Path) -> None:
    rows = convert(job.folder, tmp_path / "store").table("functions")
    first = rows[0]
    del first["file"]
    assert first == {
        "profiler": "cprofile",
        "node": "algo-1",
        "worker": "81",
        "job_phase": "initialization",
        "start_mode": "prestepzero",
        "start_step": -1,
        "start_phase": "start",
        "start_ns": US * 1000,
        "end_mode": "train",
        "end_step": 0,
        "end_phase": "stepstart",
        "end_ns": (US + 500_000) * 1000,
        "code_file": "~",
        "line": 0,
        "function": "<built-in method time.sleep>",
        "ncalls": 3,
        "pcalls": 3,
        "tottime_ns": 2_000_000_000,
        "cumtime_ns": 2_000_000_000,
    }
    assert (rows[1]["function"], rows[1]["ncalls"], rows[1]["pcalls"]) == ("step", 2, 1)
    assert [row["rows"] for row in convert(job.folder, tmp_path / "store").table("files")] == [2] * 5


@pytest.mark.parametrize(
    ("start", "end", "phase"),
    [
        ("prestepzero-*-start", "train-0-stepstart", "initialization"),
        ("train-5-stepend", "posthookclose-*-end", "finalization"),
        ("train-5-stepstart", "eval-0-stepend", "training_loop"),
        ("global-5-forwardpassend", "global-5-stepend", "training_loop"),
    ],
)
def test_parts_of_the_training(start: str, end: str, phase: str, tmp_path: Path) -> None:
    job = Job(tmp_path / "source" / "job")
    job.write(trees.profile_path(start, US, end, US + 10), trees.profile_file(stats(1.0)))
    rows = convert(job.folder, tmp_path / "store").table("functions")
    assert {row["job_phase"] for row in rows} == {phase}
    assert {row["end_step"] for row in rows} <= {0, 5, LAST_STEP}


def test_a_tree_of_pyinstrument_has_no_calls(tmp_path: Path) -> None:
    root = {"function": "main", "file_path": "/a.py", "line_no": 3, "time": 1.5, "children": []}
    job = Job(tmp_path / "source" / "job")
    path = step_path(9).replace("cprofile", "pyinstrument")
    job.write(f"{path}.json", json.dumps({"root_frame": root}).encode())
    job.write(f"{path}.html", b"<script>alert(1)</script>")
    (row,) = convert(job.folder, tmp_path / "store").table("functions")
    assert (row["profiler"], row["function"], row["ncalls"], row["pcalls"]) == ("pyinstrument", "main", None, None)
    assert (row["tottime_ns"], row["cumtime_ns"]) == (1_500_000_000, 1_500_000_000)


def test_bad_profiles_beside_a_good_one(job: Job, tmp_path: Path) -> None:
    job.write(step_path(11), b"")
    job.write(step_path(12), trees.profile_file(stats(1.0))[:-9])
    found = convert(job.folder, tmp_path / "store")
    assert found.manifest.functions == 10
    problems = found.table("problems")
    assert [(one["file_path"], one["severity"], one["lost_rows"]) for one in problems] == [
        (step_path(11), "warning", 1),
        (step_path(12), "warning", 1),
    ]
    assert all(f"train-{step}-stepstart" in one["message"] for step, one in zip((11, 12), problems, strict=True))


def test_a_profile_that_cannot_be_opened_is_a_problem(job: Job, tmp_path: Path) -> None:
    with mock.patch.object(functions, "read", side_effect=OSError):
        found = convert(job.folder, tmp_path / "store")
    assert not found.manifest.has_data
    assert len(found.table("problems")) == 5


def test_unchanged_profiles_are_not_read_again(job: Job, tmp_path: Path) -> None:
    convert(job.folder, tmp_path / "store")
    seen: list[str] = []
    read = functions.read

    def noted(file: SourceFile, stream: Any) -> Any:
        seen.append(file.path)
        return read(file, stream)

    job.write(step_path(9), trees.profile_file(stats(7.0, calls=1)))
    job.write(step_path(8), trees.profile_file(stats(0.25)))
    job.remove(step_path(10))
    with mock.patch.object(functions, "read", noted):
        found = convert(job.folder, tmp_path / "store")
    assert sorted(seen) == sorted([step_path(8), step_path(9)])
    assert_functions_like_from_scratch(job, tmp_path, everything(found))


def test_damage_that_comes_and_goes(job: Job, tmp_path: Path) -> None:
    for content in (b"", trees.profile_file({}), trees.profile_file(stats(1.0)), b"text"):
        job.write(step_path(9), content)
        assert_functions_like_from_scratch(job, tmp_path, everything(convert(job.folder, tmp_path / "store")))


def test_profiles_that_come_to_a_job_with_metrics(job: Job, tmp_path: Path) -> None:
    for path, content in trees.metrics_files(trees.machine("algo-1", ticks=20)).items():
        job.write(path, content)
    convert(job.folder, tmp_path / "store")
    job.write(step_path(11), trees.profile_file(stats(0.5)))
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert found.manifest.functions == 12
    for path in job.paths("framework"):
        job.remove(path)
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert (found.manifest.functions, found.table("functions")) == (0, [])


def assert_functions_like_from_scratch(job: Job, tmp_path: Path, found: dict[str, Any]) -> None:
    scratch = tmp_path / f"scratch-{job.clock_ns}"
    assert found == everything(convert(job.folder, scratch))
