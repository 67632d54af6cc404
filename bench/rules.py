"""What judging a very long job costs: one of 146 million records, of which only the ticks that rules see are made."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.judgement import Choice, StoredEvidence, findings
from bench.measure import Cost, cost_of, median_cost, median_ms
from data.convert.job import convert_job
from data.convert.tables import TICK_ROW_GROUP, write_table
from data.demo.spec import TreeSpec
from data.demo.tree import write_tree
from data.errors import MissingTable
from data.frames.findings import COMPAT, FIXED
from data.insights.rule import Judge, Values
from data.insights.rules import RULES
from data.manifest import MANIFEST, read_manifest
from data.queries import evidence
from data.selection import Selection
from data.sources import open_source
from data.store import Database, Store

NODES, CORES, GPUS, TICKS = 16, 192, 8, 43_200
"""6 hours at 500 ms: 691,200 ticks of nodes, of 146 million records."""

STAMPS_PER_TICK = 5

_COLD = """
import sys
from pathlib import Path
from app.judgement import Choice, findings
from data.selection import Selection
from data.sources import open_source
from data.store import Store
store = Store(Path(sys.argv[1]), [open_source(sys.argv[2])])
store.fetch(findings, Selection(store.job_ids()[0]), Choice(sys.argv[3]))
"""


@dataclass(frozen=True)
class LongJob:
    """A job in a store of its own."""

    source: Path
    store: Path

    def opened(self) -> Store:
        return Store(self.store, [open_source(str(self.source))], time_limit_s=600)

    def cold(self, mode: str, runs: int) -> Cost:
        """A new process that opens the store and judges the job."""
        command = [sys.executable, "-c", _COLD, str(self.store), str(self.source), mode]
        return median_cost(runs, lambda: cost_of(command))


def long_job(root: Path) -> LongJob:
    """The job, written once: a short one is converted, and its ticks are replaced by those of six hours."""
    job = LongJob(root / "trees" / "XL", root / "stores" / "XL")
    if not (job.source / "complete").exists():
        write_tree(job.source, TreeSpec(nodes=NODES, cores=2, gpus=GPUS, seconds=70, seed=6))
        (source,) = open_source(str(job.source)).jobs()
        manifest = convert_job(source, job.store, lambda progress: None)
        folder = job.store / "jobs" / source.job_id / manifest.version
        _lengthen(folder)
        (job.source / "complete").touch()
    return job


def _lengthen(folder: Path) -> None:
    manifest = read_manifest(folder)
    kind = pq.read_schema(folder / "ticks.parquet")
    start_ns, interval_ns = manifest.system_start_ns, 500_000_000
    write_table(
        pa.concat_tables(_ticks(at, start_ns, interval_ns, kind) for at in range(NODES)),
        folder / "ticks.parquet",
        differences=("tick_ns", "stamp_ns"),
        plain=("cpu_mean", "network", *(field.name for field in kind if field.name.endswith("_histogram"))),
        row_group=TICK_ROW_GROUP,
    )
    end_ns = start_ns + TICKS * interval_ns
    nodes = tuple(
        msgspec.structs.replace(node, ticks=TICKS, end_ns=end_ns, cpus=CORES, interval_ns=interval_ns)
        for node in manifest.nodes
    )
    longer = msgspec.structs.replace(manifest, nodes=nodes, end_ns=end_ns, system_end_ns=end_ns)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(longer))


def _ticks(node: int, start_ns: int, interval_ns: int, kind: pa.Schema) -> pa.Table:
    """A node's ticks: cores and GPUs that go up and down with noise, values as coarse as those of real files."""
    random = np.random.default_rng(node)
    tick_ns = start_ns + node * 31_000_000 + interval_ns * np.arange(TICKS) + random.integers(0, 2_000_000, TICKS)
    wave = 50 + 45 * np.sin(np.arange(TICKS) / 700)
    stamps = tick_ns[:, None] + 700_000 * np.arange(STAMPS_PER_TICK)

    def noisy(around: Any, deviation: float, decimals: int) -> Any:
        shape = (TICKS, *np.shape(around)[1:])
        return np.clip(np.round(around + random.normal(0, deviation, shape), decimals), 0, 100)

    def lists(values: Any) -> pa.Array:
        offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ravel(values)))

    gpu = noisy(np.repeat(wave[:, None], GPUS, axis=1) - 20, 15, 0)
    columns = {
        "node": pa.array(np.full(TICKS, node, np.int16)),
        "tick_ns": pa.array(tick_ns),
        "stamp_ns": lists(stamps),
        **{
            f"stamp_{name}": lists(noisy(np.repeat(wave[:, None], STAMPS_PER_TICK, axis=1), 20, 2))
            for name in (
                "cpu_max",
                "io_wait_max",
                "gpu_min",
            )
        },
        "gpu_values": lists(gpu),
        "gpu_memory_values": lists(noisy(gpu / 2 + 20, 2, 0)),
    }
    for field in kind:
        if field.name in columns:
            continue
        if pa.types.is_floating(field.type):
            columns[field.name] = pa.array(noisy(wave, 20, 2))
        elif pa.types.is_fixed_size_list(field.type):
            zeros = pa.array(np.zeros(TICKS * field.type.list_size, np.int32))
            columns[field.name] = pa.FixedSizeListArray.from_arrays(zeros, field.type.list_size)
        else:
            columns[field.name] = pa.array(np.full(TICKS, GPUS), field.type)
    return pa.table([columns[field.name].cast(field.type) for field in kind], schema=kind)


def judge_long_job(root: Path, runs: int) -> dict[str, Any]:
    """Median wall and processor milliseconds: all rules with their evidence, each part of it, and each rule alone."""
    job = long_job(root)
    store = job.opened()
    selection = Selection(store.job_ids()[0])
    found = {}
    for mode, words in ((FIXED, ""), (COMPAT, ", compat")):
        found[f"all rules, warm{words}"] = median_ms(runs, partial(store.fetch, findings, selection, Choice(mode)))
        cold = job.cold(mode, min(runs, 3))
        found[f"all rules, new process{words}"] = (cold.wall_s * 1000, cold.cpu_s * 1000)
    for name, query in (("ticks", evidence.ticks), ("stamps", evidence.stamps)):
        found[f"evidence: {name}"] = median_ms(runs, partial(store.fetch, query, selection))
    return {"runs": runs, "rules_ms": found | store.fetch(_by_rule, selection, runs)}


def _by_rule(db: Database, selection: Selection, runs: int) -> dict[str, tuple[float, float]]:
    given = StoredEvidence(db, selection.job)
    found = {}
    for rule in RULES:
        values = Values({setting.name: setting.default for setting in rule.settings})
        for words, judge in (("", rule.judge), (", compat", rule.compat)):
            if judge is not None:
                found[f"{rule.name}{words}"] = median_ms(runs, partial(_judged, judge, given, values))
    return found


def _judged(judge: Judge, given: StoredEvidence, values: Values) -> None:
    with suppress(MissingTable):
        judge(given, values)
