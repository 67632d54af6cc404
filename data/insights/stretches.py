"""Where in time something shows: single ticks joined to stretches, and the time that each tick stands for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

JOINED_TICKS = 10
"""Stretches that are fewer ticks apart than this are one."""


def stretches(
    tick_ns: NDArray[np.int64], flagged: NDArray[np.bool_], interval_ns: int
) -> list[tuple[tuple[int, int], int]]:
    """Windows of flagged ticks with the number of flagged ticks in each, the one with the most first."""
    at = np.flatnonzero(flagged)
    if not len(at):
        return []
    time_ns = tick_ns[at]
    first = np.append(0, np.flatnonzero(np.diff(time_ns) > JOINED_TICKS * max(interval_ns, 1)) + 1)
    counts = np.diff(np.append(first, len(at)))
    last_ns = time_ns[first + counts - 1] + max(interval_ns, 1)
    windows = zip(time_ns[first].tolist(), last_ns.tolist(), strict=True)
    return sorted(zip(windows, counts.tolist(), strict=True), key=lambda one: (-one[1], one[0]))


def tick_seconds(tick_ns: NDArray[np.int64], interval_ns: int) -> NDArray[np.float64]:
    """How long each tick stands for: until the next one, at most one and a half intervals (a gap is nobody's time)."""
    if not len(tick_ns):
        return np.empty(0)
    until = np.append(np.diff(tick_ns), interval_ns)
    seconds: NDArray[np.float64] = np.minimum(until, 1.5 * interval_ns) / 1e9
    return seconds


def unused_seconds(tick_ns: NDArray[np.int64], interval_ns: int, percent: NDArray[np.float64]) -> NDArray[np.float64]:
    """[ticks, GPUs] the part of each tick's time in which a GPU was not used; 0 where it was not measured."""
    seconds: NDArray[np.float64] = tick_seconds(tick_ns, interval_ns)[:, None] * unused_share(percent)
    return seconds


def unused_share(percent: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of a GPU is not used, 0 to 1; 0 where that was not measured."""
    share: NDArray[np.float64] = np.minimum(np.fmax(100 - percent, 0), 100) / 100
    return share
