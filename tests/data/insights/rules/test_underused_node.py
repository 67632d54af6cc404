"""UnderusedNode: a smaller type that would do, none that would, and what nobody knows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from data.errors import MissingTable
from data.frames.cost import BilledGroup, Instance
from data.frames.evidence import Machines
from data.insights.rules.underused_node import RULE, judge
from tests.data.insights.evidence import Given, node_ticks, ticks, values


def instance(size: str, vcpus: int | None, memory_gib: float, gpus: int = 0, gpu_gib: float | None = None) -> Instance:
    return Instance(f"ml.x.{size}", vcpus, memory_gib, gpus, "", gpu_gib, None)


CPU_FAMILY = (
    instance("large", 4, 8),
    instance("2xlarge", 8, 16),
    instance("4xlarge", 16, 32),
    instance("9xlarge", 36, 72),
)
GPU_FAMILY = (instance("2xlarge", 8, 61, 1, 16), instance("8xlarge", 32, 244, 4, 16))


def given(*nodes: Any, kind: str = "4xlarge", family: tuple[Instance, ...] = CPU_FAMILY) -> Given:
    return Given(ticks=ticks(*nodes), machines=Machines((BilledGroup(f"ml.x.{kind}", len(nodes)),), family))


def node(name: str = "a", cores: float = 5, of: int = 16, memory: float = 25.0, length: int = 600, **more: Any) -> Any:
    return node_ticks(name, length=length, cpu_mean=100 * cores / of, memory=memory, **more)


def test_a_smaller_type_that_has_all_that_is_needed_would_do() -> None:
    found = judge(given(node()), values(RULE))
    assert found.state == "issue"
    assert "ml.x.2xlarge would do" in found.text  # 6.4 of 8 cores and 12.8 of 16 GiB are free to be used
    assert found.wasted_node_s == pytest.approx(300 * 0.5)
    assert found.wasted_gpu_s is None


@pytest.mark.parametrize(
    ("cores", "memory_gib", "state"),
    [(6.4, 12.8, "issue"), (6.5, 8.0, "no issue"), (5.0, 12.9, "no issue"), (3.2, 6.4, "issue")],
)
def test_cores_and_memory_with_a_reserve_decide(cores: float, memory_gib: float, state: str) -> None:
    found = judge(given(node(cores=cores, memory=100 * memory_gib / 32)), values(RULE))
    assert found.state == state


def test_the_smallest_that_fits_is_named_and_every_node_must_fit() -> None:
    assert "ml.x.large would do" in judge(given(node(cores=3, memory=20)), values(RULE)).text
    both = judge(given(node(cores=3, memory=20), node("b", cores=6, memory=20)), values(RULE))
    assert "ml.x.2xlarge would do" in both.text


def test_the_smallest_type_of_a_family_has_no_smaller_one() -> None:
    assert judge(given(node(cores=1, of=4), kind="large"), values(RULE)).state == "no issue"


def test_gpus_in_use_are_kept() -> None:
    busy, idle = [60.0] * 600, [0.0] * 600
    one = node(of=32, cores=2, memory=5, gpu=[busy, idle, idle, idle], gpu_memory=[busy, idle, idle, idle])
    found = judge(given(one, kind="8xlarge", family=GPU_FAMILY), values(RULE))
    assert "ml.x.2xlarge would do" in found.text
    assert found.wasted_gpu_s == pytest.approx(300 * 3)
    two = node(of=32, cores=2, memory=5, gpu=[busy, busy, idle, idle], gpu_memory=[busy, busy, idle, idle])
    assert judge(given(two, kind="8xlarge", family=GPU_FAMILY), values(RULE)).state == "no issue"


def test_what_was_not_measured_is_taken_as_full() -> None:
    assert judge(given(node(memory=math.nan)), values(RULE)).state == "no issue"
    assert judge(given(node(cores=math.nan)), values(RULE)).state == "no issue"


@pytest.mark.parametrize(("length", "state"), [(1, "not enough data"), (240, "not enough data"), (241, "issue")])
def test_every_node_must_have_enough_ticks(length: int, state: str) -> None:
    assert judge(given(node(), node("b", length=length)), values(RULE)).state == state


def test_unknown_machines_cannot_be_judged() -> None:
    unlike = Machines((BilledGroup("ml.x.large", 1), BilledGroup("ml.x.2xlarge", 1)), CPU_FAMILY)
    for evidence in (
        Given(ticks=ticks(node())),
        Given(machines=Machines((BilledGroup("ml.x.large", 1),), CPU_FAMILY)),
        Given(ticks=ticks(node()), machines=unlike),
        given(node(), kind="unheard"),
        given(node(), family=(instance("4xlarge", None, 32),)),
    ):
        with pytest.raises(MissingTable):
            judge(evidence, values(RULE))
