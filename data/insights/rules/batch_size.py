"""BatchSize: cores, GPU and GPU memory all lightly used at the same time (reference 4.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import NodeTicks, Ticks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import Flags, Scanned, present, scan_ends, seen_by
from data.insights.statement import counted, times
from data.insights.stretches import stretches, tick_seconds, unused_share

POINTS_ARE = "samples of GPUs with memory and cores"
P95 = 0.95

UNUSED_PERCENT = 1.0
"""A GPU with a p95 below this does nothing; no batch is too small for it."""


@dataclass(frozen=True)
class _Gpu:
    """One GPU over the ticks in which it, its memory and the node's cores all have a value."""

    node: NodeTicks
    device: str
    time_ns: NDArray[np.int64]
    seconds: NDArray[np.float64]  # that each tick stands for
    cpu: Scanned
    gpu: Scanned
    memory: Scanned
    bad: Flags  # [scans judged]

    @cached_property
    def covered(self) -> Flags:
        return self.gpu.covered(self.bad)

    @cached_property
    def wasted_s(self) -> float:
        return float((self.seconds * unused_share(self.gpu.values))[self.covered].sum())

    @property
    def p95(self) -> str:
        """The three p95 of the window in which the GPU was used most."""
        gpu, memory, cpu = (series.quantiles(P95, self.bad) for series in (self.gpu, self.memory, self.cpu))
        most = int(np.argmax(gpu))
        return f"p95 of the GPU {gpu[most]:.1f} %, its memory {memory[most]:.1f} %, the cores {cpu[most]:.1f} %"


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each used GPU at the end of each scan: p95 of the last `window` samples of it, its memory and the cores' mean."""
    gpus = _gpus(evidence.ticks, values)
    points = sum(len(gpu.time_ns) for gpu in gpus)
    judged = [gpu for gpu in gpus if len(gpu.bad)]
    if not judged:
        return Outcome(
            "not enough data",
            f"No GPU has more than {values['patience']:,.0f} samples, and {values['window']:,.0f} for a window, beside"
            f" those of its memory and of cores; the most is {max(len(gpu.time_ns) for gpu in gpus):,}.",
            points,
            POINTS_ARE,
        )
    figures = (Figure("GPUs judged", len(judged), ""),)
    confidence = f"{counted(len(gpus) - len(judged), 'GPU')} had too few samples to be judged."
    confidence = confidence if len(judged) < len(gpus) else ""
    bad = sorted((gpu for gpu in judged if gpu.bad.any()), key=lambda gpu: -gpu.wasted_s)
    if not bad:
        text = (
            f"In every window of {values['window']:g} samples each of {counted(len(judged), 'GPU')}, its memory or the"
            " node's cores were well used, or the GPU not at all."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, confidence=confidence)
    triggered = sum(int(gpu.bad.sum()) for gpu in bad)
    return Outcome(
        "issue",
        f"{len(bad)} of {counted(len(gpus), 'GPU')} had room for a larger batch in a window of {values['window']:g} "
        f"samples: {bad[0].p95} ({bad[0].node.node} {bad[0].device}).",
        points,
        POINTS_ARE,
        triggered=triggered,
        violations=triggered,
        places=tuple(_place(gpu) for gpu in bad[:5]),
        figures=figures,
        confidence=confidence,
        wasted_gpu_s=sum(gpu.wasted_s for gpu in bad),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: each series has its own last samples, patience is of the cores', idle GPUs count too.

    Its data points are one fewer than the samples of the last GPU, in every report that is known.
    """
    ticks = evidence.ticks
    found = judge(evidence, values)
    triggered = sum(
        int(_light(*_as_the_original(ticks, node, pair, values), values).sum())
        for node in ticks.nodes
        for pair in _pairs(node)
    )
    last = [node for node in ticks.nodes if node.gpus][-1]
    return replace(
        found,
        state="issue" if triggered else "no issue",
        text=f"The condition was met {times(triggered)}.",
        points=max(int((~np.isnan(last.gpu[:, -1])).sum()) - 1, 0),
        points_are="samples of the last GPU, less one",
        triggered=triggered,
        violations=triggered,
        figures=(),
        confidence="",
    )


def _pairs(node: NodeTicks) -> list[tuple[int, int]]:
    """The columns of each GPU and of its memory."""
    return [(at, node.gpu_memories.index(gpu)) for at, gpu in enumerate(node.gpus) if gpu in node.gpu_memories]


def _gpus(ticks: Ticks, values: Values) -> list[_Gpu]:
    """All GPUs. Raises MissingTable where there are none, or none with memory, or no cores beside them."""
    window, patience = int(values["window"]), int(values["patience"])
    scans = scan_ends(ticks.start_ns, ticks.end_ns)
    nodes = [node for node in ticks.nodes if node.gpus]
    found = []
    for node in nodes:
        seconds = tick_seconds(node.tick_ns, node.interval_ns)
        for at, memory_at in _pairs(node):
            columns = node.cpu_mean, node.gpu[:, at], node.gpu_memory[:, memory_at]
            known = present(*columns)
            ends = np.unique(seen_by(node.tick_ns[known], scans))
            ends = ends[(ends > patience) & (ends >= window)]
            cpu, gpu, memory = (Scanned(column[known], ends, window) for column in columns)
            bad = _light(cpu, gpu, memory, values) & ~gpu.below(P95, UNUSED_PERCENT)
            found.append(_Gpu(node, node.gpus[at], node.tick_ns[known], seconds[known], cpu, gpu, memory, bad))
    if not found:
        raise MissingTable("No memory of GPUs was recorded." if nodes else "No GPU was recorded.")
    if all(np.isnan(node.cpu_mean).all() for node in nodes):
        raise MissingTable("No core was recorded on nodes with GPUs.")
    return found


def _as_the_original(
    ticks: Ticks, node: NodeTicks, pair: tuple[int, int], values: Values
) -> tuple[Scanned, Scanned, Scanned]:
    window = int(values["window"])
    scans = scan_ends(ticks.start_ns, ticks.end_ns)
    columns = node.cpu_mean, node.gpu[:, pair[0]], node.gpu_memory[:, pair[1]]
    known = [present(column) for column in columns]
    ends = np.stack([seen_by(node.tick_ns[here], scans) for here in known])
    judging = (ends[0] > values["patience"]) & (ends[:2] > window).all(axis=0) & (ends[2] >= window)
    cpu, gpu, memory = (
        Scanned(column[here], end[judging], window) for column, here, end in zip(columns, known, ends, strict=True)
    )
    return cpu, gpu, memory


def _light(cpu: Scanned, gpu: Scanned, memory: Scanned, values: Values) -> Flags:
    light = cpu.below(P95, values["cpu_threshold_p95"])
    for series, limit in ((gpu, "gpu_threshold_p95"), (memory, "gpu_memory_threshold_p95")):
        if light.any():
            light &= series.below(P95, values[limit])
    return light


def _place(gpu: _Gpu) -> Place:
    window, _ = stretches(gpu.time_ns, gpu.covered, gpu.node.interval_ns)[0]
    return Place(gpu.node.node, gpu.device, window, gpu.p95, "utilization")


RULE = Rule(
    name="BatchSize",
    title="The batch may be too small",
    claim="Looks for GPUs that are lightly used while their memory and the cores of their node have room as well.",
    advice=(
        "Use a larger batch: memory has room, and each step then does more.",
        "Or run on a smaller instance; this work does not need so large a one.",
    ),
    settings=(
        Setting("cpu_threshold_p95", 70.0, "%", "cores with a p95 of their mean below this have room"),
        Setting("gpu_threshold_p95", 70.0, "%", "a GPU with a p95 below this has room"),
        Setting("gpu_memory_threshold_p95", 70.0, "%", "GPU memory with a p95 below this has room"),
        Setting("patience", 1000.0, "samples", "a GPU is judged once it has more than this", 0, 10_000_000),
        Setting("window", 500.0, "samples", "how many of the last samples are judged at a time", 1, 1_000_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
