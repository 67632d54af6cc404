"""Where in time something shows: single ticks joined to stretches, the worst of them first."""

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
    breaks = np.flatnonzero(np.diff(tick_ns[at]) > JOINED_TICKS * max(interval_ns, 1)) + 1
    found = []
    for piece in np.split(at, breaks):
        window = (int(tick_ns[piece[0]]), int(tick_ns[piece[-1]]) + max(interval_ns, 1))
        found.append((window, len(piece)))
    return sorted(found, key=lambda one: (-one[1], one[0]))


def tick_seconds(tick_ns: NDArray[np.int64], interval_ns: int) -> NDArray[np.float64]:
    """How long each tick stands for: until the next one, at most one and a half intervals (a gap is nobody's time)."""
    if not len(tick_ns):
        return np.empty(0)
    until = np.append(np.diff(tick_ns), interval_ns)
    seconds: NDArray[np.float64] = np.minimum(until, 1.5 * interval_ns) / 1e9
    return seconds
