"""Reads raw profiler trees and applies the original's rules with nothing but json and numpy.

Independent of the generator, the converter and the queries on purpose: it says what the raw files hold.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

GPU, CPU = "GPUUtilization", "CPUUtilization"
GPU_MEMORY, IO_WAIT = "GPUMemoryUtilization", "I/OWaitPercentage"
DEVICE_METRICS = (GPU, CPU, GPU_MEMORY, IO_WAIT)
SNAPSHOT_S = 0.02


@dataclass(frozen=True)
class Record:
    type: str
    name: str
    dimension: str
    value: float
    node: str
    time_s: float
    file: Path


@dataclass(frozen=True)
class Step:
    node: str
    worker: str
    phase: str
    number: int
    start_us: int
    duration_us: int

    @property
    def end_us(self) -> int:
        return self.start_us + self.duration_us


def system_files(job: Path) -> list[Path]:
    return sorted((job / "profiler-output/system/incremental").glob("*/*.json"))


def step_files(job: Path) -> list[Path]:
    return sorted((job / "profiler-output/framework/pevents").glob("*/*_pythontimeline.json"))


def records(job: Path) -> tuple[list[Record], list[str]]:
    """All records in time order, and the lines that are no JSON."""
    found, bad = [], []
    for file in system_files(job):
        for line in file.read_text().splitlines():
            try:
                raw = json.loads(line)
            except ValueError:
                bad.append(line)
                continue
            device = (raw["Type"], raw["Name"], raw["Dimension"])
            found.append(Record(*device, raw["Value"], raw["NodeId"], raw["Timestamp"], file))
    return sorted(found, key=lambda record: record.time_s), bad


def steps(job: Path) -> list[Step]:
    """Complete events of all python timelines, with absolute times."""
    found = []
    for file in step_files(job):
        events: list[dict[str, Any]] = json.loads(file.read_text())
        origin_us = events[0]["args"]["start_time_since_epoch_in_micros"]
        phases = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
        worker, _, node = file.name.split("_")[1].partition("-")
        for event in events:
            if event["ph"] == "X":
                number = int(event["args"]["step_num"])
                start_us = origin_us + event["ts"]
                found.append(Step(node, worker, phases[event["pid"]], number, start_us, event["dur"]))
    return found


def by_tick(rows: list[Record], dimension: str) -> dict[str, dict[float, list[float]]]:
    """node -> exact stamp -> values of all devices."""
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.dimension == dimension:
            found[row.node][row.time_s].append(row.value)
    return found


def by_device(rows: list[Record], dimension: str) -> dict[str, dict[str, list[float]]]:
    """node -> device -> values in time order."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.dimension == dimension:
            found[row.node][row.name].append(row.value)
    return found


@dataclass(frozen=True)
class Snapshots:
    points: int
    low_gpu: int
    cpu_bottlenecks: int
    io_bottlenecks: int


def snapshots(rows: list[Record]) -> Snapshots:
    """The original's grouping: a record more than 20 ms away from the running snapshot begins a new one."""
    now, points = float("-inf"), 0
    low: set[float] = set()
    busy: set[float] = set()
    waiting: set[float] = set()
    for row in rows:
        if abs(now - row.time_s) > SNAPSHOT_S:
            now, points = row.time_s, points + 1
        if row.dimension == GPU and row.value < 10:
            low.add(now)
        elif row.dimension == CPU and row.value > 90:
            busy.add(now)
        elif row.dimension == IO_WAIT and row.value > 50:
            waiting.add(now)
    return Snapshots(points, len(low), len(low & busy), len(low & waiting))


def snapshots_by_node(rows: list[Record]) -> dict[str, Snapshots]:
    nodes = sorted({row.node for row in rows})
    return {node: snapshots([row for row in rows if row.node == node]) for node in nodes}


def p95(values: list[float]) -> float:
    return float(np.quantile(np.array(values), 0.95))


def fired(rows: list[Record], durations_s: dict[str, list[float]], *, fixed: bool) -> set[str]:
    """Rules with a met condition at the end of the job, with the defaults of the original's code."""
    found = set()
    gpu, memory = by_device(rows, GPU), by_device(rows, GPU_MEMORY)
    cpu_means = {node: [float(np.mean(v)) for v in ticks.values()] for node, ticks in by_tick(rows, CPU).items()}
    counts = snapshots(rows)
    if counts.points > 1000:
        if 100 * counts.cpu_bottlenecks / counts.points > 50:
            found.add("CPUBottleneck")
        if 100 * counts.io_bottlenecks / counts.points > 50:
            found.add("IOBottleneck")
    for node, devices in gpu.items():
        for device, values in devices.items():
            low = p95(values[-500:]) < 70
            if len(values) > 1000 and (low or np.quantile(values[-500:], 0.05) < 10):
                found.add("LowGPUUtilization")
            cpu = cpu_means[node]
            enough = len(cpu) > 1000 and len(values) > 500
            if enough and low and p95(cpu[-500:]) < 70 and p95(memory[node][device][-500:]) < 70:
                found.add("BatchSize")
            if any(growth > 5 for growth in memory_growth(memory[node][device], after=1000)):
                found.add("GPUMemoryIncrease")
    for values in durations_s.values():
        if len(values) > 100 and len(outliers(values)) > 10:
            found.add("StepOutlier")
    if fixed and any(len(gpu[a][d]) > 1000 and distance > 0.2 for (a, d, _, _), distance in distances(gpu).items()):
        found.add("LoadBalancing")
    return found


def memory_growth(values: list[float], after: int, window: int = 10) -> list[float]:
    """Mean of the last values minus mean of those before, as the original takes them, once `after` values are there."""
    found = []
    for count in range(max(after, window + 1) + 1, len(values) + 1):
        seen = values[:count]
        found.append(float(np.mean(seen[-window:]) - np.mean(seen[-(window + 1) : -2])))
    return found


def outliers(values_s: list[float]) -> list[float]:
    cut = float(np.mean(values_s) + 3 * np.std(values_s))
    return [value for value in values_s if value > cut]


def distances(gpu: dict[str, dict[str, list[float]]]) -> dict[tuple[str, str, str, str], float]:
    """Distance of the utilisation histograms of any two GPUs with different names, on one node or across."""
    edges = np.arange(0, 100, 2)
    flat = {(n, d): np.histogram(values, edges)[0] for n, devices in gpu.items() for d, values in devices.items()}
    found = {}
    for (node_a, a), counts_a in flat.items():
        for (node_b, b), counts_b in flat.items():
            if node_a <= node_b and a != b:
                found[node_a, a, node_b, b] = _distance(counts_a / counts_a.sum(), counts_b / counts_b.sum())
    return found


def _distance(p: Any, q: Any) -> float:
    middle = (p + q) / 2
    parts = (float(np.sum(x[x > 0] * np.log(x[x > 0] / middle[x > 0]))) for x in (p, q))
    return float(np.sqrt(sum(parts) / 2))
