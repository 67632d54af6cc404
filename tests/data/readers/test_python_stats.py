"""Python profiles: cProfile's dumps as pstats reads them, Pyinstrument's trees by hand, and what is neither."""

from __future__ import annotations

import cProfile
import io
import json
import marshal  # noqa: TID251 - writes what the reader reads
import pstats  # noqa: TID251 - the other reader; of files that this test or the profiler wrote
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.readers import python_stats
from data.readers.functions import LAST_STEP, NO_STEP, FileFunctions, FunctionRow
from data.readers.marshal_values import MarshalError
from data.readers.python_intervals import interval_of
from data.readers.python_stats import read, read_dump
from data.sources import FileKind, SourceFile
from tests.data.test_real import REAL

FOLDER = "train-5-stepstart-1596585374963238.5_train-6-forwardpassend-1596585376008161"
PLACE = f"profiler-output/framework/pytorch/cprofile/81-algo-1/{FOLDER}"
STATS: dict[Any, Any] = {
    ("train.py", 10, "step"): (5, 7, 0.5, 1.75, {("train.py", 1, "main"): (5, 7, 0.5, 1.75)}),
    ("train.py", 1, "main"): (1, 1, 0.25, 2.0, {}),
    ("~", 0, "<built-in method time.sleep>"): (3, 3, 1, 1, {("train.py", 10, "step"): (3, 3, 1.0, 1.0)}),
}
GOOD = marshal.dumps(STATS)


def stats_file(kind: FileKind = FileKind.PYTHON_STATS, place: str = PLACE) -> SourceFile:
    name = "python_stats" if kind is FileKind.PYTHON_STATS else "python_stats.json"
    return SourceFile(f"{place}/{name}", 1, 1, kind, "", 0)


def read_bytes(content: bytes, kind: FileKind = FileKind.PYTHON_STATS, place: str = PLACE) -> FileFunctions:
    return read(stats_file(kind, place), io.BytesIO(content))


def only_problem(found: FileFunctions) -> str:
    (problem,) = found.problems
    assert (problem.severity, problem.line, problem.lost_rows) == ("warning", None, 1)
    assert found.interval.folder in problem.message
    assert found.rows == ()
    return problem.message


def by_pstats(path: Path) -> dict[Any, Any]:
    stats: dict[Any, Any] = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    return {key: (cc, nc, round(tt * 1e9), round(ct * 1e9)) for key, (cc, nc, tt, ct, _) in stats.items()}


def by_reader(path: Path) -> dict[Any, Any]:
    return {
        (row.code_file, row.line, row.function): (row.pcalls, row.ncalls, row.tottime_ns, row.cumtime_ns)
        for row in read_dump(path.read_bytes())
    }


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the published profiles are not here: {REAL} is no folder")
def test_published_profiles_are_read_as_pstats_reads_them() -> None:
    files = sorted(REAL.rglob("python_stats"))
    assert len(files) == 3
    for path in files:
        assert by_reader(path) == by_pstats(path)


def test_a_profile_taken_now_is_read_as_pstats_reads_it(tmp_path: Path) -> None:
    def factorial(number: int) -> int:
        return number * factorial(number - 1) if number else 1

    profile = cProfile.Profile()
    profile.runcall(lambda: [factorial(30), sorted(json.loads("[3, 1, 2]"))])
    profile.dump_stats(tmp_path / "python_stats")
    found = by_reader(tmp_path / "python_stats")
    assert found == by_pstats(tmp_path / "python_stats")
    ((primitive, calls, _, _),) = [value for key, value in found.items() if key[2] == "factorial"]
    assert (primitive, calls) == (1, 31)


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_the_format(version: int) -> None:
    assert read_dump(marshal.dumps(STATS, version)) == (
        FunctionRow("train.py", 10, "step", 7, 5, 500_000_000, 1_750_000_000),
        FunctionRow("train.py", 1, "main", 1, 1, 250_000_000, 2_000_000_000),
        FunctionRow("~", 0, "<built-in method time.sleep>", 3, 3, 10**9, 10**9),
    )


def test_a_profile_without_functions_is_a_good_one() -> None:
    assert read_bytes(marshal.dumps({})) == FileFunctions(interval_of(f"{PLACE}/python_stats"), ())


@pytest.mark.parametrize(
    "stats",
    [
        {"train.py": (1, 1, 0.0, 0.0, {})},
        {("train.py", 1): (1, 1, 0.0, 0.0, {})},
        {("train.py", "1", "main"): (1, 1, 0.0, 0.0, {})},
        {("train.py", 2**40, "main"): (1, 1, 0.0, 0.0, {})},
        {("train.py", 1, "main"): (1, 1, 0.0, 0.0)},
        {("train.py", 1, "main"): (1, -1, 0.0, 0.0, {})},
        {("train.py", 1, "main"): (2**60, 1, 0.0, 0.0, {})},
        {("train.py", 1, "main"): (1, 1, "0", 0.0, {})},
        {("train.py", 1, "main"): (1, 1, float("nan"), 0.0, {})},
        {("train.py", 1, "main"): (1, 1, 0.0, float("inf"), {})},
        {("train.py", 1, "main"): (1, 1, 1e300, 0.0, {})},
        {("train.py", 1, "main"): 5},
    ],
)
def test_a_dict_of_something_else_is_no_profile(stats: dict[Any, Any]) -> None:
    with pytest.raises(MarshalError):
        read_dump(marshal.dumps({**STATS, **stats}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"this is not a profile\n", "does not begin"),
        (GOOD[: len(GOOD) // 2], "breaks off"),
        (b"\x80\x04cposix\nsystem\n", "does not begin"),  # a pickle
        (marshal.dumps(compile("raise SystemExit", "x", "exec")), "does not begin"),
        (b"{" + b")\x01" * 2_000_000, "nested"),
        (b"{(" + struct.pack("<i", 2**31 - 1), "breaks off"),
    ],
)
def test_a_damaged_or_foreign_file_is_one_problem(content: bytes, words: str) -> None:
    assert words in only_problem(read_bytes(content))


def test_a_file_that_is_too_large_is_one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_stats, "MAX_BYTES", len(GOOD) - 1)
    assert "larger than" in only_problem(read_bytes(GOOD))


@given(st.integers(0, len(GOOD)))
def test_every_cut_gives_rows_or_a_problem(at: int) -> None:
    found = read_bytes(GOOD[:at])
    assert len(found.rows) == 3 if at == len(GOOD) else only_problem(found)


@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_every_flipped_byte_gives_rows_or_a_problem(changes: list[tuple[int, int]]) -> None:
    content = bytearray(GOOD)
    for at, value in changes:
        content[at] = value
    found = read_bytes(bytes(content))
    assert found.rows or only_problem(found)


def test_entries_that_share_one_long_name_do_not_multiply_it() -> None:
    name = b"\xf5" + struct.pack("<i", 1_000_000) + b"n" * 1_000_000  # number 0
    entry = b")\x03r\0\0\0\0i%br\0\0\0\0)\x05i\1\0\0\0i\1\0\0\0g%bg%b{0"
    entries = b"".join(entry % (struct.pack("<i", line), bytes(8), bytes(8)) for line in range(20_000))
    first = b")\x03" + name + b"i\0\0\0\0r\0\0\0\0)\x05i\1\0\0\0i\1\0\0\0" + (b"g" + bytes(8)) * 2 + b"{0"
    rows = read_dump(b"{" + first + entries + b"0")
    assert len(rows) == 20_000
    assert len({id(row.function) for row in rows}) == 1


# --- Pyinstrument ---


def frame(function: str, time: float, *children: Any, file: str = "train.py", line: int = 1) -> dict[str, Any]:
    return {
        "function": function,
        "file_path_short": file,
        "file_path": f"/opt/{file}",
        "line_no": line,
        "time": time,
        "is_application_code": True,
        "children": list(children),
    }


def tree(root: Any) -> bytes:
    return json.dumps(
        {"start_time": 1.5, "duration": 2.0, "sample_count": 9, "program": "x", "root_frame": root}
    ).encode()


def read_json(content: bytes) -> FileFunctions:
    return read_bytes(content, FileKind.PYINSTRUMENT, PLACE.replace("cprofile", "pyinstrument"))


def test_a_tree_gives_own_and_cumulative_times() -> None:
    root = frame(
        "main",
        2.0,
        frame("step", 1.5, frame("step", 1.0, frame("sleep", 0.75, line=7), line=5), line=5),
        frame("sleep", 0.25, line=7),
        frame("[self]", 0.125),
    )
    found = read_json(tree(root))
    assert found.problems == ()
    assert set(found.rows) == {
        FunctionRow("/opt/train.py", 1, "main", None, None, 250_000_000, 2_000_000_000),
        FunctionRow("/opt/train.py", 5, "step", None, None, 750_000_000, 1_500_000_000),  # recursion counts once
        FunctionRow("/opt/train.py", 7, "sleep", None, None, 1_000_000_000, 1_000_000_000),
    }
    assert sum(row.tottime_ns for row in found.rows) == 2_000_000_000


def test_a_tree_without_samples_is_a_good_one() -> None:
    assert (read_json(tree(None)).rows, read_json(tree(None)).problems) == ((), ())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html></html>",
        b"[]",
        b"{}",
        b'{"root_frame": {"function": "no time"}}',
        tree(frame("x", -1.0)),
        tree(frame("x", 1e300)),
        tree(frame("x", 1.0, line=2**40)),
        tree(frame("x", 1.0))[:-5],
        b'{"root_frame": ' + b'{"time": 1, "children": [' * 2_000_000,
        b"\xff\xfe{}",
    ],
)
def test_a_damaged_or_foreign_tree_is_one_problem(content: bytes) -> None:
    only_problem(read_json(content))


TREE = tree(frame("main", 2.0, frame("step", 1.5), frame("größe", 0.25)))


@given(st.integers(0, len(TREE) - 1), st.integers(0, 255))
def test_every_flipped_byte_of_a_tree_gives_rows_or_a_problem(at: int, value: int) -> None:
    found = read_json(TREE[:at] + bytes([value]) + TREE[at + 1 :])
    assert found.rows or only_problem(found)


# --- intervals ---


def interval(folder: str, above: str = "cprofile/81-algo-1") -> Any:
    return interval_of(f"profiler-output/framework/pytorch/{above}/{folder}/python_stats")


def test_the_new_name_of_an_interval() -> None:
    found = interval(FOLDER)
    assert (found.folder, found.node, found.worker, found.known) == (FOLDER, "algo-1", "81", True)
    assert (found.start_mode, found.start_step, found.start_phase) == ("train", 5, "stepstart")
    assert (found.end_mode, found.end_step, found.end_phase) == ("train", 6, "forwardpassend")
    assert (found.start_ns, found.end_ns) == (1_596_585_374_963_238_500, 1_596_585_376_008_161_000)


def test_stars_are_before_the_first_and_after_the_last_step() -> None:
    found = interval("prestepzero-*-start-1596585374963238.0_posthookclose-*-end-1596585376008161.0")
    assert (found.start_mode, found.start_step, found.end_mode, found.end_step) == (
        "prestepzero",
        NO_STEP,
        "posthookclose",
        LAST_STEP,
    )


def test_the_old_name_of_an_interval() -> None:
    found = interval("1596585363775342.0_1596585373504789.0_151-algo-1_-1", "cProfile")
    assert (found.node, found.worker, found.start_mode, found.end_mode) == ("algo-1", "151", "", "")
    assert (found.start_step, found.end_step) == (-1, -1)
    assert (found.start_ns, found.end_ns) == (1_596_585_363_775_342_000, 1_596_585_373_504_789_000)
    assert interval("1596585363775342_1596585373504789_my_host_7", "cProfile").node == "my_host"


@pytest.mark.parametrize(
    "folder",
    ["other", "train-5-stepstart-12_train-6-stepend-13", f"{FOLDER}x", "1_2_a_3", "train-5-stepstart-1596585374963238"],
)
def test_a_name_that_says_nothing_is_a_problem_and_its_functions_are_kept(folder: str) -> None:
    place = f"profiler-output/framework/pytorch/cprofile/81-algo-1/{folder}"
    found = read_bytes(GOOD, place=place)
    assert (found.interval.node, found.interval.known, len(found.rows)) == ("algo-1", False, 3)
    (problem,) = found.problems
    assert (problem.severity, problem.lost_rows) == ("warning", 0)
    assert folder in problem.message
