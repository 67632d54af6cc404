"""The converter process: works off what pages asked for, one job after the other, and says how far it is.

It is `python -m app convert` with `--queue`; the web process starts it and never converts itself (`app.conversion`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from app.conversion import Conversions, ConversionStatus, State
from data.errors import InsightsError
from data.sources import find_job

if TYPE_CHECKING:
    from data.convert.progress import Progress, Report
    from data.sources import SourceJob

Convert = Callable[["SourceJob", Path, "Report", Callable[[], bool]], None]
PROGRESS_INTERVAL_S = 0.2
INTERNAL_ERROR = "Internal error while converting. The log of the converter has the details."


def drain(conversions: Conversions, convert: Convert, judge: Callable[[str], None] = lambda job_id: None) -> bool:
    """Convert all jobs in the queue; False where another process is already at it.

    A request can arrive while we let go of the lock, from a page that still saw us running: so look once more after.
    """
    while True:
        with conversions.lock() as held:
            if not held:
                return False
            while waiting := conversions.queued():
                for job_id in waiting:
                    if conversions.queue_path(job_id).exists():
                        _convert_one(conversions, job_id, convert, judge)
        if not conversions.queued():
            return True


def _convert_one(conversions: Conversions, job_id: str, convert: Convert, judge: Callable[[str], None]) -> None:
    status = ConversionStatus(job_id, State.RUNNING, stage="reading", started_s=time.time(), pid=os.getpid())
    conversions.begin(status)
    progress = _Progress(conversions, status)
    try:
        job = find_job(conversions.sources, job_id)
        convert(job, conversions.store_root, progress.report, progress.cancelled)
        judge(job_id)
    except InsightsError as error:
        progress.finish(State.FAILED, error.message, error.hint)
    except Exception:
        structlog.get_logger().exception("conversion failed", job=job_id)
        progress.finish(State.FAILED, INTERNAL_ERROR)
    else:
        progress.finish(State.DONE)
    finally:
        conversions.cancel_path(job_id).unlink(missing_ok=True)


class _Progress:
    """Publishes one conversion's progress, at most a few times a second, and hears of its cancellation."""

    def __init__(self, conversions: Conversions, status: ConversionStatus) -> None:
        self._conversions = conversions
        self._status = status
        self._cancel: Path = conversions.cancel_path(status.job_id)
        self._written_s = 0.0

    def report(self, progress: Progress) -> None:
        """Take note of how far the conversion is."""
        stage_changed = progress.stage != self._status.stage
        self._status = replace(
            self._status,
            stage=progress.stage,
            files_done=progress.files_done,
            files_total=progress.files_total,
            bytes_done=progress.bytes_done,
            bytes_total=progress.bytes_total,
        )
        now_s = time.monotonic()
        if stage_changed or now_s - self._written_s >= PROGRESS_INTERVAL_S:
            self._written_s = now_s
            self._conversions.write(self._status)

    def cancelled(self) -> bool:
        """True once a page asked this conversion to stop."""
        return self._cancel.exists()

    def finish(self, state: State, message: str = "", hint: str = "") -> None:
        """Publish how the conversion ended; one that stopped because it was asked to is cancelled, not failed."""
        if state is State.FAILED and self.cancelled():
            state, message, hint = (
                State.CANCELLED,
                "Cancelled; the store is as it was before.",
                "",
            )
        self._conversions.write(replace(self._status, state=state, message=message, hint=hint))
