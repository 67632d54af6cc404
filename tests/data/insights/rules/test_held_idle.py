"""HeldIdle: before, during and after the steps, each idle second once."""

from __future__ import annotations

import math
from typing import Any

import pytest

from data.errors import MissingTable
from data.insights.rules.held_idle import RULE, judge
from tests import frames
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, ticks, values


def times(first_s: float, last_s: float, **changes: Any) -> Any:
    """Steps from here to there, seconds since START_NS."""
    return frames.job_times(
        loop_start_ns=START_NS + round(first_s * S), loop_end_ns=START_NS + round(last_s * S), **changes
    )


def column(*pieces: tuple[float, float]) -> list[float]:
    """Two samples a second: (seconds, utilization)."""
    return [value for seconds, value in pieces for _ in range(round(seconds * 2))]


def figures(found: Any) -> dict[str, float]:
    return {one.name: one.value for one in found.figures}


def test_every_part_is_charged_once() -> None:
    # 100 s before the first step, 70 s in the middle, 30 s after the last one; a pause of 20 s is left alone.
    gpu = column((100, 0), (100, 90), (70, 0), (50, 90), (20, 0), (30, 90), (30, 0))
    given = Given(ticks=ticks(node_ticks(gpu=[gpu, gpu])), times=times(100, 370))
    found = judge(given, values(RULE))
    assert (found.state, found.violations, found.points) == ("issue", 3, 800)
    said = figures(found)
    assert said["idle before the first step"] == pytest.approx(200 / 3600)
    assert said["idle during training"] == pytest.approx(140 / 3600)
    assert said["idle after the last step"] == pytest.approx(60 / 3600)
    assert said["idle, of the GPU time held"] == pytest.approx(100 * 200 / 400)
    assert (found.wasted_gpu_s, found.saved_s) == (pytest.approx(400), pytest.approx(200))
    assert [place.window for place in found.places] == [
        (START_NS + a * S, START_NS + b * S) for a, b in ((0, 100), (200, 270), (370, 400))
    ]


def test_idling_across_the_first_step_is_split_there() -> None:
    gpu = column((200, 0), (200, 90))
    found = judge(Given(ticks=ticks(node_ticks(gpu=[gpu])), times=times(50, 400)), values(RULE))
    said = figures(found)
    assert said["idle before the first step"] == pytest.approx(50 / 3600)
    assert said["idle during training"] == pytest.approx(150 / 3600)
    assert found.wasted_gpu_s == pytest.approx(200)


def test_one_busy_gpu_keeps_its_node() -> None:
    given = Given(ticks=ticks(node_ticks(gpu=[column((300, 0)), column((300, 90))])), times=times(0, 300))
    assert judge(given, values(RULE)).state == "no issue"


def test_without_steps_the_first_use_and_the_last_one_are_the_ends() -> None:
    gpu = column((50, 0), (100, 90), (70, 0), (50, 90), (30, 0))
    found = judge(Given(ticks=ticks(node_ticks(gpu=[gpu]))), values(RULE))
    said = figures(found)
    assert [said[f"idle {when}"] for when in ("at the start", "in between", "at the end")] == pytest.approx(
        [50 / 3600, 70 / 3600, 30 / 3600]
    )
    assert "No steps" in found.confidence
    never = judge(Given(ticks=ticks(node_ticks(gpu=[column((300, 0))]))), values(RULE))
    assert (never.state, never.wasted_gpu_s) == ("issue", pytest.approx(300))


def test_a_job_gets_shorter_only_by_what_all_nodes_idle_together() -> None:
    late, early = column((200, 0), (200, 90)), column((100, 0), (300, 90))
    nodes = ticks(node_ticks("a", gpu=[late]), node_ticks("b", gpu=[early]))
    found = judge(Given(ticks=nodes, times=times(200, 400)), values(RULE))
    assert (found.wasted_gpu_s, found.saved_s) == (pytest.approx(300), pytest.approx(100))


@pytest.mark.parametrize(
    ("moved", "state"),
    [
        ({"threshold": 9.99}, "issue"),
        ({"threshold": 10}, "no issue"),
        ({"threshold": 0, "seconds": 40}, "issue"),
        ({"threshold": 0, "seconds": 40.5}, "no issue"),
        ({"at_rest": 2}, "issue"),
        ({"threshold": 0, "patience": 800}, "no issue"),
        ({"patience": 801}, "not enough data"),
    ],
)
def test_the_edges(moved: dict[str, float], state: str) -> None:
    gpu = column((180, 90), (40, 2 if "at_rest" in moved else 0), (180, 90))
    seconds = {"seconds": 40.0} if "seconds" not in moved and "patience" not in moved else {}
    given = Given(ticks=ticks(node_ticks(gpu=[gpu])), times=times(0, 400))
    assert judge(given, values(RULE, **(seconds | moved))).state == state


def test_what_a_gpu_at_rest_still_does_is_not_wasted() -> None:
    given = Given(ticks=ticks(node_ticks(gpu=[column((100, 4), (100, 90))])), times=times(100, 200))
    assert judge(given, values(RULE, at_rest=5)).wasted_gpu_s == pytest.approx(96)


def test_what_is_not_known_is_not_idle() -> None:
    gpu = column((100, 0), (100, math.nan), (100, 0), (100, 90))
    found = judge(Given(ticks=ticks(node_ticks(gpu=[gpu])), times=times(0, 400)), values(RULE))
    assert (found.wasted_gpu_s, found.saved_s) == (pytest.approx(200), pytest.approx(200))
    assert len(found.places) == 2


def test_a_short_hole_does_not_end_a_stretch() -> None:
    gpu = column((40, 0), (1, math.nan), (40, 0), (100, 90))
    found = judge(Given(ticks=ticks(node_ticks(gpu=[gpu])), times=times(0, 181)), values(RULE))
    assert (found.state, len(found.places)) == ("issue", 1)


def test_a_first_step_that_was_not_recorded_is_named() -> None:
    gpu = column((100, 0), (100, 90))
    given = Given(ticks=ticks(node_ticks(gpu=[gpu])), times=times(100, 200, first_step=500))
    assert "number 500" in judge(given, values(RULE)).confidence


def test_nodes_without_gpus_and_samples() -> None:
    idle = node_ticks("b", gpu=[column((100, 0))])
    found = judge(Given(ticks=ticks(node_ticks("a", length=200), idle)), values(RULE))
    assert [place.node for place in found.places] == ["b"]
    nothing = (node_ticks(length=200), node_ticks(gpu=[[math.nan] * 200]))
    for evidence in (Given(), Given(ticks=ticks()), *(Given(ticks=ticks(node)) for node in nothing)):
        with pytest.raises(MissingTable):
            judge(evidence, values(RULE))
    assert judge(Given(ticks=ticks(node_ticks(gpu=[[0.0]]))), values(RULE)).state == "not enough data"
