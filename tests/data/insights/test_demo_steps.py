"""Steps, waits and summaries of the demo jobs, against the raw files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np
import pytest

from app.judgement import Choice, findings
from data.frames.findings import COMPAT, FIXED, Mode, Outcome
from data.queries import shares, system
from data.selection import Selection
from data.sources import open_source
from data.store import Store
from tests.conftest import Demo
from tests.data.demo import recount

A, B, CPU_ONLY = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512", "pt-tabular-cpu"

Judged = Callable[[str, Mode], dict[str, Outcome]]


@pytest.fixture(scope="module")
def store(demo: Demo) -> Store:
    return Store(demo.store, [open_source(str(demo.source))])


@pytest.fixture(scope="module")
def judged(demo: Demo, store: Store) -> Judged:
    def run(name: str, mode: Mode) -> dict[str, Outcome]:
        found = store.fetch(findings, Selection(demo.job_ids[name]), Choice(mode))
        return {one.rule: one.outcome for one in found.findings}

    return run


@pytest.fixture(scope="module")
def processes(demo: Demo) -> dict[str, list[list[recount.Step]]]:
    """The steps of each process of A and B from the raw files, in order."""
    found = {}
    for name in (A, B):
        steps = defaultdict(list)
        for step in recount.steps(demo.source / name):
            steps[step.node, step.worker].append(step)
        found[name] = [sorted(many, key=lambda step: step.start_us) for many in steps.values()]
    return found


@pytest.mark.parametrize("name", [A, B])
@pytest.mark.parametrize("mode", [COMPAT, FIXED])
def test_steps_are_all_looked_at_and_none_is_an_issue(
    judged: Judged, processes: dict[str, list[list[recount.Step]]], name: str, mode: Mode
) -> None:
    outcomes = judged(name, mode)
    counts = sum(len(steps) for steps in processes[name])
    assert counts == {A: 188 * 9, B: 244 * 2}[name]
    for rule in ("StepOutlier", "MaxInitializationTime"):
        assert (outcomes[rule].state, outcomes[rule].triggered, outcomes[rule].points) == ("no issue", 0, counts)
    outliers = {row[1:3]: row[4] for row in outcomes["StepOutlier"].tables[0].rows}
    assert outliers == {
        (steps[0].node, steps[0].worker): len(recount.outliers([step.duration_us / 1e6 for step in steps]))
        for steps in processes[name]
    }


def test_no_data_loader_is_known_of_in_tensorflow(judged: Judged) -> None:
    for name in (A, B):
        assert judged(name, FIXED)["Dataloader"].state == "n/a"
        compat = judged(name, COMPAT)["Dataloader"]
        assert (compat.state, compat.points, compat.triggered) == ("no issue", 0, 0)


def test_summaries_have_the_figures_of_overview(demo: Demo, store: Store, judged: Judged) -> None:
    for name in (A, B, CPU_ONLY):
        selection, found = Selection(demo.job_ids[name]), judged(name, FIXED)
        usage = store.fetch(system.usage_summary, selection)
        rows = found["OverallSystemUsage"].tables[0].rows
        assert [list(row) for row in rows] == usage[list(usage.columns)].to_numpy().tolist()
        framework = store.fetch(shares.framework, selection)
        percents = {row[2] for row in found["OverallFrameworkMetrics"].tables[0].rows}
        assert {one.percent for one in (*framework.sides, *framework.general, *framework.steps)} <= percents


def test_the_original_s_summary_of_a_from_the_raw_records(demo: Demo, judged: Judged) -> None:
    """All nodes are alike: the divisor over all nodes is right for each, and devices share their times."""
    rows, _ = recount.records(demo.source / A)
    found = {row[:2]: row[2:] for row in judged(A, COMPAT)["OverallSystemUsage"].tables[0].rows}
    for metric, dimension in (("CPU", recount.CPU), ("GPU", recount.GPU), ("I/O", recount.IO_WAIT)):
        for node, times in recount.by_tick(rows, dimension).items():
            means = [float(np.mean(values)) for values in times.values()]
            expected = [round(float(np.quantile(means, q)), 2) for q in (1, 0.99, 0.95, 0.5, 0)]
            assert found[metric, node] == pytest.approx(expected, abs=0.011)
    assert {metric for metric, _ in found} == {"Network", "GPU", "CPU", "CPU memory", "GPU memory", "I/O"}


@pytest.mark.parametrize("name", [A, B])
def test_gaps_between_steps(judged: Judged, processes: dict[str, list[list[recount.Step]]], name: str) -> None:
    gap_us = span_us = large = 0
    for steps in processes[name]:
        gaps = [after.start_us - before.end_us for before, after in pairwise(steps)]
        typical = median(step.duration_us for step in steps)
        gap_us, span_us = gap_us + sum(gaps), span_us + steps[-1].end_us - steps[0].start_us
        large += sum(gap > typical for gap in gaps)
    found = judged(name, FIXED)["StepGap"]
    figures = {one.name: one.value for one in found.figures}
    assert (found.state, found.violations) == ("issue", large)
    assert figures["time between steps"] == pytest.approx(100 * gap_us / span_us)


@pytest.mark.parametrize("name", [A, B])
def test_large_gaps_come_regularly(judged: Judged, processes: dict[str, list[list[recount.Step]]], name: str) -> None:
    found = judged(name, FIXED)["PeriodicStall"]
    figures = {one.name: one.value for one in found.figures}
    after = []
    for steps in processes[name]:
        typical = median(step.duration_us for step in steps)
        at = [n for n, (one, next_one) in enumerate(pairwise(steps)) if next_one.start_us - one.end_us > typical]
        after += [b - a for a, b in pairwise(at)]
    assert max(after) - min(after) <= 2
    assert (found.state, found.triggered) == ("issue", len(processes[name]))
    assert figures["period"] == pytest.approx(median(after), abs=1)
    assert figures["distances that are the period"] == 100


@pytest.mark.parametrize("name", [A, B])
def test_gpus_idle_before_the_first_step(demo: Demo, judged: Judged, name: str) -> None:
    rows, _ = recount.records(demo.source / name)
    first_s = min(step.start_us for step in recount.steps(demo.source / name)) / 1e6
    ticks = [
        (at, max(values), len(values))
        for times in recount.by_tick(rows, recount.GPU).values()
        for at, values in times.items()
    ]
    idle_s = 0.5 * sum(gpus for at, highest, gpus in ticks if at < first_s and highest == 0)
    figures = {one.name: one.value for one in judged(name, FIXED)["HeldIdle"].figures}
    assert figures["idle before the first step"] * 3600 == pytest.approx(idle_s, rel=0.01)
