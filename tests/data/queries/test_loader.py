"""Data loading against plain Python: waits, workers, settings, and the time from batch to batch."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from data.errors import MissingTable
from data.frames.evidence import LOADER_KINDS
from data.queries import loader
from data.selection import Selection, Window
from tests import framework, trees
from tests.framework import Event
from tests.stored import Stored, convert

WAIT, WORKER, START = "DataLoaderIter", "DataLoaderWorker", "DataLoaderIterInitialize"
NAMES = {
    WAIT: "_MultiProcessingDataLoaderIter::GetNext",
    WORKER: "fetch",
    START: "_MultiProcessingDataLoaderIter.__init__",
}
Row = tuple[str, int, int, int, dict[str, Any]]  # phase, process, start and length in microseconds, arguments


def some_rows(seed: int) -> list[Row]:
    dice = random.Random(seed)
    rows: list[Row] = [(START, 7, 0, 500, {"num_workers": 2, "pin_memory": False})]
    rows.append((START, 8, 0, 400, {"num_workers": "4", "pin_memory": "True"}))
    for process in (7, 8):
        at = 600
        for batch in range(50):
            length = dice.randrange(1, 40) * (9 if batch % 17 == 5 else 1)
            rows.append((WAIT, process, at, length, {"worker_id": batch % 2}))
            rows.append((WORKER, process + 10, at - 30, dice.randrange(10, 60), {"worker_id": str(batch % 2)}))
            at += length + dice.randrange(20, 90)
    return rows


def write(job: Path, rows: list[Row]) -> None:
    """A timeline of one node; the process of an event is its pid argument."""
    phases = sorted({row[0] for row in rows})
    start = {"start_time_since_epoch_in_micros": trees.START_US}
    content: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": 0, "args": start}]
    content += [
        {"name": "process_name", "ph": "M", "pid": at, "args": {"name": phase}} for at, phase in enumerate(phases, 1)
    ]
    for phase, process, begin, length, args in rows:
        event = {"name": NAMES[phase], "ph": "X", "pid": phases.index(phase) + 1, "ts": begin, "dur": length}
        content.append(event | {"args": {"pid": process} | args})
    name = f"profiler-output/framework/pevents/2020120422/{trees.START_US + 10**9}_0-algo-1_pythontimeline.json"
    trees.write(job, {name: json.dumps(content).encode()})


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("loader")
    write(folder / "job", some_rows(4))
    return convert(folder / "job", folder / "store")


@pytest.mark.parametrize("window", [None, (1000, 3000)])
def test_figures_are_those_of_plain_python(stored: Stored, window: tuple[int, int] | None) -> None:
    span = window and Window(*((trees.START_US + one) * 1000 for one in window))
    found = stored.store().fetch(loader.data_loading, Selection(stored.job_id, span or None))
    rows = [row for row in some_rows(4) if not window or window[0] <= row[2] < window[1]]
    kinds = {"wait": WAIT, "worker": WORKER, "start": START}
    lengths = {kind: [row[3] for row in rows if row[0] == phase] for kind, phase in kinds.items()}
    assert sum(group.events for group in found.groups) == len(rows)
    for group in found.groups:
        mine = [
            row[3]
            for row in rows
            if row[0] == kinds[group.kind]
            and str(row[1]) == group.process
            and str(row[4].get("worker_id", "")) == group.loader
        ]
        assert (group.events, group.total_ns, group.longest_ns) == (len(mine), 1000 * sum(mine), 1000 * max(mine))
        assert group.median_ns == 1000 * median(mine)
        assert group.p95_ns == pytest.approx(1000 * np.quantile(mine, 0.95))
        assert group.outliers == sum(one >= 2 * median(lengths[group.kind]) for one in mine)
    took = []
    for process in (7, 8):
        waits = sorted((row for row in rows if row[0] == WAIT and row[1] == process), key=lambda row: row[2] + row[3])
        took += [after[2] - before[2] for before, after in pairwise(waits)]
    assert found.batches == len(took) == found.counts.sum()
    assert found.median_ns == 1000 * median(took)
    assert found.longest_ns == 1000 * max(took)
    assert found.outliers == sum(one >= 2 * median(took) for one in took)


def test_settings_are_as_they_were_written(stored: Stored) -> None:
    found = stored.store().fetch(loader.data_loading, Selection(stored.job_id))
    assert sorted(found.settings) == [("2", "false"), ("4", "true")]


def test_waits_of_pytorch_s_traces_count(tmp_path: Path) -> None:
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    rows = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 5, "tid": 5, "ts": at, "dur": 3}
        for at in (10, 25, 60)
    ]
    trees.write(tmp_path / "job", {"a.pt.trace.json": json.dumps({"schemaVersion": 1, "traceEvents": rows}).encode()})
    stored = convert(tmp_path / "job", tmp_path / "store")
    found = stored.store().fetch(loader.data_loading, Selection(stored.job_id))
    (group,) = found.groups
    assert (group.kind, group.process, group.events) == ("wait", "5", 3)
    assert (found.batches, found.median_ns, found.longest_ns) == (2, 25_000, 35_000)
    assert found.settings == ()


def test_a_job_without_a_loader_says_how_to_get_its_events(tmp_path: Path) -> None:
    framework.write(tmp_path / "job", [Event("forward", "Forward", "net", 5, 5)])
    stored = convert(tmp_path / "job", tmp_path / "store")
    with pytest.raises(MissingTable, match="No event of a data loader") as caught:
        stored.store().fetch(loader.data_loading, Selection(stored.job_id))
    assert "DataloaderProfilingConfig" in caught.value.hint


def test_every_event_of_a_loader(stored: Stored) -> None:
    found = stored.store().fetch(loader.events, Selection(stored.job_id))
    kinds = {START: "start", WAIT: "wait", WORKER: "worker"}
    events = [
        (LOADER_KINDS[kind], found.nodes[node], found.processes[process], start, length)
        for kind, node, process, start, length in zip(
            *(one.tolist() for one in (found.kind, found.node, found.process, found.start_ns, found.duration_ns)),
            strict=True,
        )
    ]
    rows = [
        (kinds[phase], "algo-1", str(process), (trees.START_US + start) * 1000, length * 1000)
        for phase, process, start, length, _ in some_rows(4)
    ]
    assert sorted(events) == sorted(rows)
    assert events == sorted(events, key=lambda event: event[3])
    assert found.of_profiler.tolist() == [event[0] != "start" for event in events]
    assert not found.alone.any()
    assert found.settings == (("2", "false"), ("4", "true"))


def test_loaders_without_workers_are_told_by_their_name(tmp_path: Path) -> None:
    names = [f"enumerate(DataLoader)#_{kind}ProcessDataLoaderIter.__next__" for kind in ("Single", "Multi")]
    rows = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 5, "tid": 5, "ts": at, "dur": 3}
        for at, name in enumerate(names)
    ]
    trees.write(tmp_path / "job", {"a.pt.trace.json": json.dumps({"schemaVersion": 1, "traceEvents": rows}).encode()})
    stored = convert(tmp_path / "job", tmp_path / "store")
    found = stored.store().fetch(loader.events, Selection(stored.job_id))
    assert found.alone.tolist() == [True, False]
    assert (found.of_profiler.any(), found.settings) == (False, ())


def test_no_event_of_a_loader_is_no_evidence(tmp_path: Path) -> None:
    framework.write(tmp_path / "job", [Event("forward", "Forward", "net", 5, 5)])
    stored = convert(tmp_path / "job", tmp_path / "store")
    with pytest.raises(MissingTable, match="No event of a data loader"):
        stored.store().fetch(loader.events, Selection(stored.job_id))
