"""What rules judge by: the ticks of every node, the exact times inside them, and every step; arrays over the whole job.

The same rules as for all frames: times and durations are int64 nanoseconds, percentages 0 to 100, missing is NaN.
These are read anew for each judgement and never cached: they are as large as the job.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.frames.cost import BilledGroup, Instance


@dataclass(frozen=True)
class NodeTicks:
    """The ticks of one node in order of time; every array has one row per tick.

    `gpu` and `gpu_memory` are [ticks, devices]: the first value of each device in the tick, NaN where it has none.
    """

    node: str
    interval_ns: int  # median time from tick to tick, 0 where there are fewer than two
    tick_ns: NDArray[np.int64]
    cpu_mean: NDArray[np.float64]  # over cores
    cpu_max: NDArray[np.float64]  # of the busiest core
    io_wait_mean: NDArray[np.float64]
    io_wait_max: NDArray[np.float64]
    memory: NDArray[np.float64]
    network: NDArray[np.float64]  # bytes/s
    gpus: tuple[str, ...]  # gpu0, gpu1...: the columns of `gpu`
    gpu: NDArray[np.float64]
    gpu_memories: tuple[str, ...]  # the columns of `gpu_memory`; a sensor may fail for one and not the other
    gpu_memory: NDArray[np.float64]
    cores: int


@dataclass(frozen=True)
class Ticks:
    """All nodes' ticks, nodes in natural order."""

    nodes: tuple[NodeTicks, ...]
    start_ns: int  # first record of any node
    end_ns: int  # last one


@dataclass(frozen=True)
class Stamps:
    """Every exact time at which anything was recorded on any node, in order of time; what the original's rules see."""

    nodes: tuple[str, ...]
    node: NDArray[np.int16]  # [stamps] index into `nodes`
    time_ns: NDArray[np.int64]
    cpu_max: NDArray[np.float64]  # NaN where no such metric has this time
    io_wait_max: NDArray[np.float64]
    gpu_min: NDArray[np.float64]
    begin: NDArray[np.int64]  # [moments] positions of stamps more than 20 ms after the one that began the last moment


@dataclass(frozen=True)
class StepRecords:
    """Every step of every process, ordered by start."""

    groups: tuple[tuple[str, str], ...]  # (phase, node)
    group: NDArray[np.int16]  # [steps] index into `groups`
    worker: NDArray[np.int32]  # [steps] index into `workers`
    workers: tuple[str, ...]
    step: NDArray[np.int64]  # -1 where unknown
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]


@dataclass(frozen=True)
class NodeSums:
    """Sums over the devices of one node at every exact time of a record of that metric, in order of time."""

    node: str
    cpu: NDArray[np.float64]
    io_wait: NDArray[np.float64]
    gpu: NDArray[np.float64]
    gpu_memory: NDArray[np.float64]
    memory: NDArray[np.float64]
    network: NDArray[np.float64]


@dataclass(frozen=True)
class ExactUsage:
    """What the original's summary of system usage adds up, nodes in natural order."""

    nodes: tuple[NodeSums, ...]
    core_names: int  # different ones on all nodes together: cpu0 of two nodes is one name
    gpu_names: int


@dataclass(frozen=True)
class OperatorTotal:
    """The time of framework events that are alike, over the whole job."""

    role: str  # see data/operators.py
    phase: str
    name: str  # "" where only the phase matters
    total_ns: int


@dataclass(frozen=True)
class LoaderEvents:
    """Every event of a data loader with a place in time, ordered by start."""

    nodes: tuple[str, ...]
    node: NDArray[np.int16]  # [events] index into `nodes`
    processes: tuple[str, ...]
    process: NDArray[np.int32]  # [events] index into `processes`; another one on every node
    kind: NDArray[np.int8]  # [events] index into LOADER_KINDS
    alone: NDArray[np.bool_]  # [events] of a loader without workers, which fetches in the training process itself
    of_profiler: NDArray[np.bool_]  # [events] of SageMaker's profiler: those that the original counts
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    settings: tuple[tuple[str, str], ...]  # workers and pinned memory of the loaders, as written; "" where unknown


LOADER_KINDS = ("start", "wait", "worker")
"""A loader is set up; the training process waits for a batch; a worker of the loader fetches one."""


@dataclass(frozen=True)
class Machines:
    """The instances that a job ran on, and all known types of their families, smaller and larger."""

    groups: tuple[BilledGroup, ...]
    family: tuple[Instance, ...]
