"""The original's own report beside our finding: what it said, and why the two differ where that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from data.frames.findings import Finding
from data.frames.original import OriginalReport
from data.insights.statement import counted

KNOWN_REASONS: dict[str, str] = {
    "LoadBalancing": "The original compared the last GPU with itself only, so that it could never trigger.",
    "MaxInitializationTime": "Within its report the original's clock stood still, so that it never triggered.",
    "GPUMemoryIncrease": "The original looked at every sample anew, so that one rise counted many times.",
    "StepOutlier": "The original counted the outliers of all scans so far at each scan again.",
    "CPUBottleneck": "The original took records of all nodes within 20 ms as one point, whatever node they came from.",
    "IOBottleneck": "The original took records of all nodes within 20 ms as one point, whatever node they came from.",
}
"""Why counts of the original differ from ours, by rule (reference, section 4)."""


@dataclass(frozen=True)
class OriginalVerdict:
    """What the original reported on a rule, in words, and how that fits our finding."""

    text: str
    agrees: bool
    reasons: tuple[str, ...]  # () where both agree, or nothing is known


def original_verdict(report: OriginalReport, finding: Finding) -> OriginalVerdict:
    """The original's report of a rule beside our finding of it."""
    issue = bool(report.triggered)
    ours = finding.outcome.state == "issue"
    parts = ["issue found" if issue else "no issue found"]
    if report.triggered is not None:
        parts.append(f"triggered {counted(report.triggered, 'time')}")
    if report.violations is not None:
        parts.append(counted(report.violations, "violation"))
    if report.datapoints is not None:
        parts.append(f"{counted(report.datapoints, 'point')} looked at")
    agrees = report.triggered is not None and issue == ours
    return OriginalVerdict(", ".join(parts), agrees, () if agrees else _reasons(report, finding))


def _reasons(report: OriginalReport, finding: Finding) -> tuple[str, ...]:
    moved = _other_parameters(report, finding)
    found = [f"It was made with other parameters: {', '.join(moved)}."] if moved else []
    if finding.outcome.state == "not enough data":
        found.append("Here there are too few samples to tell; the original said no issue where it could not tell.")
    if finding.outcome.state == "n/a":
        found.append("What the rule needs is not among the files here.")
    if finding.rule in KNOWN_REASONS:
        found.append(KNOWN_REASONS[finding.rule])
    return tuple(found)


def _other_parameters(report: OriginalReport, finding: Finding) -> list[str]:
    """Parameters of the report that are not those in force here."""
    ours = {parameter.name: parameter.value for parameter in finding.parameters}
    found = []
    for name, written in report.parameters:
        value = ours.get(name)
        if isinstance(value, float | int) and not _same(written, float(value)):
            found.append(f"{name} {written}")
    return found


def _same(written: str, value: float) -> bool:
    try:
        return math.isclose(float(written), value)
    except ValueError:
        return True  # not a number: nothing to hold against
