"""What allocators hold in a window, against plain Python that walks through the records of a trace."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.convert import memory as memory_module
from data.errors import MissingTable
from data.frames.framework import AllocatedMemory
from data.queries import memory as queries
from data.selection import Selection, Window
from tests.conftest import REAL
from tests.stored import Stored, convert
from tests.traces import START_US, event, memory

START_NS = START_US * 1000


@dataclass(frozen=True)
class Record:
    """A record that tells a total: nanoseconds, bytes, and what is held then."""

    time_ns: int
    size: int
    allocated: int
    reserved: int


def some_records(seed: int, many: int = 300) -> list[Record]:
    """A walk of one allocator over 30 ms, with bursts at equal times, and a long pause."""
    rng = random.Random(seed)
    found, at_us, held, kept = list[Record](), 0, rng.randrange(10_000), 10_000
    for number in range(many):
        at_us += rng.choice((0, 0, 1, 20, 300))
        at_us += 9_000 if number == many // 2 else 0
        size = rng.choice((rng.randrange(1, 5000), -rng.randrange(0, held) if held > 1 else 1))
        held, kept = held + size, max(kept, held + size + rng.randrange(100))
        found.append(Record(START_NS + at_us * 1000, size, held, kept))
    return found


def written(records: Sequence[Record], **more: Any) -> list[dict[str, Any]]:
    return [memory((one.time_ns / 1000), one.size, one.allocated, one.reserved, **more) for one in records]


def trace(rank: int, *events: dict[str, Any]) -> bytes:
    return json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": list(events)}).encode()


def store(folder: Path, **files: bytes) -> Stored:
    (folder / "job").mkdir(parents=True)
    for name, content in files.items():
        (folder / "job" / f"{name}.trace.json").write_bytes(content)
    return convert(folder / "job", folder / "store")


def ask(
    found: Stored,
    window: tuple[int, int] | None = None,
    which: queries.Which = "gpu",
    nodes: tuple[str, ...] = (),
    columns: int = 50,
) -> AllocatedMemory:
    span = Window(*window) if window else None
    return found.store().fetch(queries.over_time, Selection(found.job_id, span, nodes), which, columns)


def check(found: AllocatedMemory, at: int, records: Sequence[Record], window: tuple[int, int]) -> None:
    """A line against a walk through its records, which lie in one recording."""
    start, end = window
    inside = [one for one in records if start <= one.time_ns < end]
    before = [one for one in records if one.time_ns < start]
    goes_on = bool(before) and records[-1].time_ns >= start
    totals = [(one.time_ns, one.allocated) for one in inside]
    totals = [(start, before[-1].allocated), *totals] if goes_on else totals
    line = found.lines[at]
    assert (line.allocations, line.frees) == (sum(a.size > 0 for a in inside), sum(a.size < 0 for a in inside))
    assert line.largest_bytes == max((one.size for one in inside if one.size > 0), default=0)
    assert line.peak_bytes == max(total for _, total in totals)
    assert line.peak_ns == min(time for time, total in totals if total == line.peak_bytes)
    lowest, rise = math.inf, 0.0
    for _, total in totals:
        lowest = min(lowest, total)
        rise = max(rise, total - lowest)
    assert line.rise_bytes == rise
    edges = [found.start_ns + column * found.column_ns for column in range(found.allocated.shape[1] + 1)]
    assert edges[-2] < end <= edges[-1]
    for column, (left, right) in enumerate(pairwise(edges)):
        mine = [one for one in inside if left <= one.time_ns < right]
        earlier = [one for one in records if one.time_ns < max(left, start)]
        carried = earlier[-1:] if earlier and records[-1].time_ns >= max(left, start) else []
        known = carried + mine
        for array, values, most in (
            (found.allocated, [one.allocated for one in known], True),
            (found.allocated_last, [one.allocated for one in known], False),
            (found.reserved, [one.reserved for one in known], True),
            (found.reserved_last, [one.reserved for one in known], False),
        ):
            expected = (max(values) if most else values[-1]) if values else math.nan
            assert array[at, column] == expected or (math.isnan(array[at, column]) and math.isnan(expected))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("bins", [10, 60, 8192])
def test_windows_are_exact_from_bins_and_from_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, bins: int
) -> None:
    monkeypatch.setattr(memory_module, "MOST_BINS", bins)
    monkeypatch.setattr(memory_module, "FEWEST_BINS", bins)
    monkeypatch.setattr(queries, "_FEWEST_BINS", 7)
    records = some_records(seed)
    found = store(tmp_path, a=trace(0, *written(records)))
    first, last = records[0].time_ns, records[-1].time_ns
    dice = random.Random(seed)
    windows = [(first, last + 1), (first - 500_000, last + 900_000)]
    for _ in range(12):
        start, end = sorted(dice.sample(range(first, last, 7), 2))
        windows.append((start, end))
    for _ in range(6):
        start = dice.choice(records).time_ns
        windows.append((start, start + dice.choice((1, 1000, 40_000, 2_000_000))))
    for window in windows:
        check(ask(found, window, columns=dice.choice((1, 13, 200))), 0, records, window)
    whole = ask(found)
    assert whole.lines == ask(found, (found.manifest.start_ns, found.manifest.end_ns + 1)).lines


def test_lines_are_the_highest_first_and_of_the_nodes_asked_for(tmp_path: Path) -> None:
    low, high, other = ([memory(START_US + at, 8, total) for at in (1, 2)] for total in (10, 30, 20))
    on_1 = [memory(START_US + 1, 8, 50, device=1)]
    found = store(tmp_path, rank0=trace(0, *low), rank1=trace(1, *high, *on_1), rank2=trace(2, *other))
    every = ask(found)
    assert [(one.node, one.device, one.peak_bytes) for one in every.lines] == [
        ("rank1", 1, 50),
        ("rank1", 0, 30),
        ("rank2", 0, 20),
        ("rank0", 0, 10),
    ]
    assert every.line_count == 4
    some = ask(found, nodes=("rank0", "rank2"))
    assert [one.node for one in some.lines] == ["rank2", "rank0"]
    with pytest.raises(MissingTable, match="No record of a GPU's memory allocator on these nodes"):
        ask(found, nodes=("rank7",))
    with pytest.raises(MissingTable, match="No record of the CPU's"):
        ask(found, which="cpu")


def test_only_the_highest_lines_are_drawn(tmp_path: Path) -> None:
    records = [memory(START_US + 1, 8, 100 + device, device=device) for device in range(30)]
    found = ask(store(tmp_path, a=trace(0, *records)))
    assert (len(found.lines), found.line_count, found.allocated.shape[0]) == (24, 30, 24)
    assert [one.device for one in found.lines] == list(range(29, 5, -1))


def test_batches_of_shared_memory_are_counted_apart(tmp_path: Path) -> None:
    batch = [memory(START_US + 2, 700, 0, 700, kind=0, device=-1), memory(START_US + 4, -700, 0, 0, kind=0, device=-1)]
    own = [memory(START_US + at, size, total, 0, kind=0, device=-1) for at, size, total in ((1, 64, 64), (5, 8, 72))]
    found = ask(store(tmp_path, a=trace(0, *own, *batch)), which="cpu")
    (line,) = found.lines
    assert (line.device_kind, line.device, line.peak_bytes, line.rise_bytes) == ("cpu", -1, 72, 8)
    assert (line.allocations, line.frees, line.uncounted, line.largest_bytes) == (2, 0, 2, 64)
    assert np.nanmin(found.allocated) == 64


def test_nothing_is_drawn_between_two_recordings(tmp_path: Path) -> None:
    """Of a process that was recorded twice: from 1.5 to 3.5 ms, and from 7.5 to 9.5 ms."""
    first = [memory(START_US + at, 1, total) for at, total in ((1500, 10), (3500, 12))]
    second = [memory(START_US + at, 1, total) for at, total in ((7500, 5), (9500, 6))]
    both = store(tmp_path, a=trace(0, *first), b=trace(0, *second))
    found = ask(both, (START_NS, START_NS + 10_000_000), columns=10)
    (line,) = found.lines
    assert [None if math.isnan(one) else int(one) for one in found.allocated[0]] == [
        *(None, 10, 10, 12, None, None, None, 5, 5, 6),
    ]
    assert (line.peak_bytes, line.peak_ns, line.rise_bytes) == (12, START_NS + 3_500_000, 2)
    assert ask(both, (START_NS + 4_000_000, START_NS + 5_000_000)).lines == ()


def test_processes_of_one_rank_are_lines_of_their_own(tmp_path: Path) -> None:
    records = [memory(START_US + 1, 8, 10, pid=5), memory(START_US + 1, 8, 20, pid=6)]
    assert [one.process for one in ask(store(tmp_path, a=trace(0, *records))).lines] == ["6", "5"]


def test_a_job_without_records_says_how_to_get_them(tmp_path: Path) -> None:
    found = store(tmp_path, a=trace(0, event(START_US, 5)))
    with pytest.raises(MissingTable, match="No record of a memory allocator in this job") as caught:
        ask(found)
    assert "profile_memory=True" in caught.value.hint


def test_records_without_a_clock_have_their_own_time(tmp_path: Path) -> None:
    found = ask(store(tmp_path, a=trace(0, event(5, 20), memory(10, 1, 1), memory(30, 1, 2))))
    assert (found.lines[0].peak_bytes, found.lines[0].peak_ns) == (2, 30_000)


REAL_TRACES = [
    ("facebookresearch-HTA/tests/data/df_index_resolver/df_index_resolver.json.gz", {1: 26770, 0: 1240}, {0: 0}),
    ("pytorch-cpu-run/traces/rank0.pt.trace.json.gz", {0: 652}, {0: 24}),
]


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the published traces are not here: {REAL} is no folder")
@pytest.mark.parametrize(("path", "records", "shared"), REAL_TRACES)
def test_real_traces_against_a_recount(
    tmp_path: Path, path: str, records: dict[int, int], shared: dict[int, int]
) -> None:
    """Of the CPU's records those with 0 bytes in all are left out where the total before does not lead there."""
    (tmp_path / "job").mkdir()
    content = (REAL / path).read_bytes()
    (tmp_path / "job" / "a.trace.json.gz").write_bytes(content)
    document = json.loads(gzip.decompress(content).decode(errors="replace"))
    every = [one for one in document["traceEvents"] if one.get("name") == "[memory]"]
    every.sort(key=lambda one: one["ts"])
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.manifest.memory_records == sum(records.values()) == len(every)
    for kind in records:
        held, walk = None, list[tuple[int, int, int]]()
        for one in every:
            args = one["args"]
            if args["Device Type"] != kind:
                continue
            total = args["Total Allocated"]
            if kind == 0 and total == 0 and (args["Bytes"] > 0 or held is None or held + args["Bytes"] != 0):
                continue
            held = total
            walk.append((args["Bytes"], total, args["Total Reserved"]))
        (line,) = ask(found, which="gpu" if kind else "cpu").lines
        totals = [total for _, total, _ in walk]
        assert line.peak_bytes == max(totals)
        assert line.allocations == sum(size > 0 for size, _, _ in walk)
        assert line.frees == sum(size < 0 for size, _, _ in walk)
        assert line.largest_bytes == max(size for size, _, _ in walk)
        assert line.rise_bytes == max(a - b for a, b in zip(totals, accumulate(totals, min), strict=True))
        assert line.uncounted == records[kind] - len(walk) == shared.get(kind, 0)
