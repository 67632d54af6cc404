"""What the raw files of a job hold, worked out with plain Python and json: the judge of converter and queries.

Slow and simple on purpose, and independent of the product's code. Takes good lines only; whatever is damaged is
left out, as a reader must leave it out.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

CPU, IO_WAIT = "CPUUtilization", "I/OWaitPercentage"
GPU, GPU_MEMORY = "GPUUtilization", "GPUMemoryUtilization"
TICK_US = 20_000
NO_NUMBER = -1


class Row(NamedTuple):
    """A system record."""

    node: str
    type: str
    name: str
    dimension: str
    time_us: int
    value: float

    @property
    def series(self) -> tuple[str, str, str, str]:
        return self[:4]


class Step(NamedTuple):
    """A step of a process."""

    phase: str
    node: str
    worker: str
    step: int
    start_us: int
    duration_us: int


def system_rows(job: Path) -> list[Row]:
    """Every good record of every metrics file, copies included, in the order of paths and lines."""
    found = []
    for path in sorted((job / "profiler-output/system").rglob("*.json*")):
        content = path.read_bytes()
        for line in (gzip.decompress(content) if path.suffix == ".gz" else content).split(b"\n"):
            row = _row(line, path.name.split(".", 1)[1].split(".json")[0])
            if row is not None:
                found.append(row)
    return found


def _row(line: bytes, file_node: str) -> Row | None:
    try:
        record = json.loads(line.decode())
        value, stamp = float(record["Value"]), float(record["Timestamp"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not math.isfinite(value) or not 946_684_800 <= stamp <= 4_102_444_800:
        return None
    words = (record.get("Type") or "", record.get("Name") or "", record.get("Dimension") or "")
    return Row(record.get("NodeId") or file_node, *words, math.floor(stamp * 1e6 + 0.5), value)


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Each record once, in the order of time."""
    return sorted(set(rows), key=lambda row: (row.time_us, row))


def of(rows: Iterable[Row], dimension: str, node: str = "") -> list[Row]:
    """The records of a device metric."""
    return [row for row in rows if row.dimension == dimension and node in ("", row.node)]


def between(rows: Iterable[Row], start_ns: int, end_ns: int) -> list[Row]:
    """The records of a window."""
    return [row for row in rows if start_ns <= row.time_us * 1000 < end_ns]


def bins(rows: Iterable[Row], width_us: Callable[[str], int]) -> dict[Any, tuple[float, float, float, int]]:
    """(series, start of bin) -> min, max, sum, count; `width_us` gives the width for a node."""
    values: dict[Any, list[float]] = defaultdict(list)
    for row in rows:
        width = width_us(row.node)
        values[row.series, row.time_us // width * width].append(row.value)
    return {key: (min(many), max(many), math.fsum(many), len(many)) for key, many in values.items()}


def tick_of(stamps_us: Iterable[int]) -> dict[int, int]:
    """For each stamp the start of its tick: more than 20 ms after the start of the tick before, a new one starts."""
    found: dict[int, int] = {}
    start = -(10**18)
    for stamp in sorted(set(stamps_us)):
        if stamp - start > TICK_US:
            start = stamp
        found[stamp] = start
    return found


@dataclass
class Tick:
    """The records of a node's tick."""

    start_us: int
    rows: list[Row]

    def values(self, dimension: str) -> list[float]:
        return [row.value for row in self.rows if row.dimension == dimension]

    def mean(self, dimension: str) -> float | None:
        return _mean(self.values(dimension))

    @property
    def memory(self) -> float | None:
        return _mean([row.value for row in self.rows if row.name == "MemoryUsedPercent"])

    @property
    def network(self) -> float | None:
        """Received plus sent of the training container."""
        values = [row.value for row in self.rows if row.type == "network" and row.dimension == "Algorithm"]
        return math.fsum(values) if values else None

    @property
    def stamps_us(self) -> list[int]:
        return sorted({row.time_us for row in self.rows})


def ticks(rows: Iterable[Row]) -> dict[str, list[Tick]]:
    """Node -> its ticks."""
    by_node: dict[str, list[Row]] = defaultdict(list)
    for row in distinct(rows):
        by_node[row.node].append(row)
    found: dict[str, list[Tick]] = {}
    for node, mine in by_node.items():
        start_of = tick_of(row.time_us for row in mine)
        groups: dict[int, list[Row]] = defaultdict(list)
        for row in mine:
            groups[start_of[row.time_us]].append(row)
        found[node] = [Tick(start, groups[start]) for start in sorted(groups)]
    return found


SUMMARY: tuple[tuple[str, str, Callable[[Tick], float | None]], ...] = (
    ("Network", "bytes/s", lambda tick: tick.network),
    ("GPU", "%", lambda tick: tick.mean(GPU)),
    ("CPU", "%", lambda tick: tick.mean(CPU)),
    ("CPU memory", "%", lambda tick: tick.memory),
    ("GPU memory", "%", lambda tick: tick.mean(GPU_MEMORY)),
    ("I/O", "%", lambda tick: tick.mean(IO_WAIT)),
)


def usage(
    by_node: dict[str, list[Tick]], start_ns: int = 0, end_ns: int = 1 << 62
) -> dict[tuple[str, str], tuple[Any, ...]]:
    """(node, metric) -> unit, max, p99, p95, p50, min, ticks; over the ticks that start in the window."""
    found = {}
    for node, many in by_node.items():
        for metric, unit, value_of in SUMMARY:
            chosen = [tick for tick in many if start_ns <= tick.start_us * 1000 < end_ns]
            values = [value for value in map(value_of, chosen) if value is not None]
            if values:
                quantiles = [quantile(values, at) for at in (1, 0.99, 0.95, 0.5, 0)]
                found[node, metric] = (unit, *quantiles, len(values))
    return found


def interval_us(many: list[Tick]) -> float:
    """The median time from tick to tick, 0 where there are fewer than two."""
    starts = [tick.start_us for tick in many]
    return quantile([b - a for a, b in pairwise(starts)], 0.5) if len(starts) > 1 else 0


def gaps(rows: Iterable[Row]) -> list[tuple[str, int, int, bool]]:
    """(node, last record before, first after, spot) for every stretch of more than three median intervals."""
    rows = list(rows)
    found: dict[str, list[tuple[int, int]]] = {}
    for node, many in ticks(rows).items():
        stamps = sorted({row.time_us for row in rows if row.node == node})
        longest = 3 * interval_us(many)
        found[node] = [(a, b) for a, b in pairwise(stamps) if longest and b - a > longest]
    common = spot_gaps(found)
    return [
        (node, a, b, any(a < end and start < b for start, end in common))
        for node in sorted(found)
        for a, b in found[node]
    ]


def spot_gaps(by_node: dict[str, list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Stretches of more than 60 s without a record of any node."""
    edges = sorted({edge for many in by_node.values() for gap in many for edge in gap})
    found: list[tuple[int, int]] = []
    for start, end in pairwise(edges):
        if all(any(a <= start and end <= b for a, b in many) for many in by_node.values()):
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
    return [(start, end) for start, end in found if end - start > 60_000_000]


def counts(values: Iterable[float]) -> list[int]:
    """How many values lie in each of the 50 bins of 2 percent, 100 in the last."""
    found = Counter(min(int(value // 2), 49) for value in values if 0 <= value <= 100)
    return [found[at] for at in range(50)]


def quantile(values: list[float], at: float) -> float:
    """By linear interpolation between the neighbours in order."""
    ordered = sorted(values)
    place = at * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def steps(job: Path) -> list[Step]:
    """The complete step events of all python timelines."""
    found = []
    for path in sorted((job / "profiler-output/framework").rglob("*_pythontimeline.json")):
        events = json.loads(path.read_text())
        origin = next(e["args"]["start_time_since_epoch_in_micros"] for e in events if "args" in e)
        lanes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
        worker, _, node = path.name.split("_")[1].partition("-")
        for event in events:
            phase = lanes.get(event["pid"], "")
            if event["ph"] == "X" and phase.startswith("Step:"):
                number = int(event["args"].get("step_num", NO_NUMBER))
                found.append(Step(phase, node, worker, number, origin + event["ts"], event["dur"]))
    return sorted(set(found), key=lambda step: (step.start_us, step))


def outliers(many: Iterable[Step]) -> list[Step]:
    """Steps longer than the mean plus three population standard deviations of their phase and node."""
    groups: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in many:
        groups[step.phase, step.node].append(step)
    found = []
    for mine in groups.values():
        durations = [step.duration_us for step in mine]
        mean = math.fsum(durations) / len(durations)
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in durations) / len(durations))
        found += [step for step in mine if step.duration_us > mean + 3 * deviation]
    return sorted(found, key=lambda step: (-step.duration_us, step.start_us))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
