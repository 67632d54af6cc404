"""Operators of the steps that a synthetic PyTorch job profiled in detail, one inside another as real ones are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

PROFILED_STEPS = range(12, 18)
CPU_LANE, GPU_LANE = "cpu_functions", "gpu_functions-dev:0"

FORWARD = (
    ("embedding", 7, ("index_select",)),
    ("layer_norm", 4, ("native_layer_norm",)),
    ("linear", 21, ("addmm",)),
    ("gelu", 5, ()),
    ("dropout", 6, ("bernoulli_", "mul")),
    ("linear", 24, ("addmm",)),
    ("softmax", 9, ("_softmax",)),
    ("cross_entropy_loss", 3, ("log_softmax", "nll_loss")),
)
BACKWARD = (
    ("NllLossBackward", 2, ("nll_loss_backward",)),
    ("AddmmBackward", 31, ("mm", "t")),
    ("SoftmaxBackward", 7, ("_softmax_backward_data",)),
    ("AddmmBackward", 26, ("mm", "t")),
    ("NativeLayerNormBackward", 6, ("native_layer_norm_backward",)),
    ("EmbeddingBackward", 11, ("embedding_dense_backward",)),
    ("add_", 8, ()),
)
"""Name, weight, and the operators inside, which share most of its time."""

_INSIDE_PERCENT = 84
_GPU_LAG_US = 40
_GPU_PERCENT = 92  # of the operator that launched it


class Operator(NamedTuple):
    """An operator in absolute time, on its lane and thread."""

    start_us: int
    end_us: int
    lane: str
    name: str
    thread: int


def operators(
    passes: tuple[tuple[int, int], tuple[int, int]], step: int, seed: int, thread: int, *, gpu: bool
) -> Iterator[Operator]:
    """What ran in a forward and a backward pass, given by their start and end. Autograd has a thread of its own."""
    rng = np.random.default_rng((seed, 67, step))
    for (start_us, end_us), plan, runs_on in zip(passes, (FORWARD, BACKWARD), (thread, thread + 1), strict=True):
        weights = np.array([weight for _, weight, _ in plan]) * np.exp(rng.normal(0.0, 0.12, len(plan)))
        edges = start_us + np.rint(np.cumsum(weights) * (0.96 * (end_us - start_us) / weights.sum())).astype(np.int64)
        begins = [start_us, *edges[:-1].tolist()]
        for (name, _, inside), begin_us, stop_us in zip(plan, begins, edges.tolist(), strict=True):
            yield from _nested(begin_us, stop_us, name, inside, runs_on, gpu)


def _nested(
    begin_us: int, stop_us: int, name: str, inside: tuple[str, ...], thread: int, gpu: bool
) -> Iterator[Operator]:
    yield Operator(begin_us, stop_us, CPU_LANE, name, thread)
    shared_us = (stop_us - begin_us) * _INSIDE_PERCENT // 100
    cursor_us = begin_us + (stop_us - begin_us - shared_us) // 2
    for place, child in enumerate(inside):
        length_us = shared_us * (3 if place == 0 and len(inside) > 1 else 1) // (4 if len(inside) > 1 else 1)
        yield Operator(cursor_us, cursor_us + length_us, CPU_LANE, child, thread)
        cursor_us += length_us
    if gpu:
        length_us = max((stop_us - begin_us) * _GPU_PERCENT // 100 - _GPU_LAG_US, 1)
        yield Operator(begin_us + _GPU_LAG_US, begin_us + _GPU_LAG_US + length_us, GPU_LANE, name, 0)
