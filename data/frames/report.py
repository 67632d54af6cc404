"""What a report needs beside the frames of the pages: the basis of comparisons, and why a part is not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Absent:
    """Why a part of a report is not there."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Basis:
    """What has to be known of a job before its figures are held against another's."""

    groups: tuple[tuple[str, int], ...]  # instance type and count; () where nothing says
    spot: bool | None
    node_gpus: tuple[tuple[str, int, int], ...]  # node, GPUs, cores; () without system metrics
    workers: int  # processes that recorded steps
    hyperparameters: tuple[tuple[str, str], ...]  # those that change the speed: batch size, epochs, workers, precision
