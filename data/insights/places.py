"""The worst places of a finding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.frames.findings import Place

MOST = 5


def largest(values: NDArray[Any]) -> list[int]:
    """Where the few largest values are, the largest first, the earlier of equals first."""
    at = np.arange(len(values))
    if len(values) > MOST:
        at = np.flatnonzero(values >= np.partition(values, -MOST)[-MOST])
    found: list[int] = at[np.argsort(-values[at], kind="stable")][:MOST].tolist()
    return found


def worst_apart(ranked: Iterable[Place]) -> tuple[Place, ...]:
    """The first few places; of those of a node that overlap in time, only the first."""
    places: list[Place] = []
    for one in ranked:
        if len(places) == MOST:
            break
        if not any(one.node == other.node and _overlap(one.window, other.window) for other in places):
            places.append(one)
    return tuple(places)


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]
