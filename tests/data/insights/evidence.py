"""Evidence made by hand: what a test gives is there, everything else is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from data.errors import MissingTable
from data.frames import JobHeader, JobTimes, UsageSummary
from data.frames.evidence import (
    LOADER_KINDS,
    ExactUsage,
    LoaderEvents,
    Machines,
    NodeTicks,
    OperatorTotal,
    Stamps,
    StepRecords,
    Ticks,
)
from data.frames.operators import FrameworkShares
from data.insights.rule import Rule, Values
from data.insights.step_series import StepSeries, by_phase
from data.insights.unused import UnusedGpus, unused_gpus
from tests import frames

S = 1_000_000_000
START_NS = 1_600_000_000 * S

WITHOUT_STEPS = frames.job_times(
    loop_start_ns=None, loop_end_ns=None, loop_duration_ns=None, initialization_ns=None, finalization_ns=None,
    initialization_percent=None, loop_percent=None, finalization_percent=None, first_step=None,
    steps_reason="No step here.",
)  # fmt: skip


class Given:
    """Evidence of these parts."""

    def __init__(self, **parts: Any) -> None:
        self._parts = parts

    def _part(self, name: str) -> Any:
        if name not in self._parts:
            raise MissingTable(f"No {name} here.")
        return self._parts[name]

    @property
    def header(self) -> JobHeader:
        return self._parts.get("header") or frames.job_header()

    @property
    def times(self) -> JobTimes:
        return self._parts.get("times") or WITHOUT_STEPS

    @property
    def ticks(self) -> Ticks:
        return self._part("ticks")

    @property
    def stamps(self) -> Stamps:
        return self._part("stamps")

    @property
    def steps(self) -> StepRecords:
        return self._part("steps")

    @cached_property
    def step_series(self) -> tuple[StepSeries, ...]:
        return by_phase(self.steps)

    @cached_property
    def unused_gpus(self) -> dict[str, UnusedGpus]:
        return {node.node: unused_gpus(node) for node in self.ticks.nodes}

    @property
    def usage(self) -> UsageSummary:
        return self._part("usage")

    @property
    def exact_usage(self) -> ExactUsage:
        return self._part("exact_usage")

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return self._parts.get("file_kinds") or ()

    @property
    def shares(self) -> FrameworkShares:
        return self._part("shares")

    @property
    def operators(self) -> tuple[OperatorTotal, ...]:
        return self._part("operators")

    @property
    def loader(self) -> LoaderEvents:
        return self._part("loader")

    @property
    def machines(self) -> Machines:
        return self._part("machines")


def node_ticks(
    node: str = "algo-1",
    gpu: Sequence[Sequence[float]] = (),
    gpu_memory: Sequence[Sequence[float]] | None = None,
    *,
    length: int | None = None,
    interval_ns: int = S // 2,
    start_ns: int = START_NS,
    **columns: Sequence[float] | float,
) -> NodeTicks:
    """A node's ticks at an even pace. `gpu` has a sequence of values per device; other columns default to missing."""
    memory = gpu if gpu_memory is None else gpu_memory
    counts = [len(values) for values in (*gpu, *memory)]
    counts += [len(values) for values in columns.values() if not isinstance(values, int | float)]
    size = length if length is not None else max(counts, default=0)
    given = {
        name: np.broadcast_to(np.asarray(columns.get(name, np.nan), float), size).copy()
        for name in ("cpu_mean", "cpu_max", "io_wait_mean", "io_wait_max", "memory", "network")
    }
    return NodeTicks(
        node=node,
        interval_ns=interval_ns,
        tick_ns=start_ns + interval_ns * np.arange(size, dtype=np.int64),
        gpus=tuple(f"gpu{at}" for at in range(len(gpu))),
        gpu=_matrix(gpu, size),
        gpu_memories=tuple(f"gpu{at}" for at in range(len(memory))),
        gpu_memory=_matrix(memory, size),
        cores=4,
        **given,
    )


def _matrix(columns: Sequence[Sequence[float]], size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(columns, float).T.reshape(size, len(columns)) if columns else np.empty((size, 0))


def ticks(*nodes: NodeTicks) -> Ticks:
    """Nodes together."""
    stamps = [time for node in nodes for time in node.tick_ns.tolist()] or [START_NS]
    return Ticks(nodes, min(stamps), max(stamps))


def step_records(steps: Sequence[tuple[str, str, str, int, int, int]]) -> StepRecords:
    """Steps as (phase, node, worker, number, start, duration), in any order."""
    ordered = sorted(steps, key=lambda step: step[4])
    groups = tuple(dict.fromkeys((phase, node) for phase, node, *_ in steps))
    workers = tuple(dict.fromkeys(step[2] for step in steps))
    return StepRecords(
        groups=groups,
        group=np.array([groups.index(step[:2]) for step in ordered], np.int16),
        worker=np.array([workers.index(step[2]) for step in ordered], np.int32),
        workers=workers,
        step=np.array([step[3] for step in ordered], np.int64),
        start_ns=np.array([step[4] for step in ordered], np.int64),
        duration_ns=np.array([step[5] for step in ordered], np.int64),
    )


def values(rule: Rule, **moved: float | str) -> Values:
    """A rule's parameters, some of them moved."""
    defaults: Mapping[str, float | str] = {setting.name: setting.default for setting in rule.settings}
    assert set(moved) <= set(defaults)
    return Values({**defaults, **moved})


def stamps(*moments: tuple[float, float, float], nodes: Sequence[int] | None = None, **columns: Any) -> Stamps:
    """Exact times: (seconds since START_NS, GPU, core) each, in order; NaN where there is none."""
    seconds, gpu, cpu = np.array(moments, float).reshape(-1, 3).T
    given = np.zeros(len(seconds), np.int16) if nodes is None else np.array(nodes, np.int16)
    names = tuple(f"algo-{at + 1}" for at in range(int(given.max(initial=0)) + 1))
    time_ns = START_NS + np.round(seconds * S).astype(np.int64)
    waits = np.asarray(columns.get("io_wait_max", np.full(len(seconds), np.nan)), float)
    begin: list[int] = []
    for at, time in enumerate(time_ns.tolist()):
        if not begin or time - time_ns[begin[-1]] > 20_000_000:
            begin.append(at)
    return Stamps(names, given, time_ns, cpu, waits, gpu, np.array(begin, np.int64))


def loader_events(
    events: Sequence[tuple[str, str, str, int, int]],
    *,
    alone: bool = False,
    of_profiler: bool = True,
    settings: tuple[tuple[str, str], ...] = (),
) -> LoaderEvents:
    """Events of data loaders as (node, process, kind, start, duration), in any order."""
    ordered = sorted(events, key=lambda event: event[3])
    nodes = tuple(dict.fromkeys(event[0] for event in events))
    owners = list(dict.fromkeys(event[:2] for event in events))
    return LoaderEvents(
        nodes=nodes,
        node=np.array([nodes.index(event[0]) for event in ordered], np.int16),
        processes=tuple(process for _, process in owners),
        process=np.array([owners.index(event[:2]) for event in ordered], np.int32),
        kind=np.array([LOADER_KINDS.index(event[2]) for event in ordered], np.int8),
        alone=np.full(len(ordered), alone),
        of_profiler=np.full(len(ordered), of_profiler),
        start_ns=np.array([event[3] for event in ordered], np.int64),
        duration_ns=np.array([event[4] for event in ordered], np.int64),
        settings=settings,
    )
