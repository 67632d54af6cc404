"""Jobs in folders: which folders are jobs, what their files are, and what is said when there are none."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from data.errors import SourceError
from data.sources import FileKind, SourceFile, SourceJob, open_source, trace_folders
from tests.stored import only_job

SYSTEM = "system/incremental/2026010112/1767268800.algo-1.json"


def put(root: Path, path: str, text: str = "x") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def only_file(job: SourceJob) -> SourceFile:
    (file,) = job.files()
    return file


def test_a_job_folder_its_profiler_output_and_the_parts_are_one_job_each(tmp_path: Path) -> None:
    put(tmp_path, f"train/profiler-output/{SYSTEM}")
    job = only_job(tmp_path / "train")
    assert (job.name, job.place, job.profiled) == ("train", "train", True)
    assert only_file(job).path == f"profiler-output/{SYSTEM}"
    assert job.placed(only_file(job).path) == f"train/profiler-output/{SYSTEM}"

    output = only_job(tmp_path / "train" / "profiler-output")
    assert (output.name, output.folder) == ("train", str(tmp_path / "train"))
    assert only_file(output) == only_file(job)
    assert output.placed(only_file(output).path) == f"profiler-output/{SYSTEM}"

    put(tmp_path, f"bare/{SYSTEM}")
    bare = only_job(tmp_path / "bare")
    assert (bare.name, only_file(bare).path) == ("bare", SYSTEM)


def test_a_folder_of_jobs_lists_direct_children_in_natural_order(tmp_path: Path) -> None:
    for name in ("train-10", "train-2", "deeper/train-3"):
        put(tmp_path, f"jobs/{name}/profiler-output/{SYSTEM}")
    put(tmp_path, "jobs/off/debug-output/training_job_end.ts")
    put(tmp_path, "jobs/notes/readme.txt")
    jobs = open_source(str(tmp_path / "jobs")).jobs()
    assert [job.name for job in jobs] == ["off", "train-2", "train-10"]
    assert [job.profiled for job in jobs] == [False, True, True]
    assert [job.place for job in jobs] == ["jobs/off", "jobs/train-2", "jobs/train-10"]
    assert jobs[0].files() == ()


@pytest.mark.parametrize("sign", ["debug-output/collections/c.json", "output/model.tar.gz", "training-job.json"])
def test_a_job_without_profiler_output_is_still_a_job(tmp_path: Path, sign: str) -> None:
    put(tmp_path, f"job/{sign}")
    job = only_job(tmp_path / "job")
    assert not job.profiled
    assert {file.kind for file in job.files()} <= {FileKind.TRAINING_JOB}


def test_an_empty_folder_holds_no_jobs(tmp_path: Path) -> None:
    assert open_source(str(tmp_path)).jobs() == ()


def test_ids_are_slug_and_hash_and_tell_sources_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "it's job [v2] #1 50% größe"
    for place in ("one", "two"):
        put(tmp_path, f"{place}/{name}/profiler-output/{SYSTEM}")
    one, two = only_job(tmp_path / "one"), only_job(tmp_path / "two")
    assert one.name == two.name == name
    assert re.fullmatch(r"it-s-job-v2-1-50-grosse-[0-9a-f]{8}", one.job_id)
    assert one.job_id != two.job_id
    monkeypatch.chdir(tmp_path)
    assert open_source("one/").jobs()[0].job_id == one.job_id == only_job(tmp_path / "one").job_id


@pytest.mark.parametrize(
    ("path", "kind", "node", "stamp_ns"),
    [
        ("system/incremental/2021100918/1633805100.algo-1.json", FileKind.SYSTEM, "algo-1", 1633805100 * 10**9),
        ("system/incremental/1591160699.algo-1.json", FileKind.SYSTEM, "algo-1", 1591160699 * 10**9),
        ("system/1767268800.algo-1-k7qz2.json.gz", FileKind.SYSTEM, "algo-1-k7qz2", 1767268800 * 10**9),
        ("system/1767268800.algo-1 (1).json", FileKind.SYSTEM, "algo-1", 1767268800 * 10**9),
        ("system/1767268800.10.json", FileKind.SYSTEM, "10", 1767268800 * 10**9),
        ("system/1767268800.ip-10.ec2.internal.json", FileKind.SYSTEM, "ip-10.ec2.internal", 1767268800 * 10**9),
        ("system/1591160699.algo-1.json.corrupt", FileKind.OTHER, "", 0),
        ("system/17672688001.algo-1.json", FileKind.OTHER, "", 0),
        ("system/training_job_end.ts", FileKind.SYSTEM_END, "", 0),
        ("framework/training_job_end.ts", FileKind.FRAMEWORK_END, "", 0),
        ("framework/pevents/training_job_end.ts", FileKind.OTHER, "", 0),
        ("framework/pevents/h/1594662614815222_905-b88_model_timeline.json", FileKind.MODEL_TIMELINE, "905-b88",
         1594662614815222000),
        ("framework/pevents/h/1589930988000000_4487_0000_pythontimeline.json", FileKind.PYTHONTIMELINE, "4487_0000",
         1589930988000000000),
        ("framework/pevents/h/1589314018481947000_1234-testhost_model_timeline.json", FileKind.MODEL_TIMELINE,
         "1234-testhost", 1589314018481947000),
        ("framework/pevents/h/1767268802000000_81-gpu_box_3_pythontimeline (1).json", FileKind.PYTHONTIMELINE,
         "81-gpu_box_3", 1767268802000000000),
        ("framework/pevents/h/1767268802000000_81-algo-1_horovod_timeline.json", FileKind.HOROVOD_TIMELINE, "81-algo-1",
         1767268802000000000),
        ("framework/pevents/h/1767268802000000_81-algo-1_smdataparallel_timeline.json.gz",
         FileKind.SMDATAPARALLEL_TIMELINE, "81-algo-1", 1767268802000000000),
        ("framework/h/1767268802000000_81-algo-1_merged_timeline.json", FileKind.MERGED_TIMELINE, "81-algo-1",
         1767268802000000000),
        ("framework/pevents/h/1767268802000000_81-algo-1_other_timeline.json", FileKind.OTHER, "", 0),
        ("framework/tensorflow/detailed_profiling/2020080513/000000000/plugins/profile/2020_08_05_13_37_44/"
         "ip-172-31-19-241.trace.json.gz", FileKind.TENSORFLOW_TRACE, "", 0),
        ("framework/tensorflow/detailed_profiling/2020080513/000000000/"
         "80807-8c859046be41.ant.amazon.com_1596659864545103_1596659864854168.metadata", FileKind.TENSORFLOW_METADATA,
         "80807-8c859046be41.ant.amazon.com", 1596659864545103000),
        ("framework/tensorflow/detailed_profiling/2020080513/000000000/plugins/a.overview_page.pb", FileKind.OTHER,
         "", 0),
        ("framework/pytorch/rank0.pt.trace.json", FileKind.OTHER, "", 0),
        ("system/9999999999.algo-1.json", FileKind.SYSTEM, "algo-1", 2**63 - 1),
        ("framework/pevents/h/9607121600000000_a_pythontimeline.json", FileKind.PYTHONTIMELINE, "a", 2**63 - 1),
        ("framework/pevents/h/" + "9" * 60 + "_a_pythontimeline.json", FileKind.PYTHONTIMELINE, "a", 0),
        ("framework/pytorch/cprofile/81-algo-1/an_interval/python_stats", FileKind.PYTHON_STATS, "", 0),
        ("framework/tensorflow/cProfile/an_interval/python_stats", FileKind.PYTHON_STATS, "", 0),
        ("framework/x/pyinstrument/81-algo-1/an_interval/python_stats.json", FileKind.PYINSTRUMENT, "", 0),
        ("framework/x/pyinstrument/81-algo-1/an_interval/python_stats.html", FileKind.OTHER, "", 0),
        ("framework/pytorch/81-algo-1/an_interval/python_stats", FileKind.OTHER, "", 0),
        ("system/cprofile/81-algo-1/an_interval/python_stats", FileKind.OTHER, "", 0),
        ("notes.json", FileKind.OTHER, "", 0),
    ],
)  # fmt: skip
def test_files_are_known_by_their_paths(tmp_path: Path, path: str, kind: FileKind, node: str, stamp_ns: int) -> None:
    put(tmp_path, f"job/profiler-output/{path}", "12345")
    file = only_file(only_job(tmp_path / "job"))
    assert (file.path, file.size) == (f"profiler-output/{path}", 5)
    assert (file.kind, file.node, file.stamp_ns) == (kind, node, stamp_ns)
    assert file.mtime_ns > 0


def test_the_description_lies_in_the_job_folder_only(tmp_path: Path) -> None:
    put(tmp_path, "job/training-job.json")
    put(tmp_path, "job/profiler-output/system/training-job.json")
    kinds = {file.path: file.kind for file in only_job(tmp_path / "job" / "profiler-output").files()}
    assert kinds == {
        "training-job.json": FileKind.TRAINING_JOB,
        "profiler-output/system/training-job.json": FileKind.OTHER,
    }


def test_links_and_odd_names_are_left_out_and_named(tmp_path: Path) -> None:
    outside = put(tmp_path, "secret.json", "secret")
    put(tmp_path, f"job/profiler-output/{SYSTEM}")
    output = tmp_path / "job" / "profiler-output"
    (output / "system" / "1767268800.algo-2.json").symlink_to(outside)
    (output / "framework").symlink_to(tmp_path, target_is_directory=True)
    put(output, "system/1767268800.algo\n3.json")
    (Path(os.fsdecode(os.fsencode(output) + b"/system/1767268800.\xff.json"))).write_text("x")
    os.mkfifo(output / "system" / "1767268800.algo-4.json")
    listing = only_job(tmp_path / "job").listing()
    assert [file.path for file in listing.files] == [f"profiler-output/{SYSTEM}"]
    reasons = {skipped.path.removeprefix("profiler-output/"): skipped.reason for skipped in listing.skipped}
    odd_name = "its name holds control characters or is not valid text"
    assert reasons == {
        "framework": "symbolic links are not followed",
        "system/1767268800.algo-2.json": "symbolic links are not followed",
        "system/1767268800.algo-4.json": "it is not a regular file",
        "system/1767268800.algo\N{REPLACEMENT CHARACTER}3.json": odd_name,
        "system/1767268800.\N{REPLACEMENT CHARACTER}.json": odd_name,
    }


def test_files_open_only_inside_the_job_and_never_through_links(tmp_path: Path) -> None:
    outside = put(tmp_path, "secret.json", "secret")
    put(tmp_path, f"job/profiler-output/{SYSTEM}", "inside")
    (tmp_path / "job" / "link.json").symlink_to(outside)
    (tmp_path / "job" / "up").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "job" / "pipe")
    job = only_job(tmp_path / "job")
    with job.open(f"profiler-output/{SYSTEM}") as stream:
        assert stream.read() == b"inside"
    for path in ("../secret.json", "link.json", "up/secret.json", str(outside), "", "a//b", "pipe", "a\0b", "missing"):
        with pytest.raises(SourceError):
            job.open(path)


def test_a_linked_job_is_not_listed_but_a_linked_source_is_followed(tmp_path: Path) -> None:
    put(tmp_path, f"real/job/profiler-output/{SYSTEM}")
    (tmp_path / "source").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "real" / "again").symlink_to(tmp_path / "real" / "job", target_is_directory=True)
    job = only_job(tmp_path / "source")
    with job.open(only_file(job).path) as stream:
        assert stream.read() == b"x"


def test_what_cannot_be_a_source_is_said_with_the_next_step(tmp_path: Path) -> None:
    for uri, words in ((str(tmp_path / "none"), "no folder"), ("", "No folder"), (f"{tmp_path}\0", "No folder")):
        with pytest.raises(SourceError, match=words) as caught:
            open_source(uri).jobs()
        assert "profiler-output" in caught.value.hint
    with pytest.raises(SourceError, match="s3://") as caught:
        open_source("s3://bucket/jobs")
    assert caught.value.hint


def test_folders_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, f"job/profiler-output/{SYSTEM}")
    closed = tmp_path / "job" / "profiler-output" / "framework"
    closed.mkdir()
    put(closed, "pevents/2020120422/1607121600000000.algo-1_model_timeline.json")
    original = os.scandir

    def refuse(path: str) -> object:
        if path == str(closed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return original(path)

    monkeypatch.setattr(os, "scandir", refuse)
    listing = only_job(tmp_path / "job").listing()
    assert [file.path for file in listing.files] == [f"profiler-output/{SYSTEM}"]
    reason = "this folder could not be listed: Permission denied"
    assert [(one.path, one.reason) for one in listing.skipped] == [("profiler-output/framework", reason)]
    with pytest.raises(SourceError, match="Permission denied") as caught:
        open_source(str(closed)).jobs()
    assert "permission" in caught.value.hint.lower()


@pytest.mark.parametrize(
    ("name", "kind", "node"),
    [
        ("1591160699.algo-1.json", FileKind.SYSTEM, "algo-1"),
        ("1591160699.algo-1.json.corrupt", FileKind.SYSTEM, "algo-1"),
        ("1767268802000000_81-algo-1_horovod_timeline.json.bak", FileKind.HOROVOD_TIMELINE, "81-algo-1"),
        ("1767268802000000_81-algo-1_pythontimeline.json.gz", FileKind.PYTHONTIMELINE, "81-algo-1"),
        ("horovod_timeline_small.json", FileKind.TRACE, ""),
        ("worker_1.1767268802123.pt.trace.json.gz", FileKind.TRACE, ""),
        ("anything", FileKind.TRACE, ""),
    ],
)
def test_one_file_is_a_job_of_its_own(tmp_path: Path, name: str, kind: FileKind, node: str) -> None:
    put(tmp_path, "beside.trace.json")
    job = only_job(put(tmp_path, name))
    file = only_file(job)
    assert (job.name, job.placed(file.path)) == (name, name)
    assert (file.path, file.kind, file.node, file.size) == (name, kind, node, 1)
    with job.open(file.path) as stream:
        assert stream.read() == b"x"


TRACE = '{"traceEvents": [{"ph": "X"}]}'


@pytest.mark.parametrize(
    ("paths", "jobs"),
    [
        (["rank0.pt.trace.json", "deep/er/rank1.pt.trace.json.gz"], ["traces"]),
        (["run-10/a.trace.json", "run-2/x/b_trace.json", "notes/readme.txt"], ["run-2", "run-10"]),
        (["rank0/trace.json", "rank1/trace.json"], ["traces"]),
        (["rank0/trace.json", "other/trace.json"], ["other", "rank0"]),
        (["a.json", "b.json"], ["traces"]),
        (["run-1/a.json", "readme.txt"], ["run-1"]),
        (["run-1/trace.json", "train/profiler-output/" + SYSTEM], ["run-1", "train"]),
        (["profiler-output/" + SYSTEM, "trace.json"], ["traces"]),
    ],
)
def test_folders_of_traces(tmp_path: Path, paths: list[str], jobs: list[str]) -> None:
    for path in paths:
        put(tmp_path, f"traces/{path}", TRACE)
    found = open_source(str(tmp_path / "traces")).jobs()
    assert [job.name for job in found] == jobs
    assert all(job.profiled and job.files() for job in found)


def test_json_that_is_no_trace_is_no_job(tmp_path: Path) -> None:
    put(tmp_path, "a.json", '{"name": "x"}')
    put(tmp_path, "b/c.json", "[1, 2]")
    assert open_source(str(tmp_path)).jobs() == ()


def test_files_among_traces_are_known_by_their_names(tmp_path: Path) -> None:
    names = {
        "a.trace.json": FileKind.TRACE,
        "b_trace.json.gz": FileKind.TRACE,
        "trace.json": FileKind.TRACE,
        "e.pt.trace (2).json": FileKind.TRACE,
        "mytrace.json": FileKind.PERHAPS_TRACE,
        "c.json": FileKind.PERHAPS_TRACE,
        "d.txt": FileKind.OTHER,
        "1767268802000000_81-algo-1_horovod_timeline.json": FileKind.HOROVOD_TIMELINE,
        "1767268800.algo-1.json": FileKind.SYSTEM,
    }
    for name in names:
        put(tmp_path, f"run/{name}", TRACE)
    assert {file.path: file.kind for file in only_job(tmp_path / "run").files()} == names


# --- folders beside the jobs ---


def fill(folder: Path, count: int, name: str = "image_{}.jpg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / name.format(number)).touch()


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files looked at in search of traces, in order; limits are small."""
    for name, limit in {"FIRST_LOOK": 10, "LONG_LOOK": 50, "SHARED": 1000}.items():
        monkeypatch.setattr(trace_folders, name, limit)
    names: list[str] = []
    original = trace_folders.may_be_trace

    def look(name: str) -> bool:
        names.append(name)
        return original(name)

    monkeypatch.setattr(trace_folders, "may_be_trace", look)
    return names


def test_many_large_folders_share_what_a_listing_looks_at(tmp_path: Path, looked_at: list[str]) -> None:
    for number in range(40):
        fill(tmp_path / "source" / f"data-{number:02}", 60)
    put(tmp_path, "source/run-1/step/a.trace.json", TRACE)
    put(tmp_path, "source/train/profiler-output/" + SYSTEM)
    listing = open_source(str(tmp_path / "source")).listing()
    assert [job.name for job in listing.jobs] == ["run-1", "train"]
    assert len(looked_at) <= 42 + 40 * 10 + 1 + 1000  # the source, a short look at each, and one budget for all
    assert "40 folders are too large" in listing.note
    assert "data-00, data-01, data-02, 37 more" in listing.note


def test_a_trace_in_a_large_folder_is_found_and_then_nothing_is_noted(tmp_path: Path, looked_at: list[str]) -> None:
    fill(tmp_path / "source" / "run", 30)
    put(tmp_path, "source/run/below/a.trace.json", TRACE)
    fill(tmp_path / "source" / "notes", 9)
    listing = open_source(str(tmp_path / "source")).listing()
    assert [job.name for job in listing.jobs] == ["run"]
    assert listing.note == ""


def test_a_folder_of_more_than_a_long_look_is_named(tmp_path: Path, looked_at: list[str]) -> None:
    fill(tmp_path / "source" / "data", 49)
    assert open_source(str(tmp_path / "source")).listing().note == ""
    fill(tmp_path / "source" / "data", 51)
    listing = open_source(str(tmp_path / "source")).listing()
    assert listing.jobs == ()
    assert "1 folder is too large to be looked through for traces: data." in listing.note


def test_files_that_are_opened_are_bounded_too(
    tmp_path: Path, looked_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_folders, "OPENED", 25)
    for number in range(5):
        put(tmp_path, f"source/results-{number}/last.json", "{}")
        fill(tmp_path / "source" / f"results-{number}", 7, "result_{}.json")
    listing = open_source(str(tmp_path / "source")).listing()
    assert "results-3, results-4." in listing.note  # 3 x 8 of 25 were opened before


def test_upper_folders_are_looked_at_first(tmp_path: Path, looked_at: list[str]) -> None:
    fill(tmp_path / "source" / "run" / "a-deep" / "b", 60)
    put(tmp_path, "source/run/z.trace.json", TRACE)
    (job,) = open_source(str(tmp_path / "source")).jobs()
    assert job.name == "run"
    assert len(looked_at) <= 10
