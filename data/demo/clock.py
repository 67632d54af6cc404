"""The stamps of a node's ticks. Records of one tick do not share a stamp: each group is written a little later.

Processor records come first and share a stamp, memory follows 70 microseconds later, disk shortly after, network about
4.6 milliseconds later, and GPU records have a stamp of their own; all of them within 20 milliseconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.demo.spec import TreeSpec

Ints = NDArray[np.int64]

MEMORY_DELAY_US = 70
DISK_DELAY_US = 180
NETWORK_DELAY_US = 4_600
GPU_DELAY_US = (6_500, 11_500)
JITTER_US = 2_500


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks that one node recorded: their number since the start, and a stamp (absolute) for each record group."""

    number: Ints
    cpu_us: Ints
    memory_us: Ints
    disk_us: Ints
    network_us: Ints
    gpu_us: Ints

    def __len__(self) -> int:
        return self.number.size

    def part(self, chosen: slice) -> "Ticks":
        """Some consecutive ticks."""
        return Ticks(*(getattr(self, name)[chosen] for name in self.__slots__))


def node_ticks(spec: TreeSpec, node: int) -> Ticks:
    """All ticks of a node. The first node without an offset spans the job exactly, sample to sample."""
    offset_us = spec.node_offset_us(node)
    count = (spec.span_us - offset_us) // spec.interval_us + 1
    number = np.arange(count, dtype=np.int64)
    rng = np.random.default_rng((spec.seed, node, 17))
    cpu_us = spec.start_us + offset_us + number * spec.interval_us + rng.integers(0, JITTER_US, count)
    network_delay_us = NETWORK_DELAY_US + rng.integers(-45, 46, count)
    gpu_delay_us = rng.integers(*GPU_DELAY_US, count)
    if offset_us == 0:
        cpu_us[0] = spec.start_us
        if spec.span_us % spec.interval_us == 0 and count > 1:
            last_delay_us = gpu_delay_us[-1] if spec.gpus else network_delay_us[-1]
            cpu_us[-1] = spec.start_us + spec.span_us - last_delay_us
    kept = np.setdiff1d(number, np.array(spec.ticks_missing(node), np.int64), assume_unique=True)
    cpu_us = cpu_us[kept]
    return Ticks(
        number=kept,
        cpu_us=cpu_us,
        memory_us=cpu_us + MEMORY_DELAY_US,
        disk_us=cpu_us + DISK_DELAY_US,
        network_us=cpu_us + network_delay_us[kept],
        gpu_us=cpu_us + gpu_delay_us[kept],
    )
