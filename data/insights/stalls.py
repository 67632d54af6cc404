"""Stalls of processes: steps, or pauses after them, that take longer than usual, and whether they come periodically."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from data.insights.capacity import Windows
from data.insights.rule import Values
from data.insights.statement import NS_PER_S
from data.insights.step_series import StepSeries

BLOCK = 128
"""Steps whose median is what is usual; a job may get slower or faster over time."""

HEIGHTS = (1, 4, 16)
"""Stalls may be of several kinds, and the rarer often the longer: all, and those so many times the threshold long."""

JOINED_STEPS = 2
"""Long steps no farther apart than this are one stall."""

FALSE_ALARM = 0.01
"""Chance that stalls at random look periodic, over everything that is tried in a job; the bounds below are generous."""

CLOCKS = 2
"""Distances are looked at in steps and in seconds."""

TOLERANCES = (0.02, 0.05)
"""Distances that differ from the period by no more than this part of it, or by one step, are regular; both tried."""

SPREAD, FILLED = 0.5, 0.75
"""Stalls at their period must fill this share of all steps, and of those from first to last; else they are bursts."""


@dataclass(frozen=True)
class Cycles:
    """A process's steps of its main phase, each with the time to the next one. Arrays are [cycles]."""

    series: StepSeries
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]  # start of the next step
    step_s: NDArray[np.float64]  # the part in the step itself
    usual_s: NDArray[np.float64]

    @property
    def length_s(self) -> NDArray[np.float64]:
        return (self.end_ns - self.start_ns) / NS_PER_S


@dataclass(frozen=True)
class Stalls:
    """Stalls of a process, the first and the last cycle of each, and what each takes beyond what is usual."""

    cycles: Cycles
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    cost_s: NDArray[np.float64]
    period_steps: float
    period_s: float
    regular: float  # share of distances that are the period
    chance: float  # that as many are by chance

    @property
    def windows(self) -> Windows:
        return self.cycles.start_ns[self.first], self.cycles.end_ns[self.last]

    @property
    def between(self) -> float:
        """The share of the stalled time that lies between steps rather than in them."""
        inside = sum(
            float(self.cycles.step_s[first : last + 1].sum())
            for first, last in zip(self.first.tolist(), self.last.tolist(), strict=True)
        )
        whole = float((self.windows[1] - self.windows[0]).sum()) / NS_PER_S
        return 1 - inside / whole if whole else 0.0


def main_phases(series: tuple[StepSeries, ...]) -> list[StepSeries]:
    """Of each process, the phase that most of its time goes to: what lies between the steps of others is that one."""
    main: dict[tuple[str, str], StepSeries] = {}
    for one in series:
        before = main.get((one.node, one.worker))
        if before is None or int(one.duration_ns.sum()) > int(before.duration_ns.sum()):
            main[one.node, one.worker] = one
    return list(main.values())


def cycles_of(series: StepSeries) -> Cycles:
    """Where steps are missing before the next one, nobody knows how long the time between took: such are left out."""
    kept = np.flatnonzero(series.follows)
    start, end = series.start_ns[kept], series.start_ns[kept + 1]
    length = (end - start) / NS_PER_S
    return Cycles(series, start, end, np.minimum(series.duration_ns[kept] / NS_PER_S, length), _usual(length))


def _usual(length: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of the steps around each, block by block."""
    blocks = max(len(length) // BLOCK, 1)
    whole = blocks * (len(length) // blocks)
    size = max(whole // blocks, 1)
    medians = np.median(length[:whole].reshape(blocks, -1), axis=1) if whole else np.zeros(1)
    return medians[np.minimum(np.arange(len(length)) // size, blocks - 1)]


def proved(found_by_process: list[list[Stalls]]) -> list[Stalls]:
    """The costliest stalls of each process of which chance can be ruled out, the costliest process first.

    Either in most processes: twice the median of their chances bounds that of all together, however they depend on one
    another. Or in single ones: then the chance of each counts once for every process that was looked at.
    """
    chances = [min((one.chance for one in many), default=1.0) for many in found_by_process]
    most = 2 * float(np.median(chances)) <= FALSE_ALARM / 2
    limit = FALSE_ALARM / 4 if most else FALSE_ALARM / 2 / len(found_by_process)
    sure = [[one for one in many if one.chance <= limit] for many in found_by_process]
    found = [max(many, key=lambda one: float(one.cost_s.sum())) for many in sure if many]
    return sorted(found, key=lambda one: -float(one.cost_s.sum()))


def candidates(cycles: Cycles, values: Values) -> list[Stalls]:
    """Stalls of every height that come regularly and cost enough; `chance` takes in that several were tried."""
    above = cycles.length_s / np.maximum(cycles.usual_s, 1e-9) - 1
    above[:1] = 0  # the first step sets things up
    extra = np.append(0, np.cumsum(np.maximum(cycles.length_s - cycles.usual_s, 0)))
    worth = values["share"] / 100 * float(cycles.length_s.sum())
    found = []
    for height in HEIGHTS:
        long = np.flatnonzero(above > values["threshold"] / 100 * height)
        breaks = np.flatnonzero(np.diff(long) > JOINED_STEPS)
        first, last = long[np.append(0, breaks + 1)[: len(long)]], long[np.append(breaks, len(long) - 1)[: len(long)]]
        cost_s = extra[last + 1] - extra[first]
        if len(first) < values["occurrences"] or float(cost_s.sum()) < worth:
            continue
        regular = values["regular"] / 100
        found += [Stalls(cycles, first, last, cost_s, *one) for one in _periods(cycles, first) if one[2] >= regular]
    return found


def _periods(cycles: Cycles, first: NDArray[np.int64]) -> list[tuple[float, float, float, float]]:
    """By steps and by the clock: period in steps, in seconds, the share that is regular, and the chance of it.

    Were stalls at random, one step as likely as another, distances would follow the geometric law. One distance is the
    period, so it is in its own band; how many of the others are in it has the binomial law, whose upper tail is bdtrc.
    It may be any of them that was chosen for the period, which makes the chance as many times larger.
    """
    steps = np.diff(first).astype(float)
    seconds = np.diff(cycles.start_ns[first]) / NS_PER_S
    cycle_s = max(float(np.median(cycles.usual_s)), 1e-9)
    period_steps, period_s = float(np.median(steps)), float(np.median(seconds))
    rate = min(len(first) / max(len(cycles.start_ns) - len(first) * JOINED_STEPS, 1), 1.0)
    if period_steps * len(first) < SPREAD * len(cycles.start_ns) or period_steps * len(steps) < FILLED * steps.sum():
        return []
    tried = len(HEIGHTS) * CLOCKS * len(TOLERANCES)
    found = []
    for distance, period, step in ((steps, period_steps, 1.0), (seconds, period_s, cycle_s)):
        for tolerance in (max(part * period, step) for part in TOLERANCES):
            regular = int((np.abs(distance - period) <= tolerance).sum())
            before = max((period - tolerance) / step - JOINED_STEPS - 1, 0)
            likely = (1 - rate) ** before * (1 - (1 - rate) ** (2 * tolerance / step + 1))
            chance = len(distance) * float(bdtrc(regular - 2, len(distance) - 1, likely))
            found.append((period_steps, period_s, regular / len(distance), min(chance * tried, 1.0)))
    return found
