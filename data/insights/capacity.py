"""What there is to waste: GPUs, and the time in which they were not used, shared among processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import Ticks
from data.insights.evidence import Evidence
from data.insights.statement import NS_PER_S


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


Windows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends, nanoseconds."""


def wasted_by_processes(
    evidence: Evidence, processes: Mapping[str, int], lost: Iterable[tuple[str, Windows, NDArray[np.float64]]]
) -> tuple[float | None, float | None]:
    """GPU-seconds that processes lose, where each has an equal part of its node's GPUs; node-seconds without GPUs.

    `lost` has, for a process, its node, windows that do not overlap, and the seconds that it loses in each: of the
    GPUs' time no more than that, and no more than the unused part of the window. None for both without system metrics.
    """
    try:
        unused = evidence.unused_gpus
    except MissingTable:
        return None, None
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
