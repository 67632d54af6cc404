"""What a comparison has to know of a run."""

from __future__ import annotations

from dataclasses import dataclass

from data.frames import JobHeader, JobTimes, UsageSummary
from data.insights.evidence import Evidence

BATCH_SIZES = ("batch_size", "batch-size", "per_device_train_batch_size", "train_batch_size", "micro_batch_size")
"""Hyperparameters that give a batch, in the order in which they are looked for."""


@dataclass(frozen=True)
class Run:
    """One of the runs. What is not known is None, "" or ()."""

    header: JobHeader
    times: JobTimes
    evidence: Evidence
    usage: UsageSummary | None  # over the whole job
    hyperparameters: tuple[tuple[str, str], ...] = ()
    image: str = ""
    gpu_memory_peak: float | None = None  # %

    @property
    def batch_size(self) -> tuple[str, float] | None:
        """The name and value of the hyperparameter that gives the batch."""
        given = dict(self.hyperparameters)
        for name in BATCH_SIZES:
            try:
                return name, float(given[name].strip('"'))
            except (KeyError, ValueError):
                continue
        return None
