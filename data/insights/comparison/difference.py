"""Whether two series differ by more than their own noise: batch means, Welch's t, and what could have been found.

Durations of neighbouring steps hang together, so a test that takes them one by one is far too sure of itself. Means of
long enough batches of neighbours are nearly independent (non-overlapping batch means, as in the analysis of
simulations), and Welch's test compares those. The longer the memory of a series, the longer its batches.
`docs/compare.md` has the measured rates of false alarms and of finds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Verdict = Literal["lower", "higher", "no detectable difference", "cannot be judged"]

MOST_BATCHES = 30
FEWEST_BATCHES = 4
SHORTEST_BATCH = 10
MEMORIES = 5
"""A batch is at least this many times as long as the series' memory, (1 + r) / (1 - r) for its lag-1 correlation r."""

SHOWN, JUDGED = 0.95, 0.99
"""Confidence of the interval that is shown, and of the one that the verdict needs."""

POWER = 0.8
"""The smallest difference that could have been found is the one found with this probability."""

WARM_UP_GROUP = 5
"""MSER-5: a series' beginning is judged in groups of five."""


@dataclass(frozen=True)
class Difference:
    """How much the mean of `b` differs from that of `a`, in their unit. Bounds are NaN where nobody can tell."""

    verdict: Verdict
    mean_a: float
    mean_b: float
    low: float  # bounds of the difference of the means, 95 %
    high: float
    smallest: float  # what could have been found: NaN where nobody can tell
    count_a: int  # values used
    count_b: int
    batches_a: int
    batches_b: int
    reason: str = ""  # why it cannot be judged

    @property
    def difference(self) -> float:
        return self.mean_b - self.mean_a


def difference(a: Floats, b: Floats) -> Difference:
    """Compares the means of two series in the order of time; missing values are left out."""
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    if not len(a) or not len(b):
        return _unjudged(a, b, "One of them has no values.")
    batches_a, batches_b = batch_means(a), batch_means(b)
    if batches_a is None or batches_b is None:
        least = FEWEST_BATCHES * SHORTEST_BATCH
        return _unjudged(a, b, f"At least {least} values of each are needed; there are {len(a)} and {len(b)}.")
    found = _welch(batches_a, batches_b)
    error, freedom = found
    mean_a, mean_b = float(a.mean()), float(b.mean())
    delta = mean_b - mean_a
    shown, judged = (float(stats.t.ppf((1 + level) / 2, freedom)) * error for level in (SHOWN, JUDGED))
    smallest = (float(stats.t.ppf((1 + JUDGED) / 2, freedom)) + float(stats.t.ppf(POWER, freedom))) * error
    verdict: Verdict = "no detectable difference"
    if abs(delta) > judged and not math.isclose(mean_a, mean_b, rel_tol=1e-12):
        verdict = "lower" if delta < 0 else "higher"
    return Difference(
        verdict,
        mean_a,
        mean_b,
        delta - shown,
        delta + shown,
        smallest,
        len(a),
        len(b),
        len(batches_a),
        len(batches_b),
    )


def batch_means(values: Floats) -> Floats | None:
    """Means of equally long runs of neighbours, the first values left out where they do not fit; None if too few."""
    longest = len(values) // FEWEST_BATCHES
    if longest < SHORTEST_BATCH:
        return None
    length = min(max(math.ceil(MEMORIES * _memory(values)), SHORTEST_BATCH, len(values) // MOST_BATCHES), longest)
    count = len(values) // length
    means: Floats = values[len(values) - count * length :].reshape(count, length).mean(axis=1)
    return means


def warm_up(values: Floats) -> int:
    """How many values at the beginning are unlike the rest (MSER-5, White 1997), at most half of them.

    The cut is where the standard error of the mean of what remains is smallest, judged in groups of five.
    """
    count = len(values) // WARM_UP_GROUP
    if count < 2 * FEWEST_BATCHES:
        return 0
    groups = values[: count * WARM_UP_GROUP].reshape(count, WARM_UP_GROUP).mean(axis=1)
    left = np.arange(count, 0, -1)
    sums, squares = np.cumsum(groups[::-1])[::-1], np.cumsum(groups[::-1] ** 2)[::-1]
    errors = (squares - sums**2 / left) / left**2
    candidates = errors[: count // 2]
    return int(np.argmin(np.maximum(candidates, 0))) * WARM_UP_GROUP


def _memory(values: Floats) -> float:
    """How many neighbours count as one: 1 for independent values."""
    centred = values - values.mean()
    spread = float(centred @ centred)
    if spread <= 0:
        return 1.0
    correlation = float(centred[:-1] @ centred[1:]) / spread
    correlation = min(max(correlation, 0.0), 0.99)
    return (1 + correlation) / (1 - correlation)


def _welch(a: Floats, b: Floats) -> tuple[float, float]:
    """Standard error of the difference of two means, and its degrees of freedom (Welch-Satterthwaite)."""
    parts = [float(one.var(ddof=1)) / len(one) for one in (a, b)]
    total = sum(parts)
    if total <= 0:
        return 0.0, float(len(a) + len(b) - 2)
    freedom = total**2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (a, b), strict=True))
    return math.sqrt(total), freedom


def _unjudged(a: Floats, b: Floats, reason: str) -> Difference:
    mean_a, mean_b = (float(one.mean()) if len(one) else math.nan for one in (a, b))
    unknown = (math.nan, math.nan, math.nan)
    return Difference("cannot be judged", mean_a, mean_b, *unknown, len(a), len(b), 0, 0, reason)
