"""BatchSize: cores, GPU and memory lightly used, each at its edge, and what the original does differently."""

from __future__ import annotations

import math
from typing import Any

import pytest

from data.errors import MissingTable
from data.insights.rules.batch_size import RULE, compat, judge
from tests.data.insights.evidence import Given, node_ticks, ticks, values


def light(length: int = 1201, node: str = "algo-1", **moved: Any) -> Any:
    """A node whose only GPU is at 40 %, its memory at 30 %, its cores at 20 %."""
    columns = {"gpu": [[40.0] * length], "gpu_memory": [[30.0] * length], "cpu_mean": 20.0, "length": length}
    return node_ticks(node, **(columns | moved))


def judged(*nodes: Any, **moved: float) -> Any:
    return judge(Given(ticks=ticks(*nodes)), values(RULE, **moved))


def test_room_everywhere_is_an_issue() -> None:
    # 1,201 samples are 600 s, ten scans: the ninth sees 1,081 of them, the tenth all.
    found = judged(light())
    assert (found.state, found.triggered, found.points) == ("issue", 2, 1201)
    assert "GPU 40.0 %, its memory 30.0 %, the cores 20.0 %" in found.places[0].text
    # Samples 581 to 1,201: two windows of 500.
    assert found.wasted_gpu_s == pytest.approx(620 * 0.5 * 0.6)


@pytest.mark.parametrize(
    "busy", [{"gpu": [[70.0] * 1201]}, {"gpu_memory": [[70.0] * 1201]}, {"cpu_mean": 70.0}], ids=str
)
def test_one_of_the_three_at_its_threshold_is_enough_to_be_no_issue(busy: dict[str, Any]) -> None:
    assert judged(light(**busy)).state == "no issue"
    thresholds = ("cpu_threshold_p95", "gpu_threshold_p95", "gpu_memory_threshold_p95")
    assert judged(light(**busy), **dict.fromkeys(thresholds, 70.1)).state == "issue"


def test_a_gpu_that_does_nothing_has_no_batch() -> None:
    idle = light(gpu=[[0.0] * 1201], gpu_memory=[[0.0] * 1201])
    assert judged(idle).state == "no issue"
    assert compat(Given(ticks=ticks(idle)), values(RULE)).triggered == 2


@pytest.mark.parametrize(("samples", "state"), [(1, "not enough data"), (1000, "not enough data"), (1001, "issue")])
def test_nobody_is_judged_before_the_patience_is_exceeded(samples: int, state: str) -> None:
    assert judged(light(samples)).state == state


def test_a_tick_counts_where_all_three_have_a_value() -> None:
    lacking = [30.0, math.nan] * 600 + [30.0]
    assert judged(light(gpu_memory=[lacking])).state == "not enough data"
    assert judged(light(gpu=[[math.nan] * 1201])).state == "not enough data"


def test_one_node_with_too_few_samples_does_not_hide_the_other() -> None:
    found = judged(light(), light(700, "algo-2"))
    assert [place.node for place in found.places] == ["algo-1"]
    assert found.confidence == "1 GPU had too few samples to be judged."


def test_nothing_to_judge() -> None:
    for given in (Given(), Given(ticks=ticks()), Given(ticks=ticks(node_ticks(length=2000, cpu_mean=5.0)))):
        with pytest.raises(MissingTable):
            judge(given, values(RULE))
    with pytest.raises(MissingTable, match="memory"):
        judged(light(gpu_memory=[]))
    with pytest.raises(MissingTable, match="core"):
        judged(light(cpu_mean=math.nan))


def test_compat_waits_for_the_cores_only() -> None:
    """The GPU lacks its first 300 samples, so it has 901; the cores have 1,201."""
    late = light(gpu=[[math.nan] * 300 + [40.0] * 901], gpu_memory=[[math.nan] * 300 + [30.0] * 901])
    assert judged(late).state == "not enough data"
    found = compat(Given(ticks=ticks(late)), values(RULE))
    assert (found.state, found.triggered, found.points) == ("issue", 2, 900)


def test_compat_needs_more_than_a_window_of_the_gpu() -> None:
    def with_samples(count: int) -> Any:
        missing = [math.nan] * (1201 - count)
        return light(gpu=[[*missing, *[40.0] * count]], gpu_memory=[[*missing, *[30.0] * count]])

    # The ninth scan lacks the last 120 samples.
    triggered = {n: compat(Given(ticks=ticks(with_samples(n))), values(RULE)).triggered for n in (500, 501, 620, 621)}
    assert triggered == {500: 0, 501: 1, 620: 1, 621: 2}
