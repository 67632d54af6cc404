"""The description of a training job that is kept with it, parsed once for each text."""

from __future__ import annotations

from functools import lru_cache

from data.facts import TrainingJob, parse_training_job
from data.frames import JobDescription
from data.manifest import Manifest
from data.problem import Problem
from data.selection import Selection
from data.store import Database

MOST_KEPT = 20_000
"""Texts whose meaning is kept: a list of jobs asks for all of them at every sort."""


def description(db: Database, selection: Selection) -> JobDescription:
    """How the job was started."""
    found = described(db.job(selection.job).manifest)
    return JobDescription(found.hyperparameters, found.image) if found else JobDescription((), "")


def described(manifest: Manifest) -> TrainingJob | None:
    """What training-job.json says, None where there is none that can be read."""
    return parsed(manifest.training_job)


@lru_cache(maxsize=MOST_KEPT)
def parsed(content: str | None) -> TrainingJob | None:
    """What a text says, None where it is no description."""
    found = None if content is None else parse_training_job(content.encode())
    return None if isinstance(found, Problem) else found
