"""UnderusedNode: every node needs so little that a smaller instance type of the same family would do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from data.errors import MissingTable
from data.frames.cost import Instance
from data.frames.evidence import NodeTicks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.statement import counted
from data.insights.stretches import tick_seconds

POINTS_ARE = "ticks of nodes"
USED_SHARE = 0.01
"""A GPU counts as used if it is above 0 % in at least this share of its samples."""


@dataclass(frozen=True)
class _Need:
    """What a node asks for at its p99, or what it has where that was not measured."""

    node: str
    cores: float
    memory_gib: float
    gpus: int
    gpu_memory_gib: float


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each node's p99 of cores and memory with a reserve, and its GPUs in use, against smaller types of the family."""
    machines, nodes = evidence.machines, evidence.ticks.nodes
    if len({group.instance_type for group in machines.groups}) != 1:
        raise MissingTable("The job ran on several instance types, and nothing says which node has which.")
    has = next((one for one in machines.family if one.instance_type == machines.groups[0].instance_type), None)
    if has is None or not has.vcpus or has.memory_gib is None or has.gpus is None:
        raise MissingTable(f"The table of instance types does not say what {machines.groups[0].instance_type} has.")
    points = sum(len(node.tick_ns) for node in nodes)
    if min((len(node.tick_ns) for node in nodes), default=0) <= values["patience"]:
        return Outcome(
            "not enough data", f"Not every node has more than {values['patience']:g} ticks.", points, POINTS_ARE
        )
    needs = [_need(node, has) for node in nodes]
    fitting = [one for one in machines.family if _smaller(one, has) and all(_fits(need, one, values) for need in needs)]
    figures = (
        Figure("cores needed, busiest node, p99", max(need.cores for need in needs), f"of {has.vcpus}"),
        Figure(
            "memory needed, fullest node, p99", max(need.memory_gib for need in needs), f"of {has.memory_gib:g} GiB"
        ),
        Figure("GPUs used, most of any node", max(need.gpus for need in needs), f"of {has.gpus}"),
    )
    if not fitting:
        text = f"No smaller type of the same family would do instead of {has.instance_type}."
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures)
    best = min(fitting, key=lambda one: (one.gpus or 0, one.vcpus or 0, one.memory_gib or 0))
    return Outcome(
        "issue",
        _sentence(needs, has, best, len(nodes)),
        points,
        POINTS_ARE,
        triggered=1,
        violations=len(nodes),
        places=tuple(_place(need, has) for need in sorted(needs, key=lambda need: -need.cores)[:5]),
        figures=figures,
        advice=(f"Try {best.instance_type} for the next run, and compare the two.",),
        confidence=_confidence(nodes),
        wasted_gpu_s=_node_s(nodes) * (has.gpus - (best.gpus or 0)) if has.gpus else None,
        wasted_node_s=None if has.gpus else _node_s(nodes) * (1 - (best.vcpus or 0) / has.vcpus),
    )


def _need(node: NodeTicks, has: Instance) -> _Need:
    cores, memory = _p99(node.cpu_mean), _p99(node.memory)
    used = [at for at in range(len(node.gpus)) if _used(node, at)]
    gpu_memory = max((_p99(node.gpu_memory[:, at]) for at in range(len(node.gpu_memories))), default=math.nan)
    vcpus, memory_gib, gpu_gib = has.vcpus or 0, has.memory_gib or 0.0, has.gpu_memory_gib or 0.0
    return _Need(
        node.node,
        vcpus if math.isnan(cores) else cores / 100 * vcpus,
        memory_gib if math.isnan(memory) else memory / 100 * memory_gib,
        len(used) if node.gpus else has.gpus or 0,
        gpu_gib if math.isnan(gpu_memory) else gpu_memory / 100 * gpu_gib,
    )


def _p99(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.99)) if len(known) else math.nan


def _used(node: NodeTicks, at: int) -> bool:
    known = node.gpu[~np.isnan(node.gpu[:, at]), at]
    return not len(known) or float((known > 0).mean()) >= USED_SHARE


def _smaller(one: Instance, has: Instance) -> bool:
    sizes = ((one.vcpus, has.vcpus), (one.memory_gib, has.memory_gib), (one.gpus, has.gpus))
    if any(new is None or old is None for new, old in sizes):
        return False
    pairs = [(float(new or 0), float(old or 0)) for new, old in sizes]
    return all(new <= old for new, old in pairs) and any(new < old for new, old in pairs)


def _fits(need: _Need, one: Instance, values: Values) -> bool:
    room = 1 - values["reserve"] / 100
    return (
        need.cores <= (one.vcpus or 0) * room
        and need.memory_gib <= (one.memory_gib or 0) * room
        and need.gpus <= (one.gpus or 0)
        and (not need.gpus or need.gpu_memory_gib <= (one.gpu_memory_gib or 0))
    )


def _sentence(needs: list[_Need], has: Instance, best: Instance, nodes: int) -> str:
    cores, memory_gib = max(need.cores for need in needs), max(need.memory_gib for need in needs)
    gpus = f", {max(need.gpus for need in needs)} of {has.gpus} GPUs" if has.gpus else ""
    subject = f"{counted(nodes, 'node')} of type {has.instance_type} {'needs' if nodes == 1 else 'need'}"
    return (
        f"{subject} at most {cores:.1f} of {has.vcpus} cores, {memory_gib:.1f} of {has.memory_gib:g} GiB memory{gpus} "
        f"(p99): {best.instance_type} would do."
    )


def _place(need: _Need, has: Instance) -> Place:
    text = f"p99: {need.cores:.1f} of {has.vcpus} cores, {need.memory_gib:.1f} of {has.memory_gib:g} GiB"
    return Place(need.node, "", None, text, "utilization")


def _confidence(nodes: tuple[NodeTicks, ...]) -> str:
    lacking = [name for name, column in (("memory", "memory"), ("CPU", "cpu_mean")) if _all_missing(nodes, column)]
    return f"{' and '.join(lacking)} use was not measured and is taken as full." if lacking else ""


def _all_missing(nodes: tuple[NodeTicks, ...], column: str) -> bool:
    return all(np.isnan(getattr(node, column)).all() for node in nodes)


def _node_s(nodes: tuple[NodeTicks, ...]) -> float:
    return float(sum(tick_seconds(node.tick_ns, node.interval_ns).sum() for node in nodes))


RULE = Rule(
    name="UnderusedNode",
    title="A smaller instance would do",
    claim="Looks for a smaller instance type of the same family that has all that the nodes need.",
    advice=(
        "Compare the run on the smaller type with this one: a step may take longer even where nothing was full.",
        "Where a bottleneck keeps the hardware idle, cure that first: then the nodes may need what they have.",
    ),
    settings=(
        Setting("reserve", 20.0, "%", "of a smaller type's cores and memory this much must stay free", 0, 90),
        Setting("patience", 240.0, "ticks", "nodes are judged once each has more than this", 1, 10_000_000),
    ),
    judge=judge,
    origin=OURS,
)
