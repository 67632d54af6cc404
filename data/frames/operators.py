"""What the queries of operators return: every operator with its times, and how the time of framework events divides up.

The same rules as for all frames: durations are int64 nanoseconds, percentages 0 to 100, missing is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

import pandas as pd

Operators = NewType("Operators", pd.DataFrame)
OPERATORS_COLUMNS = (
    "side",  # cpu | gpu | communication, in this order, each with the longest operator first
    "name",  # hostile text
    "communication",  # bool: a kernel by which GPUs talk to each other, or an event of Horovod or SMDataParallel
    "percent",  # of the time of all operators of its side
    "total_ns",  # the part inside the window; of operators inside one another, each has its whole time
    "count",
    "mean_ns",  # of whole durations, also of those that a window cuts
    "longest_ns",
    "self_ns",  # Int64: without the operators inside it, on the same thread; <NA> where that is not known
    "nodes",  # tuple of the nodes it ran on, algo-2 before algo-10
    "processes",  # how many ranks or processes it ran in
)


@dataclass(frozen=True)
class TimeShare:
    """A part of some time that is divided up."""

    name: str  # a lane, or the name of an event; hostile text
    role: str  # cpu | gpu | communication | step | forward | backward | general | others
    total_ns: int
    count: int
    percent: float


@dataclass(frozen=True)
class FrameworkShares:
    """How the time of framework events divides up, each group into 100 %, the longest first; () where there is none."""

    sides: tuple[TimeShare, ...]  # lanes of CPU and GPU operators
    general: tuple[TimeShare, ...]  # lanes of everything else that is no step: loading, whole passes, communication
    passes: tuple[TimeShare, ...]  # forward, backward; only where both are known
    inner_passes: bool  # passes are sums over submodules, because whole passes were not recorded
    communication: tuple[TimeShare, ...]  # by name: of Horovod and SMDataParallel, else of communication kernels
    communication_percent: float | None  # of the time of all GPU operators; None without communication kernels
    steps: tuple[TimeShare, ...]  # of the time from first to last step of each process: phases, and what is between
