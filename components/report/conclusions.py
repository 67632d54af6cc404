"""What a document holds of conclusions: insights, cost, data quality, and the basis of comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from components.report.parts import Absence, Moment, Span


@dataclass(frozen=True)
class Place:
    """Where a finding shows."""

    node: str
    device: str
    window: Span | None
    metric: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A number that a finding rests on."""

    name: str
    value: float | None
    unit: str


@dataclass(frozen=True)
class Table:
    """Figures that belong together; `more` counts rows that are not listed. Units stand in the names of columns."""

    name: str
    columns: list[str]
    rows: list[list[str | float | None]]
    more: int


@dataclass(frozen=True)
class Parameter:
    """A parameter of a rule with the value in force."""

    name: str
    value: float | str
    default: float | str
    unit: str
    means: str


@dataclass(frozen=True)
class Finding:
    """What a rule concluded."""

    rule: str
    title: str
    claim: str
    origin: str
    state: str
    severity: str
    text: str
    confidence: str
    points: int
    points_are: str
    triggered: int
    violations: int
    places: list[Place]
    figures: list[Figure]
    tables: list[Table]
    advice: list[str]
    parameters: list[Parameter]
    waste: str
    wasted_gpu_h: float | None
    wasted_node_h: float | None
    wasted_percent: float | None
    saved_s: float | None
    wasted_usd: float | None


@dataclass(frozen=True)
class Insights:
    """What the rules concluded; issues first."""

    absent: Absence | None
    mode: str
    issues: int
    gpu_h: float | None
    node_h: float | None
    findings: list[Finding]


@dataclass(frozen=True)
class CostLine:
    """What the instances of one group cost, while they trained or while a warm pool kept them."""

    instance_type: str
    count: int
    warm_pool: bool
    billed_s: float | None
    usd_per_hour: float | None
    price_region: str
    price_as_of: str
    price_source: str
    usd: float | None


@dataclass(frozen=True)
class Cost:
    """What the job cost: billed time x instances x price. `unknown` says what keeps it from being known."""

    absent: Absence | None
    usd: float | None
    spot_saving_percent: float | None
    usd_per_gpu_hour: float | None
    usd_per_node_hour: float | None
    gpus: int | None
    gpu_h: float | None
    gpu_h_from: str
    lines: list[CostLine]
    notes: list[str]
    unknown: list[Absence]


@dataclass(frozen=True)
class Files:
    """The files of a kind."""

    kind: str
    files: int
    size_bytes: int
    rows: int
    lost_rows: int
    left_out: int
    copies: int
    problems: int


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file."""

    severity: str
    file: str
    line: int | None
    message: str
    lost_rows: int


@dataclass(frozen=True)
class Statement:
    """What to know before a number is trusted."""

    level: str
    found: str
    means: str
    touches: list[str]
    window: Span | None


@dataclass(frozen=True)
class NodeRecords:
    """Which part of the job's time a node's records cover."""

    node: str
    first: Moment
    last: Moment
    ticks: int
    interval_ms: float
    median_ms: float | None
    longest_s: float | None
    missing_s: float
    missing: int
    covered_percent: float | None


@dataclass(frozen=True)
class DataQuality:
    """What was read and lost."""

    level: str
    verdict: str
    advice: str
    files: int
    raw_bytes: int
    stored_bytes: int
    system_rows: int
    events: int
    steps: int
    lost_rows: int
    duplicates: int
    ended: bool
    statements: list[Statement]
    nodes: list[NodeRecords]
    kinds: list[Files]
    problems: int
    listed_problems: list[Problem]
    more_problems: int


@dataclass(frozen=True)
class Instances:
    """Instances of a type."""

    instance_type: str
    count: int


@dataclass(frozen=True)
class NodeDevices:
    """The devices that a node recorded."""

    node: str
    gpus: int
    cpus: int


@dataclass(frozen=True)
class Hyperparameter:
    """A hyperparameter that changes the speed of a training, as it was written."""

    name: str
    value: str


@dataclass(frozen=True)
class Comparison:
    """What has to be alike before figures of two jobs are held against each other."""

    instances: list[Instances]
    spot: bool | None
    nodes: list[NodeDevices]
    sampling_intervals_ms: list[float]
    framework: str
    step_phases: list[str]
    step_processes: int
    hyperparameters: list[Hyperparameter]
