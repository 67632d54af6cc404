"""OverallSystemUsage: the table of Overview, and the original's exact times, divisors and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from data.errors import MissingTable
from data.frames import USAGE_SUMMARY_COLUMNS, UsageSummary
from data.frames.evidence import ExactUsage, NodeSums
from data.insights.rules.overall_system_usage import RULE, compat, judge
from tests.data.insights.evidence import Given, values


def usage(*rows: tuple[Any, ...]) -> UsageSummary:
    return UsageSummary(pd.DataFrame(rows, columns=list(USAGE_SUMMARY_COLUMNS)))


def sums(node: str, **columns: list[float]) -> NodeSums:
    names = ("cpu", "io_wait", "gpu", "gpu_memory", "memory", "network")
    return NodeSums(node, **{name: np.array(columns.get(name, []), float) for name in names})


def test_figures_are_those_of_the_usage_table() -> None:
    rows = [
        ("a", "GPU", "%", 20.0, 19.0, 13.5, 1.0, 0.0, 1001),
        ("a", "CPU", "%", 50.0, 40.0, 24.4, 12.0, 3.0, 1006),
        ("b", "CPU", "%", 50.0, 40.0, 30.0, 12.0, 3.0, 1007),
    ]
    found = judge(Given(usage=usage(*rows)), values(RULE))
    assert (found.state, found.points, found.triggered) == ("summary", 2013, 0)
    assert found.tables[0].rows == tuple(rows)
    assert "2 nodes: GPU utilization is at most 13.5 %, CPU utilization is at most 24.4 to 30.0 %" in found.text


def test_without_gpus_and_without_anything() -> None:
    found = judge(Given(usage=usage(("a", "Network", "bytes/s", 9.0, 9.0, 9.0, 1.0, 0.0, 1))), values(RULE))
    assert "neither GPU nor CPU" in found.text
    for mode in (judge, compat):
        with pytest.raises(MissingTable):
            mode(Given(), values(RULE))


def test_compat_divides_by_the_names_of_all_nodes_and_rounds() -> None:
    # Node a has two cores, b four: both are divided by the four names that occur.
    exact = ExactUsage((sums("a", cpu=[100, 101, 50.02, -4]), sums("b", cpu=[200.0], gpu=[30.0])), 4, 2)
    found = compat(Given(exact_usage=exact), values(RULE))
    table = {row[:2]: row[2:] for row in found.tables[0].rows}
    # 25.25, 25, 12.505, -1 in order: p99 25.25 - 0.03 * 0.25, p95 25.25 - 0.15 * 0.25, p50 between the two middle ones.
    assert table["CPU", "a"] == (25.25, 25.24, 25.21, 18.75, 0.0)
    assert table["CPU", "b"] == (50.0,) * 5
    assert table["GPU", "b"] == (15.0,) * 5
    assert set(table) == {("CPU", "a"), ("CPU", "b"), ("GPU", "b")}
    assert found.points == 4
