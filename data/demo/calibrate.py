"""Bends a node's values until they show given figures exactly: bottleneck ticks, and two 95th percentiles.

The values arrive plausible and leave nearly unchanged: a few ticks turn busy or quiet, the background of the training
loop moves by a constant, and the GPU ticks around the wanted rank take the wanted value.
"""

import numpy as np
from numpy.typing import NDArray

from data.demo.signals import BUSY_FLOOR, PHASES, QUIET_CEILING, Columns, hot_cores
from data.demo.spec import TreeSpec

Ints = NDArray[np.int64]

LOW_GPU = 10_00
BUSY_CORE = 90_00
RANK_MARGIN = 4  # ticks on each side of the wanted rank that take the wanted value


def calibrate(spec: TreeSpec, node: int, phase: Ints, node_values: Ints) -> Ints:
    """The node's values, all ticks, with the figures of `spec.targets`."""
    targets = spec.targets
    if targets is None:
        return node_values
    columns = Columns(spec.cores, spec.gpus)
    result = node_values.copy()
    if spec.gpus:
        recorded = result[spec.late_ticks(node) :, columns.gpu]
        _set_gpu_p95(recorded, spec.used_gpus, round(targets.gpu_p95_percent * spec.gpus))
    if targets.bottleneck_ticks is not None:
        _set_bottlenecks(result, columns, phase, spec.late_ticks(node), targets.bottleneck_ticks[node])
    _set_cpu_p95(result[:, columns.cpu], phase, hot_cores(spec), targets.cpu_p95_percent)
    return result


def _set_gpu_p95(gpu: Ints, used: int, wanted_sum: int) -> None:
    """In place: the sum over GPUs (whole percents) has this 95th percentile, and exactly so for some ranks around."""
    rank = 0.95 * (len(gpu) - 1)
    now = np.quantile(gpu.sum(axis=1), 0.95)
    gpu[:] = np.minimum(np.rint(gpu * (wanted_sum * 100 / now) / 100) * 100, 100_00).astype(np.int64)
    sums = gpu.sum(axis=1)
    order = np.argsort(sums, kind="stable")
    low, high = int(rank) - RANK_MARGIN, int(np.ceil(rank)) + RANK_MARGIN
    wanted = sums.copy()
    wanted[order[: high + 1]] = np.minimum(wanted[order[: high + 1]], wanted_sum * 100)
    wanted[order[low:]] = np.maximum(wanted[order[low:]], wanted_sum * 100)
    largest = np.argmax(gpu[:, :used], axis=1)
    gpu[np.arange(len(gpu)), largest] += wanted - sums


def _set_bottlenecks(node_values: Ints, columns: Columns, phase: Ints, late: int, wanted: int) -> None:
    """In place: exactly so many ticks have a low GPU and a busy core; ticks of the set-up phase make up the number."""
    cpu = node_values[:, columns.cpu]
    low_gpu = (node_values[:, columns.gpu] < LOW_GPU).any(axis=1) & (np.arange(len(node_values)) >= late)
    lacking = wanted - int((low_gpu & (cpu > BUSY_CORE).any(axis=1)).sum())
    quiet = np.flatnonzero((phase == PHASES.index("setup")) & low_gpu & ~(cpu > BUSY_CORE).any(axis=1))
    if not 0 <= lacking <= quiet.size:
        raise ValueError(f"{wanted} bottleneck ticks cannot be met: {lacking} lacking, {quiet.size} to choose from")
    chosen = quiet[:lacking]
    core = columns.cores // 3
    busy_span = round((100 - BUSY_FLOOR) * 100)
    cpu[chosen, core] = round(BUSY_FLOOR * 100) + cpu[chosen, core] % busy_span


def _set_cpu_p95(cpu: Ints, phase: Ints, hot: list[int], wanted_percent: float) -> None:
    """In place: the mean over cores has this 95th percentile; the background cores of the loop move together."""
    cores = cpu.shape[1]
    training = np.flatnonzero(phase == PHASES.index("train"))
    background = np.array([core for core in range(cores) if core not in hot])
    for _ in range(20):
        missing = round((wanted_percent - np.quantile(cpu.mean(axis=1), 0.95) / 100) * 100 * cores)
        if missing == 0:
            return
        each, extra = divmod(missing, background.size)
        shift = np.full(background.size, each)
        shift[:extra] += 1
        block = np.ix_(training, background)
        cpu[block] = np.where(cpu[block] > BUSY_CORE, cpu[block], _bounded(cpu[block] + shift))
    raise ValueError(f"a 95th percentile of {wanted_percent} % of the cores cannot be met")


def _bounded(hundredths: Ints) -> Ints:
    return np.clip(hundredths, 0, round(QUIET_CEILING * 100))
