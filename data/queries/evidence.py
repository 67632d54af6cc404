"""What rules judge by, over the whole job: read from the stored tables as they are, and counted by the rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data import schema
from data.errors import MissingTable
from data.frames.evidence import ExactUsage, NodeSums, NodeTicks, Stamps, StepRecords, Ticks
from data.grouping import tick_starts
from data.queries.metrics import NO_SYSTEM
from data.schema import Table
from data.selection import Selection
from data.series import Metric
from data.store import Database, StoredJob

_SCALARS = ("cpu_mean", "cpu_max", "io_wait_mean", "io_wait_max", "memory", "network")
_SUMS = ("cpu", "io_wait", "gpu", "gpu_memory", "memory", "network")
_STAMPS = ("cpu_max", "io_wait_max", "gpu_min")


def ticks(db: Database, selection: Selection) -> Ticks:
    """All ticks of all nodes. Raises MissingTable without system metrics."""
    stored = db.job(selection.job)
    table = pq.read_table(
        stored.file("ticks.parquet", NO_SYSTEM),
        columns=["node", "tick_ns", *_SCALARS, "gpu_values", "gpu_memory_values"],
    )
    node = table.column("node").to_numpy()
    manifest = stored.manifest
    found = []
    for position, entry in enumerate(manifest.nodes):
        left, right = np.searchsorted(node, [position, position + 1]).tolist()
        mine = table.slice(left, right - left)
        gpus, memories = (_devices(stored, entry.name, code) for code in (Metric.GPU, Metric.GPU_MEMORY))
        found.append(
            NodeTicks(
                node=entry.name,
                interval_ns=entry.interval_ns,
                tick_ns=mine.column("tick_ns").to_numpy(),
                **{name: _numbers(mine.column(name)) for name in _SCALARS},
                gpus=gpus,
                gpu=_matrix(mine.column("gpu_values"), len(gpus)),
                gpu_memories=memories,
                gpu_memory=_matrix(mine.column("gpu_memory_values"), len(memories)),
                cores=entry.cpus,
            )
        )
    return Ticks(tuple(found), manifest.system_start_ns, manifest.system_end_ns)


def stamps(db: Database, selection: Selection) -> Stamps:
    """Every exact time of any record of any node. Raises MissingTable without system metrics."""
    stored = db.job(selection.job)
    names = ["stamp_ns", *(f"stamp_{name}" for name in _STAMPS)]
    table = pq.read_table(stored.file("ticks.parquet", NO_SYSTEM), columns=["node", *names])
    lists = [table.column(name).combine_chunks() for name in names]
    lengths = np.diff(lists[0].offsets.to_numpy())
    node = np.repeat(table.column("node").to_numpy(), lengths)
    time_ns = lists[0].flatten().to_numpy()
    order = np.argsort(time_ns, kind="stable")
    cpu_max, io_wait_max, gpu_min = (_numbers(values.flatten())[order] for values in lists[1:])
    nodes = tuple(entry.name for entry in stored.manifest.nodes)
    time_ns = time_ns[order]
    begin = tick_starts(time_ns, schema.TICK_TOLERANCE_NS)
    return Stamps(nodes, node[order], time_ns, cpu_max, io_wait_max, gpu_min, begin)


def exact_usage(db: Database, selection: Selection) -> ExactUsage:
    """Sums over devices at exact times. Raises MissingTable without system metrics."""
    stored = db.job(selection.job)
    series = stored.series()
    names = {code: series.loc[series["code"] == int(code), "device"].nunique() for code in (Metric.CPU, Metric.GPU)}
    columns = [f"{name}_sum" for name in _SUMS]
    parts = [pq.read_table(path, columns=["node", *columns]) for path in stored.part_files(Table.STAMPS)]
    table = pa.concat_tables(parts, promote_options="default")
    node, sums = table.column("node").to_numpy(), [_numbers(table.column(name)) for name in columns]
    found = []
    for position, entry in enumerate(stored.manifest.nodes):
        mine = [column[node == position] for column in sums]
        found.append(NodeSums(entry.name, *(column[~np.isnan(column)] for column in mine)))
    return ExactUsage(tuple(found), names[Metric.CPU], names[Metric.GPU])


def file_kinds(db: Database, selection: Selection) -> tuple[str, ...]:
    """The kinds of files that the job has."""
    table = pq.read_table(db.job(selection.job).folder / "files.parquet", columns=["kind"])
    return tuple(sorted(table.column("kind").unique().to_pylist()))


def steps(db: Database, selection: Selection) -> StepRecords:
    """Every step. Raises MissingTable without steps."""
    stored = db.job(selection.job)
    table = pq.read_table(stored.file("steps.parquet", "The framework recorded no steps."))
    workers = table.column("worker").combine_chunks().dictionary_encode()
    return StepRecords(
        groups=stored.manifest.step_groups,
        group=table.column("group").to_numpy(),
        worker=workers.indices.to_numpy(),
        workers=tuple(workers.dictionary.to_pylist()),
        step=table.column("step").to_numpy(),
        start_ns=table.column("start_ns").to_numpy(),
        duration_ns=table.column("duration_ns").to_numpy(),
    )


def _devices(stored: StoredJob, node: str, code: Metric) -> tuple[str, ...]:
    try:
        series = stored.series()
    except MissingTable:
        return ()
    return tuple(series.loc[(series["node"] == node) & (series["code"] == int(code)), "device"])


def _numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    filled = pc.fill_null(column, np.nan) if column.null_count else column
    values: NDArray[np.float64] = filled.to_numpy(zero_copy_only=False)
    return values


def _matrix(column: pa.ChunkedArray, devices: int) -> NDArray[np.float64]:
    """Lists of one value a device, or of none, as rows; a list may lack what the node's last devices would add."""
    lists = column.combine_chunks()
    lengths = np.diff(lists.offsets.to_numpy())
    width = max(devices, int(lengths.max(initial=0)))
    values = _numbers(lists.flatten())
    if len(values) == len(lists) * width:
        full = values.reshape(len(lists), width)
    else:
        full = np.full((len(lists), width), np.nan)
        full[np.arange(width) < lengths[:, None]] = values
    return np.asfortranarray(full[:, :devices])  # rules go through it device by device
