"""The moments at which the original judged a running job: once a minute, on what had been recorded by then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SCAN_NS = 60_000_000_000
"""scan_interval_us of the original, in nanoseconds."""


def scan_ends(start_ns: int, end_ns: int) -> NDArray[np.int64]:
    """When each scan ends; the last one covers the end of the job."""
    count = max(-((start_ns - end_ns) // SCAN_NS), 1)
    return start_ns + SCAN_NS * np.arange(1, count + 1, dtype=np.int64)


def seen_by(time_ns: NDArray[np.int64], ends_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the ascending times lie at or before each scan's end."""
    return np.searchsorted(time_ns, ends_ns, side="right")


def last_windows(values: NDArray[np.float64], counts: NDArray[np.int64], window: int) -> NDArray[np.float64]:
    """[scans, window]: the last values at each count; every count must be at least `window`."""
    found: NDArray[np.float64] = values[counts[:, None] - window + np.arange(window)]
    return found
