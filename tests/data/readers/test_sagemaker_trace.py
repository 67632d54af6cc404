"""Timeline files: known answers from plain json, real files, and both roads giving the same."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers import READERS, sagemaker_trace
from data.readers.events import EVENT_SCHEMA, EventBatch, split_node_id
from data.readers.paths import literal_pattern
from data.readers.sagemaker_trace import READER, read
from data.readers.trace_bulk import BulkFile, read_in_bulk
from data.sources import FileKind, SourceFile, open_source

START_US = 1767268800000000
REAL = Path(__file__).parents[4] / "shared" / "real"
RESOURCES = "awslabs-sagemaker-debugger/tests/profiler/resources"


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def start(value: object = START_US) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": value}}


def lane(pid: object, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def event(ts: object = 1, dur: object = 2, pid: object = 1, **args: object) -> dict[str, Any]:
    return {"name": "e", "ph": "X", "pid": pid, "ts": ts, "dur": dur, "args": args}


def source_file(path: Path, node: str = "81-algo-1") -> tuple[SourceFile, str]:
    return SourceFile(path.name, path.stat().st_size, 0, FileKind.PYTHONTIMELINE, node, 0), str(path)


def read_texts(db: duckdb.DuckDBPyConnection, folder: Path, *texts: str | bytes) -> EventBatch:
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        paths.append(source_file(path))
    batch = read(db, paths)
    assert batch.table.schema == EVENT_SCHEMA
    batch.table.validate(full=True)
    return batch


def rows(batch: EventBatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = batch.table.to_pylist()
    return sorted(found, key=lambda row: (row["file"], row["start_ns"], row["duration_ns"], row["step"], row["name"]))


def test_one_file_in_every_detail(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    events = [
        start(),
        lane(7, "Step:ModeKeys.TRAIN"),
        {"name": "first", "ph": "X", "pid": 7, "ts": 5, "dur": 0, "args": {"step_num": "12", "pid": 905}},
        {"name": "second", "ph": "X", "pid": 8, "ts": -3, "dur": 1.5, "tid": 4, "args": {"thread_id": "33"}},
        {"name": "other", "ph": "i", "pid": 8, "ts": 6},
        {},
    ]
    batch = read_texts(db, tmp_path, json.dumps(events))
    assert batch.problems == ()
    assert rows(batch) == [
        {"node": "algo-1", "worker": "81", "phase": "Unknown", "name": "second", "start_ns": START_US * 1000 - 3000,
         "duration_ns": 1500, "step": -1, "process": -1, "thread": 33, "file": 0},
        {"node": "algo-1", "worker": "81", "phase": "Step:ModeKeys.TRAIN", "name": "first",
         "start_ns": START_US * 1000 + 5000, "duration_ns": 0, "step": 12, "process": 905, "thread": -1, "file": 0},
    ]  # fmt: skip


@pytest.mark.parametrize("job", ["test_traces", "merge_traces", "model_timeline_traces"])
def test_real_files_agree_with_their_known_facts(db: duckdb.DuckDBPyConnection, job: str) -> None:
    if not REAL.is_dir():
        pytest.skip(f"the recorded files are not there: no folder {REAL}")
    facts = json.loads((REAL / "FACTS.json").read_text())
    (found,) = open_source(str(REAL / RESOURCES / job)).jobs()
    files = [file for file in found.files() if READER.matches(file)]
    batch = read(db, [(file, found.local_path(file.path)) for file in files])
    assert files
    assert batch.problems == ()
    for number, file in enumerate(files):
        fact = facts[f"{RESOURCES}/{job}/{file.path}".replace("//", "/")]
        mine = [row for row in batch.table.to_pylist() if row["file"] == number]
        events = json.loads((REAL / RESOURCES / job / file.path).read_text())
        complete = [item for item in events if item["ph"] == "X"]
        lanes = {item["pid"]: item["args"]["name"] for item in events if "name" in item.get("args", {})}
        assert batch.files[number].events == len(mine) == fact["complete_events"] == len(complete)
        assert min(row["start_ns"] for row in mine) == fact["min_abs_us"] * 1000
        assert max(row["start_ns"] + row["duration_ns"] for row in mine) == fact["max_abs_end_us"] * 1000
        assert sum(row["duration_ns"] for row in mine) == 1000 * sum(item["dur"] for item in complete)
        assert Counter(row["phase"] for row in mine) == Counter(lanes.get(item["pid"], "Unknown") for item in complete)
        steps = Counter(int(item.get("args", {}).get("step_num", -1)) for item in complete)
        assert Counter(row["step"] for row in mine) == steps


def test_a_lane_number_means_another_phase_in_another_file(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    one = json.dumps([start(), lane(1, "Step"), event(pid=1)])
    two = json.dumps([start(), lane(1, "Data"), lane(2, "Step"), event(pid=1), event(pid=2, ts=5)])
    assert [row["phase"] for row in rows(read_texts(db, tmp_path, one, two))] == ["Step", "Data", "Step"]


def test_a_second_session_keeps_its_own_start_and_lanes(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    events = [event(ts=9), start(), lane(1, "A"), event(), start(START_US + 10**7), lane(1, "B"), event()]
    found = rows(read_texts(db, tmp_path, json.dumps(events)))
    assert [(row["phase"], row["start_ns"] // 1000 - START_US) for row in found] == [
        ("A", 1),
        ("A", 9),
        ("B", 10**7 + 1),
    ]


@pytest.mark.parametrize("value", [None, 0, 84070453580, START_US * 1000, "soon", 1e300])
def test_without_a_start_value_events_have_no_clock(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, value: object
) -> None:
    text = json.dumps([start(value), event(), event(ts=4)])
    batch = read_texts(db, tmp_path, text, text[:-1] + " ", json.dumps([start(), event()]))
    assert [(counts.events, counts.without_clock) for counts in batch.files] == [(0, 2), (0, 2), (1, 0)]
    told = [problem for problem in batch.problems if "start" in problem.message]
    assert [problem.file for problem in told] == ["1.json", "0.json"]
    assert all(problem.severity == "warning" for problem in told)


def test_events_without_sense_are_counted(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    bad = [event(dur=-5), event(dur=None), event(ts=None), event(ts="x"), event(dur=10**17), {"name": "no kind"}]
    text = "[\n" + ",\n".join(json.dumps(item) for item in [start(), event(), *bad, event(dur=-6)]) + "\n]"
    batch = read_texts(db, tmp_path, text)
    assert (batch.files[0].events, batch.files[0].invalid) == (1, 7)
    messages = {problem.message: problem.line for problem in batch.problems}
    assert messages == {
        "2 events with a negative duration were left out": 4,
        "2 events with no usable duration were left out": 5,
        "2 events with no usable time were left out": 6,
        "1 event with no kind (ph) was left out": 9,
    }


def test_begin_and_end_events_are_named_as_left_out(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    pair = [{"name": "b", "ph": "B", "pid": 1, "ts": 1}, {"ph": "E", "pid": 1, "ts": 2}]
    text = json.dumps([start(), event(), *pair])
    for batch in (read_texts(db, tmp_path, text), read_texts(db, tmp_path, text[:-1])):
        assert batch.table.num_rows == 1
        assert sum("2 begin and end events" in problem.message for problem in batch.problems) == 1


def test_copies_count_once(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    text = json.dumps([start(), event()])
    other = json.dumps([start(), event(ts=3)])
    batch = read_texts(db, tmp_path, text, other, text)
    assert [counts.events for counts in batch.files] == [1, 1, 0]
    (note,) = batch.problems
    assert (note.file, note.severity, note.lost_rows) == ("2.json", "note", 0)
    assert "copy of 0.json" in note.message


def test_the_same_bytes_of_another_node_are_no_copy(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([start(), event()]))
    batch = read(db, [source_file(path, "0-algo-1"), source_file(path, "0-algo-2")])
    assert [(row["node"], row["worker"]) for row in rows(batch)] == [("algo-1", "0"), ("algo-2", "0")]


def test_one_bad_file_among_many_costs_only_its_own_damage(
    db: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sagemaker_trace, "BULK_BYTES", 2000)
    texts = [json.dumps([start(), lane(1, f"p{number}"), event(ts=number)]) for number in range(40)]
    texts[17] = '[{"ph": "X", oops},' + texts[17][1:]
    texts[23] = texts[23][:-20]
    batch = read_texts(db, tmp_path, *texts)
    assert [counts.events for counts in batch.files] == [int(number != 23) for number in range(40)]
    assert {(row["file"], row["phase"]) for row in rows(batch)} == {(n, f"p{n}") for n in range(40) if n != 23}
    assert {(problem.file, problem.lost_rows) for problem in batch.problems} == {
        ("17.json", 1), ("23.json", 1), ("23.json", 0),
    }  # fmt: skip


def test_missing_and_empty_files_are_problems_and_no_exception(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    gone = (SourceFile("gone.json", 5, 0, FileKind.PYTHONTIMELINE, "algo-1", 0), str(tmp_path / "gone.json"))
    (tmp_path / "empty.json").touch()
    batch = read(db, [gone, source_file(tmp_path / "empty.json")])
    assert [(problem.file, problem.severity) for problem in batch.problems] == [
        ("gone.json", "error"), ("empty.json", "note"),
    ]  # fmt: skip
    assert batch.table.num_rows == 0
    assert read(db, []).table.schema == EVENT_SCHEMA


def test_names_that_look_like_patterns_are_names(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    names = ["d[1]", "d1", "it's 50% #1", "a*b", "axb", "q?", "b\\s", "x=3"]
    paths = []
    for number, name in enumerate(names):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "f[0].json"
        path.write_text(json.dumps([start(), event(ts=number)]))
        paths.append(source_file(path))
    batch = read(db, paths)
    assert batch.problems == ()
    assert [row["start_ns"] // 1000 - START_US for row in rows(batch)] == list(range(len(names)))
    assert literal_pattern("/a[b]*?c") == "/a[[]b][*][?]c"


def test_the_node_is_in_the_id_of_the_file_name() -> None:
    assert split_node_id("151-algo-1") == ("algo-1", "151")
    assert split_node_id("81-algo-2-k7qz2") == ("algo-2-k7qz2", "81")
    assert split_node_id("algo-1") == ("algo-1", "")
    assert split_node_id("905-b88ab1bb8259") == ("905-b88ab1bb8259", "")
    assert split_node_id("0001") == ("0001", "")


def test_the_reader_is_registered_once() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)
    taken = {kind for kind in FileKind if READER.matches(SourceFile("x", 0, 0, kind, "", 0))}
    assert taken == {FileKind.PYTHONTIMELINE, FileKind.MODEL_TIMELINE}


def test_sound_files_take_the_fast_road(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Also with fractions of microseconds, and without names or numbers: else a job of many files takes minutes."""
    items = [
        start(),
        lane(1, "A"),
        event(ts=1.5),
        event(dur=0.25, args={"step_num": "7"}),
        {"ph": "X", "ts": 1, "dur": 2},
    ]
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in paths:
        path.write_text(json.dumps(items))
    found = read_in_bulk(db, [str(path) for path in paths])
    assert found.files == (BulkFile(events=3, without_clock=0, pairs=0, doubtful=False),) * 2
    assert len(found.table) == 6


TIMES = st.integers(0, 10**15) | st.decimals(0, 10**9, places=3).map(float) | st.integers(0, 99).map(str)
EVENT = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": st.text(max_size=5), "ts": TIMES, "dur": TIMES, "pid": st.integers(0, 3)},
    optional={
        "tid": st.integers(-5, 2**40),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "step_num": st.integers(-1, 10**6) | st.integers(0, 10**6).map(str),
                "pid": st.integers(0, 2**31) | st.text(max_size=3),
                "thread_id": st.integers(0, 2**63 - 1),
            },
        ),
    },
)


def exact_ns(value: object) -> int:
    return int((Decimal(str(value)) * 1000).to_integral_value(ROUND_HALF_UP))


@settings(max_examples=30, deadline=None)
@given(st.lists(EVENT, max_size=8), st.integers(0, 3))
def test_both_roads_agree_with_plain_json(events: list[dict[str, Any]], named: int) -> None:
    document = [start(), *(lane(pid, f"lane {pid}") for pid in range(named)), *events]
    whole = json.dumps(document)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as db:
        fast = read_texts(db, Path(folder), whole)
        slow = read_texts(db, Path(folder), whole[:-1] + ",")
    assert fast.problems == ()
    assert [problem.severity for problem in slow.problems] == ["note"]
    assert rows(fast) == rows(slow)
    found = Counter((row["phase"], row["name"], row["start_ns"], row["duration_ns"]) for row in rows(fast))
    assert found == Counter(
        (
            f"lane {item['pid']}" if item["pid"] < named else "Unknown",
            item["name"],
            START_US * 1000 + exact_ns(item["ts"]),
            exact_ns(item["dur"]),
        )
        for item in events
    )
    assert Counter(row["step"] for row in rows(fast)) == Counter(
        int(item.get("args", {}).get("step_num", -1)) for item in events
    )


WHOLE = (
    "[\n" + ",\n".join(json.dumps(item) for item in [start(), lane(1, "A"), *(event(ts=n) for n in range(5))]) + "\n]"
)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(WHOLE)))
def test_a_file_cut_anywhere_gives_the_events_so_far(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as db:
        batch = read_texts(db, Path(folder), WHOLE[:cut])
    whole_events = sum(f'"ts": {number}, "dur": 2, "args": {{}}}}' in WHOLE[:cut] for number in range(5))
    assert batch.files[0].events == batch.table.num_rows == whole_events
    assert [row["start_ns"] for row in rows(batch)] == [START_US * 1000 + 1000 * n for n in range(whole_events)]
    assert bool(batch.problems) == (cut < len(WHOLE))


VALUE = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        VALUE
        | st.dictionaries(
            st.sampled_from(["ph", "name", "ts", "dur", "pid", "tid", "args"]),
            VALUE
            | st.sampled_from(["X", "M", "B", "process_name"])
            | st.dictionaries(st.sampled_from(["name", "step_num", "pid", "start_time_since_epoch_in_micros"]), VALUE),
        ),
        max_size=6,
    )
)
def test_no_values_raise(items: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as db:
        batch = read_texts(db, Path(folder), json.dumps([start(), event(), *items]))
    assert batch.files[0].events == batch.table.num_rows >= 1
