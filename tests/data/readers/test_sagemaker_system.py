"""System metrics files: both roads give the same, and whatever is damaged becomes a problem, never a wrong row."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.problem import Problem
from data.readers import sagemaker_system
from data.readers.sagemaker_system import Catalog, SystemRows, read
from data.sources import FileKind, SourceFile
from tests import oracle, trees

STAMP_S = trees.START_US // 10**6


class Found(NamedTuple):
    """Rows as (node, type, name, dimension, microseconds, value), sorted, and what could not be read."""

    rows: list[oracle.Row]
    problems: tuple[Problem, ...]

    @property
    def lost(self) -> int:
        return sum(one.lost_rows for one in self.problems)


@pytest.fixture(scope="module")
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 2}) as connection:
        yield connection


def source_file(path: Path, node: str = "algo-1") -> tuple[SourceFile, str]:
    size = path.stat().st_size if path.exists() else 1
    return SourceFile(f"system/{path.name}", size, 0, FileKind.SYSTEM, node, STAMP_S * 10**9), str(path)


def in_words(rows: SystemRows, catalog: Catalog) -> list[oracle.Row]:
    assert np.isfinite(rows.value).all()
    assert (rows.sid >= 0).all()
    series = [catalog.series[sid] for sid in rows.sid.tolist()]
    found = zip(series, rows.time_us.tolist(), rows.value.tolist(), strict=True)
    return sorted(oracle.Row(s.node, s.type, s.name, s.dimension, time_us, value) for s, time_us, value in found)


def read_files(db: duckdb.DuckDBPyConnection, *paths: Path) -> Found:
    catalog = Catalog()
    batch = read(db, [source_file(path) for path in paths], catalog)
    return Found(in_words(batch.rows, catalog), batch.problems)


def read_bytes(db: duckdb.DuckDBPyConnection, folder: Path, content: bytes, suffix: str = ".json") -> Found:
    path = folder / f"{STAMP_S}.algo-1{suffix}"
    path.write_bytes(content)
    return read_files(db, path)


def record(**changes: Any) -> dict[str, Any]:
    """A good record, a second after the minute in the file's name."""
    words = {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": 1.5, "NodeId": "algo-1"}
    return words | {"Timestamp": STAMP_S + 1.25} | changes


def line(**changes: Any) -> str:
    return json.dumps(record(**changes))


def row(value: float = 1.5, time_us: int = trees.START_US + 1_250_000, **changes: str) -> oracle.Row:
    return oracle.Row("algo-1", "cpu", "cpu0", "CPUUtilization", time_us, value)._replace(**changes)


FIRST, LAST = line(Value=1), line(Value=2, Timestamp=STAMP_S + 3)
GOOD = [row(1), row(2, trees.START_US + 3_000_000)]


def between(db: duckdb.DuckDBPyConnection, folder: Path, middle: str | bytes) -> Found:
    """What is read of a file with a good line before and after: both must always survive."""
    content = middle.encode() if isinstance(middle, str) else middle
    found = read_bytes(db, folder, FIRST.encode() + b"\n" + content + b"\n" + LAST.encode() + b"\n")
    assert set(GOOD) <= set(found.rows)
    return found


def careful(folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, db: duckdb.DuckDBPyConnection) -> Found:
    """What the road line by line makes of a file that the fast road takes, too."""
    with monkeypatch.context() as patch:
        patch.setattr(sagemaker_system, "_fast", lambda db, filled, catalog: (SystemRows.empty(), [0]))
        return read_bytes(db, folder, content)


def both_roads(db: duckdb.DuckDBPyConnection, folder: Path, content: bytes, patch: pytest.MonkeyPatch) -> Found:
    """What is read, once it is sure that the fast road took it and that both roads give the same."""
    with patch.context() as inside:
        inside.setattr(sagemaker_system, "_careful", lambda *anything: pytest.fail("the fast road was not taken"))
        fast = read_bytes(db, folder, content)
    assert careful(folder, content, patch, db) == fast
    return fast


def test_good_files_are_read_as_plain_json_reads_them(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    records = trees.machine("algo-1", ticks=150) + trees.machine("algo-2", ticks=150, gpus=0, cores=3)
    files = trees.metrics_files(records)
    assert len(files) == 4
    trees.write(tmp_path, files)
    found = read_files(db, *(tmp_path / path for path in files))
    assert found.rows == sorted(oracle.system_rows(tmp_path))
    assert found.problems == ()


def test_both_roads_agree_on_every_kind_of_record(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (content,) = trees.metrics_files(trees.machine(ticks=30, gpus=2)).values()
    assert len(both_roads(db, tmp_path, content, monkeypatch).rows) == content.count(b"\n")


def test_both_roads_round_stamps_alike(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stamps with a seventh digit, of which many lie exactly between two microseconds once they are floats."""
    lines = [line(Value=at, Timestamp="?").replace('"?"', f"{STAMP_S}.{at * 5:07d}") for at in range(1, 400)]
    content = "\n".join(lines).encode()
    found = both_roads(db, tmp_path, content, monkeypatch)
    expected = [math.floor(float(f"{STAMP_S}.{at * 5:07d}") * 1e6 + 0.5) for at in range(1, 400)]
    assert [one.time_us for one in sorted(found.rows, key=lambda one: one.value)] == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (line(Value=True), row(1.0)),
        (line(Value="12.5"), row(12.5)),
        (line(Value=10**30), row(1e30)),
        (line(Value=-19.61), row(-19.61)),
        (line(Value=66775126.66), row(66775126.66)),
        (line(Value=0.30000000000000004), row(0.1 + 0.2)),
        (line(Timestamp=f"{STAMP_S + 1}.25"), row()),
        (line(Timestamp=STAMP_S + 2), row(time_us=trees.START_US + 2_000_000)),
        (line(Name=None), row(name="")),
        (line(Name=5), row(name="5")),
        (line(Name=True), row(name="true")),
        (line(Name={"a": [1, None]}), row(name='{"a":[1,null]}')),
        (line(Name="naïve \u2028 <b>&amp;"), row(name="naïve \u2028 <b>&amp;")),
        (line(Name="zero\0byte"), row(name="zero\0byte")),
        (line(NodeId=5), row(node="5")),
        (line(value=9), row()),  # a key in other letters is another key
        (line(more={"a": 1}), row()),
        (line(Name="x" * 512), row(name="x" * 512)),
        (line().replace("Value", "V\\u0061lue"), row()),
    ],
)
def test_odd_but_meaningful_records_are_read_alike_by_both_roads(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, expected: oracle.Row
) -> None:
    assert both_roads(db, tmp_path, given.encode(), monkeypatch) == ([expected], ())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"Value":3,"Value":4,' + line()[1:].replace('"Value": 1.5, ', ""), row(4)),  # of twins the last one counts
        (line(NodeId=None), row()),  # the file's name says whose it is
        (line(NodeId=""), row()),
        (line(Value=" 12.5 "), row(12.5)),
    ],
)
def test_records_that_only_the_careful_road_understands(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, given: str, expected: oracle.Row
) -> None:
    found = between(db, tmp_path, given)
    assert found.rows == sorted([*GOOD, expected])
    assert found.problems == ()


def test_a_file_that_never_names_its_node_belongs_to_the_node_of_its_name(
    db: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    lines = [json.dumps({key: word for key, word in record(Value=at).items() if key != "NodeId"}) for at in range(5)]
    assert read_bytes(db, tmp_path, "\n".join(lines).encode()) == ([row(at) for at in range(5)], ())


DAMAGED = {
    "a row of nulls": "null",
    "a number": "12",
    "an array": f"[{line()}]",
    "a text": '"text"',
    "an empty object": "{}",
    "NaN": line(Value="?").replace('"?"', "NaN"),
    "Infinity": line(Value="?").replace('"?"', "Infinity"),
    "-Infinity": line(Value="?").replace('"?"', "-Infinity"),
    "NaN as text": line(Value="nan"),
    "infinity as text": line(Value="inf"),
    "a value beyond all measure": line(Value=1e31),
    "a negative value beyond all measure": line(Value=-1.7e308),
    "an overflow": line(Value="?").replace('"?"', "1e400"),
    "no Value": line(Value=None),
    "a Value that is a list": line(Value=[1]),
    "an empty Value": line(Value=""),
    "keys in lower case": json.dumps({key.lower(): word for key, word in record().items()}),
    "no Timestamp": line(Timestamp=None),
    "a stamp in milliseconds": line(Timestamp=STAMP_S * 1000),
    "a stamp in microseconds": line(Timestamp=STAMP_S * 10**6),
    "a stamp in nanoseconds": line(Timestamp=STAMP_S * 10**9),
    "a stamp before the year 2000": line(Timestamp=12345.6),
    "a negative stamp": line(Timestamp=-1),
    "a stamp of another day": line(Timestamp=STAMP_S + 90_000),
    "no names": line(Type="", Name="", Dimension=None),
    "two objects": line() + line(),
    "two objects and a blank": line() + " " + line(),
    "text after a record": line() + " # checked",
    "a record cut off": line()[:-20],
    "a record without its start": line()[20:],
    "single quotes": line().replace('"', "'"),
    "invalid UTF-8": line(Name="?").encode().replace(b"?", b"\xff\xfe"),
    "half a surrogate": line(Name="?").replace("?", "\\ud800"),
    "zero bytes": b"\0" * 40,
    "deep nesting": "[" * 200_000,
    "a very long name": line(Name="x" * 513),
    "a very long node name": line(NodeId="x" * 513),
    "an endless line": b"x" * (3 << 20),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_line_is_a_problem_with_file_and_line(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, damage: str
) -> None:
    found = between(db, tmp_path, DAMAGED[damage])
    assert found.rows == sorted(GOOD)
    (problem,) = found.problems
    assert (problem.file, problem.line, problem.lost_rows) == (f"system/{STAMP_S}.algo-1.json", 2, 1)
    assert problem.severity == "warning"
    assert problem.message.startswith(f"line 2 of {STAMP_S}.algo-1.json ")


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000])
def test_deep_nesting_in_a_record_hurts_nobody(db: duckdb.DuckDBPyConnection, tmp_path: Path, nested: str) -> None:
    found = between(db, tmp_path, line(more="?").replace('"?"', nested))
    assert len(found.rows) + found.lost == 3
    assert set(found.rows) <= {*GOOD, row()}


@pytest.mark.parametrize("more", ["", "\n}"])
def test_a_record_of_megabytes_is_a_row_or_a_problem(db: duckdb.DuckDBPyConnection, tmp_path: Path, more: str) -> None:
    found = between(db, tmp_path, line(more="x" * (3 << 20)) + more)
    assert len(found.rows) + found.lost == 3 + len(more) // 2


@pytest.mark.parametrize("blank", ["", " \t", "\r", "\n\n\n", "\x0c"])
def test_blank_lines_are_nothing(db: duckdb.DuckDBPyConnection, tmp_path: Path, blank: str) -> None:
    assert between(db, tmp_path, blank) == (sorted(GOOD), ())


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\n", gzip.compress(b"")])
def test_an_empty_file_is_nothing(db: duckdb.DuckDBPyConnection, tmp_path: Path, content: bytes) -> None:
    assert read_bytes(db, tmp_path, content) == ([], ())


def test_a_byte_order_mark_is_no_part_of_the_first_record(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + f"{FIRST}\r\n{LAST}\r\n".encode()
    assert read_bytes(db, tmp_path, content) == (sorted(GOOD), ())


def test_a_cut_last_line_says_so(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    found = read_bytes(db, tmp_path, f"{FIRST}\n{LAST}\n{line()[:40]}".encode())
    assert found.rows == sorted(GOOD)
    (problem,) = found.problems
    assert (problem.line, problem.lost_rows) == (3, 1)
    assert "cut off" in problem.message


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_name_may_lie_about_compression(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, suffix: str, is_packed: bool
) -> None:
    content = f"{FIRST}\n{LAST}\n".encode()
    found = read_bytes(db, tmp_path, gzip.compress(content) if is_packed else content, suffix)
    assert found == (sorted(GOOD), ())


def test_packed_and_plain_files_in_one_batch(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "b.json.gz"
    plain.write_text(FIRST)
    packed.write_bytes(gzip.compress(LAST.encode()))
    assert read_files(db, plain, packed) == (sorted(GOOD), ())


def test_gzip_members_one_after_the_other_and_padding(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    content = gzip.compress(f"{FIRST}\n".encode()) + gzip.compress(f"{LAST}\n".encode()) + b"\0" * 512
    assert read_bytes(db, tmp_path, content, ".json.gz") == (sorted(GOOD), ())


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_what_is_left_of_a_broken_gzip_file_is_read(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, share: float
) -> None:
    records = trees.machine(ticks=110, cores=16)
    (content,) = trees.metrics_files(records).values()
    packed = gzip.compress(content)
    found = read_bytes(db, tmp_path, packed[: int(len(packed) * share)], ".json.gz")
    everything = sorted({oracle.Row(r.node, r.type, r.name, r.dimension, r.time_us, r.value) for r in records})
    assert len(everything) * share / 2 < len(found.rows) < len(everything)
    assert set(found.rows) <= set(everything)
    (problem,) = found.problems
    assert problem.line == len(found.rows) + 1
    assert "breaks off" in problem.message
    assert problem.lost_rows == 1


@pytest.mark.parametrize("suffix", [".json.gz", ".json"])
def test_no_value_is_taken_from_packed_data_that_were_changed(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, suffix: str
) -> None:
    """Every 7th byte with another bit: the rows that were written, or fewer with a reason, but never another row."""
    records = trees.machine(ticks=3, cores=1)
    (content,) = trees.metrics_files(records).values()
    written = sorted({oracle.Row(r.node, r.type, r.name, r.dimension, r.time_us, r.value) for r in records})
    packed = gzip.compress(content, mtime=0)
    unsound = 0
    for at in range(0, len(packed), 7):
        changed = bytearray(packed)
        changed[at] ^= 1 << at % 8
        found = read_bytes(db, tmp_path, bytes(changed), suffix)
        assert found.rows == written or found.lost >= 1
        assert set(found.rows) <= set(written)
        unsound += found.problems != () and "changed after it was written" in found.problems[0].message
    assert unsound > len(packed) / 7 / 2


def test_damaged_packed_data_is_an_error_that_says_how_many_lines_it_cost(
    db: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    packed = bytearray(gzip.compress(f"{FIRST}\n{LAST}\n".encode()))
    packed[-6] ^= 1  # in the checksum: all lines can be unpacked
    found = read_bytes(db, tmp_path, bytes(packed), ".json.gz")
    assert found.rows == []
    (problem,) = found.problems
    assert (problem.severity, problem.lost_rows) == ("error", 2)


def test_something_else_behind_packed_data_costs_no_row(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    content = gzip.compress(f"{FIRST}\n{LAST}\n".encode()) + b"something else"
    assert read_bytes(db, tmp_path, content, ".json.gz").rows == sorted(GOOD)


def test_a_file_that_is_gone_costs_only_itself(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    good, gone = tmp_path / "good.json", tmp_path / "gone.json"
    good.write_text(f"{FIRST}\n{LAST}\n")
    found = read_files(db, good, gone)
    assert found.rows == sorted(GOOD)
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("system/gone.json", None)
    assert "cannot be read" in problem.message


def test_a_bad_file_costs_the_others_nothing(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(7)]
    for number, path in enumerate(paths):
        path.write_text(line(Value=number) + "\n" + ("}{" if number in (2, 5) else ""))
    found = read_files(db, *paths)
    assert found.rows == [row(number) for number in range(7)]
    assert [(one.file, one.line) for one in found.problems] == [("system/2.json", 2), ("system/5.json", 2)]


def test_hundreds_of_bad_lines_are_summed_up(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    found = between(db, tmp_path, "\n".join(["x"] * 500))
    assert len(found.problems) == sagemaker_system.MAX_PROBLEMS_PER_FILE + 1
    assert found.lost == 500
    assert str(500 - sagemaker_system.MAX_PROBLEMS_PER_FILE) in found.problems[-1].message


def test_paths_are_no_patterns(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "job [1] *?' ü"
    folder.mkdir()
    (tmp_path / "job 1 x").mkdir()
    (folder / "a[0-9].json").write_text(FIRST)
    (folder / "a1.json").write_text(line(Value=99))
    assert read_files(db, folder / "a[0-9].json") == ([GOOD[0]], ())


def test_rows_name_their_file(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """The position in the batch, with an empty file and a damaged one in between."""
    for number, content in enumerate([line(Value=0), "", line(Value=2) + "\n}", line(Value=3)]):
        (tmp_path / f"{number}.json").write_text(content)
    batch = read(db, [source_file(tmp_path / f"{number}.json") for number in range(4)], Catalog())
    assert sorted(zip(batch.rows.file.tolist(), batch.rows.value.tolist(), strict=True)) == [
        (0, 0.0),
        (2, 2.0),
        (3, 3.0),
    ]


def test_a_known_catalog_is_gone_on_with(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    catalog = Catalog()
    for number, name in enumerate(("cpu0", "cpu1", "cpu0")):
        (tmp_path / f"{number}.json").write_text(line(Name=name))
        batch = read(db, [source_file(tmp_path / f"{number}.json")], catalog)
        assert [catalog.series[sid].name for sid in batch.rows.sid.tolist()] == [name]
    assert [series.name for series in catalog.series] == ["cpu0", "cpu1"]


TEXT = [one.line.encode() for one in trees.machine(ticks=2, cores=1)]


def mutated(lines: list[bytes], how: str, at: int, byte: int) -> bytes:
    """A good file with one fault."""
    whole = b"\n".join(lines) + b"\n"
    at_line, at_byte = at % len(lines), at % len(whole)
    if how == "cut":
        return whole[:at_byte]
    if how == "flip":
        return whole[:at_byte] + bytes([whole[at_byte] ^ byte]) + whole[at_byte + 1 :]
    if how == "insert":
        return whole[:at_byte] + bytes([byte]) + whole[at_byte:]
    if how == "drop":
        return b"\n".join(lines[:at_line] + lines[at_line + 1 :]) + b"\n"
    return b"\n".join([*lines[: at_line + 1], *lines[at_line:]]) + b"\n"


@settings(max_examples=120)
@given(st.sampled_from(["cut", "flip", "insert", "drop", "twice"]), st.integers(0, 10_000), st.integers(1, 255))
def test_rows_and_lost_rows_are_all_lines(db_once: duckdb.DuckDBPyConnection, how: str, at: int, byte: int) -> None:
    content = mutated(TEXT, how, at, byte)
    with tempfile.TemporaryDirectory() as folder:
        found = read_bytes(db_once, Path(folder), content)
    lines = [one for one in content.split(b"\n") if one.strip()]
    assert len(found.rows) + found.lost == len(lines)
    if how in ("drop", "twice"):
        assert found.problems == ()
    assert all(1 <= (one.line or 0) <= len(lines) + 1 for one in found.problems)


@pytest.fixture(scope="module")
def db_once(db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The same connection, under a name of its own: hypothesis wants fixtures that outlive its examples."""
    return db


def test_every_line_counts_in_any_order(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    lines = [FIRST, "null", LAST, line(Value=None)]
    for order in itertools.permutations(lines):
        found = read_bytes(db, tmp_path, "\n".join(order).encode())
        assert found.rows == sorted(GOOD)
        assert {one.line for one in found.problems} == {order.index("null") + 1, order.index(lines[3]) + 1}
