"""Framework events for tests: written as the profilers write them, and added up by plain Python, each by its role.

A record says itself what it has to count as, so that nothing here knows how the product finds that out.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests import trees


@dataclass(frozen=True, slots=True)
class Event:
    """An event in microseconds after `trees.START_US`, and what it counts as."""

    role: str  # cpu | gpu | communication | step | forward | backward | forward_inner | backward_inner | general | ""
    phase: str
    name: str
    start_us: int
    duration_us: int
    thread: str = ""
    worker: str = "0"
    node: str = "algo-1"

    @property
    def communication(self) -> bool:
        return self.role == "communication" or (self.role == "gpu" and "nccl" in self.name)

    @property
    def end_us(self) -> int:
        return self.start_us + self.duration_us

    def inside(self, window: tuple[int, int] | None) -> int | None:
        """Its part inside a window, None where it has none there."""
        if window is None:
            return self.duration_us
        begins_there = window[0] <= self.start_us < window[1]
        part = min(self.end_us, window[1]) - max(self.start_us, window[0])
        return part if part > 0 or begins_there else None


def timelines(events: Iterable[Event]) -> dict[str, bytes]:
    """Timelines of the SageMaker profiler: one a process for Python, and one for Horovod."""
    files: dict[tuple[str, str, str], list[Event]] = defaultdict(list)
    for one in events:
        kind = "horovod_timeline" if one.role == "communication" else "pythontimeline"
        files[kind, one.node, one.worker].append(one)
    return {
        _timeline_path(kind, node, worker): json.dumps(_timeline(many)).encode()
        for (kind, node, worker), many in files.items()
    }


def _timeline_path(kind: str, node: str, worker: str) -> str:
    hour = datetime.fromtimestamp(trees.START_US // 10**6, UTC).strftime("%Y%m%d%H")
    return f"profiler-output/framework/pevents/{hour}/{trees.START_US + 10**9}_{worker}-{node}_{kind}.json"


def _timeline(events: Sequence[Event]) -> list[dict[str, Any]]:
    phases = list(dict.fromkeys(one.phase for one in events))
    start = {"start_time_since_epoch_in_micros": trees.START_US}
    rows: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": 0, "args": start}]
    rows += [
        {"name": "process_name", "ph": "M", "pid": at, "args": {"name": phase}} for at, phase in enumerate(phases, 1)
    ]
    for one in events:
        args: dict[str, Any] = {"pid": one.worker, "step_num": "3"} | ({"tid": one.thread} if one.thread else {})
        place = {"pid": phases.index(one.phase) + 1, "ts": one.start_us, "dur": one.duration_us}
        rows.append({"name": one.name, "ph": "X", **place, "args": args})
    return rows


def trace(events: Iterable[Event]) -> bytes:
    """A trace of PyTorch's profiler; phases are its categories."""
    rows = [
        {
            "ph": "X",
            "cat": one.phase,
            "name": one.name,
            "pid": 7,
            "tid": one.thread,
            "ts": trees.START_US + one.start_us,
            "dur": one.duration_us,
            "args": {"device": 0, "stream": 7} if one.role == "gpu" else {},
        }
        for one in events
    ]
    return json.dumps({"schemaVersion": 1, "traceEvents": rows}).encode()


def some_timeline_events(seed: int, many: int = 400) -> list[Event]:
    """Events of every role, on two nodes and in several processes, anyhow inside and across one another."""
    rng = random.Random(seed)
    found = []
    for _ in range(many):
        role, phase, names = rng.choice(_LANES)
        thread = rng.choice(("11", "12")) if role == "cpu" else ""
        node, worker = rng.choice((("algo-1", "0"), ("algo-1", "1"), ("algo-2", "2"), ("algo-10", "3")))
        times = (rng.randrange(1000), rng.randrange(120))
        found.append(Event(role, phase, rng.choice(names), *times, thread, worker, node))
    return found


_LANES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("cpu", "cpu_functions", ("aten::add", "aten::mm", "<b>x</b>")),
    ("gpu", "gpu_functions-dev:0", ("sgemm", "aten::add")),
    ("gpu", "gpu_functions-dev:1", ("sgemm", "ncclAllReduceRing")),
    ("general", "DataLoaderIter", ("next",)),
    ("general", "NcclManager", ("kAllReduce",)),
    ("forward", "Forward", ("Forward-node-0",)),
    ("backward", "Backward(post-forward)", ("Backward-node-0",)),
    ("forward_inner", "Forward-SubModuleInternal", ("layer1",)),
    ("backward_inner", "Backward-SubModuleInternal", ("layer1",)),
    ("communication", "gpu_gradient_0", ("NEGOTIATE_ALLREDUCE", "ALLREDUCE")),
)


def some_trace_events(seed: int, many: int = 300) -> list[Event]:
    """Events of a PyTorch trace; what wraps others or runs beside them counts as nothing."""
    rng = random.Random(seed)
    lanes = (
        ("cpu", "cpu_op", ("aten::add", "aten::mm", "aten::copy_")),
        ("gpu", "kernel", ("sgemm", "ncclKernel_AllReduce", "void nccl_x")),
        ("gpu", "gpu_memcpy", ("Memcpy HtoD",)),
        ("gpu", "gpu_memset", ("Memset",)),
        ("", "user_annotation", ("forward",)),
        ("", "gpu_user_annotation", ("forward",)),
        ("", "cuda_runtime", ("cudaLaunchKernel",)),
    )
    found = []
    for _ in range(many):
        role, phase, names = rng.choice(lanes)
        times = (rng.randrange(1000), rng.randrange(150))
        found.append(Event(role, phase, rng.choice(names), *times, rng.choice("12"), "0", "rank0"))
    return found


def own_us(events: Sequence[Event], window: tuple[int, int] | None = None) -> dict[Event, int]:
    """What each CPU operator has for itself: a thread's time goes, moment by moment, to what began last."""
    cpu = [one for one in events if one.role == "cpu" and one.thread]
    threads: dict[tuple[str, str, str], list[Event]] = defaultdict(list)
    for one in cpu:
        threads[one.node, one.worker, one.thread].append(one)
    found = dict.fromkeys(cpu, 0)
    low, high = window or (0, 10**9)
    for many in threads.values():
        for now in range(max(low, 0), min(high, max(one.end_us for one in many))):
            running = [one for one in many if one.start_us <= now < one.end_us]
            if running:
                found[max(running, key=lambda one: (one.start_us, -one.end_us))] += 1
    return found


def unlike(events: Iterable[Event]) -> list[Event]:
    """Without CPU operators that begin and end together on a thread: which of them is inside is not said."""
    seen: set[tuple[Any, ...]] = set()
    found = []
    for one in events:
        key = (one.node, one.worker, one.thread, one.start_us, one.end_us)
        if one.role != "cpu" or key not in seen:
            found.append(one)
        seen.add(key)
    return found


def write(job: Path, events: Sequence[Event]) -> None:
    """A job of timelines."""
    trees.write(job, timelines(events))
