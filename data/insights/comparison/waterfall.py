"""Why the mean step of B is longer or shorter than that of A: by kinds of events that add up exactly."""

from __future__ import annotations

import numpy as np

from data.frames.comparison import Part, Waterfall
from data.frames.framework import StepBreakdown
from data.insights.event_kinds import KINDS

NS_PER_S = 1_000_000_000

UNCOVERED = "uncovered"
UNEXPLAINED = "unexplained"


def waterfall(a: StepBreakdown, b: StepBreakdown, mean_a_s: float, mean_b_s: float) -> Waterfall:
    """From the mean step of A to that of B, seconds.

    The kinds are those of the steps whose events were looked at; what the mean over all steps differs from theirs is
    `unexplained`, so that everything adds up to the means that are compared.
    """
    words = dict(KINDS)
    parts = [Part(kind, words[kind], _mean_s(a, kind), _mean_s(b, kind)) for kind, _ in KINDS]
    uncovered = [_profiled_s(one) - sum(_mean_s(one, kind) for kind in one.kinds) for one in (a, b)]
    unexplained = [mean - _profiled_s(one) for mean, one in ((mean_a_s, a), (mean_b_s, b))]
    parts = [part for part in parts if part.a_s or part.b_s]
    parts.append(Part(UNCOVERED, "no event recorded", uncovered[0], uncovered[1]))
    parts.append(Part(UNEXPLAINED, "steps without events", unexplained[0], unexplained[1]))
    return Waterfall(a.phase, b.phase, mean_a_s, mean_b_s, tuple(parts), len(a.step), len(b.step))


def _mean_s(breakdown: StepBreakdown, kind: str) -> float:
    if kind not in breakdown.kinds:
        return 0.0
    return float(np.mean(breakdown.spent_ns[:, breakdown.kinds.index(kind)])) / NS_PER_S


def _profiled_s(breakdown: StepBreakdown) -> float:
    return float(np.mean(breakdown.duration_ns)) / NS_PER_S
