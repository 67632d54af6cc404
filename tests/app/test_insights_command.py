"""The command that judges jobs: what it prints, what it takes for thresholds, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import FailOn, cli
from tests.conftest import Demo

JOB = "tf-hvd-resnet50-cifar10-256"


@pytest.fixture
def run(demo: Demo):
    def insights(*arguments: str, job: str = JOB):
        named = ["--job", job] if job else []
        return CliRunner().invoke(cli, ["insights", str(demo.source), "--store", str(demo.store), *named, *arguments])

    return insights


def findings(result) -> dict[str, dict]:
    (job,) = json.loads(result.stdout)["jobs"]
    return {one["rule"]: one for one in job["insights"]["findings"]}


def test_people_get_a_table_and_a_paragraph_for_each_issue(run) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "CPUBottleneck ▲ Issue, high 3,019" in words
    assert "In 2,129 of 3,019 ticks of nodes (70.52 %)" in words
    assert "at $3.672 per GPU-hour." in words
    assert "> " in words


def test_machines_get_the_keys_of_a_report(run) -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    found = findings(result)
    assert found["CPUBottleneck"]["state"] == "issue"
    assert found["CPUBottleneck"]["points"] == 3019
    assert found["CPUBottleneck"]["wasted_usd"] == pytest.approx(found["CPUBottleneck"]["wasted_gpu_h"] * 3.672)
    assert {one["name"]: one["value"] for one in found["LowGPUUtilization"]["parameters"]}["window"] == 500


def test_all_jobs_are_judged_where_none_is_named(run) -> None:
    jobs = json.loads(run("--json", job="").stdout)["jobs"]
    assert len(jobs) == 4
    assert all(job["error"] == "" and job["insights"]["findings"] for job in jobs)


def test_thresholds_come_from_a_profile_and_flags_win(run, tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text("mode = 'compat'\n[LowGPUUtilization]\nwindow = 300\npatience = 900\n[Nobody]\nx = 1\n")
    result = run("--json", "--profile", str(profile), "--set", "LowGPUUtilization.window=250")
    values = {one["name"]: one["value"] for one in findings(result)["LowGPUUtilization"]["parameters"]}
    assert (values["window"], values["patience"]) == (250, 900)
    assert json.loads(result.stdout)["jobs"][0]["insights"]["mode"] == "compat"
    assert "Nobody.x = 1 is not used: there is no rule Nobody." in result.stderr
    fixed = run("--json", "--profile", str(profile), "--mode", "fixed")
    assert json.loads(fixed.stdout)["jobs"][0]["insights"]["mode"] == "fixed"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--set", "LowGPUUtilization.window=0"),
        ("--set", "Nobody.x=1"),
        ("--set", "window"),
        ("--mode", "exact"),
        ("--fail-on", "low"),
    ],
)
def test_a_flag_that_cannot_be_used_is_wrong_usage(run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_job_or_profile_that_is_not_there_is_a_failure(run, tmp_path: Path) -> None:
    gone = run(job="nothing")
    assert gone.exit_code == 1
    assert JOB in gone.stderr
    assert run("--profile", str(tmp_path / "gone.toml")).exit_code == 1


def test_a_check_fails_by_the_weight_of_the_worst_issue(run) -> None:
    """The demo job with the larger batch has high issues; without GPUs judged, only what is left counts."""
    assert run("--fail-on", "high").exit_code == 3
    assert run("--fail-on", "issue", "--json").exit_code == 3
    assert [one.least for one in FailOn] == [1, 2, 3]
    calm = ["--mode", "compat", "--set", "CPUBottleneck.threshold=100", "--set", "LowGPUUtilization.patience=100000"]
    worst = {one["severity"] for one in findings(run("--json", *calm)).values() if one["state"] == "issue"}
    assert "high" not in worst
    assert run("--fail-on", "high", *calm).exit_code == 0
