"""Judges jobs outside the server: after a conversion for the list of jobs, and for the command that prints findings."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from app.judgement import Choice, Judgement
from app.rulebook import judgement_of
from app.settings import Settings
from data.errors import InsightsError, NotConverted
from data.frames.findings import Findings
from data.issues import IssueSummary, read_issues, write_issues
from data.selection import Selection
from data.sources import Source
from data.store import Store

log = logging.getLogger(__name__)

_WORST = ("high", "medium", "low")


class Judge:
    """The rules of these settings over what the store holds; a query may take as long as a conversion."""

    def __init__(self, settings: Settings, sources: Sequence[Source] = ()) -> None:
        self.judgement, self.refused = judgement_of(settings.rules, settings.profile)
        self.store = Store(
            settings.store,
            sources,
            time_limit_s=settings.convert_seconds,
            row_cap=settings.row_cap,
            prices=settings.prices,
        )

    def findings(self, job_id: str, choice: Choice) -> Findings:
        """The conclusions about a stored job. Raises InsightsError."""
        return self.store.fetch(self.judgement.findings, Selection(job_id), choice)

    def keep(self, job_id: str) -> None:
        """Write the summary of a job's findings beside it, where it is not there yet. Never fails: it is logged."""
        try:
            version = self.store.version(job_id)
            edition = edition_of(self.judgement)
            kept = read_issues(self.store.root, job_id, version)
            if not version or (kept is not None and kept.edition == edition):
                return
            found = self.findings(job_id, self.judgement.defaults)
            write_issues(self.store.root, job_id, summary_of(found, version, edition))
        except NotConverted:
            return
        except (InsightsError, OSError):
            log.warning("findings were not kept", extra={"job": job_id}, exc_info=True)
        except Exception:
            log.exception("findings were not kept", extra={"job": job_id})


def edition_of(judgement: Judgement) -> str:
    """Changes with rules, thresholds and mode."""
    choice = judgement.defaults
    return f"{choice.edition} {choice.mode} {choice.thresholds}"


def summary_of(found: Findings, version: str, edition: str) -> IssueSummary:
    """The three numbers of the list of jobs."""
    severities = {one.severity for one in found.issues}
    wasted = [one.outcome.wasted_gpu_s for one in found.issues if one.outcome.wasted_gpu_s is not None]
    return IssueSummary(
        version=version,
        edition=edition,
        issues=len(found.issues),
        worst=next((severity for severity in _WORST if severity in severities), ""),
        wasted_gpu_s=max(wasted, default=0.0 if not found.issues and found.gpu_s else None),
    )
