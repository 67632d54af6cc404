"""A report of the frames of `tests.frames`, open to any change; and one full of names that are markup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from data.frames.quality import PROBLEM_ROWS_COLUMNS, ProblemPage, ProblemRows
from data.frames.report import Absent, Basis
from data.insights.cost import job_cost
from data.insights.report import Report
from tests import frames, quality
from tests.data.insights import test_cost

MADE_NS = 1_796_000_000_123_456_789
HOSTILE = "</script><img src=x onerror=alert(1)>|`*_[x](javascript:alert(1))\u202e{{7*7}}@everyone =cmd()"
NONE = Absent("It was not recorded.", "Record it.")


def problem_page(*rows: tuple[str, str, int | None, str, int], total: int | None = None) -> ProblemPage:
    """Rows are severity, file, line, message and lost rows."""
    frame = pd.DataFrame(list(rows), columns=list(PROBLEM_ROWS_COLUMNS)).astype({"line": "Int64", "lost_rows": "Int64"})
    return ProblemPage(ProblemRows(frame), len(rows) if total is None else total)


def report(**changes: Any) -> Report:
    """Run A of the demo, of builders."""
    found = Report(
        header=frames.job_header(),
        times=frames.job_times(),
        basis=Basis(
            (("ml.p3.8xlarge", 3),), False, tuple((node, 4, 32) for node in frames.NODES), 3, (("batch_size", "256"),)
        ),
        usage=frames.usage_summary(),
        operators=frames.operators(),
        shares=frames.framework_shares(),
        functions=frames.function_totals(),
        findings=frames.findings(),
        cost=job_cost(test_cost.A, test_cost.PRICES, test_cost.INSTANCES),
        step_histogram=frames.step_histogram(),
        step_timeline=frames.step_timeline(),
        heatmap=frames.heatmap(bins=50),
        gpu_memory=frames.over_time("gpu_memory", [("algo-1", "gpu0"), ("algo-3", "gpu2")]),
        quality=quality.quality(),
        coverage=quality.coverage(),
        values=quality.values(),
        clocks=quality.clocks(),
        problems=problem_page(("warning", "system/1.algo-1.json", 7, "line 7 is cut short", 1), total=30),
        made_ns=MADE_NS,
        software="1.2.3",
    )  # fmt: skip
    return replace(found, **changes)


def bare_report() -> Report:
    """A job of which next to nothing is known."""
    return report(
        header=frames.job_header(
            nodes=(), gpus=0, cpus=0, instances="", framework="", phases=(), measured=False, wall_clock=False
        ),
        times=frames.job_times_without_steps(billed_s=None, training_s=None),
        basis=Basis((), None, (), 0, ()),
        coverage=quality.coverage(names=()),
        values=replace(quality.values(), measured=()),
        problems=problem_page(),
        **dict.fromkeys(
            (
                *("usage", "operators", "shares", "functions", "findings", "cost"),
                *("step_histogram", "step_timeline", "heatmap", "gpu_memory"),
            ),
            NONE,
        ),
    )


def hostile_report() -> Report:
    """Markup, formulas and links wherever a text comes from a file."""
    node = HOSTILE
    histogram = frames.step_histogram()
    timeline = frames.step_timeline()
    issue = frames.finding(
        title=HOSTILE,
        claim=HOSTILE,
        advice=(HOSTILE,),
        origin="custom",
        outcome=frames.outcome(
            text=HOSTILE, confidence=HOSTILE, places=(replace(frames.outcome().places[0], node=node, text=HOSTILE),)
        ),
    )
    return report(
        header=frames.job_header(
            name=HOSTILE, source=HOSTILE, nodes=(node,), status_detail=HOSTILE, framework=HOSTILE, instances=HOSTILE,
            phases=(HOSTILE,),
        ),
        basis=Basis(((HOSTILE, 1),), True, ((node, 4, 32),), 1, ((HOSTILE, HOSTILE),)),
        usage=frames.usage_summary(frames.usage_rows(node)),
        operators=frames.operators([("gpu", HOSTILE, False, 150, 60, 5, None, (node,), 1)]),
        shares=frames.framework_shares(
            general=(replace(frames.framework_shares().general[0], name=HOSTILE),), passes=()
        ),
        functions=frames.function_totals([("cprofile", HOSTILE, 1, HOSTILE, 3, 3, 5, 6)]),
        findings=frames.findings(issue),
        step_histogram=replace(
            histogram,
            groups=tuple(replace(group, node=node, phase=HOSTILE) for group in histogram.groups),
            outliers=tuple(replace(step, node=node, phase=HOSTILE) for step in histogram.outliers),
        ),
        step_timeline=replace(
            timeline,
            groups=tuple((HOSTILE, node) for _ in timeline.groups),
            outliers=tuple(replace(step, node=node, phase=HOSTILE) for step in timeline.outliers),
        ),
        heatmap=frames.heatmap([node], bins=20),
        gpu_memory=frames.over_time("gpu_memory", [(node, "gpu0"), (node, "gpu1")]),
        quality=quality.quality(nodes=(node,)),
        coverage=quality.coverage(names=(node,)),
        problems=problem_page(("error", HOSTILE, None, HOSTILE, 3)),
    )  # fmt: skip
