"""What the rules found in a stored job, in three numbers for the list of jobs: a small file beside the stored version.

It belongs to one version of the job; a file of another version counts as none. `<store>/jobs/<job id>/issues.json`
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from data.convert.tables import write_bytes
from data.convert.versions import current_version, job_folder, writing

ISSUES = "issues.json"


class IssueSummary(msgspec.Struct, frozen=True):
    """How many rules found an issue, the worst severity among them, and what the costliest one wastes at most."""

    version: str  # of the stored job
    edition: str  # changes with rules and thresholds
    issues: int
    worst: str  # high | medium | low, "" without an issue
    wasted_gpu_s: float | None  # wastes overlap, so this is the largest and no sum; None where no rule can tell


def read_issues(root: Path, job_id: str, version: str) -> IssueSummary | None:
    """The summary of this version, None where there is none or it cannot be read."""
    try:
        found = msgspec.json.decode((job_folder(root, job_id) / ISSUES).read_bytes(), type=IssueSummary)
    except (OSError, msgspec.ValidationError, msgspec.DecodeError):
        return None
    return found if found.version == version else None


def issues_changed_ns(root: Path, job_id: str) -> int:
    """When the summary of a job was written, 0 where there is none."""
    try:
        return (job_folder(root, job_id) / ISSUES).stat().st_mtime_ns
    except OSError:
        return 0


def write_issues(root: Path, job_id: str, summary: IssueSummary) -> None:
    """Writes it in one step, unless the job has another version by now. Raises StoreError or OSError."""
    with writing(root, job_id) as folder:
        if current_version(folder) == summary.version:
            write_bytes(msgspec.json.encode(summary), folder / ISSUES)
