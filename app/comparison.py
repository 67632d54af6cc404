"""Two jobs compared: what is needed of both read from the store, and the conclusions as cached queries.

The first selection is A, the run that B is measured against; of both, the whole job is meant.
"""

from __future__ import annotations

from app import judgement
from app.judgement import Choice, StoredEvidence
from data.errors import MissingTable
from data.frames.comparison import Comparison, FindingChange, OperatorChange, Waterfall
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
    found = [breakdown.last_steps(db, one, RULES, kinds) for one in (_whole(a), _whole(b))]
    if not all(one.spent_ns.any() for one in found):
        raise MissingTable(
            "Not both runs recorded what their steps are made of.",
            "Record framework events (detailed profiling, or torch.profiler) in both.",
        )
    means = [
        float(step_series(StoredEvidence(db, one.job).steps, part.phase).duration_s.mean())
        for one, part in zip((a, b), found, strict=True)
    ]
    return waterfall(found[0], found[1], means[0], means[1])


def operators_apart(db: Database, a: Selection, b: Selection) -> tuple[OperatorChange, ...]:
    """Operators that came, went or changed. Raises MissingTable where one has none."""
    return operator_changes(operators.by_name(db, _whole(a)), operators.by_name(db, _whole(b)))


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
