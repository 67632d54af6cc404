"""OverallFrameworkMetrics: the shares of Overview, and the original's keys with their quirks."""

from __future__ import annotations

import numpy as np
import pytest

from data.errors import MissingTable
from data.frames.evidence import OperatorTotal
from data.frames.operators import TimeShare
from data.insights.rules.overall_framework_metrics import RULE, compat, judge, others_ns
from tests import frames
from tests.data.insights.evidence import START_NS, Given, S, step_records, values

TRAIN = "Step:ModeKeys.TRAIN"
TOTALS = (
    OperatorTotal("cpu", "cpu_functions", "conv", 60 * S),
    OperatorTotal("cpu", "/host:CPU", "conv", 20 * S),
    OperatorTotal("cpu", "cpu_functions", "add", 19 * S),
    OperatorTotal("cpu", "cpu_functions", "tiny", S),
    OperatorTotal("gpu", "gpu_functions-dev:0", "gemm", 100 * S),
    OperatorTotal("general", "DataLoaderIter", "", 30 * S),
    OperatorTotal("forward", "Forward", "", 10 * S),
    OperatorTotal("forward_inner", "Forward-SubModuleInternal", "", S),
    OperatorTotal("backward_inner", "Backward-SubModuleInternal", "", 3 * S),
    OperatorTotal("communication", "allreduce.x", "NCCL_ALLREDUCE", 99 * S),
    OperatorTotal("communication", "allreduce.x", "QUEUE", S),
)


def table(given: Given) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for key, name, value in compat(given, values(RULE)).tables[0].rows:
        found.setdefault(str(key), {})[str(name)] = float(value or 0)
    return found


def test_the_vector_of_the_reference_for_others() -> None:
    start, took = np.array([0, 10, 20, 30]), np.array([6, 6, 6, 6])
    assert [others_ns(start[:n], took[:n], 1) for n in (1, 2, 3, 4)] == [0, 4, 4, 8]


def test_others_step_by_step_with_more_gpus() -> None:
    rng = np.random.default_rng(5)
    took = rng.integers(1, 50, 200)
    start = np.cumsum(rng.integers(40, 90, 200))
    for gpus in (1, 2, 3, 8):
        value = whole = 0.0
        for at in range(len(start)):
            whole += took[at]
            value = start[at] + took[at] - start[0] - (whole + value) / gpus
        assert others_ns(start, took, gpus) == pytest.approx(value)


def test_compat_has_the_original_s_keys() -> None:
    steps = step_records([(TRAIN, "a", "0", n, START_NS + 10 * n * S, 6 * S) for n in range(4)])
    found = table(Given(operators=TOTALS, steps=steps))
    assert found["ratio"] == pytest.approx({"cpu_functions": 40, "/host:CPU": 10, "gpu_functions-dev:0": 50})
    assert found["CPU"] == pytest.approx({"conv": 80 / 0.99, "add": 19 / 0.99})  # tiny is 1 % and left out
    assert found["CPU_total"] == {"conv": 80e6, "add": 19e6}
    assert found["GPU"] == {"gemm": 100}
    assert found["general"] == {"DataLoaderIter": 75, "Forward": 25}
    assert found["forward_backward"] == {"Forward pass": 25, "Backward pass": 75}
    assert found["horovod"] == {"NCCL_ALLREDUCE": 100}
    assert found["phase"] == {TRAIN: 75, "others": 25}  # 24 s of steps, 8 s of others


def test_compat_leaves_out_what_is_missing() -> None:
    assert table(Given()) == {}
    assert set(table(Given(operators=TOTALS[4:6]))) == {"ratio", "GPU", "GPU_total", "general"}
    other = step_records([("Profiler", "a", "0", n, START_NS + 10 * n * S, 6 * S) for n in range(4)])
    assert table(Given(steps=other)) == {}


def test_figures_are_the_shares_of_overview() -> None:
    shares = frames.framework_shares()
    found = judge(Given(shares=shares), values(RULE))
    rows = {(row[0], row[1]): row[2:] for row in found.tables[0].rows}
    assert (found.state, found.triggered) == ("summary", 0)
    assert rows["steps", "between steps"] == (10.0, 1.0, 0)
    assert rows["CPU and GPU", "cpu_op"] == (75.0, 6.0, 60)
    assert len(rows) == sum(len(p) for p in (shares.sides, shares.general, shares.passes, shares.communication)) + 2
    assert "10.0 %" in found.text


def test_what_is_worth_a_word() -> None:
    quiet = frames.framework_shares(passes=())
    assert judge(Given(shares=quiet), values(RULE)).advice == ()
    assert "backward" in judge(Given(shares=frames.framework_shares()), values(RULE)).advice[0]
    for percent, words in ((25.0, 0), (25.1, 1)):
        steps = (TimeShare(TRAIN, "step", S, 8, 100 - percent), TimeShare("", "others", S, 0, percent))
        given = Given(shares=frames.framework_shares(passes=(), steps=steps))
        assert len(judge(given, values(RULE)).advice) == words


def test_longest_operators_go_with_it() -> None:
    found = judge(Given(shares=frames.framework_shares(), operators=TOTALS), values(RULE))
    assert found.tables[1].rows[:2] == (("CPU", "conv", 80.0, 80.0), ("CPU", "add", 19.0, 19.0))


def test_without_framework_events_there_is_nothing_to_sum_up() -> None:
    with pytest.raises(MissingTable):
        judge(Given(), values(RULE))
