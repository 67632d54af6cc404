"""What a comparison of two runs says: whether it is fair, what differs, and whether that is more than noise.

A is the run that B is measured against. The same rules as for all frames: missing is NaN or None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from data.frames.findings import Finding

Verdict = Literal[
    "better",
    "worse",
    "higher",
    "lower",
    "equal",
    "no detectable difference",
    "cannot be judged",
]
"""`higher` and `lower` where neither is better in itself; `equal` only of figures that are not measured."""

Better = Literal["lower", "higher", ""]

TESTED: Final = "tested"
SINGLE: Final = "one value each"


@dataclass(frozen=True)
class Fact:
    """Something that should be the same in both runs, or is good to know where it is not."""

    name: str
    a: str  # as it is to be shown, "" where unknown
    b: str
    same: bool
    unfair: str  # what a difference makes unfair, "" where nothing


@dataclass(frozen=True)
class Parity:
    """Whether two runs can be compared."""

    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]  # in words, what to keep in mind; () where both are alike

    @property
    def differing(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if not fact.same)


@dataclass(frozen=True)
class Row:
    """One figure of both runs.

    `low` and `high` bound B - A with 95 %, `smallest` is the difference that would have been found with 80 %; NaN where
    the figure is one value each and nobody can tell its noise.
    """

    key: str  # step_time, gpu_mean...: what a budget names
    phase: str  # of steps, "" for everything else
    name: str
    unit: str  # s | ms | steps/s | samples/s | % | bytes/s | USD
    a: float  # NaN where unknown
    b: float
    better: Better
    verdict: Verdict
    low: float
    high: float
    smallest: float
    basis: str  # tested | one value each
    note: str  # on what it rests, or why it cannot be judged

    @property
    def difference(self) -> float:
        return self.b - self.a

    @property
    def percent(self) -> float:
        """B - A in percent of A, NaN where A is 0 or unknown."""
        return 100 * (self.b - self.a) / self.a if self.a else float("nan")


@dataclass(frozen=True)
class Comparison:
    """Two runs, compared."""

    a: str  # job ids
    b: str
    name_a: str
    name_b: str
    parity: Parity
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class StepDistribution:
    """How long the steps of a phase take, without warm-up: durations (means over processes) at levels from 0 to 1."""

    phase: str
    steps: int
    level: NDArray[np.float64]
    duration_ns: NDArray[np.float64]  # ascending; quantiles by linear interpolation


Change = Literal[
    "fixed", "still there", "new", "cannot be judged in B", "without object in B", "not judged in A", "no issue"
]


@dataclass(frozen=True)
class FindingChange:
    """What became of one rule's finding; a finding is None where the run was not judged by the rule."""

    rule: str
    title: str
    change: Change
    a: Finding | None
    b: Finding | None


@dataclass(frozen=True)
class Part:
    """A part of the step time, in both runs: seconds of the mean step."""

    key: str  # a kind of event, "uncovered" for time without any, "unexplained"
    name: str
    a_s: float
    b_s: float

    @property
    def difference_s(self) -> float:
        return self.b_s - self.a_s


@dataclass(frozen=True)
class Waterfall:
    """From the mean step of A to that of B: `a_s` plus all differences of `parts` is `b_s`."""

    phase_a: str
    phase_b: str
    a_s: float
    b_s: float
    parts: tuple[Part, ...]
    steps_a: int  # whose events were looked at
    steps_b: int


OperatorVerdict = Literal["added", "removed", "slower", "faster", "unchanged"]


@dataclass(frozen=True)
class OperatorChange:
    """An operator in both runs; of a side without it, count is 0 and times are NaN."""

    side: str  # cpu | gpu | communication
    name: str  # hostile text
    verdict: OperatorVerdict
    count_a: int
    count_b: int
    mean_a_ns: float
    mean_b_ns: float
    total_a_ns: int
    total_b_ns: int


@dataclass(frozen=True)
class BudgetResult:
    """Whether a budget holds: `step_time>3%` is broken by steps that take over 3 % longer, beyond noise."""

    budget: str
    broken: bool
    text: str
