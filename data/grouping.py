"""Times that belong together: each group is what lies within a tolerance of its first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def tick_starts(time: NDArray[np.int64], tolerance: int) -> NDArray[np.int64]:
    """Positions of the stamps that begin a tick: more than the tolerance after the first stamp of the tick before.

    `time` is sorted. Stamps further apart than the tolerance from the one before surely begin one; only runs of
    closer stamps that last longer than the tolerance have to be walked.
    """
    if not len(time):
        return np.empty(0, np.int64)
    sure = np.flatnonzero(np.append(True, np.diff(time) > tolerance))
    ends = np.append(sure[1:], len(time))
    long = time[ends - 1] - time[sure] > tolerance
    found = [sure]
    for start, end in zip(sure[long].tolist(), ends[long].tolist(), strict=True):
        at = start
        while True:
            at += int(np.searchsorted(time[at:end], time[at] + tolerance, side="right"))
            if at >= end:
                break
            found.append(np.array([at]))
    return np.sort(np.concatenate(found))
