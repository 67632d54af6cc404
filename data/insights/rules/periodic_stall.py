"""PeriodicStall: steps, or the time after them, that are long again and again at the same distance."""

from __future__ import annotations

import numpy as np

from data.frames.findings import Figure, FigureTable, Outcome, Place
from data.insights.capacity import wasted_by_processes
from data.insights.evidence import Evidence
from data.insights.places import largest, worst_apart
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.stalls import Stalls, candidates, cycles_of, main_phases, proved
from data.insights.statement import NS_PER_S, span
from data.insights.step_series import processes_by_node

POINTS_ARE = "steps with the time to the next one"
MOST_ROWS = 64


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each process: are the distances between its long steps the same more often than chance would have it?"""
    every = [cycles_of(one) for one in main_phases(evidence.step_series)]
    points = sum(len(one.start_ns) for one in every)
    judged = [one for one in every if len(one.start_ns) >= values["patience"]]
    if not judged:
        most = max((len(one.start_ns) for one in every), default=0)
        text = f"No process took {values['patience']:g} steps one after the other; the most is {most:,}."
        return Outcome("not enough data", text, points, POINTS_ARE)
    found = proved([candidates(one, values) for one in judged])
    if not found:
        text = (
            f"No process stalls at regular distances: of steps that take {values['threshold']:g} % longer than usual, "
            "there are too few, or they come irregularly, or cost too little."
        )
        return Outcome("no issue", text, points, POINTS_ARE)
    worst = found[0]
    lost = [(one.cycles.series.node, one.windows, one.cost_s) for one in found]
    processes = processes_by_node(evidence.step_series)
    gpu_s, node_s = wasted_by_processes(evidence, processes, lost)
    return Outcome(
        "issue",
        _sentence(worst, len(found), len(judged)),
        points,
        POINTS_ARE,
        triggered=len(found),
        violations=sum(len(one.first) for one in found),
        places=_places(found),
        figures=(
            Figure("period", worst.period_steps, "steps"),
            Figure("period in time", worst.period_s, "s"),
            Figure("distances that are the period", 100 * worst.regular, "%"),
            Figure("cost of a stall", float(np.median(worst.cost_s)), "s"),
        ),
        tables=(_table(found),),
        advice=(_advice(worst),),
        wasted_gpu_s=gpu_s,
        wasted_node_s=node_s,
        saved_s=max(float(one.cost_s.sum()) for one in found),
    )


def _sentence(worst: Stalls, stalling: int, judged: int) -> str:
    cost = float(np.median(worst.cost_s))
    where = "between steps" if worst.between > 0.5 else "in the steps"
    others = f"; {stalling} of {judged} processes stall so" if judged > 1 else ""
    return (
        f"Every {worst.period_steps:g} steps, about every {span(worst.period_s * NS_PER_S)}, "
        f"{worst.cycles.series.name} takes {span(cost * NS_PER_S)} longer than usual, mostly {where}: "
        f"{len(worst.first):,} times, {span(float(worst.cost_s.sum()) * NS_PER_S)} in all{others}."
    )


def _advice(worst: Stalls) -> str:
    often = f"Look for what is done every {worst.period_steps:g} steps"
    if worst.between > 0.5:
        return f"{often}: saving a checkpoint, evaluating, or starting a data loader anew between two epochs."
    return f"{often}: logging, reading back values from the GPU, or fetching the next part of the data."


def _places(found: list[Stalls]) -> tuple[Place, ...]:
    """The longest stalls; of those of a node that overlap, the longest."""
    every = [(float(one.cost_s[at]), one, at) for one in found for at in largest(one.cost_s)]
    every.sort(key=lambda item: -item[0])
    return worst_apart(
        Place(
            one.cycles.series.node,
            "",
            (int(one.windows[0][at]), int(one.windows[1][at])),
            f"{span(cost * NS_PER_S)} longer than usual",
            "steps",
        )
        for cost, one, at in every
    )


def _table(found: list[Stalls]) -> FigureTable:
    columns = ("node", "process", "period, steps", "period, s", "regular, %", "stalls", "longer, s", "between steps, %")
    rows = tuple(
        (
            one.cycles.series.node,
            one.cycles.series.worker,
            one.period_steps,
            one.period_s,
            100 * one.regular,
            len(one.first),
            float(one.cost_s.sum()),
            100 * one.between,
        )
        for one in found[:MOST_ROWS]
    )
    return FigureTable("Periodic stalls", columns, rows)


RULE = Rule(
    name="PeriodicStall",
    title="Training stalls at regular distances",
    claim="Looks for long steps, or pauses after them, that come again after the same time or number of steps.",
    advice=(
        "Do it less often, or let another thread do it while training goes on.",
        "Write checkpoints to a local disk first, and only what has changed.",
    ),
    settings=(
        Setting(
            "threshold", 50.0, "%", "a step with the time to the next is long if it takes this much longer", 1, 1e4
        ),
        Setting("regular", 75.0, "%", "at least this share of the distances must be the same"),
        Setting("occurrences", 5.0, "stalls", "a process must stall at least this often", 4, 1e6),
        Setting("share", 1.0, "%", "stalls must cost at least this share of the time"),
        Setting("patience", 50.0, "steps", "a process is judged once it took this many, one after the other", 10, 1e7),
    ),
    judge=judge,
    origin=OURS,
)
