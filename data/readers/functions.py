"""What readers of Python profiles return: functions with their calls and times, and the interval they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from data.problem import Problem

NO_STEP = -1
"""The step of an interval that begins before any: `*` as a start."""

LAST_STEP = 2**63 - 1
"""The step of an interval that ends with the training: `*` as an end."""


class FunctionRow(NamedTuple):
    """One function in one profile."""

    code_file: str
    line: int
    function: str
    ncalls: int | None  # all calls; None where the profiler takes samples
    pcalls: int | None  # calls that are no recursion
    tottime_ns: int  # in the function itself
    cumtime_ns: int  # with what it called


@dataclass(frozen=True, slots=True)
class Interval:
    """From where to where in the training a profile was taken, as its folder's name says it."""

    folder: str  # the name itself
    node: str
    worker: str
    start_mode: str = ""  # train, eval, predict, global, prestepzero, posthookclose; "" where the name has none
    start_step: int = NO_STEP
    start_phase: str = ""  # start, stepstart, forwardpassend, stepend, end
    start_ns: int | None = None
    end_mode: str = ""
    end_step: int = LAST_STEP
    end_phase: str = ""
    end_ns: int | None = None

    @property
    def job_phase(self) -> str:
        """The part of the training: one of `schema.JOB_PHASES`, "" where the name does not tell.

        Older names have no mode; there, step -1 is what comes before the first step.
        """
        if not self.known:
            return ""
        if self.start_mode == "prestepzero" or (not self.start_mode and self.start_step == NO_STEP):
            return "initialization"
        return "finalization" if self.end_mode == "posthookclose" else "training_loop"

    @property
    def known(self) -> bool:
        """Whether the name could be understood."""
        return self.start_ns is not None and self.end_ns is not None


@dataclass(frozen=True, slots=True)
class FileFunctions:
    """What one file gave."""

    interval: Interval
    rows: tuple[FunctionRow, ...]
    problems: tuple[Problem, ...] = ()
