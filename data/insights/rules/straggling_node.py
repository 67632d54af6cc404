"""StragglingNode: a node whose steps take longer than those of the others, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import StepRecords
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.statement import counted

NS_PER_S = 1_000_000_000
POINTS_ARE = "steps that nodes share"
LOCKSTEP = 0.5
"""Nodes go in lockstep where the starts of a shared step lie closer together than this part of its length, mostly."""


@dataclass(frozen=True)
class _Shared:
    """Steps of one phase that all its nodes took; arrays are [nodes, steps], means over the processes of a node."""

    phase: str
    nodes: tuple[str, ...]
    steps: NDArray[np.int64]
    duration_s: NDArray[np.float64]
    start_ns: NDArray[np.int64]  # of the first process

    @property
    def lockstep(self) -> bool:
        spread = (self.start_ns.max(axis=0) - self.start_ns.min(axis=0)) / NS_PER_S
        return bool(np.median(spread / np.maximum(self.duration_s.max(axis=0), 1e-9)) < LOCKSTEP)


@dataclass(frozen=True)
class _Straggler:
    """A node that is slower than the others."""

    shared: _Shared
    at: int
    ratio: float  # median over steps of its duration by the median of the others'
    slower: float  # share of steps in which it is slower
    behind_s: float  # over all steps, what it takes longer than the others

    @property
    def window(self) -> tuple[int, int]:
        last = int(self.shared.start_ns[self.at, -1] + self.shared.duration_s[self.at, -1] * NS_PER_S)
        return int(self.shared.start_ns[self.at, 0]), max(last, int(self.shared.start_ns[self.at, 0]) + 1)


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each node against the median of the others, over the steps that all of them took."""
    records = evidence.steps
    if len({node for _, node in records.groups}) < 2:
        raise MissingTable("Only one node recorded steps: there is nothing to compare it with.")
    phases = [one for phase in dict.fromkeys(phase for phase, _ in records.groups) if (one := _shared(records, phase))]
    judged = [one for one in phases if len(one.steps) >= values["patience"]]
    if not judged:
        most = max((len(one.steps) for one in phases), default=0)
        return Outcome(
            "not enough data",
            f"The nodes share {counted(most, 'numbered step')}; {values['patience']:g} are needed.",
            most,
            POINTS_ARE,
        )
    every = [_straggler(one, at) for one in judged for at in range(len(one.nodes))]
    found = [one for one in every if one.ratio > 1 + values["threshold"] / 100 and one.slower >= values["steps"] / 100]
    found.sort(key=lambda one: -one.behind_s)
    points, slowest = sum(len(one.steps) for one in judged), max(every, key=lambda one: one.ratio)
    figures = (
        Figure("slowest node, against the others", 100 * (slowest.ratio - 1), "%"),
        Figure("steps in which it is slower", 100 * slowest.slower, "%"),
    )
    if not found:
        text = (
            f"No node is slower than the others by {values['threshold']:g} %; the slowest, "
            f"{slowest.shared.nodes[slowest.at]}, differs by {100 * (slowest.ratio - 1):+.1f} %."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures)
    worst = found[0]
    others = "they wait for it at every step" if worst.shared.lockstep else "the nodes do not go in lockstep"
    return Outcome(
        "issue",
        f"{worst.shared.nodes[worst.at]} takes {100 * (worst.ratio - 1):.1f} % longer for a step than the other nodes "
        f"and is behind in {100 * worst.slower:.0f} % of {len(worst.shared.steps):,} steps; {others}.",
        points,
        POINTS_ARE,
        triggered=len(found),
        violations=len(found),
        places=tuple(_place(one) for one in found[:5]),
        figures=figures,
        wasted_gpu_s=_wasted_s(evidence, worst),
        saved_s=worst.behind_s if worst.shared.lockstep else None,
    )


def _shared(records: StepRecords, phase: str) -> _Shared | None:
    """Numbered steps that every node of the phase took once per process; None where there are none, or one node."""
    groups = [(at, node) for at, (its_phase, node) in enumerate(records.groups) if its_phase == phase]
    if len(groups) < 2:
        return None
    found = []
    for at, _ in groups:
        mine = np.flatnonzero((records.group == at) & (records.step >= 0))
        steps, place, count = np.unique(records.step[mine], return_inverse=True, return_counts=True)
        first = np.full(len(steps), np.iinfo(np.int64).max)
        np.minimum.at(first, place, records.start_ns[mine])
        total = np.bincount(place, weights=records.duration_ns[mine], minlength=len(steps))
        processes = len(np.unique(records.worker[mine]))
        once = count == processes
        found.append((steps[once], (total / np.maximum(count, 1))[once] / NS_PER_S, first[once]))
    common = found[0][0]
    for steps, _, _ in found[1:]:
        common = np.intersect1d(common, steps, assume_unique=True)
    common = common[1:]  # the first one holds what each node sets up for itself
    if not len(common):
        return None
    at_common = [np.searchsorted(steps, common) for steps, _, _ in found]
    return _Shared(
        phase,
        tuple(node for _, node in groups),
        common,
        np.stack([duration[at] for at, (_, duration, _) in zip(at_common, found, strict=True)]),
        np.stack([start[at] for at, (_, _, start) in zip(at_common, found, strict=True)]),
    )


def _straggler(shared: _Shared, at: int) -> _Straggler:
    others = np.median(np.delete(shared.duration_s, at, axis=0), axis=0)
    mine = shared.duration_s[at]
    ratio = float(np.median(mine / np.maximum(others, 1e-9)))
    return _Straggler(shared, at, ratio, float((mine > others).mean()), float(np.maximum(mine - others, 0).sum()))


def _place(one: _Straggler) -> Place:
    text = f"{one.shared.phase}: {100 * (one.ratio - 1):+.1f} %, {one.behind_s:.1f} s behind in all"
    return Place(one.shared.nodes[one.at], "", one.window, text, "steps")


def _wasted_s(evidence: Evidence, worst: _Straggler) -> float | None:
    """What the other nodes' GPUs wait for the slowest; its own are not waiting."""
    if not worst.shared.lockstep:
        return None
    try:
        gpus = {node.node: len(node.gpus) for node in evidence.ticks.nodes}
    except MissingTable:
        return None
    waiting = sum(gpus.get(node, 0) for at, node in enumerate(worst.shared.nodes) if at != worst.at)
    return worst.behind_s * waiting if waiting else None


RULE = Rule(
    name="StragglingNode",
    title="A node holds the others up",
    claim="Looks for a node whose steps take longer than the same steps of the other nodes, nearly always.",
    advice=(
        "Compare this node with the others in Nodes: cores, I/O wait and network at the same time.",
        "Check that every node reads an equal share of the data, and that nothing else runs on the slow one.",
        "If its hardware is slower, start the job again: another machine may be given.",
    ),
    settings=(
        Setting(
            "threshold", 10.0, "%", "a node is slow if its steps take this much longer than the others'", 0.1, 1000
        ),
        Setting("steps", 75.0, "%", "and in at least this share of the steps"),
        Setting("patience", 50.0, "steps", "nodes are compared once they share this many", 2, 1_000_000),
    ),
    judge=judge,
    origin=OURS,
)
