"""Questions about framework events: how many, how long, whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from data import schema
from data.manifest import part_file
from data.selection import Selection, Window
from data.store import Database, StoredJob

_FILES = """
select coalesce(sum(invalid), 0)::bigint as invalid,
       coalesce((select sum(lost_rows) from read_parquet($problems) p
                 where p.file_path not in (select path from read_parquet($files) where kind = 'system')), 0)::bigint
       as lost
from read_parquet($files)
"""
_TOTALS = """
select phase::varchar as phase, node::varchar as node, worker::varchar as worker, wall, count(*) as count,
       sum(duration_ns)::bigint as duration_ns, min(start_ns) as start_ns, max(start_ns + duration_ns) as end_ns
from read_parquet($files) where duration_ns <= $longest_ns
group by all order by all
"""
_BUSY = """
select (select sum(duration_ns) from read_parquet($kernels) where kind = 'kernel')::bigint as kernel_ns,
       (select sum(end_ns - start_ns) from read_parquet($busy))::bigint as busy_ns
"""


@dataclass(frozen=True)
class EventTotals:
    """Exact totals over all events of a job; those too long to be true are not in them."""

    invalid: int  # events left out because their time or duration makes no sense
    lost: int  # events destroyed by damage, as far as they can be counted
    duration_ns: int
    by_phase: tuple[tuple[str, int, int], ...]  # phase, events, nanoseconds
    by_rank: tuple[tuple[int, int], ...]  # rank, events: of traces that are written by rank
    step_numbers: tuple[int, ...]
    kernel_ns: int
    busy_ns: int  # at least one kernel runs, per GPU
    start_ns: int | None  # None where no event has a place in time
    end_ns: int | None

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have events."""
        return tuple(rank for rank, _ in self.by_rank)


def totals(db: Database, selection: Selection) -> EventTotals:
    """How many events a job has, of which phases and ranks, and how long they are."""
    stored = db.job(selection.job)
    manifest = stored.manifest
    invalid, lost = _of_files(db, stored)
    rows = _by_group(db, stored)
    phases: dict[str, list[int]] = {}
    ranks: dict[int, int] = {}
    for row in rows:
        phase = phases.setdefault(row["phase"], [0, 0])
        phase[0] += row["count"]
        phase[1] += row["duration_ns"]
        if row["worker"].isdecimal() and row["node"] == f"rank{row['worker']}":
            ranks[int(row["worker"])] = ranks.get(int(row["worker"]), 0) + row["count"]
    shown = [row for row in rows if row["wall"] or not manifest.wall_clock]
    busy = _busy(db, stored)
    return EventTotals(
        invalid=invalid,
        lost=lost,
        duration_ns=sum(row["duration_ns"] for row in rows),
        by_phase=tuple((phase, count, total) for phase, (count, total) in phases.items()),
        by_rank=tuple(sorted(ranks.items())),
        step_numbers=_step_numbers(db, stored),
        kernel_ns=busy[0],
        busy_ns=busy[1],
        start_ns=min((row["start_ns"] for row in shown), default=None),
        end_ns=max((row["end_ns"] for row in shown), default=None),
    )


def events_of(db: Database, stored: StoredJob, sql: str, window: Window, nodes: Sequence[str]) -> pd.DataFrame:
    """The rows of a query over the events that have a place in time, on these nodes, or on all where none is named.

    The query takes $files, $wall, $longest_ns, $start and $end, and gives a column `node`.
    """
    found = db.frame(
        sql,
        files=part_files(stored),
        wall=stored.manifest.wall_clock,
        longest_ns=stored.manifest.longest_ns,
        start=window.start_ns,
        end=window.end_ns,
    )
    return found[found["node"].isin(nodes)] if nodes else found


def part_files(stored: StoredJob) -> list[str]:
    """The files of the event table."""
    return [str(stored.folder / part_file(schema.Table.EVENTS, part.part)) for part in stored.manifest.event_parts]


def _of_files(db: Database, stored: StoredJob) -> tuple[int, int]:
    tables = {name: [str(stored.folder / f"{name}.parquet")] for name in ("files", "problems")}
    found = db.columns(_FILES, **tables)
    return int(found["invalid"][0]), int(found["lost"][0])


def _by_group(db: Database, stored: StoredJob) -> list[dict[str, Any]]:
    if not stored.manifest.event_parts:
        return []
    frame = db.frame(_TOTALS, files=part_files(stored), longest_ns=stored.manifest.longest_ns)
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def _busy(db: Database, stored: StoredJob) -> tuple[int, int]:
    if not stored.manifest.kernels:
        return 0, 0
    found = db.columns(
        _BUSY, kernels=[str(stored.folder / "kernels.parquet")], busy=[str(stored.folder / "gpu_busy.parquet")]
    )
    return int(found["kernel_ns"][0]), int(found["busy_ns"][0])


def _step_numbers(db: Database, stored: StoredJob) -> tuple[int, ...]:
    if not stored.manifest.steps:
        return ()
    found = db.columns(
        "select distinct step from read_parquet($files) where step >= 0 order by step",
        files=[str(stored.folder / "steps.parquet")],
    )
    return tuple(found["step"].tolist())
