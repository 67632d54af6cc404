"""What a report of a job is made of: the frames that the pages show, each fetched once."""

from __future__ import annotations

from dataclasses import dataclass

from data.frames import (
    FunctionTotals,
    Heatmap,
    JobHeader,
    JobTimes,
    OverTime,
    StepHistogram,
    StepTimeline,
    UsageSummary,
)
from data.frames.findings import Findings
from data.frames.operators import FrameworkShares, Operators
from data.frames.quality import ClockOffsets, Coverage, MetricValues, ProblemPage, Quality
from data.frames.report import Absent, Basis
from data.insights.cost import Cost


@dataclass(frozen=True)
class Report:
    """A whole job. What it lacks is `Absent`."""

    header: JobHeader
    times: JobTimes
    basis: Basis
    usage: UsageSummary | Absent
    operators: Operators | Absent
    shares: FrameworkShares | Absent
    functions: FunctionTotals | Absent
    findings: Findings | Absent
    cost: Cost | Absent
    step_histogram: StepHistogram | Absent
    step_timeline: StepTimeline | Absent
    heatmap: Heatmap | Absent  # at most `MAX_HEATMAP_NODES` nodes
    gpu_memory: OverTime | Absent
    quality: Quality
    coverage: Coverage
    values: MetricValues
    clocks: ClockOffsets
    problems: ProblemPage  # the first ones, errors before the rest
    made_ns: int = 0
    software: str = ""  # version of the program
    anonymous: bool = False


LISTED = 20
"""Rows of a table; how many more there are is said."""

MAX_HEATMAP_NODES = 16
"""Nodes whose heatmap is drawn."""
