"""What a rule may look at: each part is read when it is first asked for.

A part that the job lacks raises MissingTable with the reason; a rule lets it pass, and its finding then says `n/a` and
why. So a rule is right to use a part as if it were always there, and catches the error only where it can do without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from data.frames import JobHeader, JobTimes, UsageSummary
from data.frames.evidence import ExactUsage, LoaderEvents, Machines, OperatorTotal, Stamps, StepRecords, Ticks
from data.frames.operators import FrameworkShares
from data.insights.step_series import StepSeries
from data.insights.unused import UnusedGpus


class Evidence(Protocol):
    """The parts of one job, whole job and all nodes."""

    @property
    def header(self) -> JobHeader:
        """Names, counts and sampling intervals."""

    @property
    def times(self) -> JobTimes:
        """Start, end, phases, interruptions."""

    @property
    def ticks(self) -> Ticks:
        """System metrics. Raises MissingTable."""

    @property
    def stamps(self) -> Stamps:
        """Exact times of system metrics. Raises MissingTable."""

    @property
    def steps(self) -> StepRecords:
        """Every step. Raises MissingTable."""

    @property
    def step_series(self) -> tuple[StepSeries, ...]:
        """The same steps, a series for each phase of each process. Raises MissingTable."""

    @property
    def unused_gpus(self) -> Mapping[str, UnusedGpus]:
        """When the GPUs of each node were not used. Raises MissingTable without system metrics."""

    @property
    def usage(self) -> UsageSummary:
        """Quantiles of each node's metrics over its ticks. Raises MissingTable."""

    @property
    def exact_usage(self) -> ExactUsage:
        """Sums over devices at exact times; for `compat`. Raises MissingTable."""

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """The kinds of files that the job has."""

    @property
    def shares(self) -> FrameworkShares:
        """How the time of framework events divides up. Raises MissingTable."""

    @property
    def operators(self) -> tuple[OperatorTotal, ...]:
        """The time of framework events by role, phase and name. Raises MissingTable."""

    @property
    def loader(self) -> LoaderEvents:
        """Every event of a data loader. Raises MissingTable."""

    @property
    def machines(self) -> Machines:
        """The instances that the job ran on. Raises MissingTable where nothing says which."""
