"""How the time of framework events divides up: CPU to GPU, lanes, forward and backward, communication, steps.

As the profiler's OverallFrameworkMetrics has it, but for its faults: with a window an event counts with the part
inside, nothing is left out for being small, and the time between steps is what no step covers.
"""

from __future__ import annotations

from typing import Any

from data.errors import MissingTable
from data.frames.operators import FrameworkShares, TimeShare
from data.queries.operators import chosen, rows_of
from data.selection import Selection
from data.store import Database, StoredJob

_SHARES = """
select role, phase, if(communication, name, '') as name, communication, sum(total_ns)::bigint as total_ns,
       sum(count)::bigint as count
from {rows} group by all order by total_ns desc, phase, name
"""
_STEPS = """
with steps as (
    select $phases["group" + 1] as phase, $names["group" + 1] as node, worker,
           greatest(start_ns, $from_ns) as start_ns, least(start_ns + duration_ns, $to_ns) as end_ns
    from read_parquet($steps) where start_ns < $to_ns and start_ns + duration_ns > $from_ns and {nodes}),
reached as (
    select *, max(end_ns) over (partition by node, worker order by start_ns, end_ns
                                rows between unbounded preceding and 1 preceding) as before_ns,
           max(end_ns) over (partition by node, worker, phase order by start_ns, end_ns
                             rows between unbounded preceding and 1 preceding) as phase_before_ns
    from steps),
parts as (
    select phase, node, worker, count(*) as count, min(start_ns) as start_ns, max(end_ns) as end_ns,
           sum(greatest(end_ns - greatest(start_ns, coalesce(before_ns, start_ns)), 0)) as union_ns,
           sum(greatest(end_ns - greatest(start_ns, coalesce(phase_before_ns, start_ns)), 0)) as phase_ns
    from reached group by all),
spans as (select max(end_ns) - min(start_ns) as span_ns, sum(union_ns) as union_ns from parts group by node, worker)
select phase, sum(phase_ns)::bigint as total_ns, sum(count)::bigint as count,
       (select sum(span_ns) from spans)::bigint as span_ns, (select sum(union_ns) from spans)::bigint as union_ns
from parts group by phase order by total_ns desc, phase
"""


def framework(db: Database, selection: Selection) -> FrameworkShares:
    """How the time of framework events divides up in the window. Raises MissingTable where there is none."""
    stored = db.job(selection.job)
    rows, parameters = rows_of(db, stored, selection)
    found = db.columns(_SHARES.format(rows=rows), **parameters)
    groups = [
        dict(zip(found, row, strict=True)) for row in zip(*(column.tolist() for column in found.values()), strict=True)
    ]
    steps = _steps(db, stored, selection)
    if not groups and not steps:
        raise MissingTable("No framework event lies in this window.")
    of_gpu = [row for row in groups if row["role"] == "gpu"]
    kernels = [row for row in of_gpu if row["communication"]]
    spoken = [row for row in groups if row["role"] == "communication"] or kernels
    passes = _divided(_of(groups, "forward", "backward"), "role")
    inner = len(passes) < 2
    if inner:
        passes = _divided(_of(groups, "forward_inner", "backward_inner"), "role")
    gpu_ns = sum(row["total_ns"] for row in of_gpu)
    return FrameworkShares(
        sides=_divided(_of(groups, "cpu", "gpu"), "phase"),
        general=_divided(_of(groups, "general", "forward", "backward"), "phase"),
        passes=passes if len(passes) == 2 else (),
        inner_passes=inner and len(passes) == 2,
        communication=_divided(spoken, "name"),
        communication_percent=100 * sum(row["total_ns"] for row in kernels) / gpu_ns if kernels and gpu_ns else None,
        steps=steps,
    )


def _of(groups: list[dict[str, Any]], *roles: str) -> list[dict[str, Any]]:
    return [row for row in groups if row["role"] in roles]


def _divided(rows: list[dict[str, Any]], key: str) -> tuple[TimeShare, ...]:
    """Rows added up by what they are called; the parts of all their time."""
    whole_ns = sum(row["total_ns"] for row in rows)
    parts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        role = row["role"].removesuffix("_inner")
        part = parts.setdefault((role if key == "role" else row[key], role), [0, 0])
        part[0] += row["total_ns"]
        part[1] += row["count"]
    longest = sorted(parts.items(), key=lambda item: (-item[1][0], item[0]))
    if key == "role":
        longest.sort(key=lambda item: item[0][1] != "forward")
    return tuple(
        TimeShare(name, role, total, count, 100 * total / whole_ns if whole_ns else 0.0)
        for (name, role), (total, count) in longest
    )


def _steps(db: Database, stored: StoredJob, selection: Selection) -> tuple[TimeShare, ...]:
    """Phases of steps, and the time between steps, of the time from first to last step of each process."""
    manifest = stored.manifest
    if not manifest.steps:
        return ()
    window = selection.window
    nodes, parameters = chosen(selection)
    names = [node for _, node in manifest.step_groups]
    found = db.columns(
        _STEPS.format(nodes=nodes.replace("node)", '$names["group" + 1])')),
        steps=[stored.file("steps.parquet", "")],
        phases=[phase for phase, _ in manifest.step_groups],
        names=names,
        from_ns=window.start_ns if window else -(1 << 62),
        to_ns=window.end_ns if window else 1 << 62,
        **parameters,
    )
    if not len(found["phase"]) or not int(found["span_ns"][0]):
        return ()
    span_ns = int(found["span_ns"][0])
    others_ns = max(span_ns - int(found["union_ns"][0]), 0)
    parts = [
        TimeShare(str(phase), "step", int(total), int(count), 100 * int(total) / span_ns)
        for phase, total, count in zip(found["phase"], found["total_ns"], found["count"], strict=True)
    ]
    return (*parts, TimeShare("", "others", others_ns, 0, 100 * others_ns / span_ns))
