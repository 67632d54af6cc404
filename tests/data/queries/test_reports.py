"""The original's reports of a job: where they are found, which of several counts, and how they keep up with files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from data.errors import SourceError
from data.frames.original import OriginalReports
from data.queries import reports
from data.selection import Selection
from data.sources import FileKind, open_source
from data.store import Store
from tests import trees
from tests.conftest import Demo
from tests.stored import convert, only_job, write_job

FOLDER = "rule-output/ProfilerReport-{}/profiler-output/profiler-reports"
RUN_A = "tf-hvd-resnet50-cifar10-256"
PUBLISHED = {
    "LowGPUUtilization": (8, 1001),
    "BatchSize": (4, 1000),
    "CPUBottleneck": (4, 3019),
    "MaxInitializationTime": (0, 8832),
    "LoadBalancing": (0, 1001),
    "StepOutlier": (0, 8832),
    "Dataloader": (0, 0),
    "IOBottleneck": (0, 3019),
    "GPUMemoryIncrease": (0, 1001),
}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A small job without reports."""
    folder = tmp_path / "job"
    write_job(folder, trees.machine("algo-1", ticks=5, cores=1, gpus=1))
    return folder


def put(job: Path, folder: str, rule: str, triggered: object = 1, modified_s: int = 1_607_000_000, **more: Any) -> Path:
    path = job / folder / f"{rule}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"RuleTriggered": triggered, **more}))
    os.utime(path, ns=(modified_s * 10**9, modified_s * 10**9))
    return path


def original(job: Path) -> OriginalReports:
    stored = convert(job, job.parent / "store")
    return stored.store().fetch(reports.original, Selection(stored.job_id))


def triggered(job: Path) -> dict[str, int | None]:
    return {one.rule: one.triggered for one in original(job).reports}


def test_the_first_demo_run_has_the_published_figures_and_the_others_have_none(demo: Demo) -> None:
    store = Store(demo.store, [open_source(str(demo.source))])
    found = store.fetch(reports.original, Selection(demo.job_ids[RUN_A]))
    assert {one.rule: (one.triggered, one.datapoints) for one in found.reports} == PUBLISHED
    bottleneck = next(one for one in found.reports if one.rule == "CPUBottleneck")
    assert bottleneck.violations == 2129
    assert bottleneck.parameters[:2] == (("threshold", "50"), ("cpu_threshold", "90"))
    assert json.loads(bottleneck.details) == {"low_gpu_utilization": 3000}
    for name, job_id in demo.job_ids.items():
        if name != RUN_A:
            assert store.fetch(reports.original, Selection(job_id)) == OriginalReports((), 0)


def test_a_demo_report_says_that_it_is_made_up(demo: Demo) -> None:
    for path in (demo.source / RUN_A).rglob("profiler-reports/*.json"):
        assert "Made up by the generator" in json.loads(path.read_text())["Note"]


@pytest.mark.parametrize(
    "folder",
    [
        FOLDER.format(1),
        "ProfilerReport-1/profiler-output/profiler-reports",
        "ProfilerReport/profiler-reports",
        "rule-output/profiler-output/profiler-reports",
        "rule-output/profiler-reports",
        "profiler-reports",
        "profiler-output/profiler-reports",
    ],
)
def test_places_where_reports_are_found(job: Path, folder: str) -> None:
    path = put(job, folder, "BatchSize", 7)
    (found,) = original(job).reports
    assert (found.rule, found.triggered, found.path) == ("BatchSize", 7, path.relative_to(job).as_posix())
    assert found.modified_ns == 1_607_000_000 * 10**9


def test_a_job_whose_folder_is_the_profiler_output(tmp_path: Path) -> None:
    write_job(tmp_path / "made", trees.machine("algo-1", ticks=5, cores=1))
    job = tmp_path / "job"
    (tmp_path / "made" / "profiler-output").rename(job)
    put(job, FOLDER.format(1), "BatchSize", 7)
    assert triggered(job) == {"BatchSize": 7}


def test_files_that_are_no_reports_are_left_alone(job: Path, tmp_path: Path) -> None:
    put(job, FOLDER.format(1), "BatchSize")
    folder = job / FOLDER.format(1)
    for name in ("profiler-report.html", "profiler-report.ipynb", "<b>.json", "a.json.gz", "0.json", "x/Deep.json",
                 "system/1767268800.algo-9.json"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"RuleTriggered": 1}')
    (folder.parent / "profiler-report.html").write_text("<script>")
    outside = put(tmp_path, "elsewhere", "StepOutlier")
    (folder / "StepOutlier.json").symlink_to(outside)
    (job / "rule-output" / "ProfilerReport-2").symlink_to(tmp_path / "elsewhere")
    assert triggered(job) == {"BatchSize": 1}
    kinds = [file.kind for file in only_job(job).files() if "rule-output" in file.path and file.kind != "other"]
    assert kinds == [FileKind.ORIGINAL_REPORT]


def test_the_newest_report_of_each_rule_counts(job: Path) -> None:
    put(job, FOLDER.format(1), "BatchSize", 1, 1_607_000_300)
    put(job, FOLDER.format(2), "BatchSize", 2, 1_607_000_100)
    put(job, FOLDER.format(2), "StepOutlier", 2, 1_607_000_100)
    put(job, FOLDER.format(10), "BatchSize", 10, 1_607_000_200)
    found = original(job)
    assert [(one.rule, one.triggered) for one in found.reports] == [("BatchSize", 1), ("StepOutlier", 2)]
    assert found.older == 2


def test_of_two_of_the_same_age_the_one_in_the_last_folder_counts(job: Path) -> None:
    for number in (9, 10):
        put(job, FOLDER.format(number), "BatchSize", number)
    assert triggered(job) == {"BatchSize": 10}


def test_damage_is_named_and_leaves_the_rest(job: Path) -> None:
    put(job, FOLDER.format(1), "BatchSize")
    put(job, FOLDER.format(1), "StepOutlier", "many", Violations=3)
    (job / FOLDER.format(1) / "Dataloader.json").write_text('{"RuleTriggered": 1, "Vio')
    stored = convert(job, job.parent / "store")
    found = stored.store().fetch(reports.original, Selection(stored.job_id))
    assert [(one.rule, one.triggered, one.violations) for one in found.reports] == [
        ("BatchSize", 1, None),
        ("StepOutlier", None, 3),
    ]
    assert [(row["message"], row["lost_rows"]) for row in stored.table("problems")] == [
        ("Dataloader.json is not valid JSON", 1),
        ("StepOutlier.json: RuleTriggered is no count", 0),
    ]
    assert (stored.manifest.lost_rows, stored.manifest.reports) == (1, 2)


def test_reports_keep_up_with_their_files(job: Path) -> None:
    assert original(job) == OriginalReports((), 0)
    put(job, FOLDER.format(1), "BatchSize", 1)
    gone = put(job, FOLDER.format(1), "StepOutlier", 1)
    assert triggered(job) == {"BatchSize": 1, "StepOutlier": 1}
    gone.unlink()
    put(job, FOLDER.format(1), "BatchSize", 12, 1_607_000_001)
    (job / FOLDER.format(1) / "Dataloader.json").write_text("damaged")
    assert triggered(job) == {"BatchSize": 12}
    put(job, FOLDER.format(1), "Dataloader", 3, 1_607_000_002)
    stored = convert(job, job.parent / "store")
    assert stored.manifest.problems == 0
    fresh = convert(job, job.parent / "fresh")
    assert stored.table("reports") == fresh.table("reports")
    assert {row["rule"]: row["triggered"] for row in stored.table("reports")} == {"BatchSize": 12, "Dataloader": 3}


def test_reports_alone_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "job" / "profiler-output").mkdir(parents=True)
    put(tmp_path / "job", FOLDER.format(1), "BatchSize")
    with pytest.raises(SourceError):
        convert(tmp_path / "job", tmp_path / "store")
