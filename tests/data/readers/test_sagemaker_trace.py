"""Timeline files: known answers from plain json, real files, and both roads giving the same."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers import READERS, trace_rows
from data.readers.events import split_node_id
from data.readers.paths import literal_pattern
from data.readers.sagemaker_trace import KINDS, READER
from data.sources import FileKind, SourceFile, open_source
from tests import traces, trees
from tests.conftest import REAL
from tests.stored import convert
from tests.traces import START_US, Found, begin, end, event, lane, read_files, source_file, start, without

RESOURCES = "awslabs-sagemaker-debugger/tests/profiler/resources"


def read_texts(folder: Path, *texts: str | bytes) -> Found:
    return traces.read_texts(READER, folder, *texts)


def test_one_file_in_every_detail(tmp_path: Path) -> None:
    events = [
        start(),
        lane(7, "Step:ModeKeys.TRAIN"),
        {"name": "first", "ph": "X", "pid": 7, "ts": 5, "dur": 0, "args": {"step_num": "12", "pid": 905}},
        {"name": "second", "ph": "X", "pid": 8, "ts": -3, "dur": 1.5, "tid": 4, "args": {"thread_id": "33"}},
        {"name": "third", "cat": "c", "ph": "X", "pid": 8, "ts": 7, "dur": 1, "tid": "a",
         "args": {"bytes": 4096, "device": 1, "stream": "7"}},
        {"name": "other", "ph": "i", "pid": 8, "ts": 6},
        {},
    ]  # fmt: skip
    found = read_texts(tmp_path, json.dumps(events))
    assert found.problems == ()
    same = {"node": "algo-1", "worker": "81", "wall": True, "file": 0}
    nothing = {"category": "", "step": -1, "process": "", "thread": "", "device": "", "stream": -1, "bytes": -1}
    assert found.rows == [
        same | nothing | {"phase": "Unknown", "name": "second", "start_ns": START_US * 1000 - 3000,
         "duration_ns": 1500, "thread": "33", "args": '{"thread_id":"33"}'},
        same | nothing | {"phase": "Step:ModeKeys.TRAIN", "name": "first", "start_ns": START_US * 1000 + 5000,
         "duration_ns": 0, "step": 12, "process": "905", "args": '{"step_num":"12","pid":905}'},
        same | nothing | {"phase": "Unknown", "category": "c", "name": "third", "start_ns": START_US * 1000 + 7000,
         "duration_ns": 1000, "thread": "a", "device": "1", "stream": 7, "bytes": 4096,
         "args": '{"bytes":4096,"device":1,"stream":"7"}'},
    ]  # fmt: skip


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the published traces are not here: {REAL} is no folder")
@pytest.mark.parametrize("job", ["test_traces", "merge_traces", "model_timeline_traces", "horovod_timeline_traces"])
def test_real_files_agree_with_their_known_facts(job: str) -> None:
    facts = json.loads((REAL / "FACTS.json").read_text())
    (source,) = open_source(str(REAL / RESOURCES / job)).jobs()
    files = [file for file in source.files() if READER.matches(file)]
    found = read_files(READER, [(file, source.local_path(file.path)) for file in files])
    assert files
    for number, file in enumerate(files):
        fact = facts[f"{RESOURCES}/{job}/{file.path}"]
        events = json.loads((REAL / RESOURCES / job / file.path).read_text())
        complete = [item for item in events if item["ph"] == "X"]
        assert len(complete) == fact["complete_events"]
        kinds = {item["name"] for item in complete}
        mine = [row for row in found.rows if row["file"] == number and row["name"] in kinds]
        lanes = {item["pid"]: item["args"]["name"] for item in events if "name" in item.get("args", {})}
        assert sum(row["duration_ns"] for row in mine) == 1000 * sum(item["dur"] for item in complete)
        assert Counter(row["phase"] for row in mine) == Counter(lanes.get(item["pid"], "Unknown") for item in complete)
        steps = Counter(int(item.get("args", {}).get("step_num", -1)) for item in complete)
        assert Counter(row["step"] for row in mine) == steps
        if mine:
            assert min(row["start_ns"] for row in mine) == fact["min_abs_us"] * 1000
            assert max(row["start_ns"] + row["duration_ns"] for row in mine) == fact["max_abs_end_us"] * 1000


def test_a_lane_number_means_another_phase_in_another_file(tmp_path: Path) -> None:
    one = json.dumps([start(), lane(1, "Step"), event(pid=1)])
    two = json.dumps([start(), lane(1, "Data"), lane(2, "Step"), event(pid=1), event(pid=2, ts=5)])
    assert [row["phase"] for row in read_texts(tmp_path, one, two).rows] == ["Step", "Data", "Step"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_second_session_keeps_its_own_start_and_lanes(tmp_path: Path, whole: bool) -> None:
    events = [event(ts=9), start(), lane(1, "A"), event(), start(START_US + 10**7), lane(1, "B"), event()]
    found = read_texts(tmp_path, json.dumps(events) if whole else json.dumps(events)[:-1])
    assert [(row["phase"], at) for row, at in zip(found.rows, found.starts_us, strict=True)] == [
        ("A", 1),
        ("A", 9),
        ("B", 10**7 + 1),
    ]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("held", [1, 2, 3, 100])
def test_a_lane_may_be_named_after_its_events_and_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool, held: int
) -> None:
    """A lane's first name holds for the events before it as far as rows are held back; a new one only from there on."""
    monkeypatch.setattr(trace_rows, "_SCAN_ROWS", 1)
    monkeypatch.setattr("data.readers.trace_events.HELD_ROWS", held)
    events = [start(), lane(2, "other"), event(ts=1), lane(1, "A"), event(ts=2), lane(1, "B"), event(ts=3, pid=1)]
    events += [lane(1, "B"), event(ts=4), lane("1", "C"), event(ts=5), event(ts=6, pid=3), event(ts=7, pid=None)]
    found = read_texts(tmp_path, json.dumps(events) if whole else json.dumps(events)[:-1] + ",,]")
    first = "A" if whole or held in (2, 100) else "Unknown"
    assert [row["phase"] for row in found.rows] == [first, "A", "B", "B", "C", "Unknown", "Unknown"]
    late = [one.message for one in found.problems if "kept as of the lane Unknown" in one.message]
    assert len(late) == (first == "Unknown")
    assert all("1 lane has its name so far behind" in words for words in late)


@pytest.mark.parametrize("value", [None, 0, 84070453580, START_US * 1000, "soon", 1e300])
def test_without_a_start_value_events_are_kept_without_a_place_in_time(tmp_path: Path, value: object) -> None:
    text = json.dumps([start(value), event(), event(ts=4)])
    found = read_texts(tmp_path, text, text[:-1] + " ", json.dumps([start(), event()]))
    assert [one.events for one in found.files] == [2, 2, 1]
    assert [(row["wall"], row["start_ns"]) for row in found.rows] == [
        (False, 1000), (False, 4000), (False, 1000), (False, 4000), (True, START_US * 1000 + 1000),
    ]  # fmt: skip
    told = [problem for problem in found.problems if "start" in problem.message]
    assert [problem.file for problem in told] == ["0.json", "1.json"]
    assert all(problem.severity == "warning" and "2 events" in problem.message for problem in told)


BAD = [
    event(dur=-5),
    event(dur=None),
    event(ts=None),
    event(ts="x"),
    event(dur=10**17),
    {"name": "no kind"},
    end(5),
    {"cat": 5, "id": 1},
    event(ts=-(10**15)),
]


@pytest.mark.parametrize("ending", ["\n]", ""])
@pytest.mark.parametrize("piece_bytes", [100, 4 << 20])
def test_events_without_sense_are_counted_and_named_by_the_line_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, piece_bytes: int
) -> None:
    """Also where the file was read in bulk, which counts no lines."""
    monkeypatch.setattr("data.readers.trace_file.PIECE_BYTES", piece_bytes)
    monkeypatch.setattr("data.readers.trace_file._CUT_BYTES", piece_bytes)
    text = "[\n" + ",\n".join(json.dumps(item) for item in [start(), event(), *BAD, event(dur=-6)]) + ending
    found = read_texts(tmp_path, text)
    assert (found.files[0].events, found.files[0].invalid) == (1, 10)
    messages = {one.message: one.line for one in found.problems if "not closed" not in one.message}
    assert messages == {
        "0.json: 2 events with a negative duration were left out": 4,
        "0.json: 2 events with no usable duration were left out": 5,
        "0.json: 2 events with no usable time were left out": 6,
        "0.json: 2 events with no kind (ph) were left out": 9,
        "0.json: 1 event with an end mark that ends nothing was left out": 10,
        "0.json: 1 event with a time before 2000 or after 2100 was left out": 12,
    }
    assert all(one.severity == "warning" for one in found.problems if one.message in messages)


def test_begin_and_end_marks_become_events(tmp_path: Path) -> None:
    pairs = [begin(1, "outer"), begin(2, "inner"), end(5), begin(6, "other", tid=1), end(9), end(10, tid=1), begin(11)]
    text = json.dumps([start(), lane(1, "A"), event(), *pairs])
    for found in (read_texts(tmp_path, text), read_texts(tmp_path, text[:-1])):
        assert [(row["name"], at, row["duration_ns"]) for row, at in zip(found.rows, found.starts_us, strict=True)] == [
            ("e", 1, 2000), ("outer", 1, 8000), ("inner", 2, 3000), ("other", 6, 4000),
        ]  # fmt: skip
        assert {row["phase"] for row in found.rows} == {"A"}
        assert [one.message for one in found.problems if one.severity == "warning"] == [
            "0.json: 1 begin mark has no end: no event could be made of that"
        ]


def test_a_begin_mark_may_find_its_end_in_the_next_file_of_its_writer(tmp_path: Path) -> None:
    paths = []
    for name, node, kind, events in (
        ("1.json", "81-algo-1", KINDS[2], [start(), begin(1, "a")]),
        ("2.json", "82-algo-1", KINDS[2], [start(), end(3)]),
        ("3.json", "81-algo-1", KINDS[0], [start(), end(3)]),
        ("4.json", "81-algo-1", KINDS[2], [start(START_US + 10), end(3)]),
    ):
        (tmp_path / name).write_text(json.dumps(events))
        paths.append(source_file(tmp_path / name, kind, node, stamp_ns=int(name[0])))
    found = read_files(READER, paths)
    (row,) = found.rows
    assert (row["name"], row["file"], row["duration_ns"], found.starts_us) == ("a", 3, 12_000, [1])
    assert [one.file for one in found.problems] == ["2.json", "3.json"]
    assert [one.waiting for one in found.files] == [True, True, True, True]


def copies(tmp_path: Path, other_node: bool) -> tuple[int, list[dict[str, Any]]]:
    text = json.dumps([start(), event(), event(ts=3)])
    folder = "job/profiler-output/framework/pevents/2026010112/"
    node = "82-algo-1" if other_node else "81-algo-1"
    first, second = f"{folder}{START_US}_81-algo-1", f"{folder}{START_US + 1}_{node}"
    trees.write(tmp_path, {f"{name}_pythontimeline.json": text.encode() for name in (first, second)})
    found = convert(tmp_path / "job", tmp_path / "store")
    return found.manifest.events, found.table("problems")


def test_copies_count_once(tmp_path: Path) -> None:
    events, (note,) = copies(tmp_path, other_node=False)
    assert events == 2
    assert (note["severity"], note["lost_rows"]) == ("note", 0)
    assert note["file_path"].endswith(f"{START_US + 1}_81-algo-1_pythontimeline.json")
    assert f"copy of profiler-output/framework/pevents/2026010112/{START_US}_81-algo-1" in note["message"]


def test_the_same_bytes_of_another_process_are_no_copy(tmp_path: Path) -> None:
    assert copies(tmp_path, other_node=True) == (4, [])


def test_one_bad_file_among_many_costs_only_its_own_damage(tmp_path: Path) -> None:
    texts = [json.dumps([start(), lane(1, f"p{number}"), event(ts=number)]) for number in range(40)]
    texts[17] = '[{"ph": "X", oops},' + texts[17][1:]
    texts[23] = texts[23][:-20]
    found = read_texts(tmp_path, *texts)
    assert [counts.events for counts in found.files] == [int(number != 23) for number in range(40)]
    assert {(row["file"], row["phase"]) for row in found.rows} == {(n, f"p{n}") for n in range(40) if n != 23}
    assert {(problem.file, problem.lost_rows) for problem in found.problems} == {
        ("17.json", 1), ("23.json", 1), ("23.json", 0),
    }  # fmt: skip
    assert all(problem.message.startswith(f"{problem.file}: ") for problem in found.problems)


def test_missing_and_empty_files_are_problems_and_no_exception(tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    found = read_files(READER, [source_file(tmp_path / "gone.json"), source_file(tmp_path / "empty.json")])
    assert {(problem.file, problem.severity) for problem in found.problems} == {
        ("gone.json", "error"), ("empty.json", "note"),
    }  # fmt: skip
    assert found.rows == []
    assert read_files(READER, []).rows == []


def test_names_that_look_like_patterns_are_names(tmp_path: Path) -> None:
    names = ["d[1]", "d1", "it's 50% #1", "a*b", "axb", "q?", "b\\s", "x=3"]
    paths = []
    for number, name in enumerate(names):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "f[0].json"
        path.write_text(json.dumps([start(), event(ts=number)]))
        paths.append(source_file(path))
    found = read_files(READER, paths)
    assert found.problems == ()
    assert found.starts_us == list(range(len(names)))
    assert literal_pattern("/a[b]*?c") == "/a[[]b][*][?]c"


def test_the_node_is_in_the_id_of_the_file_name() -> None:
    assert split_node_id("151-algo-1") == ("algo-1", "151")
    assert split_node_id("81-algo-2-k7qz2") == ("algo-2-k7qz2", "81")
    assert split_node_id("algo-1") == ("algo-1", "")
    assert split_node_id("905-b88ab1bb8259") == ("b88ab1bb8259", "905")
    assert split_node_id("1234-testhost") == ("testhost", "1234")
    assert split_node_id("81-gpu_box_3") == ("gpu_box_3", "81")
    assert split_node_id("88359-8c859046be41.ant.amazon.com") == ("8c859046be41.ant.amazon.com", "88359")
    assert split_node_id("0001") == ("0001", "")
    assert split_node_id("ip-10-0-0-1") == ("ip-10-0-0-1", "")


def test_the_reader_is_registered_once() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)
    taken = {kind for kind in FileKind if READER.matches(SourceFile("x", 0, 0, kind, "", 0))}
    assert taken == set(KINDS) == {kind for kind in FileKind if kind.value.endswith("timeline")}


def test_sound_files_take_the_fast_road(tmp_path: Path) -> None:
    """Also with fractions of microseconds, and without names or numbers: else a job of many files takes minutes."""
    items = [
        start(),
        lane(1, "A"),
        event(ts=1.5),
        event(dur=0.25, args={"step_num": "7"}),
        {"ph": "X", "ts": 1, "dur": 2},
    ]
    with mock.patch.object(trace_rows, "_scanned", side_effect=AssertionError("read event by event")):
        assert len(read_texts(tmp_path, json.dumps(items), json.dumps(items)).rows) == 6


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("piece_bytes", [60, 4 << 20])
def test_microseconds_since_1970_keep_their_fractions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool, piece_bytes: int
) -> None:
    """A double would round them to a quarter of a microsecond. Not every event of a file needs to have one."""
    monkeypatch.setattr("data.readers.trace_file.PIECE_BYTES", piece_bytes)
    monkeypatch.setattr("data.readers.trace_file._CUT_BYTES", piece_bytes)
    times = ["1767268800000000", "1767268800000000.1", '"1767268800000000.1004"', "1767268800000000.1005"]
    events = ",".join(f'{{"ph": "X", "name": "x", "ts": {time}, "dur": 0.0005}}' for time in times)
    found = read_texts(tmp_path, f"[{events}{']' if whole else ''}")
    base = 1767268800 * 10**9
    assert sorted(row["start_ns"] for row in found.rows) == [base, base + 100, base + 100, base + 101]
    assert {row["duration_ns"] for row in found.rows} == {1}


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


def as_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def exact_ns(value: object) -> int:
    return int((Decimal(str(value)) * 1000).to_integral_value(ROUND_HALF_UP))


@settings(max_examples=30, deadline=None)
@given(st.lists(EVENT, max_size=8), st.integers(0, 3))
def test_both_roads_agree_with_plain_json(events: list[dict[str, Any]], named: int) -> None:
    document = [start(), *(lane(pid, f"lane {pid}") for pid in range(named)), *events]
    whole = json.dumps(document)
    with tempfile.TemporaryDirectory() as folder:
        fast = read_texts(Path(folder), whole)
        with mock.patch.object(trace_rows, "_parsed", return_value=None):
            slow = read_texts(Path(folder), whole)
    assert fast.problems == slow.problems
    assert [problem.severity for problem in fast.problems] == ["note"] * (not events)
    assert without(fast.rows, "args") == without(slow.rows, "args")
    assert [as_json(row["args"]) for row in fast.rows] == [as_json(row["args"]) for row in slow.rows]
    found = Counter((row["phase"], row["name"], row["start_ns"], row["duration_ns"]) for row in fast.rows)
    assert found == Counter(
        (
            f"lane {item['pid']}" if item["pid"] < named else "Unknown",
            item["name"],
            START_US * 1000 + exact_ns(item["ts"]),
            exact_ns(item["dur"]),
        )
        for item in events
    )
    assert Counter(row["step"] for row in fast.rows) == Counter(
        int(item.get("args", {}).get("step_num", -1)) for item in events
    )


WHOLE = (
    "[\n" + ",\n".join(json.dumps(item) for item in [start(), lane(1, "A"), *(event(ts=n) for n in range(5))]) + "\n]"
)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(WHOLE)))
def test_a_file_cut_anywhere_gives_the_events_so_far(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = read_texts(Path(folder), WHOLE[:cut])
    whole_events = sum(f'"ts": {number}, "dur": 2, "args": {{}}}}' in WHOLE[:cut] for number in range(5))
    assert found.files[0].events == found.table.num_rows == whole_events
    assert [row["start_ns"] for row in found.rows] == [START_US * 1000 + 1000 * n for n in range(whole_events)]
    assert bool(found.problems) == (cut < len(WHOLE))


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
    with tempfile.TemporaryDirectory() as folder:
        found = read_texts(Path(folder), json.dumps([start(), event(), *items]))
    assert found.files[0].events == found.table.num_rows >= 1
