"""The story of the demo jobs as the original's rules tell it: figures of the published run, in both modes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from app.judgement import Choice, findings
from data.frames.findings import COMPAT, FIXED, Finding, Mode
from data.insights.rule import ORIGINAL
from data.queries import evidence, jobs
from data.selection import Selection
from data.sources import open_source
from data.store import Store
from tests.conftest import Demo

A, B, CPU_ONLY = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512", "pt-tabular-cpu"

Judged = Callable[[str, Mode], dict[str, Finding]]


@pytest.fixture(scope="module")
def judged(demo: Demo) -> Judged:
    """Findings of a demo job by rule, of the original's rules."""
    store = Store(demo.store, [open_source(str(demo.source))])

    def run(name: str, mode: Mode) -> dict[str, Finding]:
        found = store.fetch(findings, Selection(demo.job_ids[name]), Choice(mode))
        return {one.rule: one for one in found.findings if one.origin == ORIGINAL}

    return run


def issues(found: dict[str, Finding]) -> set[str]:
    return {rule for rule, one in found.items() if one.outcome.state == "issue"}


def test_compat_finds_in_a_what_the_published_report_found(judged: Judged) -> None:
    found = judged(A, COMPAT)
    assert issues(found) == {"LowGPUUtilization", "BatchSize", "CPUBottleneck"}
    assert {rule for rule, one in found.items() if one.outcome.triggered} == issues(found)
    published = {
        "LowGPUUtilization": 1001,
        "BatchSize": 1000,
        "CPUBottleneck": 3019,
        "IOBottleneck": 3019,
        "LoadBalancing": 1001,
        "GPUMemoryIncrease": 1001,
    }
    assert {rule: found[rule].outcome.points for rule in published} == published
    assert found["LowGPUUtilization"].outcome.triggered == 8


@pytest.mark.parametrize("mode", [COMPAT, FIXED])
def test_bottlenecks_of_a(judged: Judged, mode: Mode) -> None:
    """2,129 of 3,019, 70.52 %; 3,000 with a low GPU."""
    outcome = judged(A, mode)["CPUBottleneck"].outcome
    assert (outcome.violations, outcome.points) == (2129, 3019)
    shares = {one.name: one.value for one in outcome.figures}
    if mode == COMPAT:
        assert round(shares["bottlenecks"], 2) == 70.52
        assert shares["points with a low GPU"] == 3000
    else:
        assert round(shares["ticks that are bottlenecks"], 2) == 70.52
        assert round(shares["ticks with a low GPU"], 2) == 99.37
    assert "70.52 %" in outcome.text


def test_fixed_finds_in_a_also_that_the_work_is_shared_badly(judged: Judged) -> None:
    found = judged(A, FIXED)
    assert issues(found) == {"LowGPUUtilization", "BatchSize", "CPUBottleneck", "LoadBalancing"}
    text = found["LoadBalancing"].outcome.text
    assert "Not used at all: algo-1 gpu3, algo-2 gpu3, algo-3 gpu3." in text
    named = {(place.node, place.device) for place in found["LoadBalancing"].outcome.places}
    assert named == {("algo-1", "gpu3"), ("algo-3", "gpu3")}  # algo-2 has 998 samples of its GPUs
    # Of each node with more than 1,000 samples, four GPUs; of those with room for a larger batch, gpu3 has no batch.
    assert found["LowGPUUtilization"].outcome.violations == 8
    assert found["BatchSize"].outcome.violations == 6


def test_compat_finds_nothing_in_b(judged: Judged) -> None:
    found = judged(B, COMPAT)
    assert issues(found) == set()
    assert sum(one.outcome.triggered for one in found.values()) == 0
    assert (found["CPUBottleneck"].outcome.points, found["LowGPUUtilization"].outcome.points) == (1998, 994)


def test_fixed_says_of_b_what_it_cannot_tell(judged: Judged) -> None:
    found = judged(B, FIXED)
    assert issues(found) == set()
    states = {rule: one.outcome.state for rule, one in found.items()}
    for rule in ("LowGPUUtilization", "BatchSize", "GPUMemoryIncrease"):
        assert states[rule] == "not enough data", rule
    for rule in ("CPUBottleneck", "IOBottleneck"):
        assert (states[rule], found[rule].outcome.points) == ("no issue", 1998), rule
    assert states["LoadBalancing"] == "n/a"  # one GPU a node: nothing to compare


def test_a_job_without_gpus_has_nothing_to_judge(judged: Judged) -> None:
    found = judged(CPU_ONLY, FIXED)
    for rule in (
        "LowGPUUtilization",
        "BatchSize",
        "GPUMemoryIncrease",
        "CPUBottleneck",
        "IOBottleneck",
        "LoadBalancing",
    ):
        assert found[rule].outcome.state == "n/a", rule


def test_no_rule_wastes_more_than_the_gpus_left_unused(demo: Demo, judged: Judged) -> None:
    """A sample stands for about half a second."""
    store = Store(demo.store, [open_source(str(demo.source))])
    nodes = store.fetch(evidence.ticks, Selection(demo.job_ids[A])).nodes
    unused_s = sum(float(np.nansum(100 - node.gpu)) for node in nodes) / 100 * 0.5
    found = {rule: one.outcome.wasted_gpu_s for rule, one in judged(A, FIXED).items() if one.outcome.state == "issue"}
    assert {rule for rule, wasted in found.items() if not 0 < (wasted or 0) < unused_s * 1.01} == set()


@pytest.mark.parametrize("mode", [COMPAT, FIXED])
def test_every_place_lies_within_its_job(demo: Demo, mode: Mode) -> None:
    store = Store(demo.store, [open_source(str(demo.source))])
    for job_id in demo.job_ids.values():
        header = store.fetch(jobs.header, Selection(job_id))
        for one in store.fetch(findings, Selection(job_id), Choice(mode)).findings:
            windows = [place.window for place in one.outcome.places if place.window]
            second = 1_000_000_000
            assert all(header.start_ns - second <= a < b <= header.end_ns + second for a, b in windows), one.rule
