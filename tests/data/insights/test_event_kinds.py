"""Kinds of events: what each format writes, and that everything has a kind."""

from __future__ import annotations

import re

import duckdb
import pytest

from data.insights.event_kinds import KINDS, RULES, SPAN, kind_of

EVENTS = [
    ("Step:ModeKeys.TRAIN", "", "Step:ModeKeys.TRAIN", SPAN),
    ("user_annotation", "user_annotation", "ProfilerStep#12", SPAN),
    ("Trace", "Trace", "PyTorch Profiler (0)", SPAN),
    ("DataLoaderIter", "", "_MultiProcessingDataLoaderIter::GetNext", "data_loading"),
    ("DataLoaderIterInitialize", "", "_SingleProcessDataLoaderIter.__init__", "data_loading"),
    ("DataIterator", "", "IteratorGetNextOp::DoCompute", "data_loading"),
    ("cpu_op", "cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data_loading"),
    ("DataLoaderWorker", "", "fetch", "data_workers"),
    ("Dataset", "", "tensorflow::data::Map::Dataset::Iterator::GetNext", "data_workers"),
    ("Forward", "", "Net-forward", "forward"),
    ("Forward-SubModuleInternal", "", "conv1", "forward"),
    ("user_annotation", "user_annotation", "## forward ##", "forward"),
    ("Backward(post-forward)", "", "Net-backward", "backward"),
    ("cpu_op", "cpu_op", "autograd::engine::evaluate_function: MulBackward0", "backward"),
    ("user_annotation", "user_annotation", "Optimizer.step#Adam.step", "optimizer"),
    ("HorovodAllreduce", "", "tensor", "communication"),
    ("DistributedOptimizer_gradient", "", "NCCL_ALLREDUCE", "communication"),
    ("gradient_7", "", "NEGOTIATE_ALLREDUCE", "communication"),
    ("SMDataParallelMetrics", "", "x", "communication"),
    ("NcclManager", "", "kAllReduce", "communication"),
    ("kernel", "kernel", "ncclKernel_AllReduce_RING_LL_Sum_float", "communication"),
    ("kernel", "kernel", "void at::native::reduce_kernel<128, 4>", "gpu"),
    ("gpu_memcpy", "gpu_memcpy", "Memcpy HtoD", "gpu"),
    ("gpu_functions-dev:0", "", "sgemm", "gpu"),
    ("cpu_functions", "", "aten::add", "compute"),
    ("cpu_op", "cpu_op", "aten::add", "compute"),
    ("cuda_runtime", "cuda_runtime", "cudaLaunchKernel", "compute"),
    ("cuda_runtime", "cuda_runtime", "cudaDeviceSynchronize", "other"),
    ("my lane", "", "something of one's own", "other"),
]


@pytest.mark.parametrize(("phase", "category", "name", "kind"), EVENTS)
def test_what_formats_write_has_its_kind(phase: str, category: str, name: str, kind: str) -> None:
    assert kind_of(phase, category, name) == kind


def test_every_kind_has_a_rule_and_every_rule_a_kind() -> None:
    assert {rule.kind for rule in RULES} == {kind for kind, _ in KINDS} | {SPAN}
    assert {rule.field for rule in RULES} <= {"phase", "category", "name"}


@pytest.mark.parametrize("rule", RULES)
def test_duckdb_reads_the_patterns_as_python_does(rule: tuple[str, str, str]) -> None:
    """Queries judge by the same patterns, with another library."""
    words = sorted({part for event in EVENTS for part in event[:3]})
    query = "select word, regexp_matches(word, $pattern) from (select unnest($words) as word)"
    found = dict(duckdb.execute(query, {"words": words, "pattern": rule[2]}).fetchall())
    assert found == {word: re.search(rule[2], word) is not None for word in words}
