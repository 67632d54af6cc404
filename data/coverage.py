"""Time that intervals cover: merged where they overlap, and cut at the edges of columns. All of it in whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def merged(start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stretches that intervals, sorted by start, cover together: a row of starts and one of ends."""
    if not len(start_ns):
        return np.zeros((2, 0), np.int64)
    reached = np.maximum.accumulate(end_ns)
    fresh = np.flatnonzero(start_ns[1:] > reached[:-1]) + 1
    return np.stack([start_ns[np.append(0, fresh)], reached[np.append(fresh - 1, len(reached) - 1)]])


def covered(islands: NDArray[np.int64], edges_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """How much of each column between ascending edges the merged stretches cover."""
    start, end = islands
    if not len(start):
        return np.zeros(max(len(edges_ns) - 1, 0), np.int64)
    before = np.concatenate([[0], np.cumsum(end - start)])
    at = np.searchsorted(start, edges_ns, side="right")
    inside = np.where(at > 0, np.minimum(edges_ns - end[np.maximum(at - 1, 0)], 0), 0)
    return np.diff(before[at] + inside)
