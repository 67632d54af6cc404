"""CPUBottleneck and IOBottleneck: ticks of single nodes, and the original's moments over all of them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from data.errors import MissingTable
from data.insights.rules.cpu_bottleneck import RULE as CPU
from data.insights.rules.io_bottleneck import RULE as IO
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, stamps, ticks, values

NAN = math.nan


def judged(*nodes: Any, rule: Any = CPU, **moved: float) -> Any:
    return rule.judge(Given(ticks=ticks(*nodes)), values(rule, **moved))


def half_busy(busy: int, ticks_in_all: int = 1200, **more: Any) -> Any:
    """A node whose only GPU is at 5 %, with a core at 95 % in the first ticks."""
    return node_ticks(gpu=[[5.0] * ticks_in_all], cpu_max=[95.0] * busy + [20.0] * (ticks_in_all - busy), **more)


# --- fixed: ticks of nodes ---


def test_idle_gpu_and_busy_core_in_most_ticks_are_an_issue() -> None:
    found = judged(half_busy(700))
    assert (found.state, found.violations, found.points) == ("issue", 700, 1200)
    assert "700 of 1,200" in found.text
    assert "58.33 %" in found.text
    (place,) = found.places
    assert (place.node, place.window) == ("algo-1", (START_NS, START_NS + 350 * S))
    assert found.wasted_gpu_s == pytest.approx(700 * 0.5 * 0.95)


def test_half_of_the_ticks_is_at_the_edge() -> None:
    assert judged(half_busy(600)).state == "no issue"
    assert judged(half_busy(601)).state == "issue"
    assert judged(half_busy(600), threshold=49.9).state == "issue"


def test_values_at_their_limits_are_neither_low_nor_busy() -> None:
    assert judged(node_ticks(gpu=[[10.0] * 1200], cpu_max=95.0)).violations == 0
    assert judged(node_ticks(gpu=[[9.9] * 1200], cpu_max=90.0)).violations == 0
    assert judged(node_ticks(gpu=[[9.9] * 1200], cpu_max=90.1)).violations == 1200


def test_one_low_gpu_is_enough_and_all_unused_time_counts() -> None:
    found = judged(node_ticks(gpu=[[5.0] * 1200, [80.0] * 1200], cpu_max=95.0))
    assert found.violations == 1200
    assert found.wasted_gpu_s == pytest.approx(600 * (0.95 + 0.2))
    # without the GPU that is always low nothing is left
    assert "algo-1 gpu0 is nearly always below 10 %" in found.confidence
    assert "0.0 % of the ticks are bottlenecks, which would be no issue" in found.confidence


def test_gpu_and_core_of_different_nodes_are_no_bottleneck() -> None:
    idle = node_ticks("algo-1", gpu=[[0.0] * 1200], cpu_max=10.0)
    busy = node_ticks("algo-2", gpu=[[90.0] * 1200], cpu_max=99.0)
    assert judged(idle, busy).violations == 0


def test_nodes_without_gpus_do_not_dilute() -> None:
    found = judged(half_busy(700), node_ticks("algo-2", length=5000, cpu_max=99.0))
    assert (found.state, found.points) == ("issue", 1200)


def test_too_few_ticks_cannot_tell() -> None:
    assert judged(half_busy(1000, 1000)).state == "not enough data"
    assert judged(half_busy(1001, 1001)).state == "issue"
    assert judged(node_ticks(gpu=[[1.0]], cpu_max=[99.0])).state == "not enough data"
    assert judged(node_ticks(gpu=[[NAN] * 1200], cpu_max=99.0)).state == "not enough data"


def test_two_nodes_together_have_enough() -> None:
    other = node_ticks("algo-2", gpu=[[50.0] * 600], cpu_max=50.0)
    assert judged(half_busy(0, 600), other).state == "no issue"


def test_missing_values_are_no_verdict() -> None:
    """900 of 1,200 measured ticks are bottlenecks; of the other 800 nobody knows: 45 to 85 percent."""
    gpu, cpu = [5.0] * 1200 + [NAN] * 800, [95.0] * 900 + [10.0] * 1100
    found = judged(node_ticks(gpu=[gpu], cpu_max=cpu))
    assert found.state == "not enough data"
    assert "in 800 there is no value" in found.text
    assert judged(node_ticks(gpu=[gpu], cpu_max=[95.0] * 100 + [10.0] * 1900)).state == "no issue"  # 5 to 45


def test_nothing_to_judge() -> None:
    for given in (Given(), Given(ticks=ticks()), Given(ticks=ticks(node_ticks(length=2000, cpu_max=99.0)))):
        with pytest.raises(MissingTable):
            CPU.judge(given, values(CPU))
    with pytest.raises(MissingTable, match="core"):
        judged(node_ticks(gpu=[[5.0] * 1200]))
    with pytest.raises(MissingTable, match="I/O wait"):
        judged(half_busy(1200), rule=IO)


def test_io_looks_at_the_wait() -> None:
    found = judged(node_ticks(gpu=[[5.0] * 1200], cpu_max=1.0, io_wait_max=[50.1] * 601 + [50.0] * 599), rule=IO)
    assert (found.state, found.violations) == ("issue", 601)
    assert found.places[0].metric == "io_wait"


# --- compat: moments over all nodes ---


def original(given: Any, rule: Any = CPU, *, seconds: float = 1.0, gpu: Any = ((1.0,),), **moved: float) -> Any:
    span = node_ticks(gpu=gpu, length=len(gpu[0]) if gpu else 1)
    whole = type(ticks(span))((span,), START_NS, START_NS + round(seconds * S))
    return rule.compat(Given(ticks=whole, stamps=given), values(rule, **moved))


def test_gpu_and_core_of_different_nodes_meet_in_one_moment() -> None:
    given = stamps((0.0, 5.0, NAN), (0.015, NAN, 95.0), (0.5, 5.0, NAN), (0.6, NAN, 95.0), nodes=[0, 1, 0, 1])
    found = original(given, patience=0)
    assert (found.points, found.violations) == (3, 1)
    assert [one.value for one in found.figures if "low GPU" in one.name] == [2]


def test_it_is_judged_again_at_every_scan() -> None:
    """A point a second: the second scan is the first with more than 100 points, the fifth ends the job."""
    given = stamps(*((second, 1.0, 99.0 if second < 180 else 5.0) for second in range(300)))
    found = original(given, seconds=299, patience=100)
    # 121 of 121 points, 180 of 181, 180 of 241; the last 180 of 300
    assert (found.triggered, found.violations, found.points) == (4, 180, 300)
    assert original(given, seconds=299, patience=300).triggered == 0
    # of 181, 241 and 300 points, 99.4, 74.7 and 60 percent
    assert original(given, seconds=299, patience=100, threshold=60).triggered == 3


def test_a_moment_across_the_end_of_a_scan_is_seen_in_halves() -> None:
    given = stamps((59.995, 1.0, NAN), (60.005, NAN, 99.0), (61.0, 1.0, 99.0))
    found = original(given, seconds=61, patience=0)
    assert (found.points, found.violations) == (2, 1)


def test_without_gpus_there_are_points_only() -> None:
    found = original(stamps((0.0, NAN, 99.0), (1.0, NAN, 99.0)), gpu=())
    assert (found.state, found.points, found.violations) == ("n/a", 2, 0)


def test_no_moment_at_all() -> None:
    found = original(stamps())
    assert (found.state, found.points, found.triggered) == ("no issue", 0, 0)


def test_io_in_the_original_s_way() -> None:
    given = stamps((0.0, 5.0, 1.0), (1.0, 5.0, 1.0), io_wait_max=[60.0, 50.0])
    assert original(given, IO, patience=0).violations == 1
