"""Data quality of a converted job: against the raw files, worked out by hand, and against `inspect`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data import inspection
from data.frames.quality import STRETCHES, NodeLoss
from data.queries import files, jobs, quality
from data.selection import Selection
from data.sources.layout import node_of
from tests import trees
from tests.stored import Stored, convert
from tests.trees import START_US, StepRecord

SECOND = 1_000_000
LATE_US = 38_000
REPEATED = "profiler-output/framework/pevents/2020120422/1607121630000000_0-algo-1_pythontimeline.json"
COPY = REPEATED.replace(".json", " (1).json")
"""Comes first by name, so it is the one that is read."""


def write_damaged(job: Path) -> None:
    """Two nodes for 300 s; algo-2 lacks 50 s alone and 70 s with the other one, begins 20 s late, and loses lines."""
    first = trees.machine("algo-1", ticks=600, gpus=1)
    second = trees.machine("algo-2", start_us=START_US + 20 * SECOND, ticks=560, gpus=0, skip=range(100, 200))
    hole = (START_US + 200 * SECOND, START_US + 270 * SECOND)
    records = [one for one in first + second if not hole[0] <= one.time_us < hole[1]]
    metrics = trees.metrics_files(records)
    trees.write(job, metrics)
    broken = trees.metrics_path(START_US, "algo-2")
    trees.write(job, {broken: metrics[broken] + b'{"broken\n' * 3})
    trees.write(job, {trees.metrics_path(START_US + 60 * SECOND, "algo-1", ".json.gz"): b"\x1f\x8b not gzip"})
    trees.write(job, {trees.metrics_path(START_US, "algo-1 (1)"): metrics[trees.metrics_path(START_US, "algo-1")]})
    write_steps(job)


def write_steps(job: Path) -> None:
    """20 shared steps in two processes; algo-2 starts each 38 ms later, every second one 2 ms more."""
    steps = []
    for step in range(20):
        at = START_US + 30 * SECOND + step * SECOND
        steps += [StepRecord(step, at + worker * 5_000, 900_000, worker=str(worker)) for worker in (0, 1)]
        steps.append(StepRecord(step, at + LATE_US + step % 2 * 2_000, 900_000, node="algo-2"))
    steps.append(StepRecord(-1, START_US + 60 * SECOND, 900_000, node="algo-2"))
    timelines = trees.step_files(steps)
    trees.write(job, timelines)
    trees.write(job, {COPY: timelines[REPEATED]})
    events = json.loads(timelines[REPEATED])[:3]
    odd = [{**events[2], "dur": "x"}, {**events[2], "ts": None}, {**events[2], "dur": -1}]
    trees.write(job, {REPEATED.replace("_0-algo-1", "_7-algo-3"): json.dumps(events[:2] + odd).encode()})


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("damaged")
    write_damaged(folder / "job")
    return convert(folder / "job", folder / "store")


def ask(stored: Stored, query: Any, *arguments: Any) -> Any:
    return stored.store().fetch(query, Selection(stored.job_id), *arguments)


def test_what_was_read_and_lost(damaged: Stored) -> None:
    found = ask(damaged, quality.summary)
    kinds = {kind.kind: kind for kind in found.kinds}
    assert kinds["system"].lost_rows == found.lost_rows == 3 + 1
    assert kinds["system"].damaged == 2
    assert kinds["pythontimeline"].left_out == 3
    assert kinds["pythontimeline"].copies == 1
    assert found.losses == (NodeLoss("system", "algo-2", 1, 3), NodeLoss("system", "algo-1", 1, 1))
    assert found.errors == 1
    assert found.nodes == ("algo-1", "algo-2")
    assert found.files == sum(kind.files for kind in found.kinds)
    assert found.raw_bytes == sum(kind.size_bytes for kind in found.kinds)
    assert found.system_rows + found.duplicates == kinds["system"].rows
    assert found.duplicates == len(trees.machine("algo-1", ticks=120, gpus=1))


def test_every_figure_is_the_one_that_inspect_gives(damaged: Stored) -> None:
    (report,) = inspection.inspect(str(damaged.source), damaged.root)["jobs"]
    found, covered = ask(damaged, quality.summary), ask(damaged, quality.coverage)
    page = ask(damaged, files.problem_page, "", (), 0, 1000)
    assert found.system_rows == report["system_rows"]
    assert found.events == report["events"]
    assert found.duplicates == report["duplicate_rows_dropped"]
    assert found.lost_rows == sum(one["lost_rows"] for one in report["problems"])
    assert page.total == len(report["problems"]) == found.problems + found.notes
    assert sorted(page.rows["message"]) == sorted(one["message"] for one in report["problems"])
    assert (covered.start_ns // 1000, covered.end_ns // 1000) == (report["start_us"], report["end_us"])
    gaps = [one for one in zip(covered.kind, covered.node, strict=True) if one[0] < 2]
    assert {covered.nodes[node].node for _, node in gaps} == {one["node"] for one in report["gaps"]}
    assert len(report["gaps"]) == 3  # those of the page besides are what a node lacks at the beginning


def test_coverage_is_worked_out_from_the_records(damaged: Stored) -> None:
    found = ask(damaged, quality.coverage)
    stamps: dict[str, list[int]] = {}
    for one in damaged.rows():
        stamps.setdefault(one.node, []).append(one.time_us)
    span_us = (found.end_ns - found.start_ns) // 1000
    for node in found.nodes:
        times = sorted({*stamps[node.node], found.start_ns // 1000, found.end_ns // 1000})
        missing_us = sum(d for d in np.diff(times).tolist() if d > 3 * node.median_ns / 1000)
        assert node.missing_ns == missing_us * 1000
        assert node.covered_percent == pytest.approx(100 * (1 - missing_us / span_us))
        assert (node.start_ns // 1000, node.end_ns // 1000) == (min(stamps[node.node]), max(stamps[node.node]))
    assert [node.missing for node in found.nodes] == [1, 3]


def test_stretches_are_told_apart(damaged: Stored) -> None:
    found = ask(damaged, quality.coverage)
    stretches = [
        (found.nodes[node].node, STRETCHES[kind], round((end - start) / 1e9))
        for node, kind, start, end in zip(
            found.node, found.kind, found.stretch_start_ns, found.stretch_end_ns, strict=True
        )
    ]
    assert stretches == [
        ("algo-1", "interruption", 70),
        ("algo-2", "before the first record", 20),
        ("algo-2", "gap", 50),
        ("algo-2", "interruption", 70),
    ]


def test_a_gap_longer_than_what_all_lack_is_cut(tmp_path: Path) -> None:
    records = trees.machine("algo-1", ticks=600, skip=range(200, 400))
    records += trees.machine("algo-2", ticks=600, skip=range(100, 400))
    trees.write(tmp_path / "job", trees.metrics_files(records))
    found = ask(convert(tmp_path / "job", tmp_path / "store"), quality.coverage)
    lengths = ((found.stretch_end_ns - found.stretch_start_ns) / 1e9).round().astype(int).tolist()
    assert list(zip(found.node.tolist(), found.kind.tolist(), lengths, strict=True)) == [
        (0, 1, 100),
        (1, 0, 50),
        (1, 1, 100),
    ]
    assert [node.missing for node in found.nodes] == [1, 1]  # as `inspect` counts them


def test_intervals_are_those_of_the_ticks(damaged: Stored) -> None:
    found = ask(damaged, quality.coverage)
    for node in found.nodes:
        ticks = [row["tick_ns"] for row in damaged.ticks() if row["node"] == node.node]
        apart = np.diff(ticks)
        assert node.ticks == len(ticks)
        assert node.median_ns == int(np.median(apart))
        assert node.p95_ns == pytest.approx(np.quantile(apart, 0.95))
        assert node.longest_ns == apart.max()
        assert node.nominal_ns == 500_000_000


def test_events_reach_from_the_first_start_to_the_last_end(damaged: Stored) -> None:
    first, second = ask(damaged, quality.coverage).events
    assert (first.node, second.node) == ("algo-1", "algo-2")
    assert (first.start_ns // 1000, first.end_ns // 1000) == (
        START_US + 30 * SECOND,
        START_US + 49 * SECOND + 5_000 + 900_000,
    )
    assert (first.events, second.events) == (40, 21)


def test_clock_offsets_are_differences_of_shared_steps(damaged: Stored) -> None:
    found = ask(damaged, quality.clocks)
    assert found.reference == "algo-1"
    (other,) = found.nodes
    assert other.steps == 20  # the one without a number counts for nothing
    differences = np.array([LATE_US, LATE_US + 2_000] * 10) * 1000
    assert other.median_ns == np.quantile(differences, 0.5)
    assert (other.p5_ns, other.p95_ns) == (np.quantile(differences, 0.05), np.quantile(differences, 0.95))


def test_steps_taken_twice_tell_nothing_of_clocks(tmp_path: Path) -> None:
    steps = [StepRecord(step, START_US + step * SECOND, 1000) for step in range(30)]
    steps += [replace(one, node="algo-2", start_us=one.start_us + 7_000) for one in steps]
    steps += [replace(one, start_us=one.start_us + 60 * SECOND) for one in steps[:5]]  # again after a restart
    steps += [StepRecord(step, START_US + step * SECOND, 1000, node="algo-3") for step in range(90, 95)]
    trees.write(tmp_path / "job", trees.step_files(steps))
    second, third = ask(convert(tmp_path / "job", tmp_path / "store"), quality.clocks).nodes
    assert (second.node, second.steps, second.median_ns) == ("algo-2", 25, 7_000_000)
    assert (third.node, third.steps) == ("algo-3", 0)
    assert np.isnan(third.median_ns)


def test_steps_of_other_phases_are_other_steps(tmp_path: Path) -> None:
    steps = [StepRecord(step, START_US + step * SECOND, 1000) for step in range(12)]
    steps += [replace(one, node="algo-2", phase="Step:ModeKeys.EVAL") for one in steps]
    trees.write(tmp_path / "job", trees.step_files(steps))
    (other,) = ask(convert(tmp_path / "job", tmp_path / "store"), quality.clocks).nodes
    assert other.steps == 0


def test_values_out_of_range_are_counted(damaged: Stored) -> None:
    found = ask(damaged, quality.values)
    assert [one.node for one in found.measured] == ["algo-1", "algo-2"]
    assert "gpu" in found.measured[0].metrics
    assert "gpu" not in found.measured[1].metrics
    (odd,) = found.out_of_range
    rows = [row for row in damaged.rows() if row.dimension == "CPUUtilization" and not 0 <= row.value <= 100]
    assert odd.metric == "cpu"
    assert odd.samples == len(rows) > 0
    assert odd.series == len({(row.node, row.name) for row in rows})
    assert (odd.lowest, odd.highest) == (-19.61, 100.5)


def test_problems_come_errors_first_and_are_found_by_words(damaged: Stored) -> None:
    page = ask(damaged, files.problem_page, "", (), 0, 100)
    severities = page.rows["severity"].tolist()
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    found = ask(damaged, files.problem_page, "JSON record", (), 0, 100)
    assert found.total == 3
    assert ask(damaged, files.problem_page, "' or 1=1 --", (), 0, 100).total == 0
    assert ask(damaged, files.problem_page, "%", (), 0, 100).total == 0


def test_blocks_follow_each_other(damaged: Stored) -> None:
    order = (("line", "desc"), ("no column", "asc"))
    whole = ask(damaged, files.problem_page, "", order, 0, 100)
    parts = [ask(damaged, files.problem_page, "", order, at, at + 2).rows for at in range(0, whole.total, 2)]
    assert [m for part in parts for m in part["message"]] == whole.rows["message"].tolist()
    lines = whole.rows["line"].dropna().tolist()
    assert lines == sorted(lines, reverse=True)
    assert whole.rows["line"].notna().iloc[0]  # unknown ones stay last


def test_files_with_something_to_say_or_all(damaged: Stored) -> None:
    some = ask(damaged, files.file_page, "", False, (), 0, 100)
    assert {row["file"].rsplit("/", 1)[-1] for row in some.rows.to_dict("records")} == {
        "1607121600.algo-2.json",
        "1607121660.algo-1.json.gz",
        REPEATED.rsplit("/", 1)[-1],
        "1607121630000000_7-algo-3_pythontimeline.json",
    }
    every = ask(damaged, files.file_page, "", True, (("size_bytes", "desc"),), 0, 100)
    assert every.total == damaged.manifest.files
    sizes = every.rows["size_bytes"].tolist()
    assert sizes == sorted(sizes, reverse=True)
    copy = some.rows[some.rows["copy_of"] != ""]
    assert copy["file"].tolist() == [REPEATED]
    assert copy["copy_of"].tolist() == [COPY]


def test_a_job_of_which_nothing_could_be_read(tmp_path: Path) -> None:
    trees.write(tmp_path / "job", {trees.metrics_path(START_US, "algo-1"): b'{"x": 1}\n' * 5})
    stored = convert(tmp_path / "job", tmp_path / "store")
    found = ask(stored, quality.summary)
    assert not found.has_data
    assert found.lost_rows == 5
    assert ask(stored, jobs.any_header).nodes == ()
    covered = ask(stored, quality.coverage)
    assert (covered.nodes, covered.events, len(covered.kind)) == ((), (), 0)
    assert ask(stored, quality.clocks).nodes == ()
    assert ask(stored, quality.values).measured == ()


@pytest.mark.parametrize(
    ("path", "node"),
    [
        (trees.metrics_path(START_US, "algo-1"), "algo-1"),
        ("system/incremental/2020120422/1607121600.151-algo-1.json", "151-algo-1"),
        ("profiler-output/framework/pevents/2020120422/1607121630000000_151-algo-12_pythontimeline.json", "algo-12"),
        ("framework/pevents/2020120422/1607121630000000_host_model_timeline.json", "host"),
        ("training-job.json", ""),
    ],
)
def test_the_node_in_a_file_s_name(path: str, node: str) -> None:
    assert node_of(path) == node
