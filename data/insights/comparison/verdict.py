"""The figures of two runs side by side, each with a verdict: better, worse, or nothing that could be detected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.comparison import SINGLE, TESTED, Better, Row, Verdict
from data.frames.evidence import NodeTicks, StepRecords, Ticks
from data.insights.comparison.difference import Difference, difference, warm_up
from data.insights.comparison.run import Run

NS_PER_S = 1_000_000_000
Floats = NDArray[np.float64]
NAN = math.nan
_NOTHING: Floats = np.empty(0)

_SIDES: dict[Better, dict[str, Verdict]] = {
    "lower": {"lower": "better", "higher": "worse"},
    "higher": {"higher": "better", "lower": "worse"},
    "": {},
}
"""What a side is called where one of them is better."""


def rows(a: Run, b: Run) -> tuple[Row, ...]:
    """All figures that at least one of the runs has."""
    found = [*_steps(a, b), *_times(a, b), *_usage(a, b), *_single(a, b)]
    return tuple(row for row in found if not (math.isnan(row.a) and math.isnan(row.b)))


# --- steps ---


@dataclass(frozen=True)
class StepSeries:
    """The steps of one phase in the order of time, means over the processes that took each."""

    duration_s: Floats
    cycle_s: Floats  # from the start of a step to that of the next one
    left_out: int  # at the beginning, as warm-up
    processes: int


def step_series(records: StepRecords, phase: str) -> StepSeries:
    """Durations and cycles of a phase, without warm-up. A step without a number stands for itself."""
    mine = np.isin(records.group, [at for at, (its, _) in enumerate(records.groups) if its == phase])
    step, worker = records.step[mine], records.worker[mine]
    start, duration = records.start_ns[mine], records.duration_ns[mine] / NS_PER_S
    processes = len(np.unique(records.group[mine].astype(np.int64) << 32 | worker))
    key = np.where(step >= 0, step, -1 - np.arange(len(step)))
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    first = np.full(len(count), np.iinfo(np.int64).max)
    np.minimum.at(first, place, start)
    mean = np.bincount(place, weights=duration, minlength=len(count)) / np.maximum(count, 1)
    order = np.argsort(first, kind="stable")
    durations, cycles = mean[order], np.diff(first[order]) / NS_PER_S
    cut = max(warm_up(durations), min(1, len(durations) - 1))
    return StepSeries(durations[cut:], cycles[cut:], cut, processes)


def _steps(a: Run, b: Run) -> Iterator[Row]:
    records = [_records(run) for run in (a, b)]
    phases = dict.fromkeys(phase for one in records if one for phase, _ in one.groups)
    for phase in phases:
        series = [step_series(one, phase) if one else None for one in records]
        yield from _phase(phase, series[0], series[1], a, b)


def _records(run: Run) -> StepRecords | None:
    try:
        return run.evidence.steps
    except MissingTable:
        return None


def _phase(phase: str, a: StepSeries | None, b: StepSeries | None, run_a: Run, run_b: Run) -> Iterator[Row]:
    note = " and ".join(
        f"{len(one.duration_s):,} steps of {name} without the first {one.left_out}"
        for name, one in (("A", a), ("B", b))
        if one
    )
    took = difference(a.duration_s if a else _NOTHING, b.duration_s if b else _NOTHING)
    yield _tested("step_time", phase, "Step time", "s", "lower", took, note)
    cycles = [one.cycle_s if one else _NOTHING for one in (a, b)]
    yield _rate("throughput", phase, "Throughput", "steps/s", cycles, f"start to start; {note}")
    batches = (run_a.batch_size, run_b.batch_size)
    if a and b and batches[0] and batches[1]:
        samples = (batches[0][1] * a.processes, batches[1][1] * b.processes)
        words = f"{samples[0]:g} and {samples[1]:g} samples a step: batch size × processes, if it is meant per process"
        per_sample = [cycle / amount for cycle, amount in zip(cycles, samples, strict=True)]
        yield _rate("samples", phase, "Samples", "samples/s", per_sample, words, better="")


def _rate(
    key: str, phase: str, name: str, unit: str, cycles: Sequence[Floats], note: str, better: Better = "higher"
) -> Row:
    """A rate from the times that one takes; its noise follows from that of the times."""
    found = difference(cycles[0], cycles[1])
    a, b = (1 / mean if mean > 0 else NAN for mean in (found.mean_a, found.mean_b))
    opposite: dict[str, Verdict] = {"lower": "higher", "higher": "lower"}  # a shorter cycle is a higher rate
    side = opposite.get(found.verdict, found.verdict)
    verdict = _SIDES[better].get(side, side)
    bounds = (-found.high * a * b, -found.low * a * b, found.smallest * a * b)
    return Row(key, phase, name, unit, a, b, better, verdict, *bounds, TESTED, found.reason or note)


# --- times, money ---


def cost_row(a: Decimal | None, b: Decimal | None) -> Row:
    """What both runs cost. Prices may change while the runs stay as they are, so this is not among `rows`."""
    costs = [NAN if one is None else float(one) for one in (a, b)]
    note = "billed time × instances × price"
    if a is not None and b is not None:
        note += f"; {abs(100 * (b - a)):,.2f} USD {'less' if b < a else 'more'} for 100 such runs"
    found = _one("cost", "Cost", "USD", costs[0], costs[1], "lower", note)
    return replace(found, verdict=_SIDES["lower"].get(found.verdict, found.verdict))  # exact, not measured


def _times(a: Run, b: Run) -> Iterator[Row]:
    values: tuple[tuple[str, str, Callable[[Run], int | None]], ...] = (
        ("duration", "Duration", lambda run: run.times.duration_ns),
        ("startup", "Start-up", lambda run: run.times.initialization_ns),
    )
    notes = {"startup": "first record to first step"}
    for key, name, value in values:
        pair = [NAN if (one := value(run)) is None else one / NS_PER_S for run in (a, b)]
        yield _one(key, name, "s", pair[0], pair[1], "lower", notes.get(key, ""))


def _single(a: Run, b: Run) -> Iterator[Row]:
    peaks = [NAN if run.gpu_memory_peak is None else run.gpu_memory_peak for run in (a, b)]
    yield _one("gpu_memory_peak", "GPU memory, peak", "%", peaks[0], peaks[1], "", "highest sample of any GPU")


# --- utilization ---

_METRICS: tuple[tuple[str, str, str, str, Better], ...] = (
    ("gpu", "GPU utilization", "GPU", "%", "higher"),
    ("cpu", "CPU utilization", "CPU", "%", ""),
    ("io_wait", "I/O wait", "I/O", "%", "lower"),
    ("network", "Network", "Network", "bytes/s", ""),
)


def _usage(a: Run, b: Run) -> Iterator[Row]:
    ticks = [_ticks(run) for run in (a, b)]
    width_ns = max((interval for run in (a, b) for interval in run.header.intervals_ns), default=0)
    unlike = len({run.header.intervals_ns for run in (a, b)}) > 1
    for key, name, metric, unit, better in _METRICS:
        series = [
            mean_series(one, key, loop_of(run), width_ns if unlike else 0) if one else _NOTHING
            for one, run in zip(ticks, (a, b), strict=True)
        ]
        found = difference(series[0], series[1])
        yield _tested(f"{key}_mean", "", f"{name}, mean", unit, better, found, f"mean over all nodes, {_spans(a, b)}")
        if key in ("gpu", "cpu"):
            for quantile in ("p50", "p95"):
                pair = [_highest(run, metric, quantile) for run in (a, b)]
                yield _one(f"{key}_{quantile}", f"{name}, {quantile}", unit, pair[0], pair[1], better, "highest node")


def _ticks(run: Run) -> Ticks | None:
    try:
        return run.evidence.ticks
    except MissingTable:
        return None


def loop_of(run: Run) -> tuple[int, int] | None:
    """From the first step to the end of the last; None where no step was recorded."""
    start, end = run.times.loop_start_ns, run.times.loop_end_ns
    return None if start is None or end is None else (start, end)


def _spans(a: Run, b: Run) -> str:
    spans = ["whole job" if loop_of(run) is None else "training loop" for run in (a, b)]
    return spans[0] if spans[0] == spans[1] else f"{spans[0]} of A and {spans[1]} of B"


def mean_series(ticks: Ticks, metric: str, span: tuple[int, int] | None, width_ns: int) -> Floats:
    """The mean over nodes in the order of time; `width_ns` is the bin, 0 for the nodes' own sampling interval."""
    width = width_ns or max((node.interval_ns for node in ticks.nodes), default=0)
    if not width:
        return _NOTHING
    start, end = span or (ticks.start_ns, ticks.end_ns + 1)
    count = max((end - start) // width + 1, 1)
    total, seen = np.zeros(count), np.zeros(count)
    for node in ticks.nodes:
        values = node_means(node, metric)
        known = ~np.isnan(values) & (node.tick_ns >= start) & (node.tick_ns < end)
        at = (node.tick_ns[known] - start) // width
        total += np.bincount(at, weights=values[known], minlength=count)
        seen += np.bincount(at, minlength=count)
    means: Floats = total[seen > 0] / seen[seen > 0]
    return means


def node_means(node: NodeTicks, metric: str) -> Floats:
    """A node's mean over its devices, tick by tick; NaN where nothing was measured."""
    if metric != "gpu":
        return {"cpu": node.cpu_mean, "io_wait": node.io_wait_mean, "network": node.network}[metric]
    known = ~np.isnan(node.gpu)
    count, total = known.sum(axis=1), np.where(known, node.gpu, 0).sum(axis=1)
    means: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return means


def _highest(run: Run, metric: str, quantile: str) -> float:
    if run.usage is None:
        return NAN
    found = run.usage.loc[run.usage["metric"] == metric, quantile].dropna()
    return float(found.max()) if len(found) else NAN


# --- rows ---


def _tested(key: str, phase: str, name: str, unit: str, better: Better, found: Difference, note: str) -> Row:
    verdict = _SIDES[better].get(found.verdict, found.verdict)
    return Row(
        key, phase, name, unit, found.mean_a, found.mean_b, better, verdict, found.low, found.high, found.smallest,
        TESTED, found.reason or note,
    )  # fmt: skip


def _one(key: str, name: str, unit: str, a: float, b: float, better: Better, note: str = "") -> Row:
    """A figure that each run has once. How it would vary from run to run is not known: it is only higher or lower."""
    verdict: Verdict = "cannot be judged"
    if not (math.isnan(a) or math.isnan(b)):
        verdict = "equal" if a == b else "lower" if b < a else "higher"
    return Row(key, "", name, unit, a, b, better, verdict, NAN, NAN, NAN, SINGLE, note)
