"""What the original profiler's own rules reported of a job, as they wrote it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OriginalReport:
    """The newest report of one rule. None, "" and () stand for what it does not say; all texts are hostile."""

    rule: str  # CPUBottleneck
    triggered: int | None  # how often the rule's condition was met; what that means differs from rule to rule
    violations: int | None
    datapoints: int | None
    parameters: tuple[tuple[str, str], ...]  # name and value, in the order of the report
    details: str  # strict JSON; "" where there is none
    path: str  # of the file, in the job's folder
    modified_ns: int


@dataclass(frozen=True)
class OriginalReports:
    """The original's reports by name of the rule; empty where the job has none."""

    reports: tuple[OriginalReport, ...]
    older: int  # reports of the same rules that newer ones replace
