"""What the queries of framework events return: lanes over time, lists of events, steps by kind, busy GPUs.

The same rules as for all frames: times and durations are int64 nanoseconds, unknown numbers of events are -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True)
class Lane:
    """The events of one phase on one node that overlap a window."""

    node: str
    phase: str
    events: int  # exact
    duration_ns: int  # of all of them together, whole ones also where the window cuts them


@dataclass(frozen=True)
class LaneBars:
    """Events one by one, in the order of their starts."""

    lane: NDArray[np.int16]  # index into the lanes
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    depth: NDArray[np.int16]  # events of a lane that overlap lie at different depths, from 0
    step: NDArray[np.int64]  # -1 where unknown
    names: tuple[str, ...]
    threads: tuple[str, ...]


@dataclass(frozen=True)
class Lanes:
    """Events over time, a lane per phase and node: each of them where they are few, else how full each column is.

    `covered` is float32 [lanes, columns], the share of the column in which at least one event of the lane runs;
    `begun` is int32, how many start in it. Both have no column where the events are in `bars`.
    """

    lanes: tuple[Lane, ...]  # those that are drawn, by node in natural order
    start_ns: int  # left edge of column 0
    column_ns: int
    covered: NDArray[np.float32]
    begun: NDArray[np.int32]
    bars: LaneBars | None
    events: int  # of all lanes, also of those that are not drawn
    lane_count: int  # with events in the window, on the selected nodes
    node_count: int


@dataclass(frozen=True)
class GpuActivity:
    """Share of time in which at least one kernel runs, per GPU; from traces, and not the driver's utilisation."""

    groups: tuple[tuple[str, str], ...]  # (node, device)
    start_ns: int
    column_ns: int
    share: NDArray[np.float32]  # [groups, columns], 0 to 1
    busy_ns: tuple[int, ...]  # of each group in the window, exact
    window_ns: int


EventRows = NewType("EventRows", pd.DataFrame)
EVENT_ROWS_COLUMNS = ("name", "category", "worker", "process", "thread", "device", "step", "start_ns", "duration_ns")
"""`step` is -1 where unknown; texts are "" where the event has none."""


@dataclass(frozen=True)
class EventList:
    """The longest events of a lane in a window, and how many there are in all."""

    rows: EventRows
    total: int
    duration_ns: int  # of all of them together


@dataclass(frozen=True)
class StepBreakdown:
    """What the last steps of a window were spent on; a row of `spent_ns` and its uncovered rest add up to a duration.

    Where several processes took a step, all figures are means over them.
    """

    phase: str
    kinds: tuple[str, ...]  # in order of precedence
    step: NDArray[np.int64]  # [steps] in order of time, -1 where unknown
    start_ns: NDArray[np.int64]  # of the first process
    duration_ns: NDArray[np.float64]
    spent_ns: NDArray[np.float64]  # [steps, kinds]
    processes: NDArray[np.int64]  # how many took the step
    step_count: int  # of this phase in the window, over all processes


StepRule = tuple[str, str, str]
"""A kind, a field of an event (phase, category or name), and the pattern to look for in it."""


@dataclass(frozen=True)
class LoaderGroup:
    """The data loader's events of one kind, process and loader worker."""

    kind: str  # wait | worker | start
    node: str
    process: str  # as it is written; of the rank where the event has none
    loader: str  # number of the loader's worker, "" where the event has none
    events: int
    total_ns: int
    median_ns: float
    p95_ns: float
    longest_ns: int
    outliers: int  # at least twice the median of their kind


@dataclass(frozen=True)
class DataLoading:
    """How long batches took to come, per process, and from one to the next."""

    groups: tuple[LoaderGroup, ...]  # those with the most time, at most 24
    group_count: int
    settings: tuple[tuple[str, str], ...]  # workers and pinned memory of the loaders, as written; "" where unknown
    edges_ns: NDArray[np.float64]  # [bins + 1] of times from batch to batch; empty without any
    counts: NDArray[np.int64]  # [bins]
    batches: int  # times from one batch to the next
    median_ns: float  # NaN without any
    outliers: int  # at least twice the median
    longest_ns: int
    longest_start_ns: int  # when the batch before the longest time began


"""`wait` is the training process asking for a batch, `worker` a loader's worker fetching one, `start` setting it up."""


@dataclass(frozen=True)
class MemoryLine:
    """What one process holds on one device in a window, by its allocator; exact. Bytes are -1 where no record tells."""

    node: str
    process: str  # as it is written
    device_kind: str  # cpu, cuda, ...
    device: int  # -1 where there is only one of its kind
    peak_bytes: int  # most bytes allocated
    peak_ns: int  # since when; the start of the window where they were held before that
    rise_bytes: int  # most by which the bytes allocated grew from one time to a later one
    largest_bytes: int  # largest allocation, 0 where there is none
    allocations: int
    frees: int
    uncounted: int  # records of memory that processes share, which the totals leave out


@dataclass(frozen=True)
class AllocatedMemory:
    """Memory that allocators hold over time; arrays are float64 [lines, columns] of bytes, NaN where nothing was told.

    What a record tells holds until the next one of its recording: the most in a column includes what it began with.
    """

    lines: tuple[MemoryLine, ...]  # those with the highest peaks, at most 24
    line_count: int  # of processes and devices with something known in the window
    start_ns: int  # left edge of column 0
    column_ns: int
    allocated: NDArray[np.float64]  # most in the column
    allocated_last: NDArray[np.float64]  # at its end
    reserved: NDArray[np.float64]
    reserved_last: NDArray[np.float64]
