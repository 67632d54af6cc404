"""Values kept with their counts: counting them, and their quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def weighted_quantiles(values: NDArray[Any], counts: NDArray[Any], points: Sequence[float]) -> list[float]:
    """Quantiles by linear interpolation of values that each occur `counts` times; values ascending."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if not total:
        return [float("nan")] * len(points)
    found = []
    for point in points:
        at = point * (total - 1)
        low = int(np.floor(at))
        left = values[np.searchsorted(ends, low, side="right")]
        right = values[np.searchsorted(ends, min(low + 1, total - 1), side="right")]
        found.append(float(left + (right - left) * (at - low)))
    return found


GRID = 10_001
"""Distinct values of a percentage on the 0.01 grid from 0 to 100."""


def count_values(
    group: NDArray[np.int64], value: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """How often each exact value occurs in each group: group, value and count, in no particular order.

    Percentages come with two decimals, so nearly all values are counted in a table; the few others are sorted.
    """
    centi = np.rint(value * 100)
    off = (centi < 0) | (centi >= GRID) | (centi / 100 != value)
    some_off = bool(off.any())
    on_group, on_centi = (group[~off], centi[~off]) if some_off else (group, centi)
    counts = np.bincount(on_group * GRID + on_centi.astype(np.int64))
    cells = np.flatnonzero(counts)
    groups, values, numbers = cells // GRID, (cells % GRID) / 100, counts[cells]
    if not some_off:
        return groups, values, numbers
    pairs, many = np.unique(np.stack([group[off].astype(np.float64), value[off]]), axis=1, return_counts=True)
    return (
        np.concatenate([groups, pairs[0].astype(np.int64)]),
        np.concatenate([values, pairs[1]]),
        np.concatenate([numbers, many]),
    )
