"""What a node has to waste: its GPUs, and when they were not used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import NodeTicks, Ticks
from data.insights.evidence import Evidence
from data.insights.stretches import tick_seconds

NS_PER_S = 1_000_000_000


def ticks_or_none(evidence: Evidence) -> Ticks | None:
    """The system metrics, for rules that can do without."""
    try:
        return evidence.ticks
    except MissingTable:
        return None


def gpu_counts(evidence: Evidence) -> dict[str, int]:
    """How many GPUs each node has; {} without system metrics."""
    ticks = ticks_or_none(evidence)
    return {node.node: len(node.gpus) for node in ticks.nodes} if ticks else {}


@dataclass(frozen=True)
class UnusedGpus:
    """The unused GPU time of one node, added up over time: piecewise linear, flat where nothing was measured."""

    origin_ns: int
    at_s: NDArray[np.float64]  # since the origin
    unused_s: NDArray[np.float64]  # GPU-seconds up to then
    gpus: int

    def between(self, start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """GPU-seconds not used in each window, over all GPUs of the node."""
        if not len(self.at_s):
            return np.zeros(len(start_ns))
        low, high = ((one - self.origin_ns) / NS_PER_S for one in (start_ns, end_ns))
        found: NDArray[np.float64] = np.interp(high, self.at_s, self.unused_s) - np.interp(
            low, self.at_s, self.unused_s
        )
        return found


def unused_gpus(node: NodeTicks) -> UnusedGpus:
    """A GPU at 30 % leaves 0.7 s of every second; a GPU without a value leaves nothing that anyone knows of."""
    if not len(node.tick_ns) or not node.gpus:
        return UnusedGpus(0, np.empty(0), np.empty(0), len(node.gpus))
    seconds = tick_seconds(node.tick_ns, node.interval_ns)
    idle = np.nansum(100 - np.clip(node.gpu, 0, 100), axis=1) / 100 * seconds
    total = np.cumsum(idle)
    begin = (node.tick_ns - node.tick_ns[0]) / NS_PER_S
    at_s = np.stack([begin, begin + seconds], axis=1).ravel()
    unused_s = np.stack([total - idle, total], axis=1).ravel()
    return UnusedGpus(int(node.tick_ns[0]), at_s, unused_s, len(node.gpus))


Windows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends, nanoseconds."""


def wasted_by_processes(
    ticks: Ticks | None,
    processes: Mapping[str, int],
    lost: Iterable[tuple[str, Windows, NDArray[np.float64]]],
) -> tuple[float | None, float | None]:
    """GPU-seconds that processes lose, where each has an equal part of its node's GPUs; node-seconds without GPUs.

    `lost` has, for a process, its node, windows that do not overlap, and the seconds that it loses in each: of the
    GPUs' time no more than that, and no more than the unused part of the window.
    """
    if ticks is None:
        return None, None
    unused = {node.node: unused_gpus(node) for node in ticks.nodes}
    gpu_s = node_s = 0.0
    for node, windows, seconds in lost:
        node_s += float(seconds.sum()) / processes[node]
        if node in unused and unused[node].gpus:
            most = np.minimum(unused[node].between(*windows), seconds * unused[node].gpus)
            gpu_s += float(most.sum()) / processes[node]
    return (gpu_s, None) if any(one.gpus for one in unused.values()) else (None, node_s)


def disjoint(start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same time in windows that do not overlap, in order."""
    if not len(start_ns):
        return start_ns, end_ns
    order = np.argsort(start_ns, kind="stable")
    start, end = start_ns[order], np.maximum.accumulate(end_ns[order])
    begins = np.flatnonzero(np.append(True, start[1:] > end[:-1]))
    return start[begins], end[np.append(begins[1:], len(start)) - 1]


def covered_s(start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> float:
    """How long at least one of the windows lasts, each moment once."""
    start, end = disjoint(start_ns, end_ns)
    return float((end - start).sum()) / NS_PER_S
