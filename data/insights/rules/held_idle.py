"""HeldIdle: nodes that are held while none of their GPUs does anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames import JobTimes
from data.frames.evidence import NodeTicks
from data.frames.findings import Figure, FigureTable, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.statement import NS_PER_S, counted, span
from data.insights.stretches import tick_seconds

POINTS_ARE = "ticks of nodes with GPUs"
HOLE_INTERVALS = 3
"""A stretch ends where nothing is known of the GPUs for longer than this many sampling intervals."""

BEFORE, BETWEEN, AFTER = "before the first step", "during training", "after the last step"
WITHOUT_STEPS = {BEFORE: "at the start", BETWEEN: "in between", AFTER: "at the end"}


@dataclass(frozen=True)
class _Node:
    """A node's idle stretches: windows, seconds measured in each, and when it is."""

    node: NodeTicks
    ticks: int  # with the value of any GPU
    held_s: float
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    idle_s: NDArray[np.float64]
    when: tuple[str, ...]  # [stretches]

    def seconds(self, when: str) -> float:
        """Idle time before, during or after."""
        return float(sum(s for s, its in zip(self.idle_s.tolist(), self.when, strict=True) if its == when))


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Stretches in which every GPU of a node is at rest, each in one place: before, during or after the steps."""
    steps = _steps(evidence)
    every = [_node(one, steps, values) for one in evidence.ticks.nodes if one.gpus]
    every = [one for one in every if one.ticks]
    if not every:
        raise MissingTable("No GPU was recorded.")
    points = sum(one.ticks for one in every)
    judged = [one for one in every if one.ticks >= values["patience"]]
    if not judged:
        most = max(one.ticks for one in every)
        return Outcome(
            "not enough data",
            f"No node has {values['patience']:g} ticks with a GPU's value; the most is {most:,}.",
            points,
            POINTS_ARE,
        )
    idle_s = sum(float(one.idle_s.sum()) * len(one.node.gpus) for one in judged)
    held_s = sum(one.held_s * len(one.node.gpus) for one in judged)
    words = {when: when for when in WITHOUT_STEPS} if steps else WITHOUT_STEPS
    parts = {when: sum(one.seconds(when) * len(one.node.gpus) for one in judged) for when in WITHOUT_STEPS}
    figures = (
        Figure("idle, of the GPU time held", 100 * idle_s / held_s if held_s else 0.0, "%"),
        *(Figure(f"idle {words[when]}", part / 3600, "GPU-hours") for when, part in parts.items()),
    )
    if idle_s <= values["threshold"] / 100 * held_s:
        text = (
            f"All GPUs of a node are idle for {100 * idle_s / held_s if held_s else 0:.1f} % of the GPU time held, "
            f"no more than {values['threshold']:g} %."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, tables=(_table(judged, words),))
    stretches = sum(len(one.start_ns) for one in judged)
    return Outcome(
        "issue",
        _sentence(judged, parts, words, idle_s, held_s),
        points,
        POINTS_ARE,
        triggered=stretches,
        violations=stretches,
        places=_places(judged, words),
        figures=figures,
        tables=(_table(judged, words),),
        advice=_advice(parts, idle_s, bool(steps)),
        confidence=_confidence(evidence.times),
        wasted_gpu_s=sum(
            float(evidence.unused_gpus[one.node.node].between(one.start_ns, one.end_ns).sum()) for one in judged
        ),
        saved_s=_all_idle_s(judged),
    )


def _steps(evidence: Evidence) -> tuple[int, int] | None:
    """From the first step of the job to the end of the last one."""
    times = evidence.times
    if times.loop_start_ns is None or times.loop_end_ns is None:
        return None
    return times.loop_start_ns, times.loop_end_ns


def _node(node: NodeTicks, steps: tuple[int, int] | None, values: Values) -> _Node:
    """Idle ticks in a row are a stretch; one without a value of any GPU is neither idle nor an end of idling."""
    highest = np.fmax.reduce(node.gpu, axis=1)
    seconds = tick_seconds(node.tick_ns, node.interval_ns)
    known = np.flatnonzero(~np.isnan(highest))
    idle = highest[known] <= values["at_rest"]
    first, last = steps or _used(node.tick_ns[known], ~idle, node.interval_ns)
    part = np.where(node.tick_ns[known] < first, 0, np.where(node.tick_ns[known] >= last, 2, 1))
    hole = np.diff(node.tick_ns[known]) > HOLE_INTERVALS * max(node.interval_ns, 1)
    changes = np.flatnonzero((np.diff(idle) != 0) | (np.diff(part) != 0) | hole) + 1
    begin = np.append(0, changes)[: len(known)]
    end = np.append(changes, len(known))[: len(known)] - 1
    length = np.append(0, np.cumsum(seconds[known]))
    lasts = length[end + 1] - length[begin]
    long = (lasts >= values["seconds"]) | (part[begin] != 1)
    kept = np.flatnonzero(idle[begin] & long) if len(known) else np.empty(0, np.int64)
    return _Node(
        node,
        len(known),
        float(seconds[known].sum()),
        node.tick_ns[known[begin[kept]]],
        node.tick_ns[known[end[kept]]] + (seconds[known[end[kept]]] * NS_PER_S).astype(np.int64),
        lasts[kept],
        tuple((BEFORE, BETWEEN, AFTER)[at] for at in part[begin[kept]].tolist()),
    )


def _used(tick_ns: NDArray[np.int64], used: NDArray[np.bool_], interval_ns: int) -> tuple[int, int]:
    """Without steps: from the first use of a GPU of the node to its last one; all of it where there is none."""
    at = np.flatnonzero(used)
    if not len(at):
        return (int(tick_ns[0]), int(tick_ns[-1]) + interval_ns) if len(tick_ns) else (0, 0)
    return int(tick_ns[at[0]]), int(tick_ns[at[-1]]) + interval_ns


def _all_idle_s(judged: list[_Node]) -> float:
    """How long all nodes idle at once: only that would make the job shorter."""
    starts, ends = (np.concatenate(many) for many in zip(*((one.start_ns, one.end_ns) for one in judged), strict=True))
    time_ns = np.concatenate([starts, ends])
    order = np.argsort(time_ns, kind="stable")
    idle = np.cumsum(np.where(order < len(starts), 1, -1))
    return float(np.diff(time_ns[order])[idle[:-1] >= len(judged)].sum()) / NS_PER_S


def _sentence(judged: list[_Node], parts: dict[str, float], words: dict[str, str], idle_s: float, held_s: float) -> str:
    nodes = sum(bool(len(one.idle_s)) for one in judged)
    told = ", ".join(f"{span(part * NS_PER_S)} {words[when]}" for when, part in parts.items() if part)
    return (
        f"All GPUs of {counted(nodes, 'node')} are held and idle for {100 * idle_s / held_s:.1f} % of the GPU time: "
        f"{told}, each GPU counted."
    )


def _confidence(times: JobTimes) -> str:
    if times.loop_start_ns is None:
        return "No steps were recorded, so it is not known when training ran."
    if times.first_step not in (None, 0):
        return f"The first recorded step is number {times.first_step}; training began before it."
    return ""


def _advice(parts: dict[str, float], idle_s: float, known: bool) -> tuple[str, ...]:
    most = max(parts, key=lambda when: parts[when])
    if parts[most] < 0.5 * idle_s or not known:
        return ()
    return (
        {
            BEFORE: "Prepare data and packages before machines with GPUs are started.",
            BETWEEN: "Look at what runs while no GPU does: evaluation on cores, saving, waiting for data.",
            AFTER: "End the job when training ends: upload and evaluate elsewhere.",
        }[most],
    )


def _places(judged: list[_Node], words: dict[str, str]) -> tuple[Place, ...]:
    found = [(float(one.idle_s[at]) * len(one.node.gpus), one, at) for one in judged for at in range(len(one.start_ns))]
    found.sort(key=lambda item: -item[0])
    return tuple(
        Place(
            one.node.node,
            "",
            (int(one.start_ns[at]), int(one.end_ns[at])),
            f"{span(float(one.idle_s[at]) * NS_PER_S)} {words[one.when[at]]}, {counted(len(one.node.gpus), 'GPU')}",
            "utilization",
        )
        for _, one, at in found[:5]
    )


def _table(judged: list[_Node], words: dict[str, str]) -> FigureTable:
    columns = ("node", "GPUs", "held, s", *(f"idle {word}, s" for word in words.values()))
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (one.node.node, len(one.node.gpus), one.held_s, *(one.seconds(when) for when in words)) for one in judged
    )
    return FigureTable("Nodes held idle", columns, rows)


RULE = Rule(
    name="HeldIdle",
    title="Machines are held while their GPUs do nothing",
    claim="Looks for time in which a node is held, but none of its GPUs does anything.",
    advice=("If it cannot be avoided, do it on machines without GPUs.",),
    settings=(
        Setting("at_rest", 0.0, "%", "a GPU does nothing at this utilization or below"),
        Setting("seconds", 60.0, "s", "between first and last step, shorter stretches are left alone", 0, 1e6),
        Setting("threshold", 5.0, "%", "more than this share of the GPU time held is an issue"),
        Setting("patience", 100.0, "ticks", "a node is judged once it has this many", 1, 1e7),
    ),
    judge=judge,
    origin=OURS,
)
