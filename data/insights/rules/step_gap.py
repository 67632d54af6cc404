"""StepGap: time between the steps of a process, in which no step runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.frames.findings import Figure, FigureTable, Outcome, Place
from data.insights.capacity import wasted_by_processes
from data.insights.evidence import Evidence
from data.insights.places import largest, worst_apart
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.statement import NS_PER_S, span
from data.insights.step_series import StepSeries, by_process, processes_by_node

POINTS_ARE = "pairs of steps, one after the other"
FEW_GAPS = 0.5
"""Large gaps that hold more than this share of all time between steps are what to look at first."""

MOST_ROWS = 64


@dataclass(frozen=True)
class _Process:
    """What lies between the steps of a process; `at` are the positions of the steps before the gaps."""

    series: StepSeries
    pairs: int  # steps that follow one another, nothing missing in between
    at: NDArray[np.int64]
    start_ns: NDArray[np.int64]  # of the gaps
    end_ns: NDArray[np.int64]
    gap_s: NDArray[np.float64]
    inside_s: float  # time in which a step runs
    step_s: float  # the median step

    @property
    def large(self) -> NDArray[np.bool_]:
        return self.gap_s > self.step_s

    @property
    def share(self) -> float:
        total = float(self.gap_s.sum())
        return total / (total + self.inside_s) if total else 0.0


def judge(evidence: Evidence, values: Values) -> Outcome:
    """The time between steps, of the time from first to last step of each process, without stretches not recorded."""
    every = [_process(one) for one in by_process(evidence.step_series)]
    points = sum(one.pairs for one in every)
    judged = [one for one in every if one.pairs >= values["patience"]]
    if not judged:
        most = max((one.pairs for one in every), default=0)
        text = f"No process took {values['patience']:g} steps one after the other; the most is {most:,} pairs of steps."
        return Outcome("not enough data", text, points, POINTS_ARE)
    gap_s = sum(float(one.gap_s.sum()) for one in judged)
    share = gap_s / max(gap_s + sum(one.inside_s for one in judged), 1e-9)
    large_s = sum(float(one.gap_s[one.large].sum()) for one in judged)
    large = sum(int(one.large.sum()) for one in judged)
    figures = (
        Figure("time between steps", 100 * share, "%"),
        Figure("gaps longer than a step", large, ""),
        Figure("their part of the time between steps", 100 * large_s / gap_s if gap_s else 0.0, "%"),
    )
    if share <= values["threshold"] / 100:
        text = (
            f"{100 * share:.1f} % of the time from first to last step lies between steps, no more than "
            f"{values['threshold']:g} %."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, tables=(_table(judged),))
    lost = [(one.series.node, (one.start_ns, one.end_ns), one.gap_s) for one in judged]
    gpu_s, node_s = wasted_by_processes(evidence, processes_by_node(evidence.step_series), lost)
    return Outcome(
        "issue",
        _sentence(judged, share, gap_s, large, large_s),
        points,
        POINTS_ARE,
        triggered=1,
        violations=large,
        places=_places(judged),
        figures=figures,
        tables=(_table(judged),),
        advice=(_advice(large_s > FEW_GAPS * gap_s),),
        confidence=_confidence(every, judged),
        wasted_gpu_s=gpu_s,
        wasted_node_s=node_s,
        saved_s=max(float(one.gap_s.sum()) for one in judged),
    )


def _process(series: StepSeries) -> _Process:
    reached = np.maximum.accumulate(series.end_ns)
    follows = series.follows
    after = series.start_ns[1:]
    at = np.flatnonzero(follows & (after > reached[:-1]))
    covered = series.end_ns - np.maximum(series.start_ns, np.append(series.start_ns[:1], reached[:-1]))
    return _Process(
        series,
        int(follows.sum()),
        at,
        reached[at],
        after[at],
        (after[at] - reached[at]) / NS_PER_S,
        float(np.maximum(covered, 0).sum()) / NS_PER_S,
        float(np.median(series.duration_ns)) / NS_PER_S,
    )


def _sentence(judged: list[_Process], share: float, gap_s: float, large: int, large_s: float) -> str:
    each = "" if len(judged) == 1 else f", {span(gap_s / len(judged) * NS_PER_S)} in each of {len(judged)} processes"
    text = f"{100 * share:.1f} % of the time from first to last step lies between steps{each}"
    if large_s > FEW_GAPS * gap_s:
        longest = max(judged, key=lambda one: float(one.gap_s.max(initial=0)))
        text += (
            f"; {100 * large_s / gap_s:.0f} % of it in {large:,} gaps longer than a step, the longest of "
            f"{span(float(longest.gap_s.max()) * NS_PER_S)} in {longest.series.name}"
        )
    else:
        middle = float(np.median(np.concatenate([one.gap_s for one in judged])))
        text += f", spread over many gaps of typically {span(middle * NS_PER_S)}"
    return f"{text}."


def _advice(few: bool) -> str:
    if few:
        return "Look at the large gaps: evaluation, saving, or a data loader that starts anew would show there."
    return "A little time is lost at every step: look at what runs between steps, such as fetching batches or logging."


def _places(judged: list[_Process]) -> tuple[Place, ...]:
    """The longest gaps; of those of a node that overlap, the longest."""
    found: list[tuple[int, _Process, int]] = []
    for one in judged:
        found += [(int(one.end_ns[at] - one.start_ns[at]), one, at) for at in largest(one.gap_s)]
    found.sort(key=lambda item: -item[0])
    return worst_apart(
        Place(
            one.series.node,
            "",
            (int(one.start_ns[at]), int(one.end_ns[at])),
            f"{span(length)} between {_steps(one, at)}",
            "steps",
        )
        for length, one, at in found
    )


def _steps(one: _Process, at: int) -> str:
    before, after = (int(one.series.step[place]) for place in (one.at[at], one.at[at] + 1))
    return f"steps {before} and {after}" if min(before, after) >= 0 else "two steps"


def _confidence(every: list[_Process], judged: list[_Process]) -> str:
    parts = []
    missing = sum(len(one.series.step) - 1 - one.pairs for one in every)
    if missing:
        parts.append(f"Steps are missing at {missing:,} places; what lies there was left out.")
    if len(judged) < len(every):
        parts.append(f"{len(every) - len(judged)} of {len(every)} processes had too few steps to be judged.")
    return " ".join(parts)


def _table(judged: list[_Process]) -> FigureTable:
    columns = ("node", "process", "between steps, %", "between steps, s", "longest gap, s", "gaps longer than a step")
    rows = tuple(
        (
            one.series.node,
            one.series.worker,
            100 * one.share,
            float(one.gap_s.sum()),
            float(one.gap_s.max(initial=0)),
            int(one.large.sum()),
        )
        for one in judged[:MOST_ROWS]
    )
    return FigureTable("Time between steps", columns, rows)


RULE = Rule(
    name="StepGap",
    title="Much time passes between steps",
    claim="Looks for processes that spend much of their time between steps, where none runs.",
    advice=(
        "Fetch the next batch while a step runs, and let other threads write logs and checkpoints.",
        "Evaluate and save less often, or on a machine of its own.",
    ),
    settings=(
        Setting("threshold", 10.0, "%", "more than this share of the time between steps is an issue"),
        Setting("patience", 20.0, "steps", "a process is judged once it took this many, one after the other", 1, 1e7),
    ),
    judge=judge,
    origin=OURS,
)
