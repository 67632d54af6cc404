"""The command that compares two jobs: the demo's story, budgets and their exit status, and jobs that are not there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Demo

A, B = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512"


def run(demo: Demo, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "compare", *arguments, "--store", str(demo.store)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.fixture(scope="module")
def story(demo: Demo) -> dict[str, Any]:
    """The second run of the demo against the first, as the original's rules judge."""
    folders = (str(demo.source / A), str(demo.source / B))
    found = run(demo, *folders, "--format", "json", "--mode", "compat")
    assert found.returncode == 0, found.stderr
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def figure(story: dict[str, Any], key: str) -> tuple[float, float]:
    (found,) = [one for one in story["figures"] if one["key"] == key]
    return round(found["a"], 2), round(found["b"], 2)


def test_the_figures_of_the_story(story: dict[str, Any]) -> None:
    """The seed's figures: reference 4.14 and 6.3."""
    assert figure(story, "gpu_p95") == (13.5, 46.0)
    assert figure(story, "cpu_p95") == (24.4, 61.0)
    assert figure(story, "duration") == (503.0, 502.0)
    assert figure(story, "cost") == (6.16, 1.07)
    (cost,) = [one for one in story["figures"] if one["key"] == "cost"]
    assert cost["percent"] == pytest.approx(-82.6734, abs=1e-3)


def test_three_insights_are_fixed_and_none_is_new(story: dict[str, Any]) -> None:
    changes = {one["rule"]: one["change"] for one in story["findings"] if one["change"] != "no issue"}
    assert changes == dict.fromkeys(("LowGPUUtilization", "BatchSize", "CPUBottleneck"), "fixed")


def test_what_is_not_alike_is_named(story: dict[str, Any]) -> None:
    differing = [fact["name"] for fact in story["facts"] if not fact["same"]]
    assert differing == ["Instances", "Nodes", "GPUs", "Batch size"]


def test_in_fixed_mode_what_cannot_be_judged_is_not_called_fixed(demo: Demo) -> None:
    found = json.loads(run(demo, str(demo.source / A), str(demo.source / B), "--format", "json").stdout)
    changes = {one["rule"]: one["change"] for one in found["findings"]}
    assert changes["CPUBottleneck"] == "fixed"
    assert changes["LowGPUUtilization"] == changes["BatchSize"] == "cannot be judged in B"
    assert changes["LoadBalancing"] == "without object in B"
    assert "new" not in changes.values()


def test_a_broken_budget_is_exit_status_3_and_still_writes_the_comparison(demo: Demo, tmp_path: Path) -> None:
    out = tmp_path / "budget.xml"
    arguments = (str(demo.source / B), str(demo.source / A), "--format", "junit", "-o", str(out))
    assert run(demo, *arguments, "--fail-on", "cost>10%", "--fail-on", "step_time>90%").returncode == 3
    assert out.read_text().count("<failure") == 1
    assert run(demo, *arguments, "--fail-on", "step_time>90%").returncode == 0


@pytest.mark.parametrize(
    ("a", "b", "more", "words"),
    [
        ("nowhere", "nowhere", (), "There is no job 'nowhere'"),
        ("", "", (), "holds 4 jobs"),
        (A, B, ("--fail-on", "speed>1%"), "There is no budget"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_status_1(
    demo: Demo, a: str, b: str, more: tuple[str, ...], words: str
) -> None:
    found = run(demo, *(str(demo.source / one) if one != "nowhere" else one for one in (a, b)), *more)
    assert found.returncode == 1
    assert words in found.stderr
    assert "Traceback" not in found.stderr
