"""Builders for every typed frame: small, deterministic, with known answers, and open to any single change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from data.frames import (
    FUNCTIONS_COLUMNS,
    GAPS_COLUMNS,
    JOB_LIST_COLUMNS,
    NO_DATA,
    PROBLEMS_COLUMNS,
    USAGE_SUMMARY_COLUMNS,
    Functions,
    FunctionTotals,
    Gaps,
    Heatmap,
    HeatmapRow,
    JobHeader,
    JobList,
    JobListPage,
    JobTimes,
    JobTotals,
    MetricHistogram,
    NodeHistogram,
    OverTime,
    Peak,
    Problems,
    Step,
    StepGroup,
    StepHistogram,
    StepTimeline,
    UsageSummary,
)
from data.frames.cost import BilledGroup, Billing, Instance, Price, Stage
from data.frames.findings import Figure, Finding, Findings, Outcome, Parameter, Place
from data.frames.framework import (
    EVENT_ROWS_COLUMNS,
    AllocatedMemory,
    DataLoading,
    EventList,
    EventRows,
    GpuActivity,
    Lane,
    LaneBars,
    Lanes,
    LoaderGroup,
    MemoryLine,
    StepBreakdown,
)
from data.frames.operators import OPERATORS_COLUMNS, FrameworkShares, Operators, TimeShare
from data.prices import PriceTables

GIB = 1 << 30
S = 1_000_000_000
START_NS = 1_607_121_560 * S  # 2020-12-04 22:39:20 UTC
END_NS = START_NS + 503 * S
NODES = ("algo-1", "algo-2", "algo-3")
LANE_PHASES = ("Forward", "DataLoaderIter", "Step:ModeKeys.TRAIN")


def job_header(**changes: Any) -> JobHeader:
    """Run A of the demo: three nodes of 32 cores and 4 GPUs."""
    header = JobHeader(
        job_id="tf-hvd-resnet50-cifar10-256-1a2b3c4d",
        name="tf-hvd-resnet50-cifar10-256",
        status="Completed",
        status_detail="from training-job.json",
        source="var/demo",
        instances="3 × ml.p3.8xlarge",
        framework="TensorFlow 2.3.1",
        nodes=NODES,
        start_ns=START_NS,
        end_ns=END_NS,
        interval_ns=S // 2,
        intervals_ns=(S // 2,),
        gpus=12,
        cpus=96,
        step_count=188,
        step_numbers=188,
        step_processes=1,
        operator_roles=("cpu", "general", "gpu", "step"),
        phases=("Step:ModeKeys.TRAIN",),
        function_count=40,
        function_phases=("initialization", "training_loop"),
        data_end_ns=END_NS,
        converted_ns=END_NS + 3600 * S,
        stored_bytes=4_200_000,
        raw_bytes=93_000_000,
        problems=0,
        lost_rows=0,
        version="v1",
        events=2000,
        kernels=900,
        memory_kinds=("cpu", "cuda"),
    )
    return replace(header, **changes)


def job_times(**changes: Any) -> JobTimes:
    """503 s, of which the training loop is 45 %."""
    times = JobTimes(
        start_ns=START_NS,
        end_ns=END_NS,
        duration_ns=503 * S,
        loop_start_ns=START_NS + 200 * S,
        loop_end_ns=START_NS + 500 * S,
        loop_duration_ns=300 * S,
        initialization_ns=200 * S,
        finalization_ns=3 * S,
        initialization_percent=200 / 503 * 100,
        loop_percent=300 / 503 * 100,
        finalization_percent=3 / 503 * 100,
        billed_s=1509.0,
        training_s=503.0,
        first_step=0,
        spot_gaps=(),
        steps_reason="",
    )
    return replace(times, **changes)


_OF_STEPS = (
    "loop_start_ns",
    "loop_end_ns",
    "loop_duration_ns",
    "initialization_ns",
    "finalization_ns",
    "initialization_percent",
    "loop_percent",
    "finalization_percent",
    "first_step",
)


def job_times_without_steps(**changes: Any) -> JobTimes:
    """A job whose framework recorded nothing."""
    nothing = dict.fromkeys(_OF_STEPS)
    return job_times(**{**nothing, "steps_reason": "no step was recorded", **changes})


def usage_rows(node: str, gpu: float | None = 13.5, cpu: float | None = 24.4) -> list[dict[str, Any]]:
    """The rows of one node; None leaves the metric out."""
    rows = [_usage_row(node, "Network", "bytes/s", 431e6)]
    if gpu is not None:
        rows.append(_usage_row(node, "GPU", "%", gpu))
    if cpu is not None:
        rows.append(_usage_row(node, "CPU", "%", cpu))
    rows.append(_usage_row(node, "CPU memory", "%", 9.6))
    if gpu is not None:
        rows.append(_usage_row(node, "GPU memory", "%", 55.2))
    return [*rows, _usage_row(node, "I/O", "%", 2.2)]


def _usage_row(node: str, metric: str, unit: str, p95: float) -> dict[str, Any]:
    return {
        "node": node, "metric": metric, "unit": unit, "max": min(p95 * 1.4, 100.0) if unit == "%" else p95 * 1.4,
        "p99": min(p95 * 1.2, 100.0) if unit == "%" else p95 * 1.2, "p95": p95, "p50": p95 * 0.4, "min": 0.0,
        "ticks": 1006,
    }  # fmt: skip


def usage_summary(rows: Sequence[dict[str, Any]] | None = None) -> UsageSummary:
    """Three nodes with the p95 of the reference's story, or the rows given."""
    chosen = [row for node in NODES for row in usage_rows(node)] if rows is None else list(rows)
    return UsageSummary(pd.DataFrame(chosen, columns=list(USAGE_SUMMARY_COLUMNS)))


def gaps(rows: Sequence[tuple[str, int, int, bool]] = ()) -> Gaps:
    """Gaps as given."""
    return Gaps(pd.DataFrame(list(rows), columns=list(GAPS_COLUMNS)))


def problems(rows: Sequence[tuple[str, int | None, str, str, int]] = ()) -> Problems:
    """Problems as given; a line of None means the whole file."""
    frame = pd.DataFrame(list(rows), columns=list(PROBLEMS_COLUMNS))
    return Problems(frame.astype({"line": "Int64", "lost_rows": "Int64"}))


def job_list(rows: Sequence[dict[str, Any]] | None = None) -> JobList:
    """One stored job, or rows given as changes to it."""
    base = {
        "job_id": "run-a-1a2b3c4d", "name": "run-a", "status": "Completed", "status_detail": "", "source": "var/demo",
        "state": "stored", "state_detail": "", "start_ns": START_NS, "duration_ns": 503 * S, "billed_s": 1509.0,
        "cost_usd": 6.15672, "gpu_hours": 1.6766666666666667, "instances": "3 × ml.p3.8xlarge",
        "nodes": 3, "gpus": 12, "gpu_p95": 13.5, "cpu_p95": 24.4,
        "issues": 3, "worst": "high", "wasted_gpu_hours": 1.12,
        "gpu_trend": (0.0, 5.0, float("nan"), 6.0), "problems": 0, "lost_rows": 0, "stored_bytes": 4_200_000,
    }  # fmt: skip
    return JobList(pd.DataFrame([{**base, **row} for row in rows or [{}]], columns=list(JOB_LIST_COLUMNS)))


def billing(**changes: Any) -> Billing:
    """Three instances with four GPUs each, billed for 503 s."""
    found = Billing(
        described=True,
        ended=True,
        groups=(BilledGroup("ml.p3.8xlarge", 3),),
        billed_s=503.0,
        training_s=503.0,
        spot=False,
        region="us-west-2",
        region_from="TrainingJobArn",
        pool_status="",
        retained_s=None,
        stages=(
            Stage("Starting", START_NS - 171 * S, START_NS, "Preparing the instances"),
            Stage("Training", START_NS, START_NS + 503 * S, "Training in progress"),
            Stage("Completed", START_NS + 503 * S, START_NS + 503 * S, "Done"),
        ),
        gpus=12,
        nodes=3,
        covered_s=503.0,
    )
    return replace(found, **changes)


def price_tables(**changes: Any) -> PriceTables:
    """The price of that type in that region, and what the type has."""
    price = Price("ml.p3.8xlarge", "us-west-2", Decimal("14.688"), "2020-12", "a test")
    instance = Instance("ml.p3.8xlarge", 32, 244.0, 4, "V100", 16.0, 10.0)
    return replace(PriceTables({"ml.p3.8xlarge": (price,)}, {"ml.p3.8xlarge": instance}), **changes)


def job_list_page(rows: Sequence[dict[str, Any]] | None = None, total: int | None = None) -> JobListPage:
    """A block of the job list."""
    frame = job_list(rows)
    return JobListPage(frame, len(frame) if total is None else total)


def job_totals(**changes: Any) -> JobTotals:
    """Four jobs, one of them not converted."""
    totals = JobTotals(4, 3, 1, 0, 1, 14, 120_000_000, 6_000_000)
    return replace(totals, **changes)


def heatmap(
    nodes: Sequence[str] = NODES,
    gpus: int = 4,
    cores: int = 32,
    bins: int = 503,
    gap: tuple[int, int] | None = None,
    pooled: int = 0,
    **changes: Any,
) -> Heatmap:
    """GPUs first, then cores, per node; row r holds (r * 7 + bin) modulo 101, and the last node misses `gap`."""
    names = [f"cpu{first}-{first + pooled - 1}" for first in range(0, cores, pooled)] if pooled else [
        f"cpu{core}" for core in range(cores)
    ]  # fmt: skip
    devices = [f"gpu{index}" for index in range(gpus)] + names
    rows = tuple(HeatmapRow(node, device) for node in nodes for device in devices)
    grid = (np.arange(len(rows))[:, None] * 7 + np.arange(bins)[None, :]) % 101
    maximum = grid.astype(np.uint8)
    if gap is not None:
        maximum[-len(devices) :, gap[0] : gap[1]] = NO_DATA
    mean = np.where(maximum == NO_DATA, NO_DATA, maximum // 2).astype(np.uint8)
    frame = Heatmap(
        metric="utilization", rows=rows, start_ns=START_NS, bin_ns=S, maximum=maximum, mean=mean, samples_per_bin=2.0,
        node_gpu_mean={node: 3.8 if gpus else float("nan") for node in nodes},
        node_cpu_mean=dict.fromkeys(nodes, 18.3), clamped=0,
        peak=Peak(nodes[0], "gpu0", START_NS + 60 * S, 98.0) if nodes else None,
    )  # fmt: skip
    return replace(frame, **changes)


def over_time(
    metric: str = "gpu",
    groups: Sequence[tuple[str, str]] = (("", ""),),
    bins: int = 252,
    gap: tuple[int, int] | None = None,
    **changes: Any,
) -> OverTime:
    """Group g is the line 10 + 5 g with a band of 4 around it and one peak of 65.8 in bin 200 of the last group."""
    level = (10 + 5 * np.arange(len(groups), dtype=np.float32))[:, None] + np.zeros((1, bins), np.float32)
    unit = {"network": "bytes/s", "throughput": "bytes/s", "iops": "operations/s"}.get(metric, "%")
    if unit == "bytes/s":
        level = level * np.float32(1e7)
    low, high = level * np.float32(0.6), level * np.float32(1.4)
    peak_value = 65.8 if unit == "%" else float(level.max() * 2)
    high[-1, min(200, bins - 1)] = peak_value
    for values in (level, low, high):
        if gap is not None:
            values[:, gap[0] : gap[1]] = np.nan
    peak = Peak(groups[-1][0] or NODES[-1], groups[-1][1] or "gpu2", START_NS + 401 * S, peak_value)
    frame = OverTime(
        metric=metric, unit=unit, groups=tuple(groups), start_ns=START_NS, bin_ns=2 * S, mean=level, minimum=low,
        maximum=high, samples_per_bin=4.0, devices=12, peak=peak,
    )  # fmt: skip
    return replace(frame, **changes)


def node_histogram(node: str = "algo-1", **changes: Any) -> NodeHistogram:
    """100 samples: 27 at exactly 0, 60 around 10, 13 above 90."""
    counts = np.zeros(50, np.int64)
    counts[0], counts[5], counts[48] = 27, 60, 13
    frame = NodeHistogram(node, counts, 0, 0, 27, 13, 100, 10.0, 96.0)
    return replace(frame, **changes)


def metric_histogram(
    metric: str = "gpu", nodes: Sequence[NodeHistogram] | None = None, **changes: Any
) -> MetricHistogram:
    """Three equal nodes, or the ones given."""
    chosen = [node_histogram(node) for node in NODES] if nodes is None else nodes
    return replace(MetricHistogram(metric, tuple(chosen), 10.0, 96.0), **changes)


def step(number: int = 0, duration_ns: int = 10_966_842_000, start_ns: int | None = None, **changes: Any) -> Step:
    """A step of the training phase on the first node."""
    begin = START_NS + 200 * S if start_ns is None else start_ns
    return replace(Step("algo-1", "1", "Step:ModeKeys.TRAIN", number, begin, duration_ns), **changes)


def step_histogram(
    scale: str = "log", phases: Sequence[tuple[str, str]] | None = None, **changes: Any
) -> StepHistogram:
    """Steps around 1.55 s; step 0 of 10.97 s and steps 61 and 122 of 3.4 s stand out."""
    edges = np.geomspace(1e9, 12e9, 41) if scale == "log" else np.linspace(1e9, 12e9, 41)
    groups = []
    for phase, node in phases or [("Step:ModeKeys.TRAIN", "algo-1")]:
        counts = np.zeros(40, np.int64)
        counts[np.searchsorted(edges, 1.55e9) - 1] = 120
        counts[np.searchsorted(edges, 1.75e9) - 1] += 65
        counts[np.searchsorted(edges, 3.4e9) - 1] += 2
        counts[np.searchsorted(edges, 10.97e9) - 1] += 1
        groups.append(StepGroup(phase, node, counts, 188, 1.6e9, 1.55e9, 1.92e9, 2.4e9, 3))
    outliers = (step(), step(61, 3_400_000_000, START_NS + 300 * S), step(122, 3_410_000_000, START_NS + 400 * S))
    frame = StepHistogram(edges, scale, tuple(groups), 188 * len(groups), 1.55e9, 1.92e9, 2.4e9, outliers, 3)
    return replace(frame, **changes)


def step_timeline(
    groups: Sequence[tuple[str, str]] = (("Step:ModeKeys.TRAIN", "algo-1"),), **changes: Any
) -> StepTimeline:
    """188 steps of 1.55 s, one after another, and the outliers of `step_histogram`."""
    count = 188
    starts = START_NS + 200 * S + np.arange(count, dtype=np.int64) * 1_590_000_000
    durations = np.full(count, 1_550_000_000, np.int64) + (np.arange(count) % 7) * 20_000_000
    durations[0], durations[61], durations[122] = 10_966_842_000, 3_400_000_000, 3_410_000_000
    outliers = tuple(step(int(index), int(durations[index]), int(starts[index])) for index in (0, 61, 122))
    frame = StepTimeline(
        groups=tuple(groups), group=(np.arange(count) % len(groups)).astype(np.int16), start_ns=starts,
        step=np.arange(count, dtype=np.int64), duration_ns=durations, mean_ns=durations.astype(np.float64), steps=count,
        bin_ns=0, outliers=outliers, outlier_count=3,
    )  # fmt: skip
    return replace(frame, **changes)


FUNCTION_ROWS = (
    ("cprofile", "~", 0, "<built-in method time.sleep>", 54, 54, 2 * S, 2 * S),
    ("cprofile", "/opt/ml/code/very/deep/train.py", 10, "step", 31, 5, S, 5 * S),
    ("cprofile", "=cmd()", 3, "<script>alert(1)</script>", 1, 1, 0, 0),
)


def function_totals(rows: Sequence[tuple[Any, ...]] = FUNCTION_ROWS, **changes: Any) -> FunctionTotals:
    """Three functions of two profiles, one of them with recursion, one with a hostile name."""
    frame = pd.DataFrame(list(rows), columns=list(FUNCTIONS_COLUMNS)).astype({"ncalls": "Int64", "pcalls": "Int64"})
    totals = FunctionTotals(
        rows=Functions(frame),
        functions=len(rows),
        profiles=2,
        profilers=tuple(sorted({row[0] for row in rows})),
        ncalls=86,
        pcalls=60,
        tottime_ns=sum(row[6] for row in rows),
        start_ns=START_NS,
        end_ns=END_NS,
    )
    return replace(totals, **changes)


def lanes(nodes: tuple[str, ...] = ("algo-1",), phases: tuple[str, ...] = LANE_PHASES, **changes: Any) -> Lanes:
    """Lanes of ten columns over the whole run, half of them half full."""
    drawn = tuple(Lane(node, phase, 1200, 90 * S) for node in nodes for phase in phases)
    covered = np.tile(np.array([0.0, 0.5] * 5, np.float32), (len(drawn), 1))
    frame = Lanes(
        lanes=drawn,
        start_ns=START_NS,
        column_ns=50 * S,
        covered=covered,
        begun=np.where(covered > 0, 240, 0).astype(np.int32),
        bars=None,
        events=1200 * len(drawn),
        lane_count=len(drawn),
        node_count=len(nodes),
    )
    return replace(frame, **changes)


def lane_bars(names: tuple[str, ...] = ("a", "b"), **changes: Any) -> Lanes:
    """The same lanes with one event of each name in the second lane, one inside the other."""
    size = len(names)
    bars = LaneBars(
        lane=np.full(size, 1, np.int16),
        start_ns=START_NS + S * np.arange(10, 10 + size),
        duration_ns=S * np.arange(20, 20 - 2 * size, -2),
        depth=np.arange(size, dtype=np.int16),
        step=np.arange(size) - 1,
        names=names,
        threads=("", *["7"] * (size - 1)),
    )
    return lanes(bars=bars, covered=np.zeros((3, 0), np.float32), begun=np.zeros((3, 0), np.int32), **changes)


def event_list(names: tuple[str, ...] = ("late", "early"), total: int = 2) -> EventList:
    """Events of a lane, the longest first."""
    rows = [(name, "", "0", "17", "", "", at - 1, START_NS + at * S, (9 - at) * S) for at, name in enumerate(names)]
    return EventList(EventRows(pd.DataFrame(rows, columns=list(EVENT_ROWS_COLUMNS))), total, 17 * S)


def step_breakdown(**changes: Any) -> StepBreakdown:
    """Three steps of 100, 120 and 110 ms; the second one comes again, and a tenth is covered by nothing."""
    duration_ns = np.array([100.0, 120.0, 110.0]) * 1e6
    frame = StepBreakdown(
        phase="Step:ModeKeys.TRAIN",
        kinds=("data_loading", "backward", "optimizer"),
        step=np.array([7, 8, 8]),
        start_ns=START_NS + np.array([0, 1, 2]) * S,
        duration_ns=duration_ns,
        spent_ns=duration_ns[:, None] * np.array([0.3, 0.6, 0.0]),
        processes=np.array([1, 1, 1]),
        step_count=188,
    )
    return replace(frame, **changes)


def gpu_activity(groups: tuple[tuple[str, str], ...] = (("rank0", "gpu0"),), **changes: Any) -> GpuActivity:
    """GPUs that are busy half of the time, each later one a little less."""
    share = np.tile(np.array([0.0, 1.0] * 5, np.float32), (len(groups), 1))
    frame = GpuActivity(
        groups=groups,
        start_ns=START_NS,
        column_ns=50 * S,
        share=share,
        busy_ns=tuple(250 * S - at for at in range(len(groups))),
        window_ns=500 * S,
    )
    return replace(frame, **changes)


def memory_line(**changes: Any) -> MemoryLine:
    """A GPU that holds 3 GiB at most, 100 s after the start."""
    line = MemoryLine("rank0", "7", "cuda", 0, 3 * GIB, START_NS + 100 * S, GIB, GIB // 2, 1200, 1100, 0)
    return replace(line, **changes)


def allocated_memory(lines: Sequence[MemoryLine] | None = None, **changes: Any) -> AllocatedMemory:
    """Ten columns of 50 s, each with 2 GiB at its end and up to the peak of its line in it, of 4 GiB reserved."""
    lines = [memory_line()] if lines is None else lines
    tops = np.array([[float(line.peak_bytes)] * 10 for line in lines])
    frame = AllocatedMemory(
        lines=tuple(lines),
        line_count=len(lines),
        start_ns=START_NS,
        column_ns=50 * S,
        allocated=tops,
        allocated_last=np.full(tops.shape, 2.0 * GIB),
        reserved=np.full(tops.shape, 4.0 * GIB),
        reserved_last=np.full(tops.shape, 4.0 * GIB),
    )
    return replace(frame, **changes)


def operators(rows: Sequence[tuple[Any, ...]] | None = None) -> Operators:
    """Rows (side, name, communication, total ms, count, longest ms, self ms or None, nodes, processes)."""
    if rows is None:
        rows = [
            ("cpu", "aten::linear", False, 600, 30, 40, 100, ("algo-1", "algo-2"), 4),
            ("cpu", "aten::addmm", False, 400, 30, 30, 400, ("algo-1", "algo-2"), 4),
            ("gpu", "sgemm", False, 150, 60, 5, None, ("algo-1",), 1),
            ("gpu", "ncclAllReduce", True, 50, 2, 26, None, ("algo-1",), 1),
        ]
    whole: dict[str, int] = {}
    for row in rows:
        whole[row[0]] = whole.get(row[0], 0) + row[3]
    values = []
    for side, name, spoken, total, count, longest, own, nodes, processes in rows:
        percent = 100 * total / whole[side] if whole[side] else float("nan")
        times = (total * 10**6, count, total * 10**6 / count, longest * 10**6, None if own is None else own * 10**6)
        values.append((side, name, spoken, percent, *times, nodes, processes))
    frame = pd.DataFrame(values, columns=list(OPERATORS_COLUMNS))
    return Operators(frame.astype({"self_ns": "Int64", "communication": bool}))


def framework_shares(**changes: Any) -> FrameworkShares:
    """A job that spends its steps well."""
    shares = FrameworkShares(
        sides=(TimeShare("cpu_op", "cpu", 6 * S, 60, 75.0), TimeShare("kernel", "gpu", 2 * S, 40, 25.0)),
        general=(TimeShare("DataLoaderIter", "general", S, 9, 100.0),),
        passes=(TimeShare("forward", "forward", S, 5, 25.0), TimeShare("backward", "backward", 3 * S, 5, 75.0)),
        inner_passes=False,
        communication=(TimeShare("ncclAllReduce", "gpu", S // 2, 2, 100.0),),
        communication_percent=25.0,
        steps=(TimeShare("Step:ModeKeys.TRAIN", "step", 9 * S, 8, 90.0), TimeShare("", "others", S, 0, 10.0)),
    )
    return replace(shares, **changes)


def data_loading(**changes: Any) -> DataLoading:
    """A process that waits, and one of its workers."""
    frame = DataLoading(
        groups=(
            LoaderGroup("wait", "algo-1", "<i>7</i>", "0", 10, 4 * S, 3e8, 8e8, S, 2),
            LoaderGroup("worker", "algo-1", "17", "", 5, 2 * S, 3e8, 8e8, S, 0),
        ),
        group_count=30,
        settings=(("2", "false"), ("", "")),
        edges_ns=np.geomspace(1e8, 1e9, 61),
        counts=np.full(60, 2, np.int64),
        batches=120,
        median_ns=3e8,
        outliers=4,
        longest_ns=S,
        longest_start_ns=START_NS + 65 * S,
    )
    return replace(frame, **changes)


def outcome(**changes: Any) -> Outcome:
    """An issue with one GPU of twelve that is little used."""
    found = Outcome(
        state="issue",
        text="1 of 12 GPUs stayed below 70 % for 95 % of a window of 500 samples; its p95 is 13.5 %.",
        points=12_000,
        points_are="samples of GPUs",
        triggered=8,
        violations=8,
        places=(Place("algo-1", "gpu3", (START_NS, START_NS + 60 * S), "p95 13.5 %", "utilization"),),
        figures=(Figure("lowest p95 of a window", 13.5, "%"),),
        advice=("Look at gpu3.",),
        confidence="4 GPUs had too few samples to be judged.",
        wasted_gpu_s=1800.0,
    )
    return replace(found, **changes)


def finding(rule: str = "LowGPUUtilization", **changes: Any) -> Finding:
    """What LowGPUUtilization says of that outcome, with one parameter moved."""
    found = Finding(
        rule=rule,
        title="GPUs are little used",
        claim="Looks for a GPU that is hardly used.",
        advice=("Look at gpu3.", "Find what it waits for."),
        origin="original",
        parameters=(
            Parameter("threshold_p95", 60.0, 70.0, "%", 0.0, 100.0, "a GPU whose p95 is below this is little used"),
            Parameter("window", 500.0, 500.0, "samples", 1.0, 1e6, "how many samples are judged at a time"),
        ),
        severity="high",
        outcome=outcome(),
        share=0.3,
    )
    return replace(found, **changes)


def findings(*found: Finding, **changes: Any) -> Findings:
    """Findings of a job of 6,000 GPU-seconds."""
    return replace(Findings("fixed", found or (finding(),), 6000.0, 1500.0), **changes)
