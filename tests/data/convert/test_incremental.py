"""Converting again reads what is new or changed, and gives what a conversion from scratch gives."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from data import schema
from data.convert import job as job_module
from data.readers import READERS, sagemaker_system
from data.sources import SourceFile
from tests import oracle, trees
from tests.stored import Stored, convert

VOLATILE = {
    "version",
    "converted_ns",
    "stored_bytes",
    "parts",
    "event_parts",
    "memory_parts",
    "span_ns",
    "source",
    "place",
    "job_id",
    "name",
}


class Job:
    """A job folder that changes; every write gives a file a new time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock_ns = 1_700_000_000 * 10**9

    def write(self, path: str, content: bytes) -> None:
        trees.write(self.folder, {path: content})
        self.clock_ns += 10**9
        os.utime(self.folder / path, ns=(self.clock_ns, self.clock_ns))

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def remove(self, path: str) -> None:
        (self.folder / path).unlink()

    def paths(self, part: str = "") -> list[str]:
        files = sorted(path for path in (self.folder / "profiler-output" / part).rglob("*") if path.is_file())
        return [path.relative_to(self.folder).as_posix() for path in files]


def rounded(value: Any) -> Any:
    """Numbers without their last digits, which depend on the order in which they were added."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def everything(found: Stored) -> dict[str, Any]:
    """All that any query can see of a stored job."""
    manifest = found.manifest
    described = {key: value for key, value in msgspec.structs.asdict(manifest).items() if key not in VOLATILE}
    files = [{k: v for k, v in row.items() if k not in ("file", "mtime_ns")} for row in found.table("files")]
    return {
        "manifest": rounded(described),
        "series": rounded(found.table("series")),
        "rows": found.rows(),
        "bins": {factor: rounded(found.bins(factor)) for factor in manifest.levels},
        "ticks": rounded(found.ticks()),
        "counts": found.value_counts(),
        "summary": rounded(found.table("summary")),
        "gaps": found.table("gaps"),
        "operators": found.table("operators"),
        "events": sorted(found.events(), key=repr),
        "kernels": sorted(found.table("kernels"), key=repr),
        "gpu_busy": found.table("gpu_busy"),
        "memory": sorted(found.memory(), key=repr),
        "memory_lines": [{k: v for k, v in row.items() if k != "file"} for row in found.table("memory_lines")],
        "memory_bins": found.table("memory_bins"),
        "steps": found.step_rows(),
        "functions": [{k: v for k, v in row.items() if k != "file"} for row in found.table("functions")],
        "files": files,
        "problems": found.table("problems"),
    }


@contextmanager
def files_read() -> Iterator[list[str]]:
    """The paths of the files that readers are given meanwhile, each as often as its content is kept."""
    seen: list[str] = []

    def noting(read: Callable[..., Any]) -> Callable[..., Any]:
        def noted(db: Any, files: list[tuple[SourceFile, str]], *more: Any) -> Any:
            seen.extend(file.path for file, _ in files)
            return read(db, files, *more)

        return noted

    readers = tuple(replace(reader, read=noting(reader.read)) for reader in READERS)
    with (
        mock.patch.object(job_module, "READERS", readers),
        mock.patch.object(job_module, "_probe", return_value={}),
        mock.patch.object(sagemaker_system, "read", noting(sagemaker_system.read)),
    ):
        yield seen


def assert_like_from_scratch(job: Job, store: Path) -> Stored:
    found = convert(job.folder, store)
    other = store.with_name("scratch")
    shutil.rmtree(other, ignore_errors=True)
    fresh = everything(convert(job.folder, other))
    again = everything(found)
    for name, expected in fresh.items():
        assert again[name] == expected, name
    assert found.rows() == sorted(set(oracle.system_rows(job.folder)))
    return found


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Two nodes over four minutes, and two processes with steps."""
    job = Job(tmp_path / "source" / "job")
    records = trees.machine("algo-1", ticks=48, interval_us=5_000_000, cores=1)
    records += trees.machine("algo-2", ticks=48, interval_us=5_000_000, cores=2, gpus=0)
    for path, content in trees.metrics_files(records).items():
        job.write(path, content)
    for worker in ("0", "1"):
        steps = [
            trees.StepRecord(at, trees.START_US + at * 1_000_000 + int(worker), 900_000, worker=worker)
            for at in range(20)
        ]
        for path, content in trees.step_files(steps).items():
            job.write(path, content)
    return job


def test_an_unchanged_job_writes_nothing_and_reads_nothing(job: Job, tmp_path: Path) -> None:
    first = convert(job.folder, tmp_path / "store")
    before = {path: path.stat().st_mtime_ns for path in first.root.rglob("*")}
    with files_read() as seen:
        assert convert(job.folder, tmp_path / "store").folder == first.folder
    assert seen == []
    assert {path: path.stat().st_mtime_ns for path in first.root.rglob("*")} == before


def test_only_new_and_changed_files_are_read(job: Job, tmp_path: Path) -> None:
    convert(job.folder, tmp_path / "store")
    metrics, steps = job.paths("system"), job.paths("framework")
    job.write(metrics[0], job.read(metrics[0]).replace(b'"Value": ', b'"Value": 1'))
    job.remove(metrics[-1])
    new = trees.metrics_files(trees.machine("algo-1", start_us=trees.START_US + 300_000_000, ticks=5, cores=1))
    for path, content in new.items():
        job.write(path, content)
    job.write(steps[1], job.read(steps[1]).replace(b"900000", b"800000"))
    with files_read() as seen:
        convert(job.folder, tmp_path / "store")
    assert sorted(seen) == sorted([metrics[0], *new, steps[1]])
    assert_like_from_scratch(job, tmp_path / "store")


def test_a_file_that_grows_line_by_line(job: Job, tmp_path: Path) -> None:
    """The newest file, cut in the middle of a line each time: the problem of the cut goes when the line is whole."""
    path = job.paths("system")[-1]
    content = job.read(path)
    for share in (0.3, 0.6, 1.0):
        job.write(path, content[: int(len(content) * share)])
        found = assert_like_from_scratch(job, tmp_path / "store")
        assert found.manifest.lost_rows == (share < 1)
        assert [row["lost_rows"] for row in found.table("problems")] == [1] * (share < 1)


def test_files_that_arrive_late_in_any_order(tmp_path: Path) -> None:
    job = Job(tmp_path / "source" / "job")
    records = trees.machine("algo-2", ticks=40, interval_us=60_000_000, cores=2)
    records += trees.machine("algo-1", ticks=40, interval_us=60_000_000, cores=1, gpus=0)
    files = trees.metrics_files(records)
    order = random.Random(5).sample(sorted(files), len(files))
    for start in range(0, len(order), 27):
        for path in order[start : start + 27]:
            job.write(path, files[path])
        found = assert_like_from_scratch(job, tmp_path / "store")
    assert len(found.manifest.parts) > 1


def test_copies_that_come_and_go(job: Job, tmp_path: Path) -> None:
    """Of two equal files either may go: the rows stay as long as one of them is there."""
    first = job.paths("system")[0]
    copy = first.replace(".json", " (1).json")
    convert(job.folder, tmp_path / "store")
    job.write(copy, job.read(first))
    assert assert_like_from_scratch(job, tmp_path / "store").manifest.duplicates > 0
    content = job.read(first)
    job.remove(first)
    assert assert_like_from_scratch(job, tmp_path / "store").manifest.duplicates == 0
    job.write(first, content)
    assert_like_from_scratch(job, tmp_path / "store")
    job.remove(copy)
    assert_like_from_scratch(job, tmp_path / "store")


def test_duplicates_stay_known_when_another_file_of_the_part_changes(job: Job, tmp_path: Path) -> None:
    first, second, *_ = job.paths("system")
    copy = first.replace(".json", " (1).json")
    job.write(copy, job.read(first))
    many = convert(job.folder, tmp_path / "store").manifest.duplicates
    job.write(second, b"\n".join(job.read(second).splitlines()[:-2]) + b"\n")
    assert assert_like_from_scratch(job, tmp_path / "store").manifest.duplicates == many
    job.remove(first)
    assert assert_like_from_scratch(job, tmp_path / "store").manifest.duplicates == 0


@pytest.mark.parametrize("change", [("_pythontimeline", "_pythontimeline (1)"), ("/1607", "/9607")])
def test_copies_of_timelines_that_come_and_go(job: Job, tmp_path: Path, change: tuple[str, str]) -> None:
    """Whether the copy's path comes before or after that of the first one."""
    first = job.paths("framework")[0]
    copy, content = first.replace(*change), job.read(first)
    convert(job.folder, tmp_path / "store")
    job.write(copy, content)
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert [row["severity"] for row in found.table("problems")] == ["note"]
    job.remove(first)
    assert len(assert_like_from_scratch(job, tmp_path / "store").step_rows()) == 40


def test_nodes_and_series_that_vanish_are_forgotten(job: Job, tmp_path: Path) -> None:
    convert(job.folder, tmp_path / "store")
    for path in job.paths("system"):
        if path.endswith("algo-1.json"):
            job.remove(path)
        else:
            lines = [line for line in job.read(path).splitlines(keepends=True) if b"cpu1" not in line]
            job.write(path, b"".join(lines))
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert found.nodes == ["algo-2"]
    assert not any(name == "cpu1" for _, _, name, _ in found.series())


@pytest.mark.parametrize("part", ["system", "framework"])
def test_a_whole_kind_of_data_that_vanishes(job: Job, tmp_path: Path, part: str) -> None:
    convert(job.folder, tmp_path / "store")
    shutil.rmtree(job.folder / "profiler-output" / part)
    found = assert_like_from_scratch(job, tmp_path / "store")
    assert (found.manifest.system_rows == 0) == (part == "system")
    assert (found.manifest.steps == 0) == (part == "framework")


def test_another_schema_is_converted_from_scratch(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = convert(job.folder, tmp_path / "store")
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    with files_read() as seen:
        second = convert(job.folder, tmp_path / "store")
    assert sorted(seen) == [*job.paths("framework"), *job.paths("system")]
    assert second.manifest.schema_version == first.manifest.schema_version + 1


@pytest.mark.parametrize(("table", "damage"), [("files.parquet", "missing"), ("raw", "missing"), ("raw", "cut")])
def test_a_damaged_store_is_converted_from_scratch(job: Job, tmp_path: Path, table: str, damage: str) -> None:
    first = convert(job.folder, tmp_path / "store")
    path = next(path for path in first.folder.iterdir() if path.name.startswith(table))
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.unlink()
    assert assert_like_from_scratch(job, tmp_path / "store").folder != first.folder


Change = Callable[[Job, random.Random], None]


def grow(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths("system"))
    more = trees.machine("algo-1", start_us=trees.START_US + rng.randrange(200) * 10**6, ticks=2, cores=2)
    job.write(path, job.read(path) + b"".join(one.line.encode() + b"\n" for one in more))


def cut(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths())
    job.write(path, job.read(path)[:-30])


def shorten(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths("system"))
    lines = job.read(path).splitlines(keepends=True)
    job.write(path, b"".join(rng.sample(lines, len(lines) // 2)))


def copy_file(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths("system"))
    job.write(path.removesuffix(".json").split(" ")[0] + f" ({rng.randrange(9)}).json", job.read(path))


def copy_timeline(job: Job, rng: random.Random) -> None:
    paths = job.paths("framework")
    if paths:
        path = rng.choice(paths)
        job.write(path.replace("/1607", f"/{rng.randrange(1, 9)}607"), job.read(path))


def remove_any(job: Job, rng: random.Random) -> None:
    if len(job.paths("system")) > 1:
        job.remove(rng.choice(job.paths()))


def repeat_lines(job: Job, rng: random.Random) -> None:
    """Lines of one file in another one, too."""
    a, b = rng.choice(job.paths("system")), rng.choice(job.paths("system"))
    lines = [line for line in job.read(a).splitlines() if line.endswith(b"}")]
    job.write(b, job.read(b) + b"\n" + b"\n".join(lines[:6]) + b"\n")


def new_node(job: Job, rng: random.Random) -> None:
    node, interval = rng.choice([("algo-10", 5_000_000), ("algo-3", 1_000_000), ("algo-0", 500_000)])
    start = trees.START_US + rng.randrange(900) * 10**6
    for path, content in trees.metrics_files(
        trees.machine(node, start_us=start, ticks=rng.randrange(1, 30), interval_us=interval, cores=1)
    ).items():
        job.write(path, content)


def damage(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths())
    content = bytearray(job.read(path))
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    job.write(path, bytes(content))


def touch(job: Job, rng: random.Random) -> None:
    path = rng.choice(job.paths())
    job.write(path, job.read(path))


def empty(job: Job, rng: random.Random) -> None:
    job.write(rng.choice(job.paths("system")), b"")


def describe(job: Job, rng: random.Random) -> None:
    content = json.dumps({"TrainingJobName": "x", "TrainingJobStatus": "Completed"}).encode()
    job.write("training-job.json", content[: rng.choice([20, None])])


def mark_the_end(job: Job, rng: random.Random) -> None:
    job.write(f"profiler-output/{rng.choice(['system', 'framework'])}/training_job_end.ts", b"")


def more_steps(job: Job, rng: random.Random) -> None:
    phase, worker = rng.choice(["TRAIN", "EVAL"]), str(rng.randrange(3))
    start = trees.START_US + rng.randrange(500) * 10**6
    steps = [
        trees.StepRecord(at, start + at * 10**6, 700_000, f"Step:ModeKeys.{phase}", worker=worker) for at in range(9)
    ]
    for path, content in trees.step_files(steps).items():
        job.write(path, content)


CHANGES: tuple[Change, ...] = (
    grow,
    cut,
    shorten,
    copy_file,
    copy_timeline,
    remove_any,
    repeat_lines,
    new_node,
    damage,
    touch,
    empty,
    describe,
    mark_the_end,
    more_steps,
)


@pytest.mark.parametrize("seed", range(2))
def test_any_changes_give_what_a_fresh_conversion_gives(job: Job, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    convert(job.folder, tmp_path / "store")
    for _ in range(3):
        for change in rng.choices(CHANGES, k=rng.randrange(1, 5)):
            change(job, rng)
        assert_like_from_scratch(job, tmp_path / "store")
