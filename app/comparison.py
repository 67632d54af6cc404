"""Two jobs compared: what is needed of both read from the store, and the conclusions as cached queries.

The first selection is A, the run that B is measured against; of both, the whole job is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from app import judgement
from app.judgement import Choice, StoredEvidence
from data.errors import MissingTable
from data.frames.comparison import Comparison, FindingChange, OperatorChange, StepDistribution, Waterfall
from data.insights.comparison.findings import finding_changes
from data.insights.comparison.operators import operator_changes
from data.insights.comparison.parity import parity
from data.insights.comparison.run import Run
from data.insights.comparison.verdict import rows, step_series
from data.insights.comparison.waterfall import waterfall
from data.insights.event_kinds import KINDS, RULES
from data.queries import breakdown, operators, system
from data.queries.description import description
from data.selection import Selection
from data.store import Database

R = TypeVar("R")

_LEVELS = 401


def comparison(db: Database, a: Selection, b: Selection) -> Comparison:
    """Whether the runs can be compared, and the verdict on every figure."""
    run_a, run_b = _run(db, a), _run(db, b)
    return Comparison(a.job, b.job, run_a.header.name, run_b.header.name, parity(run_a, run_b), rows(run_a, run_b))


def changes(db: Database, a: Selection, b: Selection, choice: Choice) -> tuple[FindingChange, ...]:
    """What became of each rule's finding."""
    return finding_changes(judgement.findings(db, a, choice), judgement.findings(db, b, choice))


def steps_apart(db: Database, a: Selection, b: Selection) -> Waterfall:
    """Where the mean step of B is longer or shorter than that of A. Raises MissingTable where one has no step."""
    kinds = tuple(kind for kind, _ in KINDS)
    found = _of_both(lambda one: breakdown.last_steps(db, one, RULES, kinds), a, b)
    bare = [letter for letter, one in zip("AB", found, strict=True) if not one.spent_ns.any()]
    if bare:
        raise MissingTable(
            f"{' and '.join(bare)} recorded no events inside {'its' if len(bare) == 1 else 'their'} last steps.",
            "Record framework events (detailed profiling, or torch.profiler) in both runs.",
        )
    means = [
        float(step_series(StoredEvidence(db, one.job).steps, part.phase).duration_s.mean())
        for one, part in zip((a, b), found, strict=True)
    ]
    return waterfall(found[0], found[1], means[0], means[1])


def step_distribution(db: Database, selection: Selection) -> StepDistribution:
    """Durations of the first phase's steps, which is training where there is any. Raises MissingTable without steps."""
    records = StoredEvidence(db, selection.job).steps
    phase = records.groups[0][0]
    duration_s = step_series(records, phase).duration_s
    level = np.linspace(0, 1, min(max(len(duration_s), 2), _LEVELS))
    return StepDistribution(phase, len(duration_s), level, np.quantile(duration_s, level) * 1e9)


def operators_apart(db: Database, a: Selection, b: Selection) -> tuple[OperatorChange, ...]:
    """Operators that came, went or changed. Raises MissingTable where one has none."""
    found = _of_both(lambda one: operators.by_name(db, one), a, b)
    return operator_changes(found[0], found[1])


def _of_both(query: Callable[[Selection], R], a: Selection, b: Selection) -> list[R]:
    """The same of both runs. Raises MissingTable that says which of them lacks it."""
    found = []
    for letter, one in (("A", a), ("B", b)):
        try:
            found.append(query(_whole(one)))
        except MissingTable as missing:
            raise MissingTable(f"{letter}: {missing.message}", missing.hint) from missing
    return found


def _whole(selection: Selection) -> Selection:
    return Selection(selection.job)


def _run(db: Database, selection: Selection) -> Run:
    whole = _whole(selection)
    evidence, described = StoredEvidence(db, whole.job), description(db, whole)
    try:
        usage = system.usage_summary(db, whole)
    except MissingTable:
        usage = None
    try:
        peak = system.over_time(db, whole, "gpu_memory", "device", 600).peak
    except MissingTable:
        peak = None
    return Run(
        evidence.header,
        evidence.times,
        evidence,
        usage,
        described.hyperparameters,
        described.image,
        peak.value if peak else None,
    )
