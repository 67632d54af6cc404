"""How events of a thread lie inside one another, and how much of its time each one has for itself.

At every moment a thread's time belongs to the event that began last. So what an event has for itself is its length
without all that began later and runs at the same time: never less than nothing, also where events overlap without
lying inside one another, as rounding and different clocks make them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def self_times(
    lane: NDArray[np.uint64], start_ns: Ints, end_ns: Ints, tie: NDArray[np.uint64], within: tuple[int, int]
) -> Ints:
    """The time that each event has for itself `within` a span of time, among the events of its lane, in any order.

    Of events that begin together, the longer one is taken to be around the shorter; of equal ones, `tie` decides.
    """
    order = np.lexsort((tie, -end_ns, start_ns, lane))
    lane = lane[order]
    start = np.clip(start_ns[order], *within)
    end = _uncrossed(lane, start, np.clip(end_ns[order], *within))
    own = end - start
    parent = _nearest(end, strict=False)
    inside = parent >= 0
    inside[inside] = lane[parent[inside]] == lane[inside]
    np.subtract.at(own, parent[inside], (end - start)[inside])
    found = np.empty_like(own)
    found[order] = own
    return found


def _uncrossed(lane: NDArray[np.uint64], start: Ints, end: Ints) -> Ints:
    """Ends such that events lie inside one another or apart: each is cut where a later one begins and outlasts it.

    That takes nothing from anybody: the time behind the cut belongs to the later event anyway.
    """
    last = len(end) - 1
    later = last - _nearest(end[::-1], strict=True)[::-1]  # the next one that ends after it; beyond the last for none
    crossed = np.flatnonzero(later <= last)
    by = later[crossed]
    crosses = (lane[by] == lane[crossed]) & (start[by] < end[crossed])
    cut = end.copy()
    cut[crossed[crosses]] = start[by[crosses]]
    return cut


def _nearest(values: Ints, *, strict: bool) -> Ints:
    """For each value the place of the nearest earlier one that is larger (or equal, unless `strict`); -1 for none.

    A tree of maxima of pairs, pairs of pairs, and so on: up from each place until what lies to the left holds a large
    enough value, then down to it.
    """
    reaches = np.greater if strict else np.greater_equal
    levels = [values]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = np.maximum(below[: len(below) // 2 * 2 : 2], below[1::2])
        levels.append(np.append(pairs, below[-1:]) if len(below) % 2 else pairs)
    found, height = np.full(len(values), -1, np.int64), np.zeros(len(values), np.int8)
    left = np.arange(len(values))
    node = left
    for up, maxima in enumerate(levels):
        right = np.flatnonzero(node & 1)
        hit = right[reaches(maxima[node[right] - 1], values[left[right]])]
        found[left[hit]], height[left[hit]] = node[hit] - 1, up
        open_ones = np.ones(len(left), bool)
        open_ones[hit] = False
        left, node = left[open_ones], node[open_ones] >> 1
    for up in range(len(levels) - 1, 0, -1):
        mine = np.flatnonzero(height >= up)
        child = found[mine] * 2 + 1
        there = child < len(levels[up - 1])
        there[there] = reaches(levels[up - 1][child[there]], values[mine[there]])
        found[mine] = np.where(there, child, child - 1)
        height[mine] = np.minimum(height[mine], up)
    return found
