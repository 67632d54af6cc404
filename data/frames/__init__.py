"""The typed results of queries: what figures draw and rules judge.

Tables of a few rows are pandas frames behind a `NewType`, with their columns beside it; what is drawn by the
thousand is a frozen dataclass of numpy arrays, because a frame with text columns costs ten times its query.
Times are int64 nanoseconds since 1970 UTC, durations int64 nanoseconds, percentages 0 to 100, missing is NaN
(or `NO_DATA` in uint8 arrays), never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NO_DATA = 255
"""The uint8 code for "no measurement" in heatmaps, where 0 to 100 are percent."""

JobList = NewType("JobList", pd.DataFrame)
JOB_LIST_COLUMNS = (
    "job_id",  # readable slug plus 8 hex digits; the only name of a job that URLs carry
    "name",  # as the job calls itself; hostile text
    "status",  # InProgress | Completed | Stopped | Stopping | Failed | Unknown
    "status_detail",  # a sentence: where the status comes from, e.g. "no data for 3 h"
    "source",  # the source as the user named it
    "state",  # stored | changed | not converted | converting | unreadable
    "state_detail",  # why unreadable, else ""
    "start_ns",  # Int64, <NA> where unknown
    "duration_ns",  # Int64: last minus first system record
    "billed_s",  # Float64: BillableTimeInSeconds, <NA> where unknown
    "cost_usd",  # Float64, <NA> where unknown
    "gpu_hours",  # Float64, of the billed time, of the measured time where that is not known
    "issues",  # Int64: rules that found one; <NA> where not judged yet
    "worst",  # high | medium | low, "" without an issue
    "wasted_gpu_hours",  # Float64: what the costliest issue wastes at most, <NA> where unknown
    "instances",  # "3 × ml.p3.8xlarge", groups joined by " + "; "" where unknown
    "nodes",  # Int64
    "gpus",  # Int64, over all nodes
    "gpu_p95",  # Float64: p95 of the node means over ticks, highest node
    "cpu_p95",  # Float64
    "gpu_trend",  # tuple of up to 32 floats (NaN where missing): mean GPU utilisation over the job; () without
    "problems",  # Int64: warnings and errors while reading
    "lost_rows",  # Int64: records that damage destroyed
    "stored_bytes",  # Int64: disk use in the store
)

UsageSummary = NewType("UsageSummary", pd.DataFrame)
USAGE_SUMMARY_COLUMNS = (
    "node",
    "metric",  # Network | GPU | CPU | CPU memory | GPU memory | I/O, in this order per node
    "unit",  # "%" or "bytes/s"
    "max",
    "p99",
    "p95",
    "p50",
    "min",
    "ticks",  # how many ticks the figures rest on
)
"""Per node: statistics over ticks of the mean over devices (Network: received plus sent of the training container)."""

Gaps = NewType("Gaps", pd.DataFrame)
GAPS_COLUMNS = (
    "node",
    "start_ns",  # last record before
    "end_ns",  # first record after
    "spot",  # bool: common to all nodes and longer than 60 s
)

Problems = NewType("Problems", pd.DataFrame)
PROBLEMS_COLUMNS = ("file", "line", "message", "severity", "lost_rows")
"""`severity` note | warning | error; `line` Int64, 1-based, <NA> where the whole file is meant."""


@dataclass(frozen=True)
class JobHeader:
    """What every page of a job shows above its tabs, and what pages need to lay themselves out."""

    job_id: str
    name: str
    status: str  # as in JobList
    status_detail: str
    source: str
    instances: str  # "" where unknown
    framework: str  # "" where unknown
    nodes: tuple[str, ...]  # natural order: algo-2 before algo-10
    start_ns: int
    end_ns: int
    interval_ns: int  # median sampling interval of the job's nodes; 0 without system metrics
    intervals_ns: tuple[int, ...]  # the distinct ones seen, ascending
    gpus: int
    cpus: int
    step_count: int  # over all processes
    step_numbers: int  # distinct steps: one that several processes took counts once
    step_processes: int  # node and worker pairs that recorded steps
    operator_roles: tuple[str, ...]  # what kinds of framework events there are: cpu, gpu, communication, general...
    phases: tuple[str, ...]  # step phases, e.g. ("Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL")
    function_count: int  # rows of Python profiles
    function_phases: tuple[str, ...]  # parts of the training that they belong to: initialization, training_loop, ...
    data_end_ns: int  # the newest record
    converted_ns: int  # when the store was written
    stored_bytes: int
    raw_bytes: int
    problems: int
    lost_rows: int
    version: str  # changes with every conversion
    measured: bool = True  # whether there are system metrics
    wall_clock: bool = True  # False: times count from a moment that is not known
    events: int = 0  # of the framework
    kernels: int = 0  # that traces recorded
    memory_kinds: tuple[str, ...] = ()  # kinds of devices whose memory allocators left records: cpu, cuda, ...


@dataclass(frozen=True)
class JobDescription:
    """What the job's description says of how it was started; () and "" where it says nothing."""

    hyperparameters: tuple[tuple[str, str], ...]
    image: str


@dataclass(frozen=True)
class JobTimes:
    """The training job's times. A value that cannot be known is None, and `steps_reason` says why.

    Initialization = first step start - first system sample; loop = last step end - first step start;
    finalization = |last system sample - last step end|; percent = part / duration x 100, so the three can exceed 100.
    """

    start_ns: int
    end_ns: int
    duration_ns: int
    loop_start_ns: int | None
    loop_end_ns: int | None
    loop_duration_ns: int | None
    initialization_ns: int | None
    finalization_ns: int | None
    initialization_percent: float | None
    loop_percent: float | None
    finalization_percent: float | None
    billed_s: float | None
    training_s: float | None
    first_step: int | None  # not 0 where step 0 was not recorded: then loop start is an upper bound
    spot_gaps: tuple[tuple[int, int], ...]  # start_ns, end_ns
    steps_reason: str  # "" where steps are known


@dataclass(frozen=True)
class HeatmapRow:
    """One row of a heatmap."""

    node: str
    device: str  # gpu0, cpu11; where cores were pooled "cpu0-11"


@dataclass(frozen=True)
class Peak:
    """The highest value of a metric in a window."""

    node: str
    device: str
    time_ns: int
    value: float


@dataclass(frozen=True)
class Heatmap:
    """Utilisation of every device over time, binned; grain: one cell per device and bin.

    `maximum` and `mean` are uint8 [rows, bins] in percent, `NO_DATA` where nothing was measured.
    """

    metric: str  # utilization | gpu_memory | io_wait
    rows: tuple[HeatmapRow, ...]  # per node: GPUs first, then cores, natural order
    start_ns: int  # left edge of bin 0
    bin_ns: int
    maximum: NDArray[np.uint8]
    mean: NDArray[np.uint8]
    samples_per_bin: float  # 1 or less: raw samples
    node_gpu_mean: dict[str, float]  # exact means over the window, NaN where the node has none
    node_cpu_mean: dict[str, float]
    clamped: int  # cells whose value lay outside 0..100 and was clamped for drawing
    peak: Peak | None  # the highest sample of the window


@dataclass(frozen=True)
class OverTime:
    """A metric over time as lines; grain: one value per group and bin.

    `mean`, `minimum` and `maximum` are float32 [groups, bins], NaN where nothing was measured. With groups of several
    devices, mean is over their samples and minimum / maximum their extremes. Rates are summed over the group: all
    three are then the sum of the mean rates, unknown where a part is.
    """

    metric: str  # cpu | gpu | gpu_memory | memory | network | io_wait | iops | throughput
    unit: str  # "%" | "bytes/s" | "operations/s"
    groups: tuple[tuple[str, str], ...]  # (node or "" for all, device or direction or "")
    start_ns: int
    bin_ns: int
    mean: NDArray[np.float32]
    minimum: NDArray[np.float32]
    maximum: NDArray[np.float32]
    samples_per_bin: float
    devices: int  # how many devices stand behind the groups
    peak: Peak | None


@dataclass(frozen=True)
class NodeHistogram:
    """How often each level of a metric occurred on one node: 50 bins of 2, the last one including 100."""

    node: str
    counts: NDArray[np.int64]  # [50]
    below: int  # samples under 0
    above: int  # samples over 100
    zero: int  # samples of exactly 0
    over_90: int  # samples above 90
    total: int
    p50: float
    p95: float


@dataclass(frozen=True)
class MetricHistogram:
    """Histograms of every device sample of a metric, one per node, exact on all data of the window."""

    metric: str  # cpu | gpu | gpu_memory
    nodes: tuple[NodeHistogram, ...]
    p50: float  # over all selected nodes
    p95: float


@dataclass(frozen=True)
class Step:
    """One step of one process."""

    node: str
    worker: str
    phase: str
    step: int  # -1 where unknown
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class StepGroup:
    """The durations of one phase on one node."""

    phase: str
    node: str
    counts: NDArray[np.int64]  # [bins], in the edges of the StepHistogram
    steps: int
    mean_ns: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    outliers: int  # longer than mean + 3 population standard deviations of the group


@dataclass(frozen=True)
class StepHistogram:
    """Step durations per phase and node, exact on all steps that start in the window."""

    edges_ns: NDArray[np.float64]  # [bins + 1], linear or logarithmic as asked
    scale: str  # linear | log
    groups: tuple[StepGroup, ...]
    steps: int
    p50_ns: float
    p95_ns: float
    p99_ns: float
    outliers: tuple[Step, ...]  # the longest, at most 20
    outlier_count: int


@dataclass(frozen=True)
class StepTimeline:
    """Duration of the steps over time: every step where they are few, else minimum, mean, maximum per bin."""

    groups: tuple[tuple[str, str], ...]  # (phase, node)
    group: NDArray[np.int16]  # [points] index into groups
    start_ns: NDArray[np.int64]  # [points]
    step: NDArray[np.int64]  # [points], -1 where unknown; first step of the bin where reduced
    duration_ns: NDArray[np.int64]  # [points]; the longest of the bin where reduced
    mean_ns: NDArray[np.float64]  # [points]; equal to duration_ns where not reduced
    steps: int
    bin_ns: int  # 0 where every step is its own point
    outliers: tuple[Step, ...]  # the longest, at most 20
    outlier_count: int


Functions = NewType("Functions", pd.DataFrame)
FUNCTIONS_COLUMNS = (
    "profiler",  # cprofile | pyinstrument
    "code_file",  # hostile text, as function; "~" for what is built in
    "line",
    "function",
    "ncalls",  # Int64: all calls, <NA> where the profiler takes samples
    "pcalls",  # Int64: those that are no recursion
    "tottime_ns",  # in the function itself
    "cumtime_ns",  # with what it called
)
"""Functions of Python profiles added up, the one with the most own time first."""


@dataclass(frozen=True)
class FunctionTotals:
    """Python functions over all profiles that were chosen, and exact totals over all of them."""

    rows: Functions  # at most as many as were asked for
    functions: int  # how many there are: distinct file, line and name
    profiles: int  # files they come from
    profilers: tuple[str, ...]
    ncalls: int | None  # None where no profile counts calls
    pcalls: int | None
    tottime_ns: int
    start_ns: int | None  # of the first interval; None where no profile's name tells
    end_ns: int | None


@dataclass(frozen=True)
class JobListPage:
    """A block of the job list, and how many jobs match in all."""

    rows: JobList
    total: int


@dataclass(frozen=True)
class JobTotals:
    """Counts over all jobs of all sources."""

    jobs: int
    stored: int
    not_converted: int
    unreadable: int
    in_progress: int
    gpus: int
    raw_bytes: int
    stored_bytes: int
