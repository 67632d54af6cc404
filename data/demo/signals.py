"""Values of every series of a node, tick by tick, as whole hundredths (12.34 % is 1234; 1 byte/s is 100).

The shape follows the phases of the schedule: one core unpacks the download while the network is busy, another sets
things up, a few help to build the graph, then the loop keeps some cores saturated and the GPUs in use, with dips where
it pauses to evaluate. Every minute of a node has a random generator of its own, so that any part can be made alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data.demo.schedule import Schedule
from data.demo.spec import TreeSpec

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BUSY_FLOOR = 91.5  # a busy core never reads less, any other never more than QUIET_CEILING: no value sits on a threshold
QUIET_CEILING = 88.0
IO_WAIT_CEILING = 42.0
GPU_CONTEXT_PERCENT = 8
PHASES = ("download", "setup", "graph", "idle", "train", "pause", "final")
CPU_LEVEL = (0.8, 1.0, 1.15, 0.5, 1.0, 0.55, 0.7)
IO_WAIT_LEVEL = (3.5, 2.2, 0.7, 0.3, 0.25, 0.6, 1.8)


class Series(NamedTuple):
    """One series as the raw files name it."""

    type: str
    name: str
    dimension: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a node's values hold what."""

    cores: int
    gpus: int

    @property
    def cpu(self) -> slice:
        """Utilisation of each core."""
        return slice(0, self.cores)

    @property
    def gpu(self) -> slice:
        """Utilisation of each GPU."""
        return slice(2 * self.cores, 2 * self.cores + self.gpus)

    @property
    def percent_end(self) -> int:
        """First column that is not a per-device percentage: memory, then disk (3) and network (4)."""
        return 2 * (self.cores + self.gpus)

    def series(self) -> tuple[Series, ...]:
        """Names of all columns, in order."""
        devices = [Series("cpu", f"cpu{core}", "CPUUtilization") for core in range(self.cores)]
        devices += [Series("cpu", f"cpu{core}", "I/OWaitPercentage") for core in range(self.cores)]
        devices += [Series("gpu", f"gpu{gpu}", "GPUUtilization") for gpu in range(self.gpus)]
        devices += [Series("gpu", f"gpu{gpu}", "GPUMemoryUtilization") for gpu in range(self.gpus)]
        disk = ("IOPS", "ReadThroughputInBytesPerSecond", "WriteThroughputInBytesPerSecond")
        network = ("ReceiveBytesPerSecond", "TransmitBytesPerSecond")
        return (
            *devices,
            Series("memory", "MemoryUsedPercent", ""),
            *(Series("i/o", name, "") for name in disk),
            *(Series("network", name, side) for side in ("Algorithm", "Platform") for name in network),
        )


def values(spec: TreeSpec, plan: Schedule, node: int, block: int, number: Ints) -> Ints:
    """Hundredths, one row a tick and one column a series, for the ticks of these numbers."""
    elapsed_us = number * spec.interval_us + spec.node_offset_us(node)
    rng = np.random.default_rng((spec.seed, node, block))
    phase = phase_of(plan, elapsed_us)
    t_s = elapsed_us / 1e6
    parts = [
        _cpu(spec, node, phase, t_s, rng),
        _io_wait(spec, node, phase, rng),
        _gpu(spec, plan, phase, elapsed_us, rng),
        _gpu_memory(spec, node, plan, elapsed_us),
        _memory(plan, elapsed_us, rng),
        _disk(phase, number, rng),
        _network(spec, phase, t_s, rng),
    ]
    return np.rint(np.concatenate(parts, axis=1) * 100).astype(np.int64)


def phase_of(plan: Schedule, elapsed_us: Ints) -> Ints:
    """Index into PHASES for each time."""
    edges = (plan.download_end_us, plan.setup_end_us, plan.graph_end_us, plan.loop_start_us, plan.loop_end_us)
    phase = np.searchsorted(np.array(edges), elapsed_us, side="right")
    phase = np.where(phase == 5, 6, phase)
    if plan.pause_start_us.size:
        last = np.searchsorted(plan.pause_start_us, elapsed_us, side="right") - 1
        paused = (last >= 0) & (elapsed_us < plan.pause_end_us[last])
        phase = np.where(paused, 5, phase)
    return phase.astype(np.int64)


def hot_cores(spec: TreeSpec) -> list[int]:
    """Cores that the input pipeline keeps busy in the loop, spread over the node."""
    wanted = min(spec.hot_cores, spec.cores)
    return [(2 + index * spec.cores // max(wanted, 1)) % spec.cores for index in range(wanted)]


def _cpu(spec: TreeSpec, node: int, phase: Ints, t_s: Floats, rng: np.random.Generator) -> Floats:
    core_rng = np.random.default_rng((spec.seed, node, 1_000_003))
    spread = 0.45 if spec.train_cpu_percent < 25 else 0.15
    weight = np.exp(core_rng.normal(0.0, spread, spec.cores))
    weight *= 1 / weight.mean()
    lap = core_rng.uniform(0, 6.28, spec.cores)
    train = phase == 4
    base = np.where(train, spec.train_cpu_percent, min(spec.train_cpu_percent, 9.0)) * np.array(CPU_LEVEL)[phase]
    cpu: Floats = base[:, None] * weight * (1 + 0.18 * np.sin(t_s[:, None] / 7 + lap))
    cpu += rng.standard_normal((phase.size, spec.cores)) * (0.5 + base[:, None] * 0.08)
    hot = hot_cores(spec)
    ceiling = np.where(train & (not hot), 100.0, QUIET_CEILING)
    cpu = np.minimum(np.abs(cpu), ceiling[:, None])
    if hot:
        level = 100 - np.abs(rng.normal(0, 2.2, (phase.size, len(hot))))
        helping = rng.uniform(26, 44, (phase.size, len(hot))) * (np.sin(t_s / 3.1) > -0.4)[:, None]
        cpu[:, hot] = np.select(
            [train[:, None], (phase == 5)[:, None], (phase == 2)[:, None]],
            [np.maximum(level, BUSY_FLOOR), level * 0.5, np.maximum(helping, cpu[:, hot])],
            cpu[:, hot],
        )
    _single_core_phases(spec, cpu, phase, rng)
    return cpu


def _single_core_phases(spec: TreeSpec, cpu: Floats, phase: Ints, rng: np.random.Generator) -> None:
    """One core unpacks what is downloaded, another one reads it into shape."""
    wanted = spec.download_core_percent
    unpack = np.clip(wanted + rng.normal(0, 2.5, phase.size), 0, 100)
    if wanted > 90:
        unpack = np.maximum(unpack, BUSY_FLOOR)
    cpu[:, 0] = np.where(phase == 0, unpack, cpu[:, 0])
    if spec.cores > 1:
        core = spec.cores // 3
        shape = np.clip(wanted - 9 + rng.normal(0, 5, phase.size), 0, QUIET_CEILING)
        cpu[:, core] = np.where(phase == 1, shape, cpu[:, core])


def _io_wait(spec: TreeSpec, node: int, phase: Ints, rng: np.random.Generator) -> Floats:
    core_rng = np.random.default_rng((spec.seed, node, 1_000_033))
    share = core_rng.uniform(0.2, 1.8, spec.cores)
    wait = rng.standard_exponential((phase.size, spec.cores)) * np.array(IO_WAIT_LEVEL)[phase][:, None] * share
    bounded: Floats = np.minimum(wait, IO_WAIT_CEILING)
    return bounded


def _gpu(spec: TreeSpec, plan: Schedule, phase: Ints, elapsed_us: Ints, rng: np.random.Generator) -> Floats:
    used = spec.used_gpus
    level = spec.train_gpu_percent
    shape = 3.0 if level < 20 else 45.0
    busy = rng.gamma(shape, level / shape, (phase.size, used))
    building = (elapsed_us >= plan.loop_start_us) & (elapsed_us < plan.step_start_us[1])
    factor = np.select([building, phase == 4, phase == 5], [0.06, 1.0, 0.08], 0.0)
    gpu = np.zeros((phase.size, spec.gpus))
    gpu[:, :used] = np.clip(np.rint(busy * factor[:, None]), 0, 100)
    return gpu


def _gpu_memory(spec: TreeSpec, node: int, plan: Schedule, elapsed_us: Ints) -> Floats:
    """A small context, then a slow climb while the first step allocates, then a little more after each pause."""
    level = np.random.default_rng((spec.seed, node, 1_000_037)).uniform(44, 58, spec.used_gpus)
    first_us = int(plan.step_duration_us[0])
    climb = np.clip((elapsed_us - plan.loop_start_us) / max(first_us, 1), 0, 1)
    grown = np.minimum(np.searchsorted(plan.pause_end_us, elapsed_us, side="right") * 1.3, 8.0)
    used = GPU_CONTEXT_PERCENT + climb[:, None] * (level - GPU_CONTEXT_PERCENT) + grown[:, None]
    tail_us = max(spec.span_us - plan.loop_end_us, 0)
    alive = (elapsed_us >= plan.graph_end_us) & (elapsed_us < plan.loop_end_us + tail_us * 6 // 10)
    memory = np.zeros((elapsed_us.size, spec.gpus))
    memory[:, : spec.used_gpus] = np.rint(used * alive[:, None])
    return memory


def _memory(plan: Schedule, elapsed_us: Ints, rng: np.random.Generator) -> Floats:
    loading = np.clip(elapsed_us / max(plan.loop_start_us, 1), 0, 1)
    looping = np.clip((elapsed_us - plan.loop_start_us) / max(plan.loop_end_us - plan.loop_start_us, 1), 0, 1)
    noise = rng.normal(0, 0.04, elapsed_us.size)
    return np.maximum(3.1 + 4.2 * loading + 3.4 * looping + noise, 0)[:, None]


def _disk(phase: Ints, number: Ints, rng: np.random.Generator) -> Floats:
    read = np.array((0.2e6, 55e6, 6e6, 0.1e6, 2.5e6, 9e6, 0.5e6))[phase]
    write = np.array((140e6, 20e6, 1e6, 0.1e6, 0.3e6, 1.5e6, 60e6))[phase]
    rates = np.stack([(read + write) / 131_072, read, write], axis=1)
    disk = np.round(rates * rng.gamma(6.0, 1 / 6.0, (phase.size, 3)), 2)
    disk[number == 0] = 0.0  # rates need two readings: a run begins with zero
    return disk


def _network(spec: TreeSpec, phase: Ints, t_s: Floats, rng: np.random.Generator) -> Floats:
    """Algorithm received and sent, then platform received and sent, in bytes a second."""
    together = 38e6 if spec.nodes > 1 else 0.2e6
    received = np.array((0.02e6, 0.05e6, 0.4e6, 0.02e6, together, together * 0.1, 0.05e6))[phase]
    sent = np.array((0.02e6, 0.05e6, 0.4e6, 0.02e6, together * 0.95, together * 0.1, 0.05e6))[phase]
    fetched = np.array((142e6, 0.3e6, 0.1e6, 0.03e6, 0.08e6, 0.08e6, 0.1e6))[phase]
    stored = np.array((1.1e6, 0.05e6, 0.05e6, 0.02e6, 0.05e6, 0.05e6, 48e6))[phase]
    wave = (1 + 0.22 * np.sin(t_s / 1.9) + 0.1 * np.sin(t_s / 11))[:, None]
    rates = np.stack([received, sent, fetched, stored], axis=1) * wave
    return np.maximum(rates * rng.normal(1, 0.09, (phase.size, 4)), 0)
