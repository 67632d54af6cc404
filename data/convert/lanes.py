"""The lanes of a job's events, a phase of a node each, and how full each of them is over time.

A page that shows the whole job asks for a few hundred columns of each lane. To merge the events of a lane takes a look
at all of them, so it is done once, here: time that at least one event of the lane covers, and how many begin, per bin.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from data import schema
from data.convert.tables import write_table
from data.coverage import covered, merged

MOST_BINS = 8192
FEWEST_BINS = 512
MOST_CELLS = 1_000_000
_BATCH_ROWS = 1 << 15

_LANES = """
select node::varchar as node, phase::varchar as phase, count(*) as events, sum(duration_ns)::bigint as duration_ns,
       min(start_ns) as start_ns, max(start_ns + duration_ns) as end_ns
from read_parquet($files) where wall = $wall and duration_ns <= $longest_ns
group by all order by node, phase
"""
_EVENTS = """
select lane, e.start_ns, e.start_ns + e.duration_ns as end_ns
from (select node::varchar as node, phase::varchar as phase, start_ns, duration_ns
      from read_parquet($files) where wall = $wall and duration_ns <= $longest_ns) e
join lanes using (node, phase)
"""


def write_lanes(db: duckdb.DuckDBPyConnection, folder: Path, shown: dict[str, object]) -> tuple[int, int]:
    """Writes lanes and their bins from the events in `shown`; how many lanes there are, and the width of a bin."""
    lanes = db.sql(_LANES, params=shown).to_arrow_table()
    if not len(lanes):
        return 0, 0
    first, last = int(lanes.column("start_ns").to_numpy().min()), int(lanes.column("end_ns").to_numpy().max())
    bin_ns = -(-(last + 1 - first) // min(max(MOST_CELLS // len(lanes), FEWEST_BINS), MOST_BINS))
    lanes = lanes.append_column("lane", pa.array(np.arange(len(lanes), dtype=np.int32)))
    db.register("lanes", lanes)
    try:
        rows = db.sql(_EVENTS, params=shown).to_arrow_reader(_BATCH_ROWS)
        bins = [_bins(lane, begins, islands, bin_ns) for lane, begins, islands in _by_lane(rows, bin_ns)]
    finally:
        db.unregister("lanes")
    total = [pa.array([int(table.column("covered_ns").to_numpy().sum()) for table in bins], pa.int64())]
    whole = [lanes.column(name).combine_chunks().cast(kind) for name, kind in _kinds()]
    write_table(pa.table([*whole, *total], schema=schema.LANES), folder / "lanes.parquet")
    write_table(pa.concat_tables(bins), folder / "lane_bins.parquet", differences=("bin_ns",), plain=("covered_ns",))
    return len(lanes), bin_ns


def _kinds() -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema.LANES if field.name != "covered_ns"]


Begins = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of bins, ascending, and how many events begin in each."""


def _by_lane(rows: pa.RecordBatchReader, bin_ns: int) -> Iterator[tuple[int, Begins, NDArray[np.int64]]]:
    """Each lane with the bins that its events begin in, and the stretches that they cover.

    Events come batch by batch in no order; what is kept of each batch are its stretches.
    """
    begins, islands = dict[int, list[Begins]](), dict[int, list[NDArray[np.int64]]]()
    for batch in rows:
        lane, start, end = (batch.column(name).to_numpy() for name in ("lane", "start_ns", "end_ns"))
        order = np.lexsort((start, lane))
        edges = np.flatnonzero(np.diff(lane[order])) + 1
        for piece in np.split(order, edges) if len(order) else ():
            number = int(lane[piece[0]])
            begins.setdefault(number, []).append(_counted(start[piece] // bin_ns))
            islands.setdefault(number, []).append(merged(start[piece], end[piece]))
    for number in sorted(islands):
        stretches = np.concatenate(islands.pop(number), axis=1)
        stretches = stretches[:, np.argsort(stretches[0], kind="stable")]
        yield number, _added(begins.pop(number)), merged(stretches[0], stretches[1])


def _counted(numbers: NDArray[np.int64]) -> Begins:
    found, count = np.unique(numbers, return_counts=True)
    return found, count.astype(np.int64)


def _added(parts: list[Begins]) -> Begins:
    numbers, place = np.unique(np.concatenate([found for found, _ in parts]), return_inverse=True)
    return numbers, np.bincount(place, np.concatenate([count for _, count in parts])).astype(np.int64)


def _bins(lane: int, begins: Begins, islands: NDArray[np.int64], bin_ns: int) -> pa.Table:
    """The bins of a lane that are not empty."""
    first = int(min(begins[0][0], islands[0][0] // bin_ns))
    last = int(max(begins[0][-1], (islands[1][-1] - 1) // bin_ns)) + 1
    numbers = np.arange(first, last + 1)
    share = covered(islands, numbers * bin_ns)
    count = np.zeros(last - first, np.int64)
    count[begins[0] - first] = begins[1]
    filled = np.flatnonzero((share > 0) | (count > 0))
    columns = [
        np.full(len(filled), lane, np.int32),
        numbers[filled] * bin_ns,
        share[filled],
        count[filled].astype(np.int32),
    ]
    return pa.table([pa.array(column) for column in columns], schema=schema.LANE_BINS)
