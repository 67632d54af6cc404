"""The moments at which the original judged a running job: once a minute, on what had been recorded by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SCAN_NS = 60_000_000_000
"""scan_interval_us of the original, in nanoseconds."""

_AT_ONCE = 4_000_000
"""Values of overlapping windows that are laid out side by side at a time."""

Flags = NDArray[np.bool_]


def scan_ends(start_ns: int, end_ns: int) -> NDArray[np.int64]:
    """When each scan ends; the last one covers the end of the job."""
    count = max(-((start_ns - end_ns) // SCAN_NS), 1)
    return start_ns + SCAN_NS * np.arange(1, count + 1, dtype=np.int64)


def seen_by(time_ns: NDArray[np.int64], ends_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the ascending times lie at or before each scan's end."""
    return np.searchsorted(time_ns, ends_ns, side="right")


def present(*columns: NDArray[np.float64]) -> Flags | slice:
    """Where all of these have a value; a slice where that is everywhere, which saves copying them."""
    known: Flags = ~np.isnan(columns[0])
    for column in columns[1:]:
        known &= ~np.isnan(column)
    return slice(None) if known.all() else known


@dataclass(frozen=True)
class Scanned:
    """A series of samples as scans see it: `ends` holds, for each scan that judges, how many samples there were.

    A scan's window is the last `window` samples; every end must be at least that.
    """

    values: NDArray[np.float64]
    ends: NDArray[np.int64]
    window: int

    def below(self, point: float, limit: float) -> Flags:
        """[scans] whether the quantile of the window is below a limit; exact, see `_judged`."""
        return self._judged(point, self.values < limit, lambda found: found < limit)

    def above(self, point: float, limit: float) -> Flags:
        """[scans] whether the quantile of the window is above a limit."""
        return ~self._judged(point, self.values <= limit, lambda found: found <= limit)

    def quantiles(self, point: float, of: Flags) -> NDArray[np.float64]:
        """The quantile of the windows of some scans, by linear interpolation."""
        parts = [np.quantile(self.values[at], point, axis=1) for at in self._windows(of)]
        return np.concatenate(parts) if parts else np.empty(0)

    def covered(self, of: Flags) -> Flags:
        """[samples] which of them lie in the window of any of some scans."""
        change = np.zeros(len(self.values) + 1, np.int32)
        np.add.at(change, self.ends[of] - self.window, 1)
        np.add.at(change, self.ends[of], -1)
        inside: Flags = np.cumsum(change[:-1]) > 0
        return inside

    def _windows(self, of: Flags) -> Iterator[NDArray[np.int64]]:
        """[scans, window] positions of the samples of some scans' windows, in pieces that memory can hold."""
        ends = self.ends[of]
        step = max(_AT_ONCE // self.window, 1)
        for at in range(0, len(ends), step):
            yield ends[at : at + step, None] - self.window + np.arange(self.window)

    def _judged(self, point: float, low: Flags, is_low: Callable[[NDArray[np.float64]], Flags]) -> Flags:
        """Whether the quantile is on the low side of a limit, given which samples are.

        A quantile lies between two neighbours in rank. How many samples of a window are low tells on which side each of
        them is, without sorting. Only where they lie on both sides, the highest low sample and the lowest other one,
        the quantile has to be worked out.
        """
        rank = point * (self.window - 1)
        total = np.concatenate([[0], np.cumsum(low, dtype=np.int32)])
        lows = total[self.ends] - total[self.ends - self.window]
        found: Flags = lows > np.ceil(rank)
        between = ~found & (lows > np.floor(rank))
        if between.any():
            parts = []
            for at in self._windows(between):
                values, are_low = self.values[at], low[at]
                below = np.where(are_low, values, -np.inf).max(axis=1)
                above = np.where(are_low, np.inf, values).min(axis=1)
                parts.append(is_low(below + (above - below) * (rank % 1)))
            found[between] = np.concatenate(parts)
        return found
