"""Writes steps as framework event files: Chrome-trace arrays, closed every minute, named by their last end."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data.demo.operator_events import CPU_LANE, GPU_LANE, PROFILED_STEPS, operators
from data.demo.schedule import Schedule
from data.demo.spec import US_PER_S, TreeSpec

ROTATE_US = 60 * US_PER_S
ROTATE_BYTES = 10 * 1024 * 1024
FIRST_PID = 151
TRAIN, EVALUATE = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"


class Event(NamedTuple):
    """One complete event, absolute times."""

    end_us: int
    start_us: int
    phase: str
    name: str
    step: int
    thread: int = 0  # 0 where the event does not name one


def write_steps(profiler: Path, spec: TreeSpec, plan: Schedule) -> tuple[int, int]:
    """Writes all files below `profiler/framework/pevents`; returns the number of events and of bytes."""
    events = size = 0
    for node in range(spec.nodes):
        for local in range(spec.processes):
            count, written = _write_process(profiler, spec, plan, node, local)
            events += count
            size += written
    return events, size


def _write_process(profiler: Path, spec: TreeSpec, plan: Schedule, node: int, local: int) -> tuple[int, int]:
    pid = FIRST_PID + 7 * local
    worker = pid if spec.first_worker is None else spec.first_worker + node * spec.processes + local
    origin_us = spec.start_us + plan.setup_end_us + 1_000 * (31 * node + 7 * local)
    events = sorted(_events(spec, plan, node * spec.processes + local, pid))
    count = size = begin = 0
    closed_us = origin_us
    lines: list[str] = []
    length = 0
    for index, event in enumerate(events):
        lines.append(_line(event, origin_us, pid, _lanes(spec)))
        length += len(lines[-1])
        last = index + 1 == len(events) and spec.ended  # the file of a running job only appears when it is closed
        if last or event.end_us - closed_us > ROTATE_US or length > ROTATE_BYTES:
            head = _head(origin_us, dict.fromkeys(one.phase for one in events[begin : index + 1]), _lanes(spec))
            text = "[\n" + ",\n".join(head + lines) + "\n]\n"
            hour = datetime.fromtimestamp(event.end_us // US_PER_S, UTC).strftime("%Y%m%d%H")
            folder = profiler / "framework" / "pevents" / hour
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{event.end_us:016d}_{worker}-algo-{node + 1}_pythontimeline.json"
            size += (folder / name).write_text(text, encoding="ascii")
            begin, closed_us, lines, length = index + 1, event.end_us, [], 0
            count = begin
    return count, size


def _events(spec: TreeSpec, plan: Schedule, process: int, pid: int) -> Iterator[Event]:
    """Events of one process. The first one keeps the schedule; the others start late and end early by milliseconds."""
    rng = np.random.default_rng((spec.seed, 59, process))
    start_us = spec.start_us + plan.step_start_us
    end_us = start_us + plan.step_duration_us
    if process:
        start_us = start_us + rng.integers(0, 3_000, start_us.size)
        end_us = end_us - rng.integers(0, 2_000, end_us.size)
    yield from _steps(spec, TRAIN, start_us.tolist(), end_us.tolist())
    if spec.framework == "pytorch":
        for step in PROFILED_STEPS:
            if step < start_us.size:
                yield from _operators(spec, step, int(start_us[step]), int(end_us[step]), process, pid)
        evaluated_us = spec.start_us + plan.evaluation_start_us
        ended_us = evaluated_us + plan.evaluation_duration_us
        yield from _steps(spec, EVALUATE, evaluated_us.tolist(), ended_us.tolist())


def _steps(spec: TreeSpec, phase: str, starts_us: list[int], ends_us: list[int]) -> Iterator[Event]:
    for step, (start_us, end_us) in enumerate(zip(starts_us, ends_us, strict=True)):
        yield Event(end_us, start_us, phase, phase, step)
        if spec.framework == "pytorch":
            loaded_us, forward_us = _passes(start_us, end_us)
            loader = "_SingleProcessDataLoaderIter::GetNext"
            yield Event(loaded_us, start_us, "DataLoaderIter", loader, step)
            forward_us = end_us if phase == EVALUATE else forward_us
            yield Event(forward_us, loaded_us, "Forward", "Forward-node-0", step)
            if phase == TRAIN:
                yield Event(end_us, forward_us, "Backward(post-forward)", "Backward(post-forward)-node-0", step)


def _passes(start_us: int, end_us: int) -> tuple[int, int]:
    """Where the forward and the backward pass of a training step begin."""
    return start_us + (end_us - start_us) * 22 // 100, start_us + (end_us - start_us) * 52 // 100


def _operators(spec: TreeSpec, step: int, start_us: int, end_us: int, process: int, pid: int) -> Iterator[Event]:
    loaded_us, forward_us = _passes(start_us, end_us)
    passes = ((loaded_us, forward_us), (forward_us, end_us))
    for one in operators(passes, step, spec.seed + process, pid, gpu=spec.used_gpus > 0):
        yield Event(one.end_us, one.start_us, one.lane, one.name, step, one.thread)


def _lanes(spec: TreeSpec) -> tuple[str, ...]:
    if spec.framework == "pytorch":
        return (TRAIN, "DataLoaderIter", "Forward", "Backward(post-forward)", EVALUATE, CPU_LANE, GPU_LANE)
    return (TRAIN,)


def _head(origin_us: int, phases: dict[str, None], lanes: tuple[str, ...]) -> list[str]:
    """What every file begins with: the time zero of its stamps, then a lane for each phase that it holds."""
    records: list[dict[str, object]] = [
        {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": origin_us}},
        {"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
    ]
    for phase in phases:
        lane = lanes.index(phase) + 1
        records.append({"name": "process_name", "ph": "M", "pid": lane, "args": {"name": phase}})
        records.append({"name": "process_sort_index", "ph": "M", "pid": lane, "args": {"sort_index": lane}})
    return [json.dumps(record) for record in records]


def _line(event: Event, origin_us: int, pid: int, lanes: tuple[str, ...]) -> str:
    thread = f', "tid": {event.thread}' if event.thread else ""
    return (
        f'{{"name": "{event.name}", "pid": {lanes.index(event.phase) + 1}, "ph": "X", '
        f'"ts": {event.start_us - origin_us}, "dur": {event.end_us - event.start_us}, '
        f'"args": {{"pid": {pid}, "step_num": "{event.step}"{thread}}}}}'
    )
