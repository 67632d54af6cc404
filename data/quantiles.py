"""Quantiles of values that are kept with their counts."""

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
