"""What a rule is: a claim, parameters that can be moved, and a pure function from evidence to an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from data.frames.findings import Number, Outcome
from data.insights.evidence import Evidence

ORIGINAL: Final = "original"
OURS: Final = "ours"
CUSTOM: Final = "custom"


@dataclass(frozen=True)
class Setting:
    """A parameter as a rule declares it; `low` and `high` bound numbers, a text may be anything."""

    name: str
    default: Number
    unit: str
    means: str
    low: float = 0.0
    high: float = 100.0


class Values:
    """The parameters in force, by name."""

    def __init__(self, values: Mapping[str, Number]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> float:
        value = self._values[name]
        if isinstance(value, str):
            raise TypeError(f"{name} is a text")
        return value

    def text(self, name: str) -> str:
        """A parameter that is a text."""
        return str(self._values[name])


Judge = Callable[[Evidence, Values], Outcome]


@dataclass(frozen=True)
class Rule:
    """A rule. `compat` judges as the original did, its faults included; None where there is no such way."""

    name: str
    title: str
    claim: str  # what it looks for, one sentence
    advice: tuple[str, ...]  # what to do, own words
    settings: tuple[Setting, ...]
    judge: Judge
    compat: Judge | None = None
    origin: str = OURS
