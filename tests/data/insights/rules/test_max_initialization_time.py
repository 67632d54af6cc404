"""MaxInitializationTime: late first steps, no steps at all, and what can be said of either."""

from __future__ import annotations

from typing import Any

import pytest

from data.errors import MissingTable
from data.insights.rules.max_initialization_time import RULE, compat, judge
from tests import frames
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks, values

MIN = 60 * S


def given(initialization_ns: int | None = 25 * MIN, duration_ns: int = 60 * MIN, **parts: Any) -> Given:
    begins = None if initialization_ns is None else START_NS + initialization_ns
    times = frames.job_times(
        start_ns=START_NS,
        end_ns=START_NS + duration_ns,
        duration_ns=duration_ns,
        initialization_ns=initialization_ns,
        loop_start_ns=begins,
        steps_reason="" if begins else "No steps here.",
        first_step=parts.pop("first_step", 0),
    )
    return Given(times=times, **parts)


def test_initialization_beyond_the_limit_is_an_issue() -> None:
    # Two GPUs at 25 % for an hour: of the 5 minutes above the limit three quarters are unused, twice.
    found = judge(given(ticks=ticks(node_ticks(gpu=[[25.0] * 7200] * 2))), values(RULE))
    assert (found.state, found.triggered, found.saved_s) == ("issue", 1, 300)
    assert found.wasted_gpu_s == pytest.approx(300 * 0.75 * 2)
    assert found.places[0].window == (START_NS, START_NS + 25 * MIN)


def test_without_gpus_nodes_wait_and_without_metrics_nobody_knows() -> None:
    two = ticks(node_ticks("a", length=7200), node_ticks("b", length=7200))
    assert judge(given(ticks=two), values(RULE)).wasted_node_s == 600
    found = judge(given(), values(RULE))
    assert (found.state, found.wasted_gpu_s, found.wasted_node_s) == ("issue", None, None)


@pytest.mark.parametrize(
    ("took_ns", "state"), [(0, "no issue"), (20 * MIN, "no issue"), (20 * MIN + 1, "issue"), (-5 * S, "no issue")]
)
def test_the_limit_itself_is_allowed(took_ns: int, state: str) -> None:
    assert judge(given(took_ns), values(RULE)).state == state


def test_a_moved_limit() -> None:
    assert judge(given(90 * S), values(RULE, threshold=1)).saved_s == 30


def test_a_late_first_number_means_that_training_began_before() -> None:
    found = judge(given(first_step=100), values(RULE))
    assert "number 100" in found.confidence
    assert "first recorded step" in found.text


def test_no_step_for_long_is_an_issue_only_where_files_could_hold_some() -> None:
    for kinds in ((), ("system", "tensorflow_trace", "python_stats", "horovod_timeline")):
        with pytest.raises(MissingTable, match="No steps here"):
            judge(given(None, file_kinds=kinds), values(RULE))
    found = judge(given(None, file_kinds=("pythontimeline", "system")), values(RULE))
    assert (found.state, found.wasted_gpu_s) == ("issue", None)
    assert found.confidence
    short = judge(given(None, duration_ns=20 * MIN, file_kinds=("pythontimeline",)), values(RULE))
    assert short.state == "not enough data"


def test_without_system_metrics_there_is_no_beginning() -> None:
    with pytest.raises(MissingTable):
        judge(given(header=frames.job_header(measured=False)), values(RULE))


def test_compat_never_fires_and_counts_the_original_s_steps() -> None:
    rows = [("Step:ModeKeys.TRAIN", "a", "0", n, START_NS + n * S, S) for n in range(9)]
    rows.append(("ProfilerStep", "a", "0", 1, START_NS, S))
    found = compat(given(90 * MIN, steps=step_records(rows)), values(RULE))
    assert (found.state, found.triggered, found.points) == ("no issue", 0, 9)
    assert compat(given(), values(RULE)).points == 0
