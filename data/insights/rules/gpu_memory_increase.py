"""GPUMemoryIncrease: GPU memory that grows beyond what it had reached before (reference 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import Ticks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import present
from data.insights.statement import counted, times

POINTS_ARE = "samples of GPU memory"

NOTHING = 1e-6
"""Sums of decimal fractions are off by less than this, so a difference to a threshold has to be larger, in points."""

NEARLY_FULL = 90.0
"""A GPU whose memory comes to this has little room for one more rise, percent."""


@dataclass(frozen=True)
class Rise:
    """One rise: from the last sample at the old level to the one where the new level is reached."""

    start: int  # positions of samples
    end: int
    before: float  # percent
    after: float

    @property
    def points(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class _Memory:
    """The memory of one GPU."""

    node: str
    device: str
    time_ns: NDArray[np.int64]
    levels: NDArray[np.float64]  # means over the window, the first of them of the first `window` samples
    judged: int  # samples after those that are waited for
    rises: list[Rise]

    @property
    def growth(self) -> float:
        """How far the highest level lies above that of the samples that are waited for."""
        return float(self.levels.max() - self.levels[: len(self.levels) - self.judged].max())


def judge(evidence: Evidence, values: Values) -> Outcome:
    """The mean of the last `window` samples against the highest that it had been until the last rise."""
    memories = _memories(evidence.ticks, values)
    points = sum(len(one.time_ns) for one in memories)
    judged = [one for one in memories if one.judged > 0]
    if not judged:
        return Outcome(
            "not enough data",
            f"No GPU has more than {values['patience']:,.0f} samples of its memory, and {values['window']:,.0f} for a"
            f" level; the most is {max(len(one.time_ns) for one in memories):,}.",
            points,
            POINTS_ARE,
        )
    found = sorted(
        ((one, rise) for one in judged for rise in one.rises), key=lambda item: (-item[1].points, item[1].start)
    )
    most = max(judged, key=lambda one: one.growth)
    highest = max(float(one.levels.max()) for one in judged)
    figures = (Figure("highest level", highest, "%"), Figure("largest growth", most.growth, "% points"))
    since = f"in its first {values['patience']:,.0f} samples"
    outcome = Outcome(
        "no issue",
        f"The memory of none of {counted(len(judged), 'GPU')} rose by more than {values['increase']:g} points above "
        f"what it had reached {since}; the most is {most.growth:.1f} ({most.node} {most.device}).",
        points,
        POINTS_ARE,
        figures=figures,
        confidence=_confidence(judged, memories, values),
    )
    if not found:
        return outcome
    first, rise = found[0]
    whose = len({(one.node, one.device) for one, _ in found})
    return replace(
        outcome,
        state="issue",
        text=f"GPU memory rose {times(len(found))} by more than {values['increase']:g} points above its highest level "
        f"before, on {whose} of {counted(len(memories), 'GPU')}; most on {first.node} {first.device}, from "
        f"{rise.before:.1f} to {rise.after:.1f} %.",
        triggered=len(found),
        violations=len(found),
        places=tuple(_place(one, rise) for one, rise in found[:5]),
        advice=("It comes close to full: the next rise may end the job.",) if highest >= NEARLY_FULL else (),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: each sample judges anew, so that one rise counts many times."""
    found = judge(evidence, values)
    window, patience = int(values["window"]), int(values["patience"])
    triggered, points = 0, 0
    for _, _, _, memory in _series(evidence.ticks):
        higher = increases(memory, window) > values["increase"] + NOTHING
        triggered += int(higher[max(patience - (window + 1), 0) :].sum())
        points = len(memory)
    return replace(
        found,
        state="issue" if triggered else "no issue",
        text=f"The condition was met {times(triggered)}.",
        points=points,
        points_are="samples of the last GPU",
        triggered=triggered,
        violations=triggered,
        figures=(),
        confidence="",
    )


def increases(memory: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """The original's increase at each sample after the first `window` + 1.

    The mean of the last `window` values, less that of the `window` - 1 values that end two before the last one.
    """
    if len(memory) <= window + 1:
        return np.empty(0)
    total = np.concatenate([[0.0], np.cumsum(memory)])
    now = (total[window + 2 :] - total[2:-window]) / window
    before = (total[window:-2] - total[1 : -window - 1]) / (window - 1)
    found: NDArray[np.float64] = now - before
    return found


def rises(levels: NDArray[np.float64], first: int, window: int, increase: float) -> list[Rise]:
    """Each time that a level exceeds the highest before by more than `increase`, from position `first` on.

    A rise goes on as long as the next `window` levels bring one that is higher still; what it reached is what the next
    one has to exceed. So one rise counts once, however long it takes, and a return to an old level never.
    """
    highest = np.maximum.accumulate(levels)
    higher = np.flatnonzero(np.diff(highest) > NOTHING) + 1
    last = np.append(higher[:-1][np.diff(higher) > window], len(levels) - 1 if not len(higher) else higher[-1])
    found: list[Rise] = []
    while first < len(levels):
        before = float(highest[first - 1])
        above = int(np.searchsorted(highest, before + increase + NOTHING))
        if above == len(levels):
            break
        settled = max(int(last[min(int(np.searchsorted(last, above)), len(last) - 1)]), above)
        start = first - 1 + int(np.flatnonzero(levels[first - 1 : above] <= before)[-1])
        found.append(Rise(start + window - 1, settled + window - 1, before, float(highest[settled])))
        first = settled + 1
    return found


def _series(ticks: Ticks) -> list[tuple[str, str, NDArray[np.int64], NDArray[np.float64]]]:
    """Node, device, times and values of each GPU's memory. Raises MissingTable where there is none."""
    found = []
    for node in ticks.nodes:
        for at, device in enumerate(node.gpu_memories):
            known = present(node.gpu_memory[:, at])
            found.append((node.node, device, node.tick_ns[known], node.gpu_memory[known, at]))
    if not found:
        raise MissingTable("No memory of GPUs was recorded.")
    return found


def _memories(ticks: Ticks, values: Values) -> list[_Memory]:
    window, patience = int(values["window"]), int(values["patience"])
    found = []
    for node, device, time_ns, memory in _series(ticks):
        total = np.concatenate([[0.0], np.cumsum(memory)])
        levels = (total[window:] - total[:-window]) / window
        first = max(patience - window, 0) + 1
        here = rises(levels, first, window, values["increase"])
        found.append(_Memory(node, device, time_ns, levels, max(len(levels) - first, 0), here))
    return found


def _place(one: _Memory, rise: Rise) -> Place:
    window = (int(one.time_ns[rise.start]), int(one.time_ns[rise.end]) + 1)
    text = f"from {rise.before:.1f} to {rise.after:.1f} %"
    return Place(one.node, one.device, window, text, "gpu_memory")


def _confidence(judged: list[_Memory], memories: list[_Memory], values: Values) -> str:
    parts = []
    most = max(one.judged for one in judged)
    if most < values["window"]:
        parts.append(f"Only {counted(most, 'sample')} of a GPU could be judged, fewer than a mean is taken of.")
    if len(judged) < len(memories):
        parts.append(f"{counted(len(memories) - len(judged), 'GPU')} had too few samples to be judged.")
    return " ".join(parts)


RULE = Rule(
    name="GPUMemoryIncrease",
    title="GPU memory grows",
    claim="Looks for GPU memory that rises above what it had reached before.",
    advice=(
        "Look for what is kept from step to step: losses and outputs that hold their graph, lists that only grow.",
        "Inputs of growing length take growing memory: cut them, or sort them into batches of like length.",
        "Where memory is needed and nearly full, use a GPU with more of it, or a smaller batch.",
    ),
    settings=(
        Setting("increase", 5.0, "% points", "a rise by more than this counts"),
        Setting("patience", 1000.0, "samples", "rises count once there are more than this", 0, 10_000_000),
        Setting("window", 10.0, "samples", "a level is the mean of this many", 2, 1_000_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
