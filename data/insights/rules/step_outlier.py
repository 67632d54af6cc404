"""StepOutlier: steps that take far longer than most of their process (reference 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.findings import Figure, FigureTable, Outcome, Place
from data.insights.capacity import covered_s, gpu_counts, ticks_or_none
from data.insights.evidence import Evidence
from data.insights.places import largest, worst_apart
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import scan_ends, seen_by
from data.insights.statement import NS_PER_S, counted, times
from data.insights.step_series import StepSeries

POINTS_ARE = "steps of processes"
PATIENCE = 100
"""A process is judged once it took more than this many steps of a phase; the original cannot be told otherwise."""

ANY_MODE = "None"
ORIGINAL_PHASES = "Step:ModeKeys"
MOST_ROWS = 64


@dataclass(frozen=True)
class _Judged:
    """A series with its limit and its outliers; `late` are positions of outliers in it."""

    series: StepSeries
    mean_ns: float
    deviation_ns: float  # of the population
    cut_ns: float
    late: NDArray[np.int64]

    @property
    def warm_up(self) -> int:
        """How many outliers come before the first step that is none."""
        normal = np.flatnonzero(self.late != np.arange(len(self.late)))
        return int(normal[0]) if len(normal) else len(self.late)


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Every phase of every process: steps above mean + `stddev` standard deviations of the whole job, each once."""
    mode = values.text("mode")
    every = [one for one in evidence.step_series if _named(one.phase, mode)]
    if not every:
        raise MissingTable(f"No step belongs to a mode called {mode}.", "Set mode to None to look at every phase.")
    points = sum(len(one.step) for one in every)
    judged = [_judged(one, values["stddev"]) for one in every if len(one.step) > PATIENCE]
    if not judged:
        most = max(len(one.step) for one in every)
        return Outcome(
            "not enough data",
            f"No process took more than {PATIENCE} steps of a phase; the most is {most:,}.",
            points,
            POINTS_ARE,
        )
    bad = sorted((one for one in judged if len(one.late) > values["n_outliers"]), key=lambda one: -len(one.late))
    worst = bad[0] if bad else max(judged, key=lambda one: len(one.late))
    figures = (
        Figure("most outliers of a process", len(worst.late), ""),
        Figure("its limit", worst.cut_ns / NS_PER_S, "s"),
        Figure("its mean", worst.mean_ns / NS_PER_S, "s"),
    )
    if not bad:
        text = (
            f"No process has more than {counted(int(values['n_outliers']), 'outlier')}; the most are {len(worst.late)} "
            f"of {len(worst.series.step):,} steps in {worst.series.name}, above {_s(worst.cut_ns)}."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, tables=(_table(judged),))
    gpu_s, node_s, saved_s = _wasted(evidence, bad)
    total = sum(len(one.late) for one in bad)
    return Outcome(
        "issue",
        _sentence(bad, total),
        points,
        POINTS_ARE,
        triggered=len(bad),
        violations=total,
        places=_places(bad),
        figures=figures,
        tables=(_table(judged),),
        confidence=_confidence(every, judged),
        wasted_gpu_s=gpu_s,
        wasted_node_s=node_s,
        saved_s=saved_s,
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: all outliers so far count again in every scan, and `mode` only adds phases."""
    records, mode = evidence.steps, values.text("mode")
    every = [
        one
        for one in evidence.step_series
        if ORIGINAL_PHASES in one.phase or (mode not in ("", ANY_MODE) and mode in one.phase)
    ]
    points = sum(len(one.step) for one in every)
    ticks = ticks_or_none(evidence)
    last_ns = int((records.start_ns + records.duration_ns).max(initial=0))
    first_ns = int(records.start_ns.min(initial=last_ns))
    ends = scan_ends(min(first_ns, ticks.start_ns) if ticks else first_ns, max(last_ns, ticks.end_ns if ticks else 0))
    triggered = violations = 0
    for one in every:
        outliers = outliers_by_scan(one.duration_ns / NS_PER_S, seen_by(one.start_ns, ends), values["stddev"])
        hits = outliers[outliers > values["n_outliers"]]
        triggered, violations = triggered + len(hits), violations + int(hits.sum())
    judged = [_judged(one, values["stddev"]) for one in every if len(one.step) > PATIENCE]
    return Outcome(
        "issue" if triggered else "no issue",
        f"The condition was met {times(triggered)}.",
        points,
        "steps of processes",
        triggered=triggered,
        violations=violations,
        tables=(_table(judged),) if judged else (),
    )


def outliers_by_scan(duration_s: NDArray[np.float64], seen: NDArray[np.int64], stddev: float) -> NDArray[np.int64]:
    """How many outliers each scan finds among the first `seen` durations; only scans that see enough of them."""
    seen = seen[seen > PATIENCE]
    if not len(seen):
        return np.empty(0, np.int64)
    centred = duration_s - duration_s.mean()
    mean = np.cumsum(centred)[seen - 1] / seen
    variance = np.cumsum(centred**2)[seen - 1] / seen - mean**2
    rounding = 1e-9 * np.abs(centred).max()  # of the running sums; without it equal steps could lie above their mean
    cut = mean + stddev * np.sqrt(np.maximum(variance, 0)) + rounding
    at = np.flatnonzero(centred > cut.min())
    blocks = zip(*(np.array_split(one, -(-len(seen) // 64)) for one in (seen, cut)), strict=True)
    found = [((centred[at] > limit[:, None]) & (at < count[:, None])).sum(axis=1) for count, limit in blocks]
    return np.concatenate(found)


def _named(phase: str, mode: str) -> bool:
    if mode in ("", ANY_MODE):
        return True
    whole, part = phase.lower(), mode.lower()
    return whole == part or whole.endswith((f".{part}", f":{part}"))


def _judged(series: StepSeries, stddev: float) -> _Judged:
    mean, deviation = float(series.duration_ns.mean()), float(series.duration_ns.std())
    cut = mean + stddev * deviation
    return _Judged(series, mean, deviation, cut, np.flatnonzero(series.duration_ns > cut))


def _sentence(bad: list[_Judged], total: int) -> str:
    worst = bad[0]
    text = (
        f"{len(worst.late):,} of {len(worst.series.step):,} steps of {worst.series.phase} in {worst.series.name} took "
        f"longer than {_s(worst.cut_ns)}, against a mean of {_s(worst.mean_ns)}; the longest took "
        f"{_s(float(worst.series.duration_ns.max()))}"
    )
    if len(bad) > 1:
        text += f"; {len(bad):,} processes have {total:,} such steps"
    warm_up = sum(one.warm_up for one in bad)
    return f"{text}{f'; {warm_up:,} of them are the first of their process (warm-up)' if warm_up else ''}."


def _wasted(evidence: Evidence, bad: list[_Judged]) -> tuple[float | None, float | None, float | None]:
    """What steps took above their mean, warm-up left out: GPU-seconds, node-seconds, and seconds of the job.

    Processes that are late at the same time cost their node that time once.
    """
    windows: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}
    for one in bad:
        late = one.late[one.warm_up :]
        end = one.series.end_ns[late]
        above = one.series.duration_ns[late] - round(one.mean_ns)
        windows.setdefault(one.series.node, []).append((end - above, end))
    joined = {
        node: (np.concatenate([start for start, _ in many]), np.concatenate([end for _, end in many]))
        for node, many in windows.items()
    }
    seconds = {node: covered_s(*both) for node, both in joined.items()}
    saved_s = covered_s(*(np.concatenate(column) for column in zip(*joined.values(), strict=True)))
    gpus = gpu_counts(evidence)
    if any(gpus.values()):
        return sum(one * gpus.get(node, 0) for node, one in seconds.items()), None, saved_s
    return None, sum(seconds.values()), saved_s


def _places(bad: list[_Judged]) -> tuple[Place, ...]:
    """The longest outliers; of those of a node that overlap, the longest."""
    found = []
    for one in bad:
        longest = one.late[largest(one.series.duration_ns[one.late])]
        found += [(int(one.series.duration_ns[at]) / one.mean_ns, one, int(at)) for at in longest.tolist()]
    found.sort(key=lambda item: -item[0])
    return worst_apart(_place(one, at, ratio) for ratio, one, at in found)


def _place(one: _Judged, at: int, ratio: float) -> Place:
    start, took = int(one.series.start_ns[at]), int(one.series.duration_ns[at])
    number = f"step {one.series.step[at]}" if one.series.step[at] >= 0 else "a step"
    first = ", warm-up" if at < one.warm_up else ""
    text = f"{number}: {_s(took)}, {ratio:.1f} times the mean{first}"
    return Place(one.series.node, "", (start, start + max(took, 1)), text, "steps")


def _confidence(every: list[StepSeries], judged: list[_Judged]) -> str:
    few = len(every) - len(judged)
    return f"{few} of {len(every)} phases of processes had too few steps to be judged." if few else ""


def _table(judged: list[_Judged]) -> FigureTable:
    names = ("mean", "p50", "p95", "p99", "min", "max", "standard deviation", "limit")
    rows = []
    for one in judged[:MOST_ROWS]:
        took = one.series.duration_ns
        p0, p50, p95, p99, p100 = np.quantile(took, [0, 0.5, 0.95, 0.99, 1]).tolist()
        seconds = [v / NS_PER_S for v in (one.mean_ns, p50, p95, p99, p0, p100, one.deviation_ns, one.cut_ns)]
        who = (one.series.phase, one.series.node, one.series.worker)
        rows.append((*who, float(len(took)), float(len(one.late)), float(one.warm_up), *seconds))
    columns = ("phase", "node", "process", "steps", "outliers", "warm-up", *(f"{name}, s" for name in names))
    return FigureTable("Step durations", columns, tuple(rows))


def _s(ns: float) -> str:
    return f"{ns / NS_PER_S:.3g} s"


RULE = Rule(
    name="StepOutlier",
    title="Some steps take far longer",
    claim="Looks for processes in which many single steps take far longer than their mean.",
    advice=(
        "Open the slow steps in Nodes and see what else happens then: I/O wait, busy cores, other phases.",
        "First steps are slow nearly everywhere; look at the others.",
        "If they come at regular distances, look for what is done every so many steps: saving, evaluating, logging.",
    ),
    settings=(
        Setting("stddev", 3.0, "", "a step is an outlier above the mean plus so many standard deviations", 0, 100),
        Setting("mode", ANY_MODE, "", "only steps of this mode, such as TRAIN; None for all"),
        Setting("n_outliers", 10.0, "steps", "a process may have this many outliers", 0, 10_000_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
