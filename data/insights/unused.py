"""When the GPUs of a node were not used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.frames.evidence import NodeTicks
from data.insights.statement import NS_PER_S
from data.insights.stretches import tick_seconds


@dataclass(frozen=True)
class UnusedGpus:
    """The unused GPU time of one node, added up over time: piecewise linear, flat where nothing was measured."""

    origin_ns: int
    at_s: NDArray[np.float64]  # since the origin
    unused_s: NDArray[np.float64]  # GPU-seconds up to then
    gpus: int

    def between(self, start_ns: NDArray[np.int64], end_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """GPU-seconds not used in each window, over all GPUs of the node."""
        if not len(self.at_s):
            return np.zeros(len(start_ns))
        low, high = ((one - self.origin_ns) / NS_PER_S for one in (start_ns, end_ns))
        found: NDArray[np.float64] = np.interp(high, self.at_s, self.unused_s) - np.interp(
            low, self.at_s, self.unused_s
        )
        return found


def unused_gpus(node: NodeTicks) -> UnusedGpus:
    """A GPU at 30 % leaves 0.7 s of every second; a GPU without a value leaves nothing that anyone knows of."""
    if not len(node.tick_ns) or not node.gpus:
        return UnusedGpus(0, np.empty(0), np.empty(0), len(node.gpus))
    seconds = tick_seconds(node.tick_ns, node.interval_ns)
    idle = np.nansum(100 - np.clip(node.gpu, 0, 100), axis=1) / 100 * seconds
    total = np.cumsum(idle)
    begin = (node.tick_ns - node.tick_ns[0]) / NS_PER_S
    at_s = np.stack([begin, begin + seconds], axis=1).ravel()
    unused_s = np.stack([total - idle, total], axis=1).ravel()
    return UnusedGpus(int(node.tick_ns[0]), at_s, unused_s, len(node.gpus))
