"""What a comparison with another job would have to know of this one."""

from __future__ import annotations

import re

from data.facts import TrainingJob
from data.frames.report import Basis
from data.queries.description import described
from data.selection import Selection
from data.store import Database

_TELLING = re.compile(
    r"batch|epoch|worker|accum|precision|fp16|bf16|amp(?![a-z])|processes_per_host|seq.*len|image_size"
)
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]{1,40}")


def basis(db: Database, selection: Selection) -> Basis:
    """Instances, devices and those hyperparameters that change the speed of a training."""
    manifest = db.job(selection.job).manifest
    job = described(manifest) or TrainingJob()
    return Basis(
        groups=tuple((group.instance_type, group.count) for group in job.groups),
        spot=job.spot,
        node_gpus=tuple((node.name, node.gpus, node.cpus) for node in manifest.nodes),
        workers=manifest.step_processes,
        hyperparameters=tuple(_telling(job)),
    )


def _telling(job: TrainingJob) -> list[tuple[str, str]]:
    """Plain words and numbers only: hyperparameters hold addresses and keys, too. They may be written as JSON text."""
    found = []
    for name, value in job.hyperparameters:
        word = value.strip('"')
        if _TELLING.search(name.lower()) and _PLAIN.fullmatch(name) and _PLAIN.fullmatch(word):
            found.append((name, word))
    return sorted(found)[:20]
