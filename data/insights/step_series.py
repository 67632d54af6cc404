"""Steps as the processes took them: one series a process, or one for each of its phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.frames.evidence import StepRecords


@dataclass(frozen=True)
class StepSeries:
    """The steps of one process in order of their starts. `phase` is "" where those of several phases are together."""

    phase: str
    node: str
    worker: str
    group: NDArray[np.int16]  # index into the groups of the records
    step: NDArray[np.int64]  # -1 where unknown
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]

    @property
    def end_ns(self) -> NDArray[np.int64]:
        return self.start_ns + self.duration_ns

    @property
    def name(self) -> str:
        """The process, for a sentence."""
        return f"process {self.worker} of {self.node}" if self.worker else self.node

    @property
    def follows(self) -> NDArray[np.bool_]:
        """[steps - 1] Whether nothing is missing before the next step: its number follows that of its own phase.

        Where a profiler only recorded some steps, the time before the next recorded one is no gap. A number that begins
        again, or that is not known, says nothing.
        """
        follows = np.ones(max(len(self.step) - 1, 0), bool)
        for group in np.unique(self.group).tolist():
            at = np.flatnonzero(self.group == group)
            before, after = self.step[at[:-1]], self.step[at[1:]]
            follows[at[1:][(before >= 0) & (after > before + 1)] - 1] = False
        return follows


def processes_by_node(series: Iterable[StepSeries]) -> dict[str, int]:
    """How many processes of each node took steps."""
    return dict(Counter(node for node, _ in {(one.node, one.worker) for one in series}))


def by_phase(records: StepRecords) -> tuple[StepSeries, ...]:
    """A series for each phase of each process."""
    workers = max(len(records.workers), 1)
    key = records.group.astype(np.int64) * workers + records.worker
    if len(records.groups) * workers <= 1 << 16:
        key = key.astype(np.uint16)  # sorted by digits, ten times faster
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.flatnonzero(np.diff(ordered.astype(np.int64), prepend=-1))
    group, step = records.group[order], records.step[order]
    start_ns, duration_ns = records.start_ns[order], records.duration_ns[order]
    ends = np.append(begins, len(order))[1:]
    found = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        at, worker = divmod(int(ordered[begin]), workers)
        phase, node = records.groups[at]
        mine = slice(begin, end)
        found.append(
            StepSeries(phase, node, records.workers[worker], group[mine], step[mine], start_ns[mine], duration_ns[mine])
        )
    return tuple(found)


def by_process(series: Iterable[StepSeries]) -> tuple[StepSeries, ...]:
    """A series for each process, its phases together."""
    processes: dict[tuple[str, str], list[StepSeries]] = {}
    for one in series:
        processes.setdefault((one.node, one.worker), []).append(one)
    return tuple(_joined(many) for many in processes.values())


def _joined(phases: list[StepSeries]) -> StepSeries:
    if len(phases) == 1:
        return phases[0]
    columns = [[getattr(one, name) for one in phases] for name in ("group", "step", "start_ns", "duration_ns")]
    group, step, start_ns, duration_ns = (np.concatenate(many) for many in columns)
    order = np.argsort(start_ns, kind="stable")
    return StepSeries(
        "", phases[0].node, phases[0].worker, group[order], step[order], start_ns[order], duration_ns[order]
    )
