"""Data quality: what reading a job gave and lost, which of its time has records, and how its clocks agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from data.frames.quality import (
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
from data.manifest import Manifest, NodeEntry
from data.names import natural_key
from data.queries import jobs
from data.queries.events import part_files
from data.queries.files import FOUND, tables
from data.schema import GAP_INTERVALS
from data.selection import Selection
from data.series import Metric
from data.sources.layout import node_of
from data.store import Database, StoredJob

MOST_LOSSES = 200
"""Nodes named with their losses; the others are only counted."""

_GAP, _INTERRUPTION, _BEFORE, _AFTER = range(4)

_METRICS = {
    "CPUUtilization": "cpu",
    "GPUUtilization": "gpu",
    "GPUMemoryUtilization": "gpu_memory",
    "MemoryUsedPercent": "memory",
    "I/OWaitPercentage": "io_wait",
    "ReceiveBytesPerSecond": "network",
    "TransmitBytesPerSecond": "network",
    "ReadThroughputInBytesPerSecond": "throughput",
    "WriteThroughputInBytesPerSecond": "throughput",
    "IOPS": "iops",
}
_CODES = {
    int(Metric.CPU): "cpu",
    int(Metric.IO_WAIT): "io_wait",
    int(Metric.GPU): "gpu",
    int(Metric.GPU_MEMORY): "gpu_memory",
    int(Metric.MEMORY): "memory",
}

_KINDS = f"""
    select kind, count(*)::bigint as files, sum(size)::bigint as size_bytes, sum(rows)::bigint as rows,
           sum(lost_rows)::bigint as lost_rows,
           (count(*) filter (lost_rows > 0 or coalesce(errors, 0) > 0))::bigint as damaged,
           sum(invalid)::bigint as left_out, (count(*) filter (copy_of <> ''))::bigint as copies,
           coalesce(sum(faults), 0)::bigint as problems
    from read_parquet($files) left join ({FOUND}) using (path)
    group by kind order by size_bytes desc, kind
"""
_DAMAGED = f"""
    select path, kind, lost_rows from read_parquet($files) left join ({FOUND}) using (path)
    where lost_rows > 0 or errors > 0
"""


def summary(db: Database, selection: Selection) -> Quality:
    """What was read and lost, over the whole job."""
    stored = db.job(selection.job)
    manifest, files = stored.manifest, tables(stored)
    kinds = db.frame(_KINDS, **files)
    severities = db.columns(
        "select (count(*) filter (severity = 'error'))::bigint as errors,"
        " (count(*) filter (severity = 'note'))::bigint as notes from read_parquet($problems)",
        problems=files["problems"],
    )
    return Quality(
        nodes=tuple(node.name for node in manifest.nodes),
        kinds=tuple(FilesOfKind(*row) for row in _plain_rows(kinds)),
        losses=_losses(db, files),
        files=manifest.files,
        raw_bytes=manifest.raw_bytes,
        stored_bytes=manifest.stored_bytes,
        system_rows=manifest.system_rows,
        events=manifest.events,
        steps=manifest.steps,
        functions=manifest.functions,
        lost_rows=manifest.lost_rows,
        duplicates=manifest.duplicates,
        problems=manifest.problems,
        errors=int(severities["errors"][0]),
        notes=int(severities["notes"][0]),
        ended=manifest.system_end_marker and manifest.framework_end_marker,
    )


def _plain_rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.astype(object).itertuples(index=False)]


def _losses(db: Database, files: dict[str, list[str]]) -> tuple[NodeLoss, ...]:
    damaged, lost = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    damages = _plain_rows(db.frame(_DAMAGED, **files))
    for path, kind, rows in damages:
        key = str(kind), node_of(str(path))
        damaged[key] += 1
        lost[key] += int(rows)
    order = sorted(damaged, key=lambda key: (-lost[key], -damaged[key], key[0], natural_key(key[1])))
    return tuple(NodeLoss(*key, damaged[key], lost[key]) for key in order[:MOST_LOSSES])


def coverage(db: Database, selection: Selection) -> Coverage:
    """The stretches without a record of every node, over the whole job, and how far its records lie apart.

    Two records next to each other cover the time between them where it is at most 3 median intervals of the node.
    """
    stored = db.job(selection.job)
    manifest = stored.manifest
    places = {node.name: at for at, node in enumerate(manifest.nodes)}
    common = jobs.times(db, Selection(selection.job)).spot_gaps
    stretches = [
        (places[str(node)], int(start), int(end), bool(spot))
        for node, start, end, spot in _plain_rows(jobs.gaps(db, Selection(selection.job)))
    ]
    found = [
        piece
        for at, start, end, spot in stretches
        for piece in _pieces(manifest.nodes[at], at, (start, end), common if spot else ())
    ]
    for at, node in enumerate(manifest.nodes):
        ends = _ends(at, node, manifest)
        stretches += [(*one[:3], False) for one in ends]
        found += ends
    found.sort()
    missing, count = Counter[int](), Counter[int]()
    for at, start, end, _ in stretches:
        missing[at] += end - start
        count[at] += 1
    spread = _intervals(db, stored)
    columns = list(zip(*found, strict=True)) or [()] * 4
    return Coverage(
        start_ns=manifest.start_ns,
        end_ns=manifest.end_ns,
        nodes=tuple(
            _node(node, manifest, spread.get(at), missing[at], count[at]) for at, node in enumerate(manifest.nodes)
        ),
        events=_extents(db, stored),
        node=np.array(columns[0], np.int32),
        stretch_start_ns=np.array(columns[1], np.int64),
        stretch_end_ns=np.array(columns[2], np.int64),
        kind=np.array(columns[3], np.uint8),
    )


def _pieces(
    node: NodeEntry, at: int, gap: tuple[int, int], common: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int, int]]:
    """A gap of a node, cut into what all nodes lack and what it lacks alone.

    Nodes do not stop in the same microsecond: a rest that would be no gap by itself belongs to the interruption.
    """
    (start, end), limit = gap, GAP_INTERVALS * node.interval_ns
    found: list[tuple[int, int, int, int]] = []
    for first, last in common:
        first, last = max(first, start), min(last, end)
        if first >= last:
            continue
        if first - start <= limit:
            first = start
        else:
            found.append((at, start, first, _GAP))
        last = end if end - last <= limit else last
        found.append((at, first, last, _INTERRUPTION))
        start = last
    return [*found, (at, start, end, _GAP)] if start < end else found


def _ends(at: int, node: NodeEntry, manifest: Manifest) -> list[tuple[int, int, int, int]]:
    """What a node lacks at the beginning and the end of the job."""
    limit, found = GAP_INTERVALS * node.interval_ns, []
    if node.interval_ns and node.start_ns - manifest.start_ns > limit:
        found.append((at, manifest.start_ns, node.start_ns, _BEFORE))
    if node.interval_ns and manifest.end_ns - node.end_ns > limit:
        found.append((at, node.end_ns, manifest.end_ns, _AFTER))
    return found


def _node(
    node: NodeEntry, manifest: Manifest, spread: tuple[float, int] | None, missing_ns: int, missing: int
) -> NodeCoverage:
    span = manifest.end_ns - manifest.start_ns
    p95_ns, longest_ns = spread or (math.nan, 0)
    return NodeCoverage(
        node=node.name,
        start_ns=node.start_ns,
        end_ns=node.end_ns,
        ticks=node.ticks,
        nominal_ns=node.nominal_ns,
        median_ns=node.interval_ns,
        p95_ns=p95_ns,
        longest_ns=longest_ns,
        missing_ns=missing_ns,
        missing=missing,
        covered_percent=100 * (span - missing_ns) / span if span and node.interval_ns else math.nan,
    )


_INTERVALS = """
    select node, quantile_cont(apart, 0.95) as p95, max(apart) as longest
    from (select node, tick_ns - lag(tick_ns) over (partition by node order by tick_ns) as apart
          from read_parquet($ticks))
    where apart is not null group by node
"""


def _intervals(db: Database, stored: StoredJob) -> dict[int, tuple[float, int]]:
    """p95 and longest of the times from tick to tick, by a node's place."""
    if not stored.manifest.system_rows:
        return {}
    found = db.columns(_INTERVALS, ticks=[str(stored.folder / "ticks.parquet")])
    values = zip(*(found[name].tolist() for name in ("node", "p95", "longest")), strict=True)
    return {int(node): (float(p95), int(longest)) for node, p95, longest in values}


def _extents(db: Database, stored: StoredJob) -> tuple[EventExtent, ...]:
    manifest = stored.manifest
    if not manifest.events:
        return ()
    rows = db.frame(
        "select node::varchar as node, min(start_ns) as first, max(start_ns + duration_ns) as last,"
        " count(*)::bigint as events from read_parquet($events)"
        " where wall = $wall and duration_ns <= $longest_ns group by node",
        events=part_files(stored),
        wall=manifest.wall_clock,
        longest_ns=manifest.longest_ns,
    )
    extents = [
        EventExtent(str(node), int(first), int(last), int(many)) for node, first, last, many in _plain_rows(rows)
    ]
    return tuple(sorted(extents, key=lambda one: natural_key(one.node)))


# A process that took a step of the same number twice, as after a restart, cannot tell which one the others took.
_SHARED = """
    with once as (
        select "group", step, worker, min(start_ns) as start_ns, count(*) as times
        from read_parquet($steps) where step >= 0 group by all
    ), taken as (
        select names.phase, names.node, once.step, min(once.start_ns) as start_ns
        from once join (select unnest($groups) as "group", unnest($phases) as phase, unnest($nodes) as node) as names
        using ("group") group by all having max(once.times) = 1
    )
    select mine.node, count(*)::bigint as steps, quantile_cont(mine.start_ns - theirs.start_ns, 0.05) as p5,
           quantile_cont(mine.start_ns - theirs.start_ns, 0.5) as median,
           quantile_cont(mine.start_ns - theirs.start_ns, 0.95) as p95
    from taken as mine join taken as theirs using (phase, step)
    where theirs.node = $reference and mine.node <> $reference group by mine.node
"""


def clocks(db: Database, selection: Selection) -> ClockOffsets:
    """How much later each node starts the steps that it shares with the first one: same phase, same number.

    With several processes on a node, its first one counts.
    """
    stored = db.job(selection.job)
    groups = stored.manifest.step_groups
    names = sorted({node for _, node in groups}, key=natural_key)
    if not names:
        return ClockOffsets("", ())
    rows = db.frame(
        _SHARED,
        steps=[str(stored.folder / "steps.parquet")],
        groups=list(range(len(groups))),
        phases=[phase for phase, _ in groups],
        nodes=[node for _, node in groups],
        reference=names[0],
    )
    found = {str(row[0]): ClockOffset(str(row[0]), int(row[1]), *map(float, row[2:])) for row in _plain_rows(rows)}
    nothing = (0, math.nan, math.nan, math.nan)
    return ClockOffsets(names[0], tuple(found.get(node, ClockOffset(node, *nothing)) for node in names[1:]))


def values(db: Database, selection: Selection) -> MetricValues:
    """Which metrics each node recorded, and which percentages lie outside 0 to 100."""
    stored = db.job(selection.job)
    if not stored.manifest.system_rows:
        return MetricValues((), ())
    series = stored.series()
    series = series[(series["count"] > 0) & series["metric"].isin(list(_METRICS))]
    keys = series["metric"].map(_METRICS)
    measured = tuple(
        Measured(node.name, tuple(dict.fromkeys(sorted(keys[series["node"] == node.name]))))
        for node in stored.manifest.nodes
    )
    odd = series[(series["unit"] == "%") & ((series["min"] < 0) | (series["max"] > 100))]
    samples = _odd_samples(db, stored) if len(odd) else {}
    return MetricValues(
        measured, tuple(_out_of_range(str(key), rows, samples) for key, rows in odd.groupby(keys[odd.index]))
    )


def _odd_samples(db: Database, stored: StoredJob) -> dict[str, int]:
    found = db.columns(
        "select metric, sum(count)::bigint as samples from read_parquet($files)"
        " where value < 0 or value > 100 group by metric",
        files=[str(stored.folder / "histogram.parquet")],
    )
    pairs = zip(found["metric"].tolist(), found["samples"].tolist(), strict=True)
    return {_CODES[int(code)]: int(many) for code, many in pairs if int(code) in _CODES}


def _out_of_range(key: str, rows: pd.DataFrame, samples: dict[str, int]) -> OutOfRange:
    beyond = np.maximum(-rows["min"].to_numpy(), rows["max"].to_numpy() - 100)
    worst = rows.iloc[int(beyond.argmax())]
    return OutOfRange(
        metric=key,
        samples=samples.get(key, 0),
        series=len(rows),
        lowest=float(rows["min"].min()),
        highest=float(rows["max"].max()),
        node=str(worst["node"]),
        device=str(worst["device"]),
    )
