"""What CPUBottleneck and IOBottleneck share: counting ticks in which a GPU is low while something else is high."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import NodeTicks, Stamps
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import Setting, Values
from data.insights.scans import Flags, scan_ends, seen_by
from data.insights.statement import counted, names, times
from data.insights.stretches import stretches, unused_seconds

NO_GPU = "No GPU was recorded."
POINTS_ARE = "ticks of nodes"

ALWAYS_LOW = 0.99
"""A GPU that is low in at least this share of its ticks is low whatever else happens."""


@dataclass(frozen=True)
class Cause:
    """What is high in a bottleneck besides the low GPU."""

    column: Literal["cpu_max", "io_wait_max"]
    limit: str  # the parameter's name
    is_high: str  # in words: "a core is above"
    metric: str  # what Nodes is to show
    missing: str  # why it cannot be judged where there are no values


@dataclass(frozen=True)
class _Node:
    """One node's ticks, judged."""

    ticks: NodeTicks
    measured: Flags  # a GPU and the cause have a value
    low: NDArray[np.bool_]  # [ticks, GPUs]
    high: Flags

    @property
    def found(self) -> Flags:
        both: Flags = self.low.any(axis=1) & self.high
        return both

    @property
    def always_low(self) -> Flags:
        """[GPUs] those that are low in nearly all ticks in which they have a value."""
        known = (~np.isnan(self.ticks.gpu)).sum(axis=0)
        always: Flags = (self.low.sum(axis=0) >= ALWAYS_LOW * known) & (known > 0)
        return always


def settings(limit: Setting) -> tuple[Setting, ...]:
    """The parameters of a bottleneck rule."""
    return (
        Setting("threshold", 50.0, "%", "more bottlenecks than this share of the points are an issue"),
        limit,
        Setting("gpu_threshold", 10.0, "%", "a GPU below this is low"),
        Setting("patience", 1000.0, "points", "judged once there are more than this", 0, 10_000_000),
    )


def judge(evidence: Evidence, values: Values, cause: Cause) -> Outcome:
    """Over all ticks of nodes with GPUs: the share of bottlenecks, in which both happen at once on the same node."""
    nodes = _nodes(evidence, values, cause)
    if not nodes:
        raise MissingTable(NO_GPU)
    if all(np.isnan(getattr(node.ticks, cause.column)).all() for node in nodes):
        raise MissingTable(cause.missing)
    points = sum(len(node.ticks.tick_ns) for node in nodes)
    measured = sum(int(node.measured.sum()) for node in nodes)
    found = sum(int(node.found.sum()) for node in nodes)
    if measured <= values["patience"]:
        return Outcome(
            "not enough data",
            f"Values of GPUs and of cores were recorded in {counted(measured, 'tick')} of nodes;"
            f" more than {values['patience']:,.0f} are needed.",
            points,
            POINTS_ARE,
        )
    percent = 100 * found / points
    text = (
        f"In {found:,} of {counted(points, 'tick')} of nodes ({percent:.2f} %) a GPU was below"
        f" {values['gpu_threshold']:g} % while {cause.is_high} {values[cause.limit]:g} %"
    )
    figures = _figures(nodes, points, percent)
    if percent > values["threshold"]:
        return Outcome(
            "issue",
            f"{text}; up to {values['threshold']:g} % would be accepted.",
            points,
            POINTS_ARE,
            triggered=1,
            violations=found,
            places=_places(nodes, cause),
            figures=figures,
            confidence=_confidence(nodes, values, points),
            wasted_gpu_s=_wasted_s(nodes),
        )
    if 100 * (found + points - measured) / points > values["threshold"]:
        lacking = f"{text}, but in {points - measured:,} there is no value of a GPU or of cores, too many to tell."
        return Outcome("not enough data", lacking, points, POINTS_ARE, violations=found, figures=figures)
    return Outcome("no issue", f"{text}.", points, POINTS_ARE, violations=found, figures=figures)


def compat(evidence: Evidence, values: Values, cause: Cause) -> Outcome:
    """As the original: points are moments over all nodes, the GPU and what is high may be of different nodes."""
    ticks, stamps = evidence.ticks, evidence.stamps
    ends = scan_ends(ticks.start_ns, ticks.end_ns)
    found, low = _found_by(stamps, seen_by(stamps.time_ns, ends), values, cause)
    points = seen_by(stamps.time_ns[stamps.begin], ends)
    percent = 100 * found / np.maximum(points, 1)
    triggered = int(((points > values["patience"]) & (percent > values["threshold"])).sum())
    points_are = "moments over all nodes"
    if not any(node.gpus for node in ticks.nodes):
        return Outcome("n/a", NO_GPU, int(points[-1]), points_are)
    nodes = _nodes(evidence, values, cause) if triggered else []
    return Outcome(
        "issue" if triggered else "no issue",
        f"{found[-1]:,} of {counted(int(points[-1]), 'point')} ({percent[-1]:.2f} %) were bottlenecks; "
        f"the condition was met {times(triggered)}.",
        int(points[-1]),
        points_are,
        triggered=triggered,
        violations=int(found[-1]),
        places=_places(nodes, cause),
        figures=(
            Figure("bottlenecks", float(percent[-1]), "%"),
            Figure("points with a low GPU", low, ""),
        ),
        wasted_gpu_s=_wasted_s(nodes) if triggered else None,
    )


def _found_by(stamps: Stamps, seen: NDArray[np.int64], values: Values, cause: Cause) -> tuple[NDArray[np.int64], int]:
    """[scans] bottlenecks found so far, and how many points had a low GPU in all.

    A scan looks at its own records only: a point that lies across its end is two halves, each judged for itself.
    """
    begin = stamps.begin
    if not len(begin):
        return np.zeros(len(seen), np.int64), 0
    halves = np.unique(np.concatenate([begin, seen[seen < len(stamps.time_ns)]]))
    low = np.logical_or.reduceat(stamps.gpu_min < values["gpu_threshold"], halves)
    high = np.logical_or.reduceat(getattr(stamps, cause.column) > values[cause.limit], halves)
    both = np.flatnonzero(low & high)
    _, first = np.unique(np.searchsorted(begin, halves[both], side="right"), return_index=True)
    return np.searchsorted(halves[both[first]], seen, side="left"), int(low.sum())


def _nodes(evidence: Evidence, values: Values, cause: Cause) -> list[_Node]:
    """The nodes with GPUs."""
    found = []
    for ticks in evidence.ticks.nodes:
        if not ticks.gpus:
            continue
        column = getattr(ticks, cause.column)
        measured = ~np.isnan(ticks.gpu).all(axis=1) & ~np.isnan(column)
        found.append(_Node(ticks, measured, ticks.gpu < values["gpu_threshold"], column > values[cause.limit]))
    return found


def _wasted_s(nodes: list[_Node]) -> float:
    """The unused time of all GPUs of a node in its bottlenecks."""
    return sum(
        float(unused_seconds(node.ticks.tick_ns, node.ticks.interval_ns, node.ticks.gpu)[node.found].sum())
        for node in nodes
    )


def _places(nodes: list[_Node], cause: Cause) -> tuple[Place, ...]:
    """The longest stretches of bottlenecks, of whichever nodes."""
    every = []
    for node in nodes:
        found = stretches(node.ticks.tick_ns, node.found, node.ticks.interval_ns)
        every += [(count, node, window) for window, count in found[:5]]
    every.sort(key=lambda one: -one[0])
    return tuple(
        Place(
            node.ticks.node,
            "",
            window,
            f"{counted(count, 'bottleneck')} here, {node.found.sum():,} in all {len(node.found):,} ticks of the node",
            cause.metric,
        )
        for count, node, window in every[:5]
    )


def _figures(nodes: list[_Node], points: int, percent: float) -> tuple[Figure, ...]:
    low = sum(int(node.low.any(axis=1).sum()) for node in nodes)
    return (
        Figure("ticks that are bottlenecks", percent, "%"),
        Figure("ticks with a low GPU", 100 * low / points, "%"),
        Figure("ticks with a core above the limit", 100 * sum(int(node.high.sum()) for node in nodes) / points, "%"),
    )


def _confidence(nodes: list[_Node], values: Values, points: int) -> str:
    """A GPU that is always low makes a bottleneck of every busy tick; what is left without it says more."""
    always = [
        f"{node.ticks.node} {gpu}"
        for node in nodes
        for gpu, yes in zip(node.ticks.gpus, node.always_low, strict=True)
        if yes
    ]
    if not always:
        return ""
    left = sum(int((node.low[:, ~node.always_low].any(axis=1) & node.high).sum()) for node in nodes)
    percent = 100 * left / points
    return (
        f"{names(always)} {'is' if len(always) == 1 else 'are'} nearly always below {values['gpu_threshold']:g} %,"
        f" whatever the cores do; counted without, {percent:.1f} % of the ticks are bottlenecks"
        + ("." if percent > values["threshold"] else ", which would be no issue.")
    )
