"""LowGPUUtilization: a GPU that is little used, or swings between idle and busy (reference 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import NodeTicks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import last_windows, scan_ends, seen_by
from data.insights.statement import counted, names, times
from data.insights.stretches import tick_seconds

POINTS_ARE = "samples of GPUs"
NO_GPU = "No GPU was recorded."


@dataclass(frozen=True)
class _Gpu:
    """One GPU's values and what its scans saw."""

    node: str
    device: str
    time_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    idle_s: NDArray[np.float64]  # of each value: the part of its time in which the GPU was not used
    counts: NDArray[np.int64]  # [scans judged] values seen
    p95: NDArray[np.float64]  # [scans judged] of the last window
    p5: NDArray[np.float64]
    low: NDArray[np.bool_]
    swings: NDArray[np.bool_]

    @property
    def bad(self) -> NDArray[np.bool_]:
        return self.low | self.swings


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each GPU at the end of each scan, on its last `window` samples, once it has more than `patience`."""
    ticks = evidence.ticks
    ends = scan_ends(ticks.start_ns, ticks.end_ns)
    gpus = [gpu for node in ticks.nodes for gpu in _gpus(node, ends, values)]
    if not gpus:
        raise MissingTable(NO_GPU)
    points, most = sum(len(gpu.values) for gpu in gpus), max(len(gpu.values) for gpu in gpus)
    judged = [gpu for gpu in gpus if len(gpu.counts)]
    if not judged:
        return Outcome(
            "not enough data",
            f"No GPU has more than {values['patience']:,.0f} samples; the most is {most:,}.",
            points,
            POINTS_ARE,
        )
    bad = sorted((gpu for gpu in judged if gpu.bad.any()), key=lambda gpu: float(gpu.p95[gpu.bad].min()))
    triggered = sum(int(gpu.bad.sum()) for gpu in bad)
    figures = (
        Figure("lowest p95 of a window", min(float(gpu.p95.min()) for gpu in judged), "%"),
        Figure("GPUs judged", len(judged), ""),
    )
    if not bad:
        return Outcome(
            "no issue",
            f"Every one of {counted(len(judged), 'GPU')} reached a p95 of at least {values['threshold_p95']:g} % in "
            f"every window of {values['window']:g} samples, without falling idle.",
            points,
            POINTS_ARE,
            figures=figures,
        )
    return Outcome(
        "issue",
        _sentence(bad, len(gpus), values),
        points,
        POINTS_ARE,
        triggered=triggered,
        violations=triggered,
        places=tuple(_place(gpu, int(values["window"])) for gpu in bad[:5]),
        figures=figures,
        confidence=_confidence(bad, judged, gpus),
        wasted_gpu_s=sum(_wasted_s(gpu, int(values["window"])) for gpu in bad),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: the same windows; its data points are the samples of the last GPU alone."""
    found = judge(evidence, values)
    last = [node for node in evidence.ticks.nodes if node.gpus][-1]
    return replace(
        found,
        state="issue" if found.triggered else "no issue",
        text=f"The condition was met {times(found.triggered)}.",
        points=int((~np.isnan(last.gpu[:, -1])).sum()),
        points_are="samples of the last GPU",
    )


def _gpus(node: NodeTicks, ends: NDArray[np.int64], values: Values) -> list[_Gpu]:
    window, patience = int(values["window"]), int(values["patience"])
    seconds = tick_seconds(node.tick_ns, node.interval_ns)
    found = []
    for at, device in enumerate(node.gpus):
        known = ~np.isnan(node.gpu[:, at])
        mine, time_ns = node.gpu[known, at], node.tick_ns[known]
        counts = seen_by(time_ns, ends)
        counts = counts[(counts > patience) & (counts >= window)]
        p5, p95 = (
            np.quantile(last_windows(mine, counts, window), [0.05, 0.95], axis=1) if len(counts) else np.empty((2, 0))
        )
        low = p95 < values["threshold_p95"]
        swings = (p95 > values["threshold_p95"]) & (p5 < values["threshold_p5"])
        idle_s = seconds[known] * (100 - np.clip(mine, 0, 100)) / 100
        found.append(_Gpu(node.node, device, time_ns, mine, idle_s, counts, p95, p5, low, swings))
    return found


def _covered(gpu: _Gpu, window: int) -> NDArray[np.bool_]:
    """Which values lie in a window that was found bad."""
    change = np.zeros(len(gpu.values) + 1, np.int64)
    np.add.at(change, gpu.counts[gpu.bad] - window, 1)
    np.add.at(change, gpu.counts[gpu.bad], -1)
    covered: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return covered


def _wasted_s(gpu: _Gpu, window: int) -> float:
    return float(gpu.idle_s[_covered(gpu, window)].sum())


def _place(gpu: _Gpu, window: int) -> Place:
    covered = np.flatnonzero(_covered(gpu, window))
    span = (int(gpu.time_ns[covered[0]]), int(gpu.time_ns[covered[-1]]) + 1)
    worst = int(np.argmin(np.where(gpu.bad, gpu.p95, np.inf)))
    text = f"p95 {gpu.p95[worst]:.1f} %" + (f", p5 {gpu.p5[worst]:.1f} %: idle in between" if gpu.swings[worst] else "")
    return Place(gpu.node, gpu.device, span, text, "utilization")


def _sentence(bad: list[_Gpu], gpus: int, values: Values) -> str:
    low, swings = [gpu for gpu in bad if gpu.low.any()], [gpu for gpu in bad if gpu.swings.any()]
    high, whole = f"{values['threshold_p95']:g} %", counted(gpus, "GPU")
    parts = []
    if low:
        lowest = min(float(gpu.p95[gpu.low].min()) for gpu in low)
        parts.append(
            f"{len(low)} of {whole} stayed below {high} for 95 % of a window of {values['window']:g} samples;"
            f" the lowest p95 is {lowest:.1f} % ({names([f'{gpu.node} {gpu.device}' for gpu in low])})"
        )
    if swings:
        parts.append(
            f"{len(swings)} of {whole} swung between busy and idle (p95 above {high},"
            f" p5 below {values['threshold_p5']:g} %)"
        )
    return "; ".join(parts) + "."


def _confidence(bad: list[_Gpu], judged: list[_Gpu], gpus: list[_Gpu]) -> str:
    parts = []
    windows, hit = sum(len(gpu.counts) for gpu in bad), sum(int(gpu.bad.sum()) for gpu in bad)
    if hit * 10 < windows:
        parts.append(f"Only {hit} of {windows} windows of these GPUs show it.")
    if len(judged) < len(gpus):
        parts.append(f"{counted(len(gpus) - len(judged), 'GPU')} had too few samples to be judged.")
    return " ".join(parts)


RULE = Rule(
    name="LowGPUUtilization",
    title="GPUs are little used",
    claim="Looks for a GPU that is hardly used, or that swings between busy and idle.",
    advice=(
        "Find what the GPU waits for: the bottleneck rules and the heatmap in Nodes show whether cores, storage or the"
        " network are busy meanwhile.",
        "Give the GPU more to do at a time: a larger batch, and no blocking calls between steps.",
        "Where several GPUs share the work badly, try another distribution strategy or fewer GPUs.",
    ),
    settings=(
        Setting("threshold_p95", 70.0, "%", "a GPU whose p95 is below this is little used"),
        Setting("threshold_p5", 10.0, "%", "a GPU whose p5 is below this, and p95 above the other, swings"),
        Setting("window", 500.0, "samples", "how many of the last samples are judged at a time", 1, 1_000_000),
        Setting("patience", 1000.0, "samples", "a GPU is judged once it has more than this", 0, 10_000_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
