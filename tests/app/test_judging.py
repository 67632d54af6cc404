"""Judging outside the server: three numbers beside each job, kept after a conversion and anew under other rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.judgement import Choice
from app.judging import Judge, summary_of
from app.settings import load
from data.frames.findings import Outcome
from data.issues import ISSUES, read_issues
from data.queries import jobs
from data.store import Store
from tests import frames
from tests.conftest import Demo

JOB = "tf-hvd-resnet50-cifar10-256"


def issue(severity, wasted=None):
    return frames.finding(severity, severity=severity, outcome=Outcome("issue", "", wasted_gpu_s=wasted))


def test_the_summary_counts_issues_and_takes_the_largest_waste() -> None:
    quiet = frames.finding("Q", severity="", outcome=Outcome("no issue", "", wasted_gpu_s=99.0))
    found = summary_of(frames.findings(issue("low", 5.0), issue("medium", 30.0), quiet, issue("low")), "v", "e")
    assert (found.issues, found.worst, found.wasted_gpu_s) == (3, "medium", 30.0)


def test_without_issues_nothing_is_wasted_and_without_gpus_nobody_can_tell() -> None:
    quiet = frames.finding("Q", severity="", outcome=Outcome("no issue", ""))
    assert summary_of(frames.findings(quiet), "v", "e").wasted_gpu_s == 0.0
    assert summary_of(frames.findings(quiet, gpu_s=None), "v", "e").wasted_gpu_s is None
    assert summary_of(frames.findings(issue("low")), "v", "e").wasted_gpu_s is None


def test_a_conversion_leaves_the_summary_and_the_list_shows_it(demo: Demo) -> None:
    store = Store(demo.store)
    job_id = demo.job_ids[JOB]
    kept = read_issues(demo.store, job_id, store.version(job_id))
    assert kept is not None
    found = Judge(load(store=demo.store)).findings(job_id, Choice())
    assert kept.issues == len(found.issues)
    assert kept.worst == "high"
    rows = store.fetch(jobs.job_list, "", (("issues", "desc"),), 0, 9).rows.set_index("job_id")
    assert rows.loc[job_id, "issues"] == kept.issues
    assert rows.loc[job_id, "wasted_gpu_hours"] == pytest.approx((kept.wasted_gpu_s or 0) / 3600)
    ranks = [("", "low", "medium", "high").index(worst) for worst in rows["worst"]]
    assert ranks == sorted(ranks, reverse=True)
    high = store.fetch(jobs.job_list, "", (), 0, 9, shown="high").rows
    assert set(high["job_id"]) == set(rows.index[rows["worst"] == "high"])
    some = store.fetch(jobs.job_list, "", (), 0, 9, shown="issues")
    assert some.total == int((rows["issues"] > 0).sum())


def test_it_is_judged_once_and_again_when_the_thresholds_change(demo: Demo, tmp_path: Path, monkeypatch) -> None:
    import shutil

    root = tmp_path / "store"
    job_id = demo.job_ids["pt-tabular-cpu"]
    shutil.copytree(demo.store / "jobs" / job_id, root / "jobs" / job_id)
    (root / "jobs" / job_id / ISSUES).unlink()
    judge = Judge(load(store=root))
    asked = []
    findings = judge.findings
    monkeypatch.setattr(judge, "findings", lambda *given: asked.append(given) or findings(*given))
    judge.keep(job_id)
    judge.keep(job_id)
    assert len(asked) == 1
    profile = tmp_path / "p.toml"
    profile.write_text("[CPUBottleneck]\nthreshold = 40\n")
    other = Judge(load(store=root, profile=profile))
    other.keep(job_id)
    kept = read_issues(root, job_id, other.store.version(job_id))
    assert kept is not None
    assert "threshold" in kept.edition


def test_a_job_that_cannot_be_judged_is_no_failure(tmp_path: Path) -> None:
    judge = Judge(load(store=tmp_path / "store"))
    judge.keep("nobody")
    (tmp_path / "store" / "jobs" / "empty").mkdir()
    judge.keep("empty")
    assert read_issues(tmp_path / "store", "empty", "") is None
