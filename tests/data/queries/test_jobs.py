"""The list of jobs, and what is known of one."""

from __future__ import annotations

import json
import shutil
import time
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest

from data.convert.job import convert_job
from data.errors import NotConverted, UnknownJob
from data.frames import GAPS_COLUMNS, JOB_LIST_COLUMNS, PROBLEMS_COLUMNS
from data.frames.cost import Billing
from data.manifest import MANIFEST
from data.queries import jobs
from data.selection import Selection
from data.sources import open_source
from data.store import Store
from tests import oracle, trees
from tests.stored import Stored, convert

SECOND = 1_000_000
DESCRIPTION = {
    "TrainingJobName": "train-2",
    "TrainingJobStatus": "Completed",
    "ResourceConfig": {"InstanceType": "ml.p3.8xlarge", "InstanceCount": 3, "VolumeSizeInGB": 30},
    "TrainingTimeInSeconds": 503,
    "BillableTimeInSeconds": 151,
}
NAMES = {
    "train-2": "with GPUs, described",
    "train-10": "without GPUs",
    "steps only": "no system metrics",
    "later": "not converted",
    "bad": "damaged in the store",
    "dark": "never profiled",
    "x' or 1=1 --<b>": "a hostile name",
}


def write_jobs(source: Path) -> None:
    job = source / "train-2"
    trees.write(job, trees.metrics_files(trees.machine(ticks=20, gpus=2) + trees.machine("algo-2", ticks=20)))
    trees.write(job, {"training-job.json": json.dumps(DESCRIPTION).encode()})
    trees.write(source / "train-10", trees.metrics_files(trees.machine(ticks=30, gpus=0)))
    trees.write(source / "steps only", trees.step_files([trees.StepRecord(3, trees.START_US + 7, 100)]))
    for name in ("later", "bad", "x' or 1=1 --<b>"):
        trees.write(source / name, trees.metrics_files(trees.machine(ticks=10)))
    cut = trees.metrics_path(trees.START_US, "algo-1")
    hostile = source / "x' or 1=1 --<b>"
    (hostile / cut).write_bytes((hostile / cut).read_bytes()[:-30])
    (source / "dark/debug-output").mkdir(parents=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Seven jobs in all states."""
    root = tmp_path_factory.mktemp("jobs")
    source = root / "all jobs"
    write_jobs(source)
    store = Store(root / "store", [open_source(str(source))])
    with mock.patch("os.fsync"):
        for job in store.jobs():
            if job.name not in ("later", "dark"):
                convert_job(job, store.root, lambda progress: None)
    bad = id_of(store, "bad")
    (store.root / "jobs" / bad / store.version(bad) / MANIFEST).write_text("{}")
    return store


def id_of(store: Store, name: str) -> str:
    return next(job.job_id for job in store.jobs() if job.name == name)


def listed(
    store: Store, search: str = "", sort: tuple[tuple[str, str], ...] = (), start: int = 0, stop: int = 99
) -> Any:
    return store.fetch(jobs.job_list, search, sort, start, stop)


def names(store: Store, search: str = "", sort: tuple[tuple[str, str], ...] = ()) -> list[str]:
    found: list[str] = listed(store, search, sort).rows["name"].tolist()
    return found


def test_the_list_has_every_job_by_name_numbers_by_size(store: Store) -> None:
    found = listed(store)
    assert tuple(found.rows.columns) == JOB_LIST_COLUMNS
    assert found.total == len(NAMES)
    assert found.rows["name"].tolist() == [
        "bad",
        "dark",
        "later",
        "steps only",
        "train-2",
        "train-10",
        "x' or 1=1 --<b>",
    ]


def test_states(store: Store) -> None:
    rows = listed(store).rows.set_index("name")
    assert rows["state"].to_dict() == {
        "bad": "unreadable",
        "dark": "unreadable",
        "later": "not converted",
        "steps only": "stored",
        "train-2": "stored",
        "train-10": "stored",
        "x' or 1=1 --<b>": "stored",
    }
    assert "damaged" in rows.loc["bad", "state_detail"]
    assert "profiler-output" in rows.loc["dark", "state_detail"]
    assert rows.loc["train-2", "state_detail"] == ""


def test_a_converted_job_says_what_it_is(store: Store) -> None:
    row = listed(store).rows.set_index("name").loc["train-2"]
    rows = oracle.distinct(oracle.system_rows(Path(store.sources[0].uri) / "train-2"))
    assert row["start_ns"] == rows[0].time_us * 1000
    assert row["duration_ns"] == (rows[-1].time_us - rows[0].time_us) * 1000
    assert (row["status"], row["instances"], row["billed_s"]) == ("Completed", "3 × ml.p3.8xlarge", 151.0)
    assert (row["nodes"], row["gpus"], row["problems"]) == (2, 3, 0)
    usage = oracle.usage(oracle.ticks(rows))
    assert row["gpu_p95"] == pytest.approx(max(usage[node, "GPU"][3] for node in ("algo-1", "algo-2")))
    assert row["cpu_p95"] == pytest.approx(max(usage[node, "CPU"][3] for node in ("algo-1", "algo-2")))
    assert len(row["gpu_trend"]) == 32
    assert row["stored_bytes"] > 10_000


def test_what_is_not_known_is_missing_and_not_zero(store: Store) -> None:
    rows = listed(store).rows.set_index("name")
    unknown = ["start_ns", "duration_ns", "billed_s", "nodes", "gpus", "gpu_p95", "cpu_p95", "problems", "stored_bytes"]
    assert rows.loc[["bad", "dark", "later"], unknown].isna().all().all()
    assert rows.loc["train-10", "gpus"] == 0
    assert pd.isna(rows.loc["train-10", "gpu_p95"])
    assert rows.loc["train-10", "gpu_trend"] == ()
    assert pd.isna(rows.loc["train-10", "billed_s"])
    assert rows.loc["steps only", "start_ns"] == (trees.START_US + 7) * 1000
    assert rows.loc["steps only", ["gpus", "gpu_p95", "cpu_p95"]].isna().all()
    assert rows.loc["x' or 1=1 --<b>", "problems"] == 1


SORTABLE = ["start_ns", "duration_ns", "billed_s", "nodes", "gpus", "gpu_p95", "cpu_p95", "problems", "stored_bytes"]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("column", SORTABLE)
def test_unknown_values_sort_last_in_both_directions(store: Store, column: str, direction: str) -> None:
    values = listed(store, sort=((column, direction),)).rows[column]
    known = values.dropna().tolist()
    assert values.isna().tolist() == [False] * len(known) + [True] * (len(values) - len(known))
    assert known == sorted(known, reverse=direction == "desc")
    assert 0 < len(known) < len(values)


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("column", ["cost_usd", "gpu_hours"])
def test_jobs_sort_by_what_they_cost_and_only_then_all_of_them_are_priced(
    store: Store, column: str, direction: str
) -> None:
    asked: list[Billing] = []

    def priced(billing: Billing) -> tuple[Decimal | None, Decimal | None]:
        asked.append(billing)
        return (None if billing.billed_s is None else Decimal(billing.billed_s), Decimal(len(asked)))

    def ask(sort: tuple[tuple[str, str], ...], start: int, stop: int) -> Any:
        asked.clear()
        return store.fetch(jobs.job_list, "", sort, start, stop, priced).rows

    rows = ask(((column, direction),), 0, 99)
    known = rows[column].dropna().tolist()
    assert rows[column].isna().tolist() == [False] * len(known) + [True] * (len(rows) - len(known))
    assert known == sorted(known, reverse=direction == "desc")
    assert len(asked) == len(rows) - 3  # not of those that are not stored
    assert ask((("name", "asc"),), 4, 5)["cost_usd"].tolist() == [151.0]  # train-2
    assert len(asked) == 1
    assert listed(store).rows[column].isna().all()  # nobody says what anything costs


def test_text_columns_sort_naturally_and_empty_ones_last(store: Store) -> None:
    assert names(store, sort=(("name", "desc"),)) == list(reversed(names(store)))
    assert names(store, sort=(("instances", "asc"),))[0] == "train-2"
    assert names(store, sort=(("instances", "desc"),))[0] == "train-2"
    found = listed(store, sort=(("state", "asc"),)).rows["state"].tolist()
    assert found == sorted(found)


def test_ties_keep_the_order_of_names(store: Store) -> None:
    found = listed(store, sort=(("status", "asc"), ("nodes", "desc"))).rows
    keys = [(row["status"], -row["nodes"] if not pd.isna(row["nodes"]) else 1) for row in found.to_dict("records")]
    assert keys == sorted(keys)
    assert names(store, sort=(("status", "asc"), ("name", "desc")))[1:] == list(reversed(names(store)))[:2] + [
        name for name in reversed(names(store)) if name not in ("train-2", *list(reversed(names(store)))[:2])
    ]


def test_columns_that_do_not_exist_or_cannot_be_sorted_change_nothing(store: Store) -> None:
    for column in ("no_such_column", "gpu_trend", "", "name; drop table jobs"):
        assert names(store, sort=((column, "desc"),)) == names(store)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("train", ["train-2", "train-10"]),
        ("TRAIN-10", ["train-10"]),
        ("p3.8x", ["train-2"]),
        ("completed train", ["train-2"]),
        ("<b>", ["x' or 1=1 --<b>"]),
        ("' or 1=1", ["x' or 1=1 --<b>"]),
        ("nothing like it", []),
        ("none", []),
        ("%", []),
        ("   ", None),
        ("all jobs", None),
    ],
)
def test_every_word_must_be_found(store: Store, search: str, expected: list[str] | None) -> None:
    found = listed(store, search)
    assert found.rows["name"].tolist() == (names(store) if expected is None else expected)
    assert found.total == len(found.rows)


def test_blocks_of_the_list(store: Store) -> None:
    everything = names(store)
    for start, stop in ((0, 3), (3, 6), (6, 9), (0, 0), (50, 60)):
        found = listed(store, start=start, stop=stop)
        assert found.rows["name"].tolist() == everything[start:stop]
        assert found.total == len(everything)
        assert tuple(found.rows.columns) == JOB_LIST_COLUMNS
        assert str(found.rows["start_ns"].dtype) == "Int64"


def test_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    found = listed(Store(tmp_path / "store", [open_source(str(tmp_path / "source"))]))
    assert (found.total, len(found.rows), tuple(found.rows.columns)) == (0, 0, JOB_LIST_COLUMNS)


def test_totals(store: Store) -> None:
    found = store.fetch(jobs.totals)
    assert (found.jobs, found.stored, found.not_converted, found.unreadable) == (7, 4, 1, 2)
    assert (found.gpus, found.in_progress) == (4, 0)
    source = Path(store.sources[0].uri)
    sizes = [
        path.stat().st_size
        for name in ("train-2", "train-10", "steps only", "x' or 1=1 --<b>")
        for path in (source / name).rglob("*.json")
    ]
    assert found.raw_bytes == sum(sizes)
    assert found.stored_bytes == listed(store).rows["stored_bytes"].sum()


def test_a_changed_job_is_marked_once_it_was_looked_at(tmp_path: Path) -> None:
    source = tmp_path / "source"
    trees.write(source / "a", trees.metrics_files(trees.machine(ticks=4)))
    found = convert(source / "a", tmp_path / "elsewhere")
    store = Store(tmp_path / "store", [open_source(str(source))])
    (job,) = store.jobs()
    convert_job(job, store.root, lambda progress: None)
    assert not store.changed(job.job_id)
    trees.write(source / "a", trees.metrics_files(trees.machine(ticks=6)))
    assert not store.changed(job.job_id)  # looked at once per refresh
    store.refresh()
    assert store.changed(job.job_id)
    assert listed(store).rows["state"].tolist() == ["changed"]
    convert_job(job, store.root, lambda progress: None)
    store.refresh()
    assert not store.changed(job.job_id)
    assert found.job_id != job.job_id  # the same folder, named by another source


def test_a_store_without_sources_lists_what_it_holds(store: Store) -> None:
    alone = Store(store.root)
    assert sorted(listed(alone).rows["name"]) == sorted(
        [id_of(store, "bad"), "steps only", "train-2", "train-10", "x' or 1=1 --<b>"]
    )


def test_the_header(store: Store) -> None:
    found = store.fetch(jobs.header, Selection(id_of(store, "train-2")))
    rows = oracle.distinct(oracle.system_rows(Path(store.sources[0].uri) / "train-2"))
    assert (found.name, found.status, found.instances) == ("train-2", "Completed", "3 × ml.p3.8xlarge")
    assert (found.nodes, found.gpus, found.cpus) == (("algo-1", "algo-2"), 3, 4)
    assert (found.start_ns, found.end_ns) == (rows[0].time_us * 1000, rows[-1].time_us * 1000)
    assert found.interval_ns == pytest.approx(5e8, rel=0.01)
    assert found.intervals_ns == (500_000_000,)
    assert (found.step_count, found.phases, found.problems, found.lost_rows) == (0, (), 0, 0)
    assert found.version == store.version(found.job_id)


def test_the_header_of_a_job_without_system_metrics(store: Store) -> None:
    found = store.fetch(jobs.header, Selection(id_of(store, "steps only")))
    assert (found.nodes, found.gpus, found.cpus, found.interval_ns) == (("algo-1",), 0, 0, 0)
    assert (found.step_count, found.phases) == (1, ("Step:ModeKeys.TRAIN",))
    assert "no data for" in found.status_detail


@pytest.mark.parametrize("query", [jobs.header, jobs.times, jobs.gaps, jobs.problems])
def test_jobs_that_are_not_there(store: Store, query: Any) -> None:
    with pytest.raises(NotConverted):
        store.fetch(query, Selection(id_of(store, "later")))
    for job_id in ("", "nothing", "../store", "/etc", id_of(store, "train-2").upper()):
        with pytest.raises(UnknownJob):
            store.fetch(query, Selection(job_id))


def test_problems_name_file_and_line(store: Store) -> None:
    found = store.fetch(jobs.problems, Selection(id_of(store, "x' or 1=1 --<b>")))
    assert tuple(found.columns) == PROBLEMS_COLUMNS
    (row,) = found.to_dict("records")
    assert (row["file"], row["line"], row["severity"], row["lost_rows"]) == (
        trees.metrics_path(trees.START_US, "algo-1"),
        10 * 13,
        "warning",
        1,
    )
    assert store.fetch(jobs.problems, Selection(id_of(store, "train-2"))).empty


# The eleven rows of the training job summary


def timed(tmp_path: Path, job_s: float, many: list[trees.StepRecord]) -> Any:
    """The times of a job with a first and a last record, and steps."""
    stamps = (trees.START_US, trees.START_US + round(job_s * SECOND))
    records = [trees.Record("algo-1", *trees.cpu(0), stamp, 50.0) for stamp in stamps]
    trees.write(tmp_path / "job", trees.metrics_files(records) | trees.step_files(many))
    return query_times(convert(tmp_path / "job", tmp_path / "store"))


def query_times(found: Stored) -> Any:
    return found.store().fetch(jobs.times, Selection(found.job_id))


def step(number: int, start_s: float, end_s: float, phase: str = "TRAIN") -> trees.StepRecord:
    start = round(start_s * SECOND)
    duration = round(end_s * SECOND) - start
    return trees.StepRecord(number, trees.START_US + start, duration, f"Step:ModeKeys.{phase}")


SHOTS = {
    "A": (459.500, 284.215, 174.779, 0.506, (61.85, 38.04, 0.11)),
    "B": (396.999, 208.259, 189.027, 0.287, (52.46, 47.61, 0.07)),
    "C": (752.500, 286.223, 464.922, 1.355, (38.04, 61.78, 0.18)),
}


@pytest.mark.parametrize("shot", SHOTS)
def test_the_times_of_the_published_pictures(tmp_path: Path, shot: str) -> None:
    """In B the last step ends after the last sample: the three parts are more than the whole."""
    job_s, init_s, loop_s, final_s, percents = SHOTS[shot]
    end_s = init_s + loop_s
    found = timed(tmp_path, job_s, [step(0, init_s, init_s + 5), step(1, init_s + 6, init_s + 7), step(2, 300, end_s)])
    start_ns = trees.START_US * 1000
    assert (found.start_ns, found.end_ns) == (start_ns, start_ns + round(job_s * 1e9))
    assert found.duration_ns == round(job_s * 1e9)
    assert found.loop_start_ns == start_ns + round(init_s * 1e9)
    assert found.loop_end_ns == start_ns + round(end_s * 1e9)
    assert found.loop_duration_ns == round(loop_s * 1e9)
    assert (found.initialization_ns, found.finalization_ns) == (round(init_s * 1e9), round(final_s * 1e9))
    parts = (found.initialization_percent, found.loop_percent, found.finalization_percent)
    assert tuple(round(part, 2) for part in parts) == percents
    assert (found.first_step, found.steps_reason) == (0, "")
    assert (sum(parts) > 100.1) == (shot == "B")


def test_the_loop_begins_with_step_0_of_training(tmp_path: Path) -> None:
    """Not with an evaluation before it, nor with step 0 of an evaluation."""
    many = [step(0, 10, 11, "EVAL"), step(5, 20, 21), step(0, 30, 31), step(1, 32, 33), step(0, 40, 41, "PREDICT")]
    found = timed(tmp_path, 100, many)
    assert (found.initialization_ns, found.loop_duration_ns, found.first_step) == (30 * 10**9, 11 * 10**9, 0)


def test_global_steps_count_as_training(tmp_path: Path) -> None:
    found = timed(tmp_path, 100, [step(0, 10, 11, "EVAL"), step(0, 20, 21, "GLOBAL"), step(1, 22, 23, "GLOBAL")])
    assert found.initialization_ns == 20 * 10**9


def test_without_step_0_the_loop_begins_with_the_earliest_step(tmp_path: Path) -> None:
    found = timed(tmp_path, 100, [step(7, 30, 31), step(8, 32, 33), step(0, 34, 35, "EVAL")])
    assert (found.initialization_ns, found.loop_duration_ns, found.first_step) == (30 * 10**9, 5 * 10**9, 7)


def test_the_earliest_of_several_steps_0(tmp_path: Path) -> None:
    many = [
        trees.StepRecord(0, trees.START_US + at * SECOND, SECOND, worker=worker)
        for at, worker in ((12, "0"), (11, "1"), (13, "2"))
    ]
    assert timed(tmp_path, 100, many).initialization_ns == 11 * 10**9


def test_without_steps_the_phases_are_unknown(tmp_path: Path) -> None:
    found = timed(tmp_path, 100, [])
    assert found.duration_ns == 100 * 10**9
    unknown = ("loop_start_ns", "loop_end_ns", "loop_duration_ns", "initialization_ns", "finalization_ns")
    unknown += ("initialization_percent", "loop_percent", "finalization_percent", "first_step")
    assert [getattr(found, name) for name in unknown] == [None] * len(unknown)
    assert "no steps" in found.steps_reason
    assert (found.billed_s, found.training_s) == (None, None)


def test_a_job_of_a_single_record_has_no_shares(tmp_path: Path) -> None:
    found = timed(tmp_path, 0, [step(0, 0, 1)])
    assert (found.duration_ns, found.loop_duration_ns) == (0, 10**9)
    assert (found.initialization_percent, found.loop_percent, found.finalization_percent) == (None, None, None)


def test_billed_time_comes_from_the_description(store: Store) -> None:
    found = store.fetch(jobs.times, Selection(id_of(store, "train-2")))
    assert (found.billed_s, found.training_s) == (151.0, 503.0)


@pytest.mark.parametrize(
    "skips",
    [
        {},
        {"algo-1": [range(12, 47)], "algo-2": [range(14, 49)]},
        {"algo-1": [range(5, 82)], "algo-2": [range(2, 38), range(42, 80)]},
        {"algo-1": [range(5, 82)], "algo-2": [range(2, 38), range(42, 45)]},
        {"algo-1": [range(3, 42), range(47, 87)], "algo-2": [range(2, 88)], "algo-3": [range(1, 45)]},
    ],
)
def test_interruptions_are_what_no_node_recorded(tmp_path: Path, skips: dict[str, list[range]]) -> None:
    trees.write(tmp_path / "job", trees.metrics_files(trees.pausing(skips, apart_us=111_000)))
    found = convert(tmp_path / "job", tmp_path / "store")
    gaps: dict[str, list[tuple[int, int]]] = {node: [] for node in found.nodes}
    for node, start, end, _ in oracle.gaps(oracle.system_rows(tmp_path / "job")):
        gaps[node].append((start, end))
    expected = [(start * 1000, end * 1000) for start, end in oracle.spot_gaps(gaps)]
    assert list(query_times(found).spot_gaps) == expected
    listed_gaps = found.store().fetch(jobs.gaps, Selection(found.job_id))
    assert tuple(listed_gaps.columns) == GAPS_COLUMNS
    assert all(a <= b for a, b in pairwise(listed_gaps["start_ns"]))
    only = found.store().fetch(jobs.gaps, Selection(found.job_id, None, ("algo-2",)))
    assert set(only["node"]) <= {"algo-2"}
    assert len(only) == len(gaps["algo-2"])


def test_fresh_data_without_a_marker_are_a_running_job(tmp_path: Path) -> None:
    now_us = time.time_ns() // 1000
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine(start_us=now_us - 10 * SECOND, ticks=4)))
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.store().fetch(jobs.header, Selection(found.job_id)).status == "InProgress"
    assert found.store().fetch(jobs.totals).in_progress == 1


def test_a_job_that_left_its_source_is_unknown(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("a", "b"):
        trees.write(source / name, trees.metrics_files(trees.machine(ticks=4)))
    store = Store(tmp_path / "store", [open_source(str(source))])
    job_id = id_of(store, "a")
    convert_job(store.jobs()[0], store.root, lambda progress: None)
    assert store.fetch(jobs.header, Selection(job_id)).name == "a"
    shutil.rmtree(source / "a")
    store.refresh()
    with pytest.raises(UnknownJob):
        store.fetch(jobs.header, Selection(job_id))
