"""LowGPUUtilization: a GPU that is little used, or swings between idle and busy (reference 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import Ticks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import Flags, Scanned, present, scan_ends, seen_by
from data.insights.statement import counted, names, times
from data.insights.stretches import stretches, tick_seconds, unused_share

POINTS_ARE = "samples of GPUs"
NO_GPU = "No GPU was recorded."


@dataclass(frozen=True)
class _Gpu:
    """One GPU's samples and what its scans saw."""

    node: str
    device: str
    interval_ns: int
    time_ns: NDArray[np.int64]
    seconds: NDArray[np.float64]  # that each sample stands for
    scanned: Scanned
    low: Flags  # [scans judged]
    swings: Flags

    @property
    def name(self) -> str:
        return f"{self.node} {self.device}"

    @property
    def bad(self) -> Flags:
        return self.low | self.swings

    @cached_property
    def wasted_s(self) -> float:
        unused_s = self.seconds * unused_share(self.scanned.values)
        return float(unused_s[self.scanned.covered(self.bad)].sum())


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each GPU at the end of each scan with new samples, on its last `window`, once it has more than `patience`."""
    gpus = _gpus(evidence.ticks, values, again=False)
    points = sum(len(gpu.time_ns) for gpu in gpus)
    judged = [gpu for gpu in gpus if len(gpu.scanned.ends)]
    if not judged:
        return Outcome(
            "not enough data",
            f"No GPU has more than {values['patience']:,.0f} samples and {values['window']:,.0f} for a window; "
            f"the most is {max(len(gpu.time_ns) for gpu in gpus):,}.",
            points,
            POINTS_ARE,
        )
    figures = (Figure("GPUs judged", len(judged), ""),)
    bad = [gpu for gpu in judged if gpu.bad.any()]
    if not bad:
        return Outcome(
            "no issue",
            f"Every one of {counted(len(judged), 'GPU')} reached a p95 of at least {values['threshold_p95']:g} % in "
            f"every window of {values['window']:g} samples, without falling idle.",
            points,
            POINTS_ARE,
            figures=figures,
            confidence=_confidence(bad, judged, gpus),
        )
    bad.sort(key=lambda gpu: -gpu.wasted_s)
    triggered = sum(int(gpu.bad.sum()) for gpu in bad)
    return Outcome(
        "issue",
        _sentence(bad, len(gpus), values),
        points,
        POINTS_ARE,
        triggered=triggered,
        violations=triggered,
        places=tuple(_place(gpu) for gpu in bad[:5]),
        figures=figures,
        confidence=_confidence(bad, judged, gpus),
        wasted_gpu_s=sum(gpu.wasted_s for gpu in bad),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: every scan judges, also one without new samples; its data points are those of the last GPU."""
    gpus = _gpus(evidence.ticks, values, again=True)
    triggered = sum(int(gpu.bad.sum()) for gpu in gpus)
    return replace(
        judge(evidence, values),
        state="issue" if triggered else "no issue",
        text=f"The condition was met {times(triggered)}.",
        points=len(gpus[-1].time_ns),
        points_are="samples of the last GPU",
        triggered=triggered,
        violations=triggered,
        figures=(),
        confidence="",
    )


def _gpus(ticks: Ticks, values: Values, *, again: bool) -> list[_Gpu]:
    """All GPUs. With `again`, a scan that brought no new sample judges the same window once more."""
    window, patience = int(values["window"]), int(values["patience"])
    scans = scan_ends(ticks.start_ns, ticks.end_ns)
    found = []
    for node in ticks.nodes:
        seconds = tick_seconds(node.tick_ns, node.interval_ns)
        for at, device in enumerate(node.gpus):
            known = present(node.gpu[:, at])
            time_ns = node.tick_ns[known]
            ends = seen_by(time_ns, scans)
            ends = ends[(ends > patience) & (ends >= window)]
            scanned = Scanned(node.gpu[known, at], ends if again else np.unique(ends), window)
            low = scanned.below(0.95, values["threshold_p95"])
            swings = np.zeros_like(low)
            if not low.all():
                swings = scanned.above(0.95, values["threshold_p95"]) & scanned.below(0.05, values["threshold_p5"])
            found.append(_Gpu(node.node, device, node.interval_ns, time_ns, seconds[known], scanned, low, swings))
    if not found:
        raise MissingTable(NO_GPU)
    return found


def _place(gpu: _Gpu) -> Place:
    """The longest stretch of windows that were found bad, and the worst of them."""
    window, _ = stretches(gpu.time_ns, gpu.scanned.covered(gpu.bad), gpu.interval_ns)[0]
    p95 = gpu.scanned.quantiles(0.95, gpu.bad)
    worst = int(np.argmin(p95))
    text = f"p95 {p95[worst]:.1f} %"
    if gpu.swings[gpu.bad][worst]:
        text += f", p5 {gpu.scanned.quantiles(0.05, gpu.bad)[worst]:.1f} %: idle in between"
    return Place(gpu.node, gpu.device, window, text, "utilization")


def _sentence(bad: list[_Gpu], gpus: int, values: Values) -> str:
    low, swings = [gpu for gpu in bad if gpu.low.any()], [gpu for gpu in bad if gpu.swings.any()]
    high, whole = f"{values['threshold_p95']:g} %", counted(gpus, "GPU")
    parts = []
    if low:
        lowest = float(low[0].scanned.quantiles(0.95, low[0].low).min())
        parts.append(
            f"{len(low)} of {whole} stayed below {high} for 95 % of a window of {values['window']:g} samples"
            f" ({names([gpu.name for gpu in low])}); p95 of the first is {lowest:.1f} %"
        )
    if swings:
        parts.append(
            f"{len(swings)} of {whole} swung between busy and idle: p95 above {high}, p5 below"
            f" {values['threshold_p5']:g} % ({names([gpu.name for gpu in swings])})"
        )
    return "; ".join(parts) + "."


def _confidence(bad: list[_Gpu], judged: list[_Gpu], gpus: list[_Gpu]) -> str:
    parts = []
    windows, hit = sum(len(gpu.bad) for gpu in bad), sum(int(gpu.bad.sum()) for gpu in bad)
    if hit * 10 < windows:
        parts.append(f"Only {hit:,} of {windows:,} windows of these GPUs show it.")
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
