"""How far a conversion is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Work done of work known; `stage` is a word for people: listing, metrics, steps, functions, summaries."""

    stage: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int


Report = Callable[[Progress], None]
