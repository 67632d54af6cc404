"""The form of the demo jobs' files: names, records, job description, the job that is still running."""

import json
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from data.demo import write_demo
from data.errors import StoreError
from tests.data.demo import recount
from tests.data.demo.recount import Record

NAMES = (
    "tf-hvd-resnet50-cifar10-256",
    "tf-hvd-resnet50-cifar10-512",
    "pt-tabular-cpu",
    "pt-bert-squad-running",
)


def describe(job: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((job / "training-job.json").read_text())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_system_files_are_named_by_node_and_minute(demo_source: Path, name: str) -> None:
    rows, bad = recount.records(demo_source / name)
    assert len(bad) == (1 if name == "pt-bert-squad-running" else 0)
    rows_of: dict[Path, list[Record]] = defaultdict(list)
    for row in rows:
        rows_of[row.file].append(row)
    for file, inside in rows_of.items():
        parts = re.fullmatch(r"(\d{10})\.(algo-\d+)\.json", file.name)
        assert parts is not None
        minute_s = int(parts[1])
        assert minute_s % 60 == 0
        assert file.parent.name == datetime.fromtimestamp(minute_s, UTC).strftime("%Y%m%d%H")
        assert {row.node for row in inside} == {parts[2]}
        assert all(minute_s <= row.time_s < minute_s + 60.02 for row in inside)


@pytest.mark.parametrize("name", NAMES)
def test_step_files_are_named_by_their_last_event_and_rotate(demo_source: Path, name: str) -> None:
    job = demo_source / name
    files_of = defaultdict(list)
    for file in recount.step_files(job):
        parts = re.fullmatch(r"(\d{16})_(\d+-algo-\d+)_pythontimeline\.json", file.name)
        assert parts is not None
        events = json.loads(file.read_text())
        assert list(events[0]["args"]) == ["start_time_since_epoch_in_micros"]
        origin_us = events[0]["args"]["start_time_since_epoch_in_micros"]
        ends_us = [origin_us + e["ts"] + e["dur"] for e in events if e["ph"] == "X"]
        assert int(parts[1]) == max(ends_us)
        assert file.parent.name == datetime.fromtimestamp(max(ends_us) / 1e6, UTC).strftime("%Y%m%d%H")
        assert {type(e["args"]["step_num"]) for e in events if e["ph"] == "X"} == {str}
        declared = {e["pid"] for e in events if e["ph"] == "M"}
        assert {e["pid"] for e in events} <= declared
        files_of[parts[2]].append((min(ends_us), max(ends_us)))
    assert all(len(spans) >= 4 for spans in files_of.values())
    for spans in files_of.values():
        assert all(later[0] >= earlier[1] for earlier, later in pairwise(spans))
        assert all(last - first < 75_000_000 for first, last in spans)


def test_workers_are_counted_over_all_nodes(job_a: Path) -> None:
    found = {(step.node, step.worker) for step in recount.steps(job_a)}
    assert found == {(f"algo-{1 + rank // 3}", str(rank)) for rank in range(9)}


def test_every_record_kind_of_the_format_is_there(rows_a: list[Record]) -> None:
    kinds = {(row.type, row.name if row.type not in ("cpu", "gpu") else "", row.dimension) for row in rows_a}
    assert kinds == {
        ("cpu", "", "CPUUtilization"),
        ("cpu", "", "I/OWaitPercentage"),
        ("gpu", "", "GPUUtilization"),
        ("gpu", "", "GPUMemoryUtilization"),
        ("memory", "MemoryUsedPercent", ""),
        ("i/o", "IOPS", ""),
        ("i/o", "ReadThroughputInBytesPerSecond", ""),
        ("i/o", "WriteThroughputInBytesPerSecond", ""),
        *(
            ("network", f"{way}BytesPerSecond", side)
            for way in ("Receive", "Transmit")
            for side in ("Algorithm", "Platform")
        ),
    }


def test_values_have_the_form_and_range_of_the_format(rows_a: list[Record]) -> None:
    for row in rows_a:
        assert row.value == round(row.value, 2) >= 0
        if row.type in ("cpu", "gpu", "memory"):
            assert row.value <= 100
        if row.type == "gpu":
            assert row.value == int(row.value)
    first: dict[str, float] = {}
    for row in rows_a:
        if row.name == "IOPS":
            first.setdefault(row.node, row.value)
    assert set(first.values()) == {0}


def test_stamps_inside_a_tick(rows_a: list[Record]) -> None:
    delays_us: dict[str, set[int]] = defaultdict(set)
    begin_s: dict[str, float] = {}
    for row in rows_a:
        if row.type == "cpu":
            begin_s[row.node] = row.time_s
        delays_us[row.type].add(round((row.time_s - begin_s[row.node]) * 1e6))
    assert delays_us["cpu"] == {0}
    assert delays_us["memory"] == {70}
    assert all(4_500 < delay < 4_700 for delay in delays_us["network"])
    assert all(5_000 < delay < 20_000 for delay in delays_us["gpu"])


@pytest.mark.parametrize("name", NAMES)
def test_end_markers(demo_source: Path, name: str) -> None:
    for folder in ("system", "framework"):
        marker = demo_source / name / "profiler-output" / folder / "training_job_end.ts"
        assert marker.exists() == (name != "pt-bert-squad-running")


def test_job_description_of_the_first_run(job_a: Path) -> None:
    job = describe(job_a)
    assert (job["TrainingJobName"], job["TrainingJobStatus"]) == (job_a.name, "Completed")
    resources = job["ResourceConfig"]
    assert isinstance(resources, dict)
    assert (resources["InstanceType"], resources["InstanceCount"]) == ("ml.p3.8xlarge", 3)
    assert job["TrainingTimeInSeconds"] == job["BillableTimeInSeconds"] == 503
    assert job["EnableManagedSpotTraining"] is False
    hyper = job["HyperParameters"]
    assert isinstance(hyper, dict)
    assert (hyper["batch_size"], hyper["epochs"]) == ("256", "25")
    algorithm = job["AlgorithmSpecification"]
    assert isinstance(algorithm, dict)
    assert "tensorflow-training:2.3.1" in algorithm["TrainingImage"]
    start, end = (datetime.fromisoformat(str(job[f"Training{edge}Time"])) for edge in ("Start", "End"))
    assert end - start == timedelta(seconds=503)
    assert start.utcoffset() == timedelta(0)


@pytest.mark.parametrize("name", NAMES)
def test_transitions_follow_on_one_another(demo_source: Path, name: str) -> None:
    job = describe(demo_source / name)
    transitions = job["SecondaryStatusTransitions"]
    assert isinstance(transitions, list)
    assert [t["Status"] for t in transitions][:3] == ["Starting", "Downloading", "Training"]
    for earlier, later in pairwise(transitions):
        assert earlier["EndTime"] == later["StartTime"]
        assert datetime.fromisoformat(earlier["StartTime"]) < datetime.fromisoformat(later["StartTime"])


def test_the_second_run_is_smaller_and_has_twice_the_batch(job_b: Path) -> None:
    job = describe(job_b)
    assert job["BillableTimeInSeconds"] == 502
    assert job["HyperParameters"]["batch_size"] == "512"  # type: ignore[index]
    assert job["ResourceConfig"]["InstanceType"] == "ml.p3.2xlarge"  # type: ignore[index]


def test_the_job_without_gpus_has_none_and_ran_on_spot_capacity(demo_source: Path) -> None:
    job = demo_source / "pt-tabular-cpu"
    rows, _ = recount.records(job)
    assert {row.type for row in rows} == {"cpu", "memory", "i/o", "network"}
    said = describe(job)
    assert said["EnableManagedSpotTraining"] is True
    assert int(str(said["BillableTimeInSeconds"])) < int(str(said["TrainingTimeInSeconds"])) == 318
    phases = {step.phase for step in recount.steps(job)}
    assert {"Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL", "Forward", "DataLoaderIter"} <= phases


def test_the_running_job(demo_source: Path) -> None:
    job = demo_source / "pt-bert-squad-running"
    said = describe(job)
    assert (said["TrainingJobStatus"], said["SecondaryStatus"]) == ("InProgress", "Training")
    assert not {"TrainingEndTime", "BillableTimeInSeconds"} & set(said)
    open_one = said["SecondaryStatusTransitions"][-1]  # type: ignore[index]
    assert "EndTime" not in open_one
    newest = max(recount.system_files(job), key=lambda file: file.name)
    assert not newest.read_bytes().endswith(b"\n")
    times_s = sorted(recount.by_tick(recount.records(job)[0], recount.CPU)["algo-2"])
    hole_s = max(later - earlier for earlier, later in pairwise(times_s))
    assert 20 < hole_s < 25


def test_the_running_job_was_last_heard_of_shortly_before_now(tmp_path: Path) -> None:
    now = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    *_, running = write_demo(tmp_path, lambda line: None, now=now)
    rows, _ = recount.records(running)
    assert 0 < now.timestamp() - rows[-1].time_s < 60
    assert max(step.end_us for step in recount.steps(running)) / 1e6 < now.timestamp()


def test_same_bytes_twice_and_nothing_is_written_again(demo_source: Path, tmp_path: Path) -> None:
    said: list[str] = []
    folders = write_demo(tmp_path, said.append)
    assert [folder.name for folder in folders] == list(NAMES)
    assert len(said) == 4
    assert tree_bytes(tmp_path) == tree_bytes(demo_source)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write_demo(tmp_path, said.append) == folders
    assert len(said) == 4
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == stamps


def test_what_a_killed_run_left_is_cleared_and_an_old_demo_is_replaced(demo_source: Path, tmp_path: Path) -> None:
    left = tmp_path / ".demo-writing-pt-tabular-cpu"
    left.mkdir()
    (left / "half").write_text("x")
    old = tmp_path / "pt-tabular-cpu"
    old.mkdir()
    (old / ".demo-job").write_text("0\n")
    (old / "stale").write_text("x")
    write_demo(tmp_path, lambda line: None)
    assert tree_bytes(tmp_path) == tree_bytes(demo_source)


def test_a_folder_of_the_same_name_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "pt-tabular-cpu"
    mine.mkdir()
    (mine / "mine").write_text("x")
    with pytest.raises(StoreError, match="was not written by the demo"):
        write_demo(tmp_path, lambda line: None)
    assert [path.name for path in mine.iterdir()] == ["mine"]


def tree_bytes(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("name", "gpu"), [("pt-tabular-cpu", False), ("pt-bert-squad-running", True)])
def test_operators_lie_inside_the_passes_of_a_few_steps(demo_source: Path, name: str, gpu: bool) -> None:
    found = recount.steps(demo_source / name)
    operators = [one for one in found if one.phase in ("cpu_functions", "gpu_functions-dev:0")]
    assert {one.phase for one in operators} == {"cpu_functions", *(["gpu_functions-dev:0"] if gpu else [])}
    assert {one.number for one in operators} == set(range(12, 18))
    steps = {(one.node, one.worker, one.number): one for one in found if one.phase == "Step:ModeKeys.TRAIN"}
    for one in operators:
        step = steps[one.node, one.worker, one.number]
        assert step.start_us <= one.start_us
        assert one.end_us <= step.end_us
        assert one.duration_us > 0
