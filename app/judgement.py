"""A job judged by the rules: the evidence read from the store part by part, and the conclusions as a cached query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from data.frames import JobHeader, JobTimes, UsageSummary
from data.frames.evidence import ExactUsage, LoaderEvents, Machines, OperatorTotal, Stamps, StepRecords, Ticks
from data.frames.findings import FIXED, Findings, Mode, Number
from data.frames.operators import FrameworkShares
from data.insights.evaluate import evaluate
from data.insights.rule import Rule
from data.insights.rules import RULES
from data.insights.step_series import StepSeries, by_phase
from data.insights.unused import UnusedGpus, unused_gpus
from data.queries import cost, evidence, jobs, loader, operators, shares, system
from data.selection import Selection
from data.store import Database


@dataclass(frozen=True)
class Choice:
    """How to judge: the mode, and the thresholds that were moved, as (rule, parameter, value). Keys the cache.

    `edition` changes with the code of the rules, so that nothing judged by others is taken for theirs.
    """

    mode: Mode = FIXED
    thresholds: tuple[tuple[str, str, Number], ...] = ()
    edition: str = ""


class StoredEvidence:
    """The evidence of a stored job, each part read once, when it is first asked for."""

    def __init__(self, db: Database, job: str) -> None:
        self._db = db
        self._selection = Selection(job)

    @cached_property
    def header(self) -> JobHeader:
        return jobs.any_header(self._db, self._selection)

    @cached_property
    def times(self) -> JobTimes:
        return jobs.times(self._db, self._selection)

    @cached_property
    def ticks(self) -> Ticks:
        return evidence.ticks(self._db, self._selection)

    @cached_property
    def stamps(self) -> Stamps:
        return evidence.stamps(self._db, self._selection)

    @cached_property
    def steps(self) -> StepRecords:
        return evidence.steps(self._db, self._selection)

    @cached_property
    def step_series(self) -> tuple[StepSeries, ...]:
        return by_phase(self.steps)

    @cached_property
    def unused_gpus(self) -> dict[str, UnusedGpus]:
        return {node.node: unused_gpus(node) for node in self.ticks.nodes}

    @cached_property
    def usage(self) -> UsageSummary:
        return system.usage_summary(self._db, self._selection)

    @cached_property
    def exact_usage(self) -> ExactUsage:
        return evidence.exact_usage(self._db, self._selection)

    @cached_property
    def file_kinds(self) -> tuple[str, ...]:
        return evidence.file_kinds(self._db, self._selection)

    @cached_property
    def shares(self) -> FrameworkShares:
        return shares.framework(self._db, self._selection)

    @cached_property
    def operators(self) -> tuple[OperatorTotal, ...]:
        return operators.totals(self._db, self._selection)

    @cached_property
    def machines(self) -> Machines:
        return cost.machines(self._db, self._selection)

    @cached_property
    def loader(self) -> LoaderEvents:
        return loader.events(self._db, self._selection)


def findings(db: Database, selection: Selection, choice: Choice) -> Findings:
    """The conclusions of the built-in rules over the whole job, whatever window and nodes are selected."""
    return Judgement().findings(db, selection, choice)


@dataclass(frozen=True)
class Judgement:
    """The rules of a server, and how it judges where nobody says otherwise."""

    rules: tuple[Rule, ...] = RULES
    defaults: Choice = Choice()

    def findings(self, db: Database, selection: Selection, choice: Choice) -> Findings:
        """The conclusions of all rules over the whole job, whatever window and nodes are selected."""
        return evaluate(self.rules, StoredEvidence(db, selection.job), choice.thresholds, choice.mode)
