"""Converting in this process, and what a stored job holds in words: no series numbers, no file ids, no versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq

from data.convert.job import convert_job
from data.convert.versions import current_version, job_folder
from data.manifest import Manifest, level_file, part_file, read_manifest
from data.sources import SourceJob, open_source
from data.store import Store
from tests import oracle, trees


def only_job(source: Path) -> SourceJob:
    """The one job of a source."""
    (job,) = open_source(str(source)).jobs()
    return job


def write_job(job: Path, records: Sequence[trees.Record]) -> list[oracle.Row]:
    """Writes a job of these records; the rows that they make."""
    trees.write(job, trees.metrics_files(records))
    return oracle.distinct(oracle.system_rows(job))


def convert(source: Path, store: Path, **options: Any) -> Stored:
    """Converts the one job of a source. Nothing waits for the disk: tests do not survive a power cut anyway."""
    job = only_job(source)
    with mock.patch("os.fsync"):
        manifest = convert_job(job, store, lambda progress: None, **options)
    return Stored(store, source, job_folder(store, job.job_id) / manifest.version)


def stored_now(source: Path, store: Path) -> Stored | None:
    """What is stored of the one job of a source at the moment."""
    folder = job_folder(store, only_job(source).job_id)
    version = current_version(folder)
    return Stored(store, source, folder / version) if version else None


@dataclass(frozen=True)
class Stored:
    """A version of a stored job."""

    root: Path
    source: Path
    folder: Path

    @cached_property
    def manifest(self) -> Manifest:
        return read_manifest(self.folder)

    @property
    def job_id(self) -> str:
        return self.manifest.job_id

    @cached_property
    def nodes(self) -> list[str]:
        return [node.name for node in self.manifest.nodes]

    def store(self, **options: Any) -> Store:
        """A store over the job's source."""
        return Store(self.root, [open_source(str(self.source))], **options)

    def table(self, name: str) -> list[dict[str, Any]]:
        """A table of the whole job as dictionaries, empty where there is none."""
        path = self.folder / f"{name}.parquet"
        return pq.read_table(path).to_pylist() if path.exists() else []

    def parts(self, name: str) -> list[dict[str, Any]]:
        """A table that is kept by part, all parts together."""
        return [
            row
            for part in self.manifest.parts
            for row in pq.read_table(self.folder / part_file(name, part.part)).to_pylist()
        ]

    def events(self) -> list[dict[str, Any]]:
        """All framework events, in no order, each with the path of its file."""
        paths = {row["file"]: row["path"] for row in self.table("files")}
        found = [
            row | {"file": paths[row["file"]]}
            for part in self.manifest.event_parts
            for row in pq.read_table(self.folder / part_file("events", part.part)).to_pylist()
        ]
        assert len(found) == self.manifest.events
        return found

    def memory(self) -> list[dict[str, Any]]:
        """All records of memory allocators, in no order, each with the path of its file."""
        paths = {row["file"]: row["path"] for row in self.table("files")}
        return [
            row | {"file": paths[row["file"]]}
            for part in self.manifest.memory_parts
            for row in pq.read_table(self.folder / part_file("memory", part.part)).to_pylist()
        ]

    def series(self) -> list[tuple[str, str, str, str]]:
        """(node, type, name, dimension) by series number."""
        return [(row["node"], row["type"], row["name"], row["dimension"]) for row in self.table("series")]

    def rows(self) -> list[oracle.Row]:
        """The raw rows, sorted."""
        series = self.series()
        return sorted(oracle.Row(*series[row["sid"]], _us(row["time_ns"]), row["value"]) for row in self.parts("raw"))

    def bins(self, factor: int) -> dict[Any, tuple[float, float, float, int]]:
        """(series, start of bin in microseconds) -> min, max, sum, count, of one level."""
        series, first = self.series(), self.manifest.levels[0]
        rows = self.parts("rollup") if factor == first else pq.read_table(self.folder / level_file(factor)).to_pylist()
        found: dict[Any, tuple[float, float, float, int]] = {}
        for row in rows:
            key = (series[row["sid"]], _us(row["bin_ns"]))
            one = (row["min"], row["max"], row["sum"], row["count"])
            before = found.get(key)
            found[key] = one if before is None else _joined(before, one)
        return found

    def ticks(self) -> list[dict[str, Any]]:
        """The ticks with node names, in the order of nodes and times."""
        return [row | {"node": self.nodes[row["node"]]} for row in self.table("ticks")]

    def value_counts(self) -> dict[tuple[str, int, float], int]:
        """(node, metric, value) -> how often, over the whole job."""
        return {(self.nodes[r["node"]], r["metric"], r["value"]): r["count"] for r in self.table("histogram")}

    def step_rows(self) -> list[tuple[Any, ...]]:
        """Steps as (phase, node, worker, step, start, duration), sorted; times in microseconds."""
        groups: Sequence[tuple[str, str]] = self.manifest.step_groups
        return sorted(
            (*groups[row["group"]], row["worker"], row["step"], _us(row["start_ns"]), _us(row["duration_ns"]))
            for row in self.table("steps")
        )


def _joined(a: tuple[float, float, float, int], b: tuple[float, float, float, int]) -> tuple[float, float, float, int]:
    return min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2], a[3] + b[3]


def _us(time_ns: int) -> int:
    assert time_ns % 1000 == 0
    return time_ns // 1000


def close(found: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two numbers, or both of nothing, are the same but for rounding."""
    if found is None or expected is None:
        return found is expected
    return bool(np.isclose(found, expected, rtol=tolerance, atol=1e-9))
