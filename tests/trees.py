"""Small raw profiler trees for tests: records and steps in memory, and how they come to lie in files."""

from __future__ import annotations

import json
import marshal  # noqa: TID251 - writes only
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

MINUTE_US = 60_000_000
START_US = 1_607_121_600_000_000
"""2020-12-04 22:40:00 UTC: the edge of a minute, of a 5-minute chunk and of every bin up to 480 s."""

MEMORY, IOPS = ("memory", "MemoryUsedPercent", ""), ("i/o", "IOPS", "")
READ, WRITE = ("i/o", "ReadThroughputInBytesPerSecond", ""), ("i/o", "WriteThroughputInBytesPerSecond", "")
RECEIVED = ("network", "ReceiveBytesPerSecond", "Algorithm")
SENT = ("network", "TransmitBytesPerSecond", "Algorithm")
PLATFORM = ("network", "ReceiveBytesPerSecond", "Platform")


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a metrics file."""

    node: str
    type: str
    name: str
    dimension: str
    time_us: int
    value: float

    @property
    def line(self) -> str:
        stamp = f"{self.time_us // 10**6}.{self.time_us % 10**6:06d}"
        words = {"Type": self.type, "Name": self.name, "Dimension": self.dimension}
        text = json.dumps(words | {"Value": self.value, "NodeId": self.node}, ensure_ascii=False)
        return f'{text[:-1]}, "Timestamp": {stamp}}}'


def cpu(core: int, dimension: str = "CPUUtilization") -> tuple[str, str, str]:
    return "cpu", f"cpu{core}", dimension


def gpu(device: int, dimension: str = "GPUUtilization") -> tuple[str, str, str]:
    return "gpu", f"gpu{device}", dimension


def machine(
    node: str = "algo-1",
    *,
    start_us: int = START_US,
    ticks: int = 40,
    interval_us: int = 500_000,
    cores: int = 2,
    gpus: int = 1,
    seed: int = 1,
    skip: Iterable[int] = (),
) -> list[Record]:
    """The records of a machine, every kind, in the order of time; some values are negative, above 100, or uneven."""
    rng = np.random.default_rng((seed, len(node), ord(node[-1])))
    found: list[Record] = []
    left_out = set(skip)
    for tick in range(ticks):
        at = start_us + tick * interval_us + int(rng.integers(0, 2_000))
        percents = np.round(rng.uniform(0, 100, 2 * cores + 2 * gpus + 1), 2).tolist()
        rates = np.round(rng.uniform(0, 1e9, 6), 2).tolist()
        if rng.random() < 0.2:
            percents[0] = float(rng.choice([-19.61, 100.5, 99.294554, 0.0, 100.0, 0.1 + 0.2]))
        if tick in left_out:
            continue
        wait = [cpu(core, "I/OWaitPercentage") for core in range(cores)]
        memory = [gpu(device, "GPUMemoryUtilization") for device in range(gpus)]
        devices = [*map(cpu, range(cores)), *wait, *map(gpu, range(gpus)), *memory, MEMORY]
        delays = [0] * (2 * cores) + [6_500 + device * 100 for device in range(gpus)] * 2 + [70]
        for what, value, delay in zip(devices, percents, delays, strict=True):
            found.append(Record(node, *what, at + delay, value))
        for what, value in zip((IOPS, READ, WRITE, RECEIVED, SENT, PLATFORM), rates, strict=True):
            found.append(Record(node, *what, at + (180 if what[0] == "i/o" else 4_600), value))
    return found


def pausing(skips: Mapping[str, Iterable[range]], *, apart_us: int = 0) -> list[Record]:
    """90 ticks of 2 s of two nodes or more, without those to skip; each starts `apart_us` after the one before."""
    return [
        record
        for at, node in enumerate(dict.fromkeys(("algo-1", "algo-2", *skips)))
        for record in machine(
            node,
            start_us=START_US + at * apart_us,
            ticks=90,
            interval_us=2_000_000,
            cores=1,
            gpus=0,
            skip=[tick for many in skips.get(node, ()) for tick in many],
        )
    ]


def metrics_path(minute_us: int, node: str, suffix: str = ".json") -> str:
    """Where a node's metrics of a minute lie in a job's folder."""
    hour = datetime.fromtimestamp(minute_us // 10**6, UTC).strftime("%Y%m%d%H")
    return f"profiler-output/system/incremental/{hour}/{minute_us // 10**6}.{node}{suffix}"


def metrics_files(records: Sequence[Record]) -> dict[str, bytes]:
    """The files that a profiler writes: one a node and minute."""
    lines: dict[tuple[int, str], list[str]] = defaultdict(list)
    for record in records:
        lines[record.time_us // MINUTE_US * MINUTE_US, record.node].append(record.line + "\n")
    return {metrics_path(minute, node): "".join(many).encode() for (minute, node), many in lines.items()}


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of one process."""

    step: int
    start_us: int
    duration_us: int
    phase: str = "Step:ModeKeys.TRAIN"
    node: str = "algo-1"
    worker: str = "0"


def step_files(steps: Iterable[StepRecord]) -> dict[str, bytes]:
    """Python timelines: one a process."""
    by_process: dict[tuple[str, str], list[StepRecord]] = defaultdict(list)
    for one in steps:
        by_process[one.node, one.worker].append(one)
    found = {}
    for (node, worker), many in by_process.items():
        origin_us = min(one.start_us for one in many)
        phases = sorted({one.phase for one in many})
        events: list[dict[str, Any]] = [
            {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": origin_us}}
        ]
        events += [
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": phase}}
            for pid, phase in enumerate(phases, 1)
        ]
        events += [
            {
                "name": one.phase,
                "ph": "X",
                "pid": phases.index(one.phase) + 1,
                "ts": one.start_us - origin_us,
                "dur": one.duration_us,
                "args": {"step_num": str(one.step)},
            }
            for one in many
        ]
        hour = datetime.fromtimestamp(origin_us // 10**6, UTC).strftime("%Y%m%d%H")
        path = f"profiler-output/framework/pevents/{hour}/{origin_us}_{worker}-{node}_pythontimeline.json"
        found[path] = json.dumps(events).encode()
    return found


def write(job: Path, files: dict[str, bytes]) -> None:
    """Writes files below a job's folder, as they are."""
    for path, content in files.items():
        target = job / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


FunctionStats = dict[tuple[str, int, str], tuple[int, int, float, float, dict[Any, Any]]]
"""As cProfile has it: (file, line, name) -> primitive calls, calls, own and cumulative seconds, callers."""


def profile_path(start: str, start_us: int, end: str, end_us: int, node_id: str = "81-algo-1") -> str:
    """The path of a Python profile; `start` and `end` as in "train-9-stepstart"."""
    folder = f"{start}-{start_us}_{end}-{end_us}"
    return f"profiler-output/framework/pytorch/cprofile/{node_id}/{folder}/python_stats"


def profile_file(stats: FunctionStats) -> bytes:
    """A dump of cProfile."""
    return marshal.dumps(stats)
