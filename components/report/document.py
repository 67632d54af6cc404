"""The figures of a report, as its JSON has them: every key with its unit, missing values None, no word for the screen.

Times are `Moment`s; where nobody knows when a job was, they count from its start and have no `iso`. A part that the job
lacks has `absent` with the reason and nothing else. The schema is in `docs/report.schema.json`; a change of it that
a reader would notice raises `VERSION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components.report.conclusions import Comparison, Cost, DataQuality, Insights
from components.report.parts import Absence, Moment, Span

SCHEMA: Final = "debugger-insights.report"
VERSION: Final = 1


@dataclass(frozen=True)
class Job:
    """Which job it is."""

    name: str
    id: str
    source: str
    status: str
    status_detail: str
    framework: str
    instances: str
    nodes: list[str]
    gpus: int
    cpus: int
    start: Moment
    end: Moment
    wall_clock: bool
    sampling_intervals_ms: list[float]
    data_version: str


@dataclass(frozen=True)
class Summary:
    """How the time of the training divides up."""

    absent: Absence | None
    start: Moment
    end: Moment
    duration_s: float
    loop_start: Moment | None
    loop_end: Moment | None
    loop_s: float | None
    initialization_s: float | None
    finalization_s: float | None
    initialization_percent: float | None
    loop_percent: float | None
    finalization_percent: float | None
    first_step: int | None
    billed_s: float | None
    training_s: float | None
    interruptions: list[Span]


@dataclass(frozen=True)
class UsageRow:
    """Statistics over time of a metric of a node."""

    node: str
    metric: str
    unit: str
    max: float | None
    p99: float | None
    p95: float | None
    p50: float | None
    min: float | None
    ticks: int


@dataclass(frozen=True)
class UsageVerdict:
    """A sentence about a node."""

    node: str
    verdict: str
    text: str


@dataclass(frozen=True)
class Usage:
    """How busy each node was."""

    absent: Absence | None
    rows: list[UsageRow]
    sentences: list[UsageVerdict]


@dataclass(frozen=True)
class Operator:
    """An operator with its times over the whole job."""

    name: str
    communication: bool
    percent: float | None
    total_s: float
    count: int
    mean_ms: float | None
    longest_ms: float
    self_s: float | None


@dataclass(frozen=True)
class OperatorSide:
    """The operators of a side, the longest first; `more` counts those that are not listed."""

    side: str
    operators: int
    total_s: float
    listed: list[Operator]
    more: int
    more_percent: float


@dataclass(frozen=True)
class Operators:
    """What the framework ran."""

    absent: Absence | None
    sides: list[OperatorSide]
    remarks: list[str]


@dataclass(frozen=True)
class Share:
    """A part of some time that is divided up."""

    name: str
    role: str
    percent: float
    total_s: float
    count: int


@dataclass(frozen=True)
class ShareGroup:
    """One division into 100 %."""

    group: str
    basis: str
    listed: list[Share]
    more: int
    more_percent: float


@dataclass(frozen=True)
class Framework:
    """How the time of framework events divides up."""

    absent: Absence | None
    groups: list[ShareGroup]
    remarks: list[str]


@dataclass(frozen=True)
class Function:
    """A Python function."""

    function: str
    file: str
    line: int
    calls: int | None
    own_s: float
    cumulative_s: float
    profiler: str


@dataclass(frozen=True)
class Functions:
    """Python functions by own time."""

    absent: Absence | None
    functions: int
    profiles: int
    own_s: float | None
    listed: list[Function]
    more: int


@dataclass(frozen=True)
class Step:
    """One step of one process."""

    node: str
    phase: str
    step: int | None
    start: Moment
    duration_ms: float


@dataclass(frozen=True)
class StepGroup:
    """The steps of a phase on a node."""

    phase: str
    node: str
    steps: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    outliers: int
    counts: list[int]


@dataclass(frozen=True)
class Steps:
    """How long steps took; `counts` of the groups lie between `edges_ms`."""

    absent: Absence | None
    steps: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    outliers: int
    edges_ms: list[float]
    groups: list[StepGroup]
    longest: list[Step]


@dataclass(frozen=True)
class NodeUse:
    """Mean utilization of a node over the whole job."""

    node: str
    gpu_mean_percent: float | None
    cpu_mean_percent: float | None


@dataclass(frozen=True)
class Utilization:
    """What the heatmap shows, in a row per node."""

    absent: Absence | None
    nodes: list[NodeUse]
    nodes_left_out: int


@dataclass(frozen=True)
class DeviceMemory:
    """The highest memory use of a GPU, percent."""

    node: str
    device: str
    max_percent: float | None


@dataclass(frozen=True)
class MemoryPeak:
    """The highest memory use of all GPUs."""

    node: str
    device: str
    time: Moment
    percent: float


@dataclass(frozen=True)
class GpuMemory:
    """How full the GPUs became."""

    absent: Absence | None
    peak: MemoryPeak | None
    devices: list[DeviceMemory]


@dataclass(frozen=True)
class Software:
    """The program that made the report."""

    name: str
    version: str


@dataclass(frozen=True)
class Document:
    """A report."""

    schema: str
    version: int
    made: Moment
    software: Software
    anonymous: bool
    job: Job
    training_job_summary: Summary
    system_usage: Usage
    framework: Framework
    operators: Operators
    python_functions: Functions
    insights: Insights
    cost: Cost
    steps: Steps
    utilization: Utilization
    gpu_memory: GpuMemory
    data_quality: DataQuality
    comparison_basis: Comparison
