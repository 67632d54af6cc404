"""Series: one device and metric of one node, and what the profiler's names for it mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from data.names import natural_key

_DEVICE = re.compile(r"(?:cpu|gpu)\d+\Z")

UNITS = {
    "CPUUtilization": "%",
    "I/OWaitPercentage": "%",
    "GPUUtilization": "%",
    "GPUMemoryUtilization": "%",
    "MemoryUsedPercent": "%",
    "IOPS": "operations/s",
    "ReadThroughputInBytesPerSecond": "bytes/s",
    "WriteThroughputInBytesPerSecond": "bytes/s",
    "ReceiveBytesPerSecond": "bytes/s",
    "TransmitBytesPerSecond": "bytes/s",
}
"""The files carry no units; these are what the monitor means (reference 2.1)."""


class Metric(IntEnum):
    """The metrics that ticks, histograms and summaries are kept for."""

    CPU = 0
    IO_WAIT = 1
    GPU = 2
    GPU_MEMORY = 3
    MEMORY = 4
    NETWORK = 5  # received plus sent of the training container


PERCENT_METRICS = (Metric.CPU, Metric.IO_WAIT, Metric.GPU, Metric.GPU_MEMORY, Metric.MEMORY)
DEVICE_METRICS = (Metric.CPU, Metric.IO_WAIT, Metric.GPU, Metric.GPU_MEMORY)

SUMMARY_METRICS = (
    ("Network", "bytes/s", "network"),
    ("GPU", "%", "gpu_mean"),
    ("CPU", "%", "cpu_mean"),
    ("CPU memory", "%", "memory"),
    ("GPU memory", "%", "gpu_memory_mean"),
    ("I/O", "%", "io_wait_mean"),
)
"""The rows of the usage summary per node: name, unit, tick column. Statistics are over ticks (reference 4.10)."""

_METRIC_OF = {
    "CPUUtilization": Metric.CPU,
    "I/OWaitPercentage": Metric.IO_WAIT,
    "GPUUtilization": Metric.GPU,
    "GPUMemoryUtilization": Metric.GPU_MEMORY,
    "MemoryUsedPercent": Metric.MEMORY,
}


@dataclass(frozen=True, slots=True)
class Series:
    """What tells one series from another, in the words of the files."""

    node: str
    type: str
    name: str
    dimension: str

    @property
    def by_device(self) -> bool:
        """Whether Name is the device and Dimension the metric, as for cpu and gpu; else it is the other way round."""
        return self.type in ("cpu", "gpu") or _DEVICE.match(self.name) is not None

    @property
    def metric(self) -> str:
        return (self.dimension if self.by_device else self.name or self.dimension) or self.type

    @property
    def device(self) -> str:
        return self.name if self.by_device else ""

    @property
    def qualifier(self) -> str:
        return "" if self.by_device or not self.name else self.dimension

    @property
    def unit(self) -> str:
        return UNITS.get(self.metric, "")

    @property
    def code(self) -> Metric | None:
        """The metric it counts towards, or None."""
        if self.metric in ("ReceiveBytesPerSecond", "TransmitBytesPerSecond"):
            return Metric.NETWORK if self.qualifier == "Algorithm" else None
        return _METRIC_OF.get(self.metric)


def sorted_series(series: Iterable[Series]) -> list[Series]:
    """In the order of their ids: by metric, then node, then device, numbers by size (algo-2 before algo-10).

    Views show one metric of all nodes, or of one: either way their rows lie together.
    """
    return sorted(
        series,
        key=lambda s: (
            s.type,
            s.metric,
            s.qualifier,
            natural_key(s.node),
            s.node,
            natural_key(s.device),
            s.name,
            s.dimension,
        ),
    )
