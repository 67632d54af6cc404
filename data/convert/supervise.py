"""Conversions from outside: each job is read in a short-lived child process of limited memory and time.

Foreign files can be hostile, and readers have bugs: whatever happens in the child, this process goes on, and the
store keeps what it had.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from data.convert.progress import Progress, Report
from data.errors import InsightsError, SourceError, StoreError
from data.sources import SourceJob

_ERRORS: dict[str, type[InsightsError]] = {"SourceError": SourceError, "StoreError": StoreError}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use."""

    memory_mb: int = 3072  # address space beyond what the interpreter and its libraries map
    seconds: int = 6 * 3600
    free_space_floor_bytes: int = 0
    duckdb_memory_mb: int = 512


DEFAULT_LIMITS = Limits()


def convert(
    job: SourceJob,
    store_root: Path,
    report: Report,
    cancelled: Callable[[], bool] = lambda: False,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Brings the stored job up to date with its source. Raises SourceError or StoreError."""
    order = {
        "source": job.source,
        "job_id": job.job_id,
        "store": str(store_root),
        "limits": asdict(limits),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "data.convert.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
        cwd=Path(__file__).resolve().parents[2],
        text=True,
    ) as child:
        timer = threading.Timer(limits.seconds, child.kill)
        timer.daemon = True
        timer.start()
        try:
            answer = _follow(child, json.dumps(order), report, cancelled)
        finally:
            timer.cancel()
            child.kill()
    _judge(job, child.returncode, answer)


def _follow(
    child: subprocess.Popen[str], order: str, report: Report, cancelled: Callable[[], bool]
) -> dict[str, str] | None:
    """Gives the order, and passes progress on until the child has said how it ended; None where it did not."""
    answer: dict[str, str] | None = None
    if child.stdin is None or child.stdout is None:
        return None
    with suppress(BrokenPipeError):  # it has ended already: why, its exit status tells
        child.stdin.write(order)
        child.stdin.close()
    for line in child.stdout:
        if not line.endswith("\n"):  # it was killed while it wrote
            break
        message = json.loads(line)
        if "progress" in message:
            report(Progress(**message["progress"]))
            if cancelled():
                child.kill()
                raise StoreError("The conversion was cancelled.", "Open the job to start it again.")
        else:
            answer = message
    child.wait()
    return answer


def _judge(job: SourceJob, status: int, answer: dict[str, str] | None) -> None:
    if answer is None:
        reason = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        raise StoreError(
            f"The process that reads {job.name} ended early ({reason}).",
            "A file may be too large or damaged in a way no reader expects; what was stored before is unchanged.",
        )
    if "error" in answer:
        kind = _ERRORS.get(answer["kind"], StoreError)
        raise kind(answer["error"], answer["hint"])


def _environment() -> dict[str, str]:
    """The child gets no credentials: it reads local files only."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return own | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # Arrow's own pool keeps a third more than is in use
