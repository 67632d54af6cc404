"""Writes profiles of invented functions as cProfile leaves them: before the first step, of three steps, at the end.

The profiles are plain dicts in the shape of cProfile's own; no code is run for them. The names are made up, after what
training scripts look like.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from data.demo.schedule import Schedule
from data.demo.spec import US_PER_S, TreeSpec
from data.demo.step_files import FIRST_PID

PROFILED_STEPS = (9, 10, 11)  # the first steps that the profiler takes where nothing else is asked for
SITE = "/usr/local/lib/python3.7/site-packages"

Stats = dict[
    tuple[str, int, str], tuple[int, int, float, float, dict[tuple[str, int, str], tuple[int, int, float, float]]]
]


class Call(NamedTuple):
    """A function: who called it (place in the list), how often, and its share of the time."""

    caller: int
    code_file: str
    line: int
    function: str
    calls: int
    weight: float
    recursive: int = 0  # calls out of itself, beyond `calls`


SETTING_UP = (
    Call(-1, "train.py", 212, "main", 1, 0.4),
    Call(0, "train.py", 61, "prepare_data", 1, 3.1),
    Call(1, "/opt/ml/code/records.py", 18, "decode_batch", 640, 11.0),
    Call(2, "~", 0, "<method 'read' of '_io.BufferedReader' objects>", 640, 24.5),
    Call(2, "~", 0, "<built-in method zlib.decompress>", 640, 19.0),
    Call(0, "train.py", 97, "build_model", 1, 0.8),
    Call(5, f"{SITE}/framework/layers.py", 341, "add_layer", 54, 2.6, 108),
    Call(6, f"{SITE}/framework/initializers.py", 77, "he_normal", 54, 6.2),
    Call(0, "<frozen importlib._bootstrap>", 966, "_find_and_load", 318, 4.7, 1204),
    Call(8, "~", 0, "<built-in method marshal.loads>", 318, 8.9),
    Call(8, "~", 0, "<built-in method posix.stat>", 2411, 3.3),
    Call(0, "~", 0, "<method 'acquire' of '_thread.lock' objects>", 96, 15.5),
)
TRAINING = (
    Call(-1, "train.py", 131, "train_step", 1, 0.6),
    Call(0, f"{SITE}/framework/data/loader.py", 512, "__next__", 1, 0.4),
    Call(1, f"{SITE}/framework/data/loader.py", 449, "_fetch", 1, 1.1),
    Call(2, "/opt/ml/code/records.py", 18, "decode_batch", 8, 6.3),
    Call(3, "/opt/ml/code/augment.py", 29, "random_crop", 256, 9.4),
    Call(4, "~", 0, "<built-in method numpy.array>", 512, 7.7),
    Call(3, "/opt/ml/code/augment.py", 58, "normalize", 256, 5.2),
    Call(2, "/usr/lib/python3.7/copy.py", 132, "deepcopy", 32, 2.3, 448),
    Call(0, f"{SITE}/framework/engine.py", 88, "run", 1, 0.9),
    Call(8, "~", 0, "<method 'run_forward' of 'Engine' objects>", 1, 18.0),
    Call(8, "~", 0, "<method 'run_backward' of 'Engine' objects>", 1, 31.0),
    Call(0, f"{SITE}/framework/optimizer.py", 204, "apply_gradients", 1, 3.9),
    Call(11, "~", 0, "<built-in method collective.allreduce>", 54, 11.6),
    Call(0, "/opt/ml/code/metrics.py", 14, "update", 1, 0.5),
    Call(13, "/usr/lib/python3.7/logging/__init__.py", 1381, "info", 2, 0.3),
)
ENDING = (
    Call(-1, "train.py", 244, "finish", 1, 0.3),
    Call(0, "train.py", 180, "evaluate", 1, 2.2),
    Call(1, "~", 0, "<method 'run_forward' of 'Engine' objects>", 24, 37.0),
    Call(0, f"{SITE}/framework/checkpoint.py", 92, "save", 1, 3.5),
    Call(3, "~", 0, "<method 'write' of '_io.BufferedWriter' objects>", 54, 22.0),
    Call(3, "~", 0, "<built-in method zlib.compress>", 54, 14.0),
)


def write_profiles(profiler: Path, spec: TreeSpec, plan: Schedule) -> int:
    """Writes `profiler/framework/<framework>/cprofile` for each process; returns the number of bytes."""
    size = 0
    for node in range(spec.nodes):
        for local in range(spec.processes):
            pid = FIRST_PID + 7 * local
            folder = profiler / "framework" / spec.framework / "cprofile" / f"{pid}-algo-{node + 1}"
            rng = np.random.default_rng((spec.seed, 67, node * spec.processes + local))
            for name, calls, seconds in _intervals(spec, plan):
                content = dump(profile(calls, seconds, rng))
                (folder / name).mkdir(parents=True, exist_ok=True)
                size += (folder / name / "python_stats").write_bytes(content)
    return size


def _intervals(spec: TreeSpec, plan: Schedule) -> list[tuple[str, Sequence[Call], float]]:
    """Folder name, functions and length of each profile."""
    starts = (spec.start_us + plan.step_start_us).tolist()
    ends = (spec.start_us + plan.step_start_us + plan.step_duration_us).tolist()
    begin_us = spec.start_us + plan.setup_end_us
    last_us = spec.start_us + max(spec.span_us, plan.loop_end_us)
    found: list[tuple[str, Sequence[Call], float]] = []
    name = _name("prestepzero-*-start", begin_us, "train-0-stepstart", starts[0])
    found.append((name, SETTING_UP, starts[0] - begin_us))
    for step in PROFILED_STEPS:
        if step < len(starts):
            name = _name(f"train-{step}-stepstart", starts[step], f"train-{step}-stepend", ends[step])
            found.append((name, TRAINING, ends[step] - starts[step]))
    if spec.ended:
        name = _name(f"train-{len(ends) - 1}-stepend", ends[-1], "posthookclose-*-end", last_us)
        found.append((name, ENDING, last_us - ends[-1]))
    return [(name, calls, span_us / US_PER_S) for name, calls, span_us in found]


def _name(start: str, start_us: int, end: str, end_us: int) -> str:
    return f"{start}-{float(start_us)}_{end}-{float(end_us)}"


def dump(value: Any) -> bytes:
    """A value as Python's marshal writes it, but always the same bytes: its references depend on what else is alive."""
    match value:
        case int():
            return b"i" + struct.pack("<i", value)
        case float():
            return b"g" + struct.pack("<d", value)
        case str():
            return b"u" + struct.pack("<i", len(value.encode())) + value.encode()
        case tuple():
            return b"(" + struct.pack("<i", len(value)) + b"".join(map(dump, value))
        case dict():
            return b"{" + b"".join(dump(key) + dump(one) for key, one in value.items()) + b"0"
    raise TypeError(f"a profile holds no {type(value).__name__}")


def profile(calls: Sequence[Call], seconds: float, rng: np.random.Generator) -> Stats:
    """The statistics of these functions over an interval, in the shape of cProfile's: times to the microsecond."""
    weights = np.array([call.weight for call in calls]) * np.exp(rng.normal(0.0, 0.08, len(calls)))
    own = np.round(weights / weights.sum() * seconds * 0.97, 6)
    cumulative = own.copy()
    for at in range(len(calls) - 1, 0, -1):
        cumulative[calls[at].caller] += cumulative[at]
    stats: Stats = {}
    keys = [(call.code_file, call.line, call.function) for call in calls]
    for at, call in enumerate(calls):
        own_s, cumulative_s = round(float(own[at]), 6), round(float(cumulative[at]), 6)
        numbers = (call.calls, call.calls + call.recursive, own_s, cumulative_s)
        stats[keys[at]] = (*numbers, {keys[call.caller]: numbers} if call.caller >= 0 else {})
    return stats
