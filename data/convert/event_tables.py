"""What is derived once from a job's events: the clock they share, steps, kernels, when each GPU was busy, and lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data import schema
from data.convert.lanes import write_lanes
from data.convert.operators import derive_operators
from data.convert.tables import TableParts, write_table
from data.manifest import EventPart, part_file
from data.names import natural_key
from data.operators import COMMUNICATION_KERNEL
from data.readers.paths import literal_pattern

STEP_PREFIX = "Step:"
"""Phases and names of step events begin with this: Step:ModeKeys.TRAIN, .EVAL, .PREDICT, .GLOBAL."""

PROFILER_STEP = "ProfilerStep"
"""The phase of the steps of PyTorch's profiler, which calls each "ProfilerStep#" and its number."""

_BATCH_ROWS = 1 << 15
DAY_NS = 86_400 * 10**9

_SPAN = """
select count(*) as events, count(*) filter (wall) as placed,
       coalesce(min(start_ns) filter (wall), 0) as first_ns, coalesce(max(start_ns) filter (wall), 0) as last_ns,
       coalesce(min(start_ns) filter (not wall), 0) as own_first_ns,
       coalesce(max(start_ns) filter (not wall), 0) as own_last_ns
from read_parquet($files)
"""
_ENDS = """
select count(*) filter (duration_ns > $longest_ns) as suspicious,
       coalesce(min(start_ns) filter (wall = $wall), 0) as start_ns,
       coalesce(max(start_ns + duration_ns) filter (wall = $wall and duration_ns <= $longest_ns), 0) as end_ns
from read_parquet($files)
"""
_DOUBTS = """
select file, count(*) filter (duration_ns > $longest_ns) as suspicious, max(duration_ns) as longest_ns,
       count(*) filter (lower(category) in ('cuda_runtime', 'cuda_driver', 'runtime', 'hip_runtime')
                        and contains(name, 'LaunchKernel')) as launches,
       count(*) filter (lower(category) = 'kernel') as kernels
from read_parquet($files) group by file
having suspicious > 0 or (launches > 0 and kernels = 0)
order by file
"""
_PROCESSES = """
select node::varchar as node, worker::varchar as worker, count(*) as events from read_parquet($files) group by all
"""
_STEPS = f"""
select case when starts_with(phase, '{STEP_PREFIX}') then phase when starts_with(name, '{STEP_PREFIX}') then name
            else '{PROFILER_STEP}' end as phase,
       node, worker, step, start_ns, duration_ns
from read_parquet($files)
where (starts_with(phase, '{STEP_PREFIX}') or starts_with(name, '{STEP_PREFIX}')
       or (starts_with(name, '{PROFILER_STEP}#') and not starts_with(category, 'gpu')))
  and wall = $wall and duration_ns <= $longest_ns
order by start_ns, duration_ns, step, worker
"""  # noqa: S608 (our own words)
_KERNELS = f"""
select node, worker, device, stream, name, start_ns, duration_ns, bytes,
       case lower(category) when 'kernel' then 'kernel' when 'gpu_memset' then 'memset' when 'memset' then 'memset'
            else 'memcpy' end as kind,
       {COMMUNICATION_KERNEL} as communication
from read_parquet($files)
where lower(category) in ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset')
  and wall = $wall and duration_ns <= $longest_ns
"""  # noqa: S608 (our own words)


@dataclass(frozen=True)
class EventTotals:
    """Counts and times of a job's framework events; times are 0 where there are none."""

    events: int = 0
    suspicious: int = 0  # events so long that they cannot be true; kept, and left out of every figure
    longest_ns: int = DAY_NS  # longer ones are suspicious
    wall_clock: bool = True  # False: no file says when it starts; times count from the start of the trace
    processes: tuple[tuple[str, str], ...] = ()  # node and worker
    kernels: int = 0
    operator_roles: tuple[str, ...] = ()
    lanes: int = 0  # pairs of node and phase
    lane_bin_ns: int = 0
    steps: int = 0
    step_numbers: int = 0
    step_processes: int = 0
    step_phases: tuple[str, ...] = ()
    step_groups: tuple[tuple[str, str], ...] = ()
    loop: tuple[int, int, int] | None = None  # start, end and number of the first step
    start_ns: int = 0
    end_ns: int = 0


def derive_event_tables(
    db: duckdb.DuckDBPyConnection,
    folder: Path,
    parts: Sequence[EventPart],
    system: tuple[int, int],
    communication: Sequence[int] = (),
) -> EventTotals:
    """Writes steps, kernels, busy times and operators.

    `system` is the time of the first and last system record, or zeros; `communication` are files of nothing else.
    """
    if not parts:
        return EventTotals()
    pa.default_memory_pool().release_unused()  # of reading: what follows would come on top of it
    files = part_paths(folder, parts)
    span = _row(db, _SPAN, files=files)
    wall = bool(span["placed"] or system[1])
    first, last = (span["first_ns"], span["last_ns"]) if span["placed"] else system
    if wall and span["placed"] and system[1]:
        first, last = min(first, system[0]), max(last, system[1])
    if not wall:
        first, last = span["own_first_ns"], span["own_last_ns"]
    longest_ns = max(DAY_NS, 2 * (last - first))
    shown = {"files": files, "wall": wall, "longest_ns": longest_ns}
    ends = _row(db, _ENDS, **shown)
    processes = db.sql(_PROCESSES, params={"files": files}).fetchall()
    kernels = _kernels(db, folder, shown)
    pa.default_memory_pool().release_unused()
    lanes, lane_bin_ns = write_lanes(db, folder, shown)
    totals = EventTotals(
        events=span["events"],
        suspicious=ends["suspicious"],
        longest_ns=longest_ns,
        wall_clock=wall,
        processes=tuple(sorted(((node, worker) for node, worker, _ in processes), key=_process_order)),
        kernels=kernels,
        operator_roles=derive_operators(db, folder, files, longest_ns, communication),
        lanes=lanes,
        lane_bin_ns=lane_bin_ns,
        start_ns=ends["start_ns"],
        end_ns=ends["end_ns"],
    )
    return _with_steps(db, folder, shown, totals)


def doubts(
    db: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[EventPart], longest_ns: int
) -> Iterator[tuple[int, str]]:
    """What is odd about the events of a file, seen beside all others: the file's id, and words."""
    if not parts:
        return
    for file, suspicious, longest, launches, kernels in db.sql(
        _DOUBTS, params={"files": part_paths(folder, parts), "longest_ns": longest_ns}
    ).fetchall():
        if suspicious:
            events = "1 event has a duration" if suspicious == 1 else f"{suspicious} events have durations"
            yield file, f"{events} of up to {longest / DAY_NS:.1f} days, which cannot be right: left out of all figures"
        if launches and not kernels:
            yield file, f"{launches} kernels were launched, but no kernel was recorded: GPU use is not known"


def part_paths(folder: Path, parts: Sequence[EventPart]) -> list[str]:
    """The files of the event table, as DuckDB wants them."""
    return [literal_pattern(str(folder / part_file(schema.Table.EVENTS, part.part))) for part in parts]


def _row(db: duckdb.DuckDBPyConnection, query: str, **parameters: object) -> dict[str, int]:
    found = db.sql(query, params=parameters)
    return dict(zip(found.columns, found.fetchall()[0], strict=True))


def _process_order(process: tuple[str, str]) -> tuple[object, ...]:
    return natural_key(process[0]), natural_key(process[1])


def _kernels(db: duckdb.DuckDBPyConnection, folder: Path, shown: dict[str, object]) -> int:
    """Writes the work of GPUs, and the times in which each was busy; how many kernels there are."""
    times: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
    kernels = 0
    with TableParts(folder / "kernels.parquet", schema.KERNELS) as parts:
        for batch in db.sql(_KERNELS, params=shown).to_arrow_reader(_BATCH_ROWS):
            table = pa.Table.from_batches([batch]).cast(schema.KERNELS)
            parts.write(table)
            ran = table.drop_columns(["name"]).filter(pc.equal(table.column("kind"), "kernel"))
            kernels += len(ran)
            for row in ran.group_by(["node", "device"]).aggregate([]).to_pylist():
                mine = pc.and_(pc.equal(ran.column("node"), row["node"]), pc.equal(ran.column("device"), row["device"]))
                start, duration = (ran.column(name).filter(mine).to_numpy() for name in ("start_ns", "duration_ns"))
                times.setdefault((row["node"], row["device"]), []).append(np.stack([start, start + duration]))
    if kernels:
        write_table(_busy(times), folder / "gpu_busy.parquet", differences=("start_ns", "end_ns"))
    return kernels


def _busy(times: dict[tuple[str, str], list[NDArray[np.int64]]]) -> pa.Table:
    """The times in which at least one kernel ran, for each GPU."""
    tables = []
    for node, device in sorted(times, key=_process_order):
        start, end = np.concatenate(times[node, device], axis=1)
        order = np.argsort(start, kind="stable")
        start, end = start[order], np.maximum.accumulate(end[order])
        first = np.flatnonzero(np.append(True, start[1:] > end[:-1]))
        last = np.append(first[1:], len(start)) - 1
        size = len(first)
        tables.append(
            pa.table(
                [[node] * size, [device] * size, start[first], end[last], np.diff(np.append(first, len(start)))],
                schema=schema.GPU_BUSY,
            )
        )
    return pa.concat_tables(tables)


def _with_steps(
    db: duckdb.DuckDBPyConnection, folder: Path, shown: dict[str, object], totals: EventTotals
) -> EventTotals:
    found = db.sql(_STEPS, params=shown).to_arrow_table().unify_dictionaries()
    if not len(found):
        return totals
    phase, phases = _codes(found, "phase")
    node, nodes = _codes(found, "node")
    worker, workers = _codes(found, "worker")
    table, groups = _step_table(found, phase, phases, node, nodes)
    write_table(table, folder / "steps.parquet", differences=("start_ns", "step"))
    return replace(
        totals,
        steps=len(table),
        step_numbers=_distinct_steps(phase, table.column("step").to_numpy()),
        step_processes=int(np.count_nonzero(np.bincount(node * len(workers) + worker))),
        step_phases=tuple(dict.fromkeys(one for one, _ in groups)),
        step_groups=groups,
        loop=_loop(table, groups),
    )


def _codes(table: pa.Table, name: str) -> tuple[NDArray[np.int64], list[str]]:
    """A text column as numbers, and the words they stand for."""
    column = table.column(name).combine_chunks()
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def _step_table(
    steps: pa.Table, phase: NDArray[np.int64], phases: list[str], node: NDArray[np.int64], nodes: list[str]
) -> tuple[pa.Table, tuple[tuple[str, str], ...]]:
    """The steps with the number of their group, and the groups: phase and node, training first."""
    pair = phase * len(nodes) + node
    present = np.flatnonzero(np.bincount(pair))
    names = [(phases[one // len(nodes)], nodes[one % len(nodes)]) for one in present.tolist()]
    groups = tuple(sorted(set(names), key=lambda pair: (_phase_order(pair[0]), natural_key(pair[1]), pair[1])))
    number = np.zeros(int(present[-1]) + 1, np.int16)
    number[present] = [groups.index(one) for one in names]
    columns = [pa.array(number[pair]), steps.column("worker").cast(pa.string())]
    columns += [steps.column(name) for name in ("step", "start_ns", "duration_ns")]
    return pa.table(columns, schema=schema.STEPS), groups


def _distinct_steps(phase: NDArray[np.int64], step: NDArray[np.int64]) -> int:
    """How many different steps there are: phase and number, whichever process took them."""
    return sum(len(np.unique(step[phase == one])) for one in np.flatnonzero(np.bincount(phase)).tolist())


def _loop(steps: pa.Table, groups: Sequence[tuple[str, str]]) -> tuple[int, int, int] | None:
    """The training loop: from step 0 in training (or global) mode, else from the earliest step, to the last end."""
    start, step = steps.column("start_ns").to_numpy(), steps.column("step").to_numpy()
    end = int((start + steps.column("duration_ns").to_numpy()).max())
    training = [at for at, (phase, _) in enumerate(groups) if phase.endswith(("TRAIN", "GLOBAL"))]
    zero = (step == 0) & np.isin(steps.column("group").to_numpy(), training)
    if zero.any():
        return int(start[zero].min()), end, 0
    first = int(np.argmin(start))
    return int(start[first]), end, int(step[first])


def _phase_order(phase: str) -> tuple[int, str]:
    """Training first, then evaluation, then the rest by name."""
    return next((at for at, word in enumerate(("TRAIN", "EVAL")) if word in phase), 2), phase
