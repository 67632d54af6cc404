"""Builders for the frames of data quality: a job of three nodes of which everything was read, open to any change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from data.frames.quality import (
    STRETCHES,
    ClockOffset,
    ClockOffsets,
    Coverage,
    EventExtent,
    FilesOfKind,
    Measured,
    MetricValues,
    NodeCoverage,
    NodeLoss,
    OutOfRange,
    Quality,
)
from tests.frames import END_NS, NODES, START_NS, S

METRICS = ("cpu", "gpu", "gpu_memory", "io_wait", "iops", "memory", "network", "throughput")
MS = S // 1000
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x00"


def kind(name: str = "system", **changes: Any) -> FilesOfKind:
    return replace(FilesOfKind(name, 61, 38_400_000, 236_214, 0, 0, 0, 0, 0), **changes)


def quality(*kinds: FilesOfKind, losses: Sequence[NodeLoss] = (), **changes: Any) -> Quality:
    """Everything was read, unless the kinds say otherwise."""
    every = kinds or (kind(),)
    found = Quality(
        nodes=NODES,
        kinds=every,
        losses=tuple(losses),
        files=sum(one.files for one in every),
        raw_bytes=sum(one.size_bytes for one in every),
        stored_bytes=1_920_000,
        system_rows=236_214,
        events=5_036,
        steps=188,
        functions=0,
        lost_rows=sum(one.lost_rows for one in every),
        duplicates=0,
        problems=sum(one.problems for one in every),
        errors=0,
        notes=0,
        ended=True,
    )
    return replace(found, **changes)


def node(name: str, **changes: Any) -> NodeCoverage:
    """A node that covers the whole job at 500 ms."""
    whole = NodeCoverage(name, START_NS, END_NS, 1007, S // 2, S // 2, 502.0 * MS, 512 * MS, 0, 0, 100.0)
    return replace(whole, **changes)


def coverage(
    stretches: Sequence[tuple[int, float, float, str]] = (),
    nodes: Sequence[NodeCoverage] | None = None,
    events: Sequence[EventExtent] = (),
    names: Sequence[str] = NODES,
) -> Coverage:
    """Stretches are (index of a node, from second, to second, kind); the nodes' figures follow from them."""
    chosen = list(nodes or map(node, names))
    for at, start, end, _ in stretches:
        missing_ns = chosen[at].missing_ns + round((end - start) * S)
        percent = 100 * (1 - missing_ns / (END_NS - START_NS))
        chosen[at] = replace(chosen[at], missing_ns=missing_ns, missing=chosen[at].missing + 1, covered_percent=percent)
    return Coverage(
        start_ns=START_NS,
        end_ns=END_NS,
        nodes=tuple(chosen),
        events=tuple(events),
        node=np.array([at for at, *_ in stretches], np.int32),
        stretch_start_ns=np.array([START_NS + round(start * S) for _, start, _, _ in stretches], np.int64),
        stretch_end_ns=np.array([START_NS + round(end * S) for _, _, end, _ in stretches], np.int64),
        kind=np.array([STRETCHES.index(name) for *_, name in stretches], np.uint8),
    )


def extents(*names: str) -> tuple[EventExtent, ...]:
    """Framework events from second 200 to 500."""
    return tuple(EventExtent(name, START_NS + 200 * S, START_NS + 500 * S, 564) for name in names or NODES)


def values(without: dict[str, Sequence[str]] | None = None, odd: Sequence[OutOfRange] = ()) -> MetricValues:
    """All metrics on all nodes but those named."""
    lacking = without or {}
    measured = [Measured(name, tuple(m for m in METRICS if m not in lacking.get(name, ()))) for name in NODES]
    return MetricValues(tuple(measured), tuple(odd))


def clocks(*offsets: tuple[str, int, float, float, float]) -> ClockOffsets:
    """(node, shared steps, p5, median, p95 in ms) against the first node."""
    return ClockOffsets(
        NODES[0], tuple(ClockOffset(name, steps, p5 * MS, p50 * MS, p95 * MS) for name, steps, p5, p50, p95 in offsets)
    )


NOT_KNOWN = math.nan
