"""System metrics into parts: which files are read, in which batches, and when a part is complete enough to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
from msgspec.structs import replace

from data import schema
from data.convert import parts
from data.convert.tables import write_table
from data.manifest import PartEntry, part_file
from data.names import natural_key
from data.problem import Problem
from data.readers import sagemaker_system
from data.readers.sagemaker_system import Catalog, SystemRows
from data.series import Series, sorted_series
from data.sources import SourceFile

BATCH_BYTES = 256 << 20
"""A batch of files is at most this long (unless a single file is longer)."""

_ROWS_A_PART = 2_100_000
_BYTES_A_ROW = 120
_PENDING_ROWS = 8_000_000
_SHARED_BY = 4

FileWithId = tuple[int, SourceFile]

PART_TABLES = (
    schema.Table.RAW,
    schema.Table.ROLLUP,
    schema.Table.COARSE,
    schema.Table.HISTOGRAM,
    schema.Table.STAMPS,
)
"""The tables that are kept by part."""


def span_ns(files: Sequence[SourceFile], nominal_ns: Iterable[int]) -> int:
    """How long a part is: a multiple of every first-level bin, a quarter of an hour or less where data are dense."""
    bins = {interval * schema.ROLLUP_FACTORS[0] for interval in nominal_ns}
    unit = int(np.lcm.reduce([schema.CHUNK_NS, *bins]))
    minutes = max(len({file.stamp_ns for file in files}), 1)
    rows_a_second = sum(file.size for file in files) / _BYTES_A_ROW / (minutes * 60)
    wanted = min(900e9, _ROWS_A_PART / max(rows_a_second, 1e-9) * 1e9)
    return unit * max(int(wanted // unit), 1)


def batches(files: Sequence[FileWithId], span: int) -> list[list[FileWithId]]:
    """The files in the order of their times, cut where a part ends or a batch is large enough."""
    ordered = sorted(files, key=lambda item: (item[1].stamp_ns, item[1].path))
    found: list[list[FileWithId]] = []
    size, part = 0, None
    for item in ordered:
        if not found or item[1].stamp_ns // span != part or size + item[1].size > BATCH_BYTES:
            found.append([])
            size, part = 0, item[1].stamp_ns // span
        found[-1].append(item)
        size += item[1].size
    return found


def nominal_ns(interval_ns: float) -> int:
    """The offered sampling interval nearest to a measured one, by ratio."""
    return min(schema.NOMINAL_INTERVALS_NS, key=lambda offered: abs(np.log(max(interval_ns, 1.0) / offered)))


def measured_nominal_ns(rows: SystemRows, catalog: Catalog) -> dict[str, int]:
    """Per node the nominal interval, from the median distance of its fullest series' stamps."""
    found: dict[str, int] = {}
    fullest: dict[str, tuple[int, int]] = {}
    for sid, count in Counter(rows.sid.tolist()).items():
        node = catalog.series[sid].node
        fullest[node] = max(fullest.get(node, (0, 0)), (count, -sid))
    for node, (count, minus_sid) in fullest.items():
        if count > 1:
            stamps = np.unique(rows.time_us[rows.sid == -minus_sid])
            if len(stamps) > 1:
                found[node] = nominal_ns(float(np.median(np.diff(stamps))) * 1000)
    return found


class SystemParts:
    """Collects rows, and builds the parts they fall into; a part met again is built from its old and new rows."""

    def __init__(self, folder: Path, catalog: Catalog, nominal: dict[str, int], span: int) -> None:
        self.folder = folder
        self.catalog = catalog
        self.nominal = nominal
        self.span = span
        self.entries: dict[int, PartEntry] = {}
        self.dropped: dict[int, PartEntry] = {}  # parts to be built again: their duplicates stay counted
        self.pending: dict[int, list[SystemRows]] = {}
        self.numbered_nodes = self.nodes()
        self.mapped: tuple[tuple[Series, ...], tuple[tuple[str, int], ...]] = ((), ())
        self.series_map = parts.SeriesMap.of([], [], {})

    def add(self, rows: SystemRows) -> None:
        """Takes rows (with file ids) of any time."""
        if not len(rows):
            return
        part = rows.time_us // (self.span // 1000)
        low, high = int(part.min()), int(part.max())
        if low == high:
            self.pending.setdefault(low, []).append(rows)
        else:
            for one in np.unique(part).tolist():
                self.pending.setdefault(one, []).append(rows.where(part == one))
        waiting = {one: sum(map(len, many)) for one, many in self.pending.items()}
        for one in sorted(waiting, key=lambda p: -waiting[p]):
            if sum(waiting.values()) <= _PENDING_ROWS:
                break
            self._build(one)
            del waiting[one]

    def close(self, before_ns: int) -> None:
        """Builds every part that ends before a time: no more rows are expected there."""
        for part in sorted(self.pending):
            if (part + 1) * self.span <= before_ns:
                self._build(part)

    def drop(self, part: int, files: set[int]) -> None:
        """Takes the rows of some files out of a built part, which is then built again."""
        rows = self._stored(part)
        rows = rows.where(~np.isin(rows.file, list(files)))
        entry = self.entries.pop(part)
        if not files.intersection(entry.duplicate_files):
            self.dropped[part] = entry
        for table in PART_TABLES:
            (self.folder / part_file(table, part)).unlink()
        if len(rows):
            self.pending.setdefault(part, []).append(rows)

    def finish(self) -> list[Series]:
        """Builds what is left, and gives series their final numbers; the series in that order.

        Series without a record are forgotten: their files are gone, or their lines turned out to be unusable.
        """
        for part in sorted(self.pending):
            self._build(part)
        before, final = self.catalog.series, sorted_series(self._recorded())
        number = {series: at for at, series in enumerate(final)}
        self.catalog.series, self.catalog.index = final, number
        if final != before[: len(final)] or self.nodes() != self.numbered_nodes:
            renumber = np.array([number.get(series, -1) for series in before], np.int32)
            self.rebuild(lambda rows: SystemRows(renumber[rows.sid], rows.time_us, rows.value, rows.file))
        return final

    def _recorded(self) -> list[Series]:
        """The series that have a record in any part."""
        found = np.zeros(len(self.catalog.series), bool)
        for part in self.entries:
            table = pq.read_table(self.folder / part_file(schema.Table.COARSE, part), columns=["sid"])
            found[table.column("sid").to_numpy()] = True
        return [series for series, known in zip(self.catalog.series, found.tolist(), strict=True) if known]

    def rebuild(self, change: Callable[[SystemRows], SystemRows]) -> None:
        """Builds every part again from its changed rows; used where numbers or intervals turn out otherwise."""
        for part in sorted(self.entries):
            old = self.entries[part]
            self._write(part, change(self._stored(part)))
            new = self.entries[part]
            self.entries[part] = replace(new, duplicates=old.duplicates, duplicate_files=old.duplicate_files)

    def nodes(self) -> list[str]:
        """The nodes met so far, in natural order."""
        return sorted({series.node for series in self.catalog.series}, key=lambda node: (natural_key(node), node))

    def intervals_ns(self) -> dict[str, int]:
        """The nominal interval that each node's bins are built on; the shortest one where a node has none yet."""
        usual = min(self.nominal.values(), default=500 * 10**6)
        return {node: self.nominal.get(node, usual) for node in self.nodes()}

    def _build(self, part: int) -> None:
        many = self.pending.pop(part)
        before = self.entries.get(part)
        if before is not None:
            many.append(self._stored(part))
        before = before or self.dropped.pop(part, None)
        self._write(part, SystemRows.concatenate(many))
        if before is not None and before.duplicates:
            now = self.entries[part]
            files = tuple(sorted({*before.duplicate_files, *now.duplicate_files}))
            total = now.duplicates + before.duplicates
            self.entries[part] = replace(now, duplicates=total, duplicate_files=files)

    def _stored(self, part: int) -> SystemRows:
        table = pq.read_table(self.folder / part_file(schema.Table.RAW, part))
        sid, time_ns, value, file = (table.column(name).to_numpy() for name in schema.RAW.names)
        return SystemRows(sid, time_ns // 1000, value, file)

    def _series_map(self) -> parts.SeriesMap:
        """Made anew only where a series or an interval is new: a large job has many of both, and many parts."""
        interval_us = {node: interval // 1000 for node, interval in self.intervals_ns().items()}
        known = (tuple(self.catalog.series), tuple(interval_us.items()))
        if known != self.mapped:
            self.mapped = known
            self.series_map = parts.SeriesMap.of(self.catalog.series, list(interval_us), interval_us)
        return self.series_map

    def _write(self, part: int, rows: SystemRows) -> None:
        built = parts.build(rows, self._series_map())
        # Where devices share their times, these repeat; where each has its own, only differences are small.
        shared = len(built.stamps) * _SHARED_BY <= len(built.raw)
        for table, content, differences, plain in (
            (schema.Table.RAW, built.raw, () if shared else ("time_ns",), ()),
            (schema.Table.ROLLUP, built.rollup, ("bin_ns",), ("sum",)),
            (schema.Table.COARSE, built.coarse, ("bin_ns",), ("sum",)),
            (schema.Table.HISTOGRAM, built.histogram, (), ()),
            (schema.Table.STAMPS, built.stamps, ("time_us",), ("cpu_sum", "network_sum", *parts.DEVICE_HISTOGRAMS)),
        ):
            write_table(content, self.folder / part_file(table, part), differences=differences, plain=plain)
        times = built.raw.column("time_ns").to_numpy()
        self.entries[part] = PartEntry(
            part=part,
            start_ns=int(times.min()),
            end_ns=int(times.max()),
            rows=len(times),
            files=tuple(np.flatnonzero(np.bincount(built.raw.column("file").to_numpy())).tolist()),
            duplicates=built.duplicates,
            duplicate_files=built.duplicate_files,
        )


def read_batch(
    db: duckdb.DuckDBPyConnection, batch: Sequence[FileWithId], path_of: Callable[[str], str], catalog: Catalog
) -> tuple[SystemRows, tuple[Problem, ...], dict[int, int]]:
    """A batch of files as rows with file ids, what could not be used, and the rows of each file."""
    read = sagemaker_system.read(db, [(file, path_of(file.path)) for _, file in batch], catalog)
    ids = np.array([file_id for file_id, _ in batch], np.int32)
    rows = SystemRows(read.rows.sid, read.rows.time_us, read.rows.value, ids[read.rows.file])
    counts = np.bincount(read.rows.file, minlength=len(batch)) if len(rows) else np.zeros(len(batch), np.int64)
    return rows, read.problems, dict(zip(ids.tolist(), counts.tolist(), strict=True))
