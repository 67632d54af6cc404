"""What a comparison of two runs says: whether it is fair, what differs, and whether that is more than noise.

A is the run that B is measured against. The same rules as for all frames: missing is NaN or None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

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
