"""Measuring a whole process: processor time, wall time and peak memory, as the kernel counts them."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a process and its children used."""

    cpu_s: float
    wall_s: float
    peak_mb: float


class Failed(Exception):
    """A measured command did not succeed; the message is the end of its output."""


def cost_of(command: Sequence[str], *, given: str = "", environment: dict[str, str] | None = None) -> Cost:
    """Runs a command to its end. Raises Failed."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **(environment or {})},
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise Failed("the process has no pipes")
        process.stdin.write(given)
        process.stdin.close()
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(output[-800:])
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def median_cost(runs: int, run: Callable[[], Cost]) -> Cost:
    """The median of each figure over some runs."""
    costs = [run() for _ in range(runs)]
    return Cost(
        statistics.median(cost.cpu_s for cost in costs),
        statistics.median(cost.wall_s for cost in costs),
        max(cost.peak_mb for cost in costs),
    )


def median_ms(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """Median wall and processor milliseconds of a piece of work in this process, after one run that warms it."""
    work()
    wall, cpu = [], []
    for _ in range(runs):
        before, cpu_before = time.perf_counter(), time.process_time()
        work()
        wall.append((time.perf_counter() - before) * 1000)
        cpu.append((time.process_time() - cpu_before) * 1000)
    return statistics.median(wall), statistics.median(cpu)
