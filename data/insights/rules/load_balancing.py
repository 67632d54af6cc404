"""LoadBalancing: GPUs of one node that do not do equal work (reference 4.7)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import NodeTicks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import Flags
from data.insights.statement import counted, names
from data.insights.stretches import tick_seconds, unused_seconds

POINTS_ARE = "samples of GPUs"
NO_GPU = "No GPU was recorded."

BINS = 50
"""Of 2 percent each; the last one ends with 100, which belongs to it."""

UNUSED_PERCENT, UNUSED_SHARE = 1.0, 0.99
"""A GPU is not used if nearly all of its samples are at most this."""


@dataclass(frozen=True)
class _Node:
    """The GPUs of one node, compared with each other."""

    ticks: NodeTicks
    samples: NDArray[np.int64]  # [GPUs]
    mean: NDArray[np.float64]
    unused: Flags  # not used, though others of the node are
    distances: NDArray[np.float64]  # [GPUs, GPUs], NaN where a pair has too few samples
    unequal: NDArray[np.bool_]  # [GPUs, GPUs]

    @property
    def judged(self) -> bool:
        return bool((~np.isnan(self.distances)).any())

    @property
    def lesser(self) -> Flags:
        """[GPUs] those that do less than one whose work is unequal to theirs."""
        less: NDArray[np.bool_] = np.any(self.unequal & (self.mean[:, None] < self.mean[None, :]), axis=1)
        return less

    @property
    def wasted_s(self) -> NDArray[np.float64]:
        """[GPUs] of the lesser ones, the unused time beyond that of the others."""
        each_s = tick_seconds(self.ticks.tick_ns, self.ticks.interval_ns)[:, None]
        seconds = (each_s * ~np.isnan(self.ticks.gpu)).sum(axis=0)
        unused = unused_seconds(self.ticks.tick_ns, self.ticks.interval_ns, self.ticks.gpu).sum(axis=0)
        share = unused / np.maximum(seconds, 1e-9)
        others = ~self.lesser & (self.samples > 0)
        beyond = np.where(self.lesser, share - (share[others].mean() if others.any() else 1.0), 0.0)
        wasted: NDArray[np.float64] = np.maximum(beyond, 0.0) * seconds
        return wasted

    def name(self, gpu: int) -> str:
        """Node and device."""
        return f"{self.ticks.node} {self.ticks.gpus[gpu]}"


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Pairs of GPUs of the same node, each with more than `patience` samples, by the distance of their histograms."""
    nodes = [_compared(node, values) for node in evidence.ticks.nodes if len(node.gpus) > 1]
    if not nodes:
        alone = any(node.gpus for node in evidence.ticks.nodes)
        raise MissingTable("No node has more than one GPU, so there is nothing to compare." if alone else NO_GPU)
    points = sum(int(node.samples.sum()) for node in nodes)
    judged = [node for node in nodes if node.judged]
    if not judged:
        most = max(int(node.samples.max()) for node in nodes)
        text = f"No two GPUs of a node have more than {values['patience']:,.0f} samples; the most is {most:,}."
        return Outcome("not enough data", text, points, POINTS_ARE)
    far = max(judged, key=lambda node: float(np.nanmax(node.distances)))
    one, two = np.unravel_index(int(np.nanargmax(far.distances)), far.distances.shape)
    distance = float(far.distances[one, two])
    figures = (Figure("largest distance", distance, ""), Figure("nodes judged", len(judged), ""))
    confidence = "" if len(judged) == len(nodes) else _confidence([node for node in nodes if not node.judged])
    uneven = [node for node in judged if node.unequal.any()]
    if not uneven:
        text = (
            f"The GPUs of {counted(len(judged), 'node')} share the work evenly; the largest distance is "
            f"{distance:.2f} ({far.name(int(one))} and {far.ticks.gpus[two]})."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, confidence=confidence)
    pairs = sum(int(np.triu(node.unequal).sum()) for node in uneven)
    return Outcome(
        "issue",
        _sentence(uneven, nodes),
        points,
        POINTS_ARE,
        triggered=pairs,
        violations=pairs,
        places=_places(uneven),
        figures=figures,
        confidence=confidence,
        wasted_gpu_s=sum(float(node.wasted_s.sum()) for node in uneven),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original, which compared each GPU with itself only and so never found anything."""
    with_gpus = [node for node in evidence.ticks.nodes if node.gpus]
    if not with_gpus:
        raise MissingTable(NO_GPU)
    return Outcome(
        "no issue",
        "The original compares no two GPUs, so its condition is never met.",
        int((~np.isnan(with_gpus[-1].gpu[:, -1])).sum()),
        "samples of the last GPU",
    )


def histogram(percent: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many values lie in each bin; those outside 0 to 100 count in the first and the last."""
    bins = np.clip(percent * (BINS / 100), 0, BINS - 1).astype(np.int64)
    return np.bincount(bins, minlength=BINS)


def distances(histograms: NDArray[np.float64]) -> NDArray[np.float64]:
    """[histograms, histograms] root of the Jensen-Shannon divergence, natural logarithm; 0 to √ln 2 = 0.83.

    `histograms` has one a row; each is brought to a sum of 1 first, so that longer series weigh no more.
    """
    share = histograms / np.maximum(histograms.sum(axis=1, keepdims=True), 1)
    one, two = share[:, None, :], share[None, :, :]
    middle = (one + two) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(side > 0, side * np.log(side / middle), 0.0).sum(axis=2) for side in (one, two)]
    found: NDArray[np.float64] = np.sqrt(np.maximum(parts[0] + parts[1], 0.0) / 2)
    return found


def _compared(node: NodeTicks, values: Values) -> _Node:
    known = ~np.isnan(node.gpu)
    samples = known.sum(axis=0)
    columns = [node.gpu[known[:, at], at] for at in range(len(node.gpus))]
    mean = np.array([column.mean() if len(column) else math.nan for column in columns])
    at_rest = np.array([len(column) > 0 and (column <= UNUSED_PERCENT).mean() >= UNUSED_SHARE for column in columns])
    found = distances(np.array([histogram(column) for column in columns], float))
    enough = samples > values["patience"]
    found[~(enough[:, None] & enough[None, :])] = math.nan
    np.fill_diagonal(found, math.nan)
    return _Node(node, samples, mean, at_rest & ~at_rest.all(), found, found > values["threshold"])


def _sentence(uneven: list[_Node], nodes: list[_Node]) -> str:
    gaps = [np.where(node.unequal, node.mean[None, :] - node.mean[:, None], -math.inf) for node in uneven]
    at = max(range(len(uneven)), key=lambda one: float(gaps[one].max()))
    node = uneven[at]
    less, more = (int(one) for one in np.unravel_index(int(np.argmax(gaps[at])), gaps[at].shape))
    text = (
        f"On {len(uneven)} of {counted(len(nodes), 'node')} with several GPUs the work is shared unevenly: "
        f"{node.name(less)} is at {node.mean[less]:.1f} % on average,"
        f" {node.ticks.gpus[more]} at {node.mean[more]:.1f} %"
    )
    text += f"; their histograms are {node.distances[less, more]:.2f} apart"
    unused = [one.name(gpu) for one in nodes for gpu in np.flatnonzero(one.unused).tolist()]
    return f"{text}. Not used at all: {names(unused)}." if unused else f"{text}."


def _places(uneven: list[_Node]) -> tuple[Place, ...]:
    """The GPUs that leave most unused, each against the one of its node that is farthest from it."""
    every = []
    for node in uneven:
        wasted = node.wasted_s
        which = node.lesser if node.lesser.any() else np.any(node.unequal, axis=1)
        every += [(float(wasted[gpu]), node, gpu) for gpu in np.flatnonzero(which).tolist()]
    every.sort(key=lambda one: (-one[0], one[2]))
    found = []
    for _, node, gpu in every[:5]:
        other = int(np.nanargmax(node.distances[gpu]))
        text = (
            f"{node.mean[gpu]:.1f} % on average, {node.ticks.gpus[other]} {node.mean[other]:.1f} %; "
            f"distance {node.distances[gpu, other]:.2f}"
        )
        window = (int(node.ticks.tick_ns[0]), int(node.ticks.tick_ns[-1]) + max(node.ticks.interval_ns, 1))
        found.append(Place(node.ticks.node, node.ticks.gpus[gpu], window, text, "utilization"))
    return tuple(found)


def _confidence(left: list[_Node]) -> str:
    return f"The GPUs of {names([node.ticks.node for node in left])} have too few samples to be compared."


RULE = Rule(
    name="LoadBalancing",
    title="GPUs share the work unevenly",
    claim="Looks for GPUs of one node that are used unlike each other, one of them perhaps not at all.",
    advice=(
        "Start one process for each GPU, with that GPU to itself, and give each an equal share of the data.",
        "Use a strategy that splits each batch evenly, such as one process a GPU with all-reduce.",
        "If the work needs fewer GPUs, choose an instance with fewer.",
    ),
    settings=(
        Setting("threshold", 0.2, "", "GPUs are unlike if their histograms are farther apart than this", 0, 1),
        Setting("patience", 1000.0, "samples", "a GPU is compared once it has more than this", 0, 10_000_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
