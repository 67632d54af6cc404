"""What the queries of data quality return: files and problems, losses, the time that has records, clocks.

The same rules as for all frames: times and durations are int64 nanoseconds, missing is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ProblemRows = NewType("ProblemRows", pd.DataFrame)
PROBLEM_ROWS_COLUMNS = ("severity", "file", "line", "message", "lost_rows")
"""As `Problems`, in the order asked for."""

FileRows = NewType("FileRows", pd.DataFrame)
FILE_ROWS_COLUMNS = ("file", "kind", "size_bytes", "rows", "lost_rows", "problems", "copy_of")
"""Files that were read; `rows` are usable records or events, `problems` counts notes too, `copy_of` is "" for most."""


@dataclass(frozen=True)
class ProblemPage:
    """A block of the problems that match, and how many do."""

    rows: ProblemRows
    total: int


@dataclass(frozen=True)
class FilePage:
    """A block of the files that match, and how many do."""

    rows: FileRows
    total: int


@dataclass(frozen=True)
class FilesOfKind:
    """The files of one kind, and what reading them gave."""

    kind: str
    files: int
    size_bytes: int
    rows: int  # usable records or events, duplicates among them
    lost_rows: int
    damaged: int  # files that lost records or could not be read
    left_out: int  # whole events that made no sense
    copies: int  # files that repeat another one byte for byte
    problems: int  # warnings and errors


@dataclass(frozen=True)
class NodeLoss:
    """What the files of one kind and node lost."""

    kind: str
    node: str  # "" where the file's name gives none
    files: int  # that lost records or could not be read
    lost_rows: int


@dataclass(frozen=True)
class Quality:
    """What reading a job gave and lost, in figures."""

    nodes: tuple[str, ...]  # with system metrics
    kinds: tuple[FilesOfKind, ...]
    losses: tuple[NodeLoss, ...]  # the largest first
    files: int
    raw_bytes: int
    stored_bytes: int
    system_rows: int
    events: int
    steps: int
    functions: int  # rows of Python profiles
    lost_rows: int
    duplicates: int  # records dropped because they were there already
    problems: int  # warnings and errors
    errors: int
    notes: int
    ended: bool  # both parts' end markers were there

    @property
    def has_data(self) -> bool:
        """Whether anything could be read."""
        return bool(self.system_rows or self.events or self.functions)


@dataclass(frozen=True)
class NodeCoverage:
    """The time of one node that has records, and how evenly they come."""

    node: str
    start_ns: int  # first record
    end_ns: int  # last record
    ticks: int
    nominal_ns: int  # the sampling interval that the profiler offers, nearest to the node's own
    median_ns: int  # from tick to tick; 0 where there are fewer than two
    p95_ns: float  # NaN where there are fewer than two
    longest_ns: int
    missing_ns: int  # stretches without a record, each longer than 3 median intervals, whole
    missing: int  # how many of them
    covered_percent: float  # of the job's time; NaN where there are fewer than two ticks


@dataclass(frozen=True)
class EventExtent:
    """From the first to the last framework event of a node."""

    node: str
    start_ns: int
    end_ns: int
    events: int


@dataclass(frozen=True)
class Coverage:
    """Which part of the job's time each node's records cover.

    The arrays hold every stretch without a record, gaps cut where an interruption begins and ends: `node` is an index
    into `nodes`, `kind` one into `STRETCHES`.
    """

    start_ns: int  # of the job: first record or event of any node
    end_ns: int
    nodes: tuple[NodeCoverage, ...]
    events: tuple[EventExtent, ...]
    node: NDArray[np.int32]
    stretch_start_ns: NDArray[np.int64]
    stretch_end_ns: NDArray[np.int64]
    kind: NDArray[np.uint8]


STRETCHES = ("gap", "interruption", "before the first record", "after the last record")
"""Kinds of stretches without a record; what all nodes lack together for long is an interruption."""


@dataclass(frozen=True)
class ClockOffset:
    """How much later a node starts the steps that it shares with the reference node; negative is earlier."""

    node: str
    steps: int  # shared steps
    p5_ns: float  # NaN without shared steps
    median_ns: float
    p95_ns: float


@dataclass(frozen=True)
class ClockOffsets:
    """Start of the same step on every node against the first node."""

    reference: str  # "" where no node recorded steps
    nodes: tuple[ClockOffset, ...]  # all nodes with steps but the reference


@dataclass(frozen=True)
class Measured:
    """The metrics that a node recorded."""

    node: str
    metrics: tuple[str, ...]  # as in OverTime


@dataclass(frozen=True)
class OutOfRange:
    """Percentages of a metric below 0 or above 100."""

    metric: str  # as in OverTime
    samples: int
    series: int  # devices that have any
    lowest: float  # of these series
    highest: float
    node: str  # of the most extreme one
    device: str


@dataclass(frozen=True)
class MetricValues:
    """Which metrics there are on which node, and which of their values make no sense."""

    measured: tuple[Measured, ...]
    out_of_range: tuple[OutOfRange, ...]
