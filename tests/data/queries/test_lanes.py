"""Lanes of events against plain Python, moment by moment: from stored bins, from events, and one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from data.convert import lanes as convert_lanes
from data.errors import MissingTable
from data.frames.framework import Lanes
from data.queries import lanes
from data.selection import Selection, Window
from data.store import Store
from tests import framework, trees
from tests.framework import Event
from tests.stored import convert, write_job

Span = tuple[int, int]
BIN_US = 5
WINDOWS: tuple[Span | None, ...] = (None, (0, 2400), (150, 1700))


@dataclass(frozen=True)
class Job:
    """A stored job and the events it was made of."""

    events: list[Event]
    store: Store
    job_id: str

    def select(self, window: Span | None, nodes: tuple[str, ...] = ()) -> Selection:
        span = window and Window(*((trees.START_US + one) * 1000 for one in window))
        return Selection(self.job_id, span or None, nodes)

    def inside(self, window: Span | None, nodes: tuple[str, ...] = ()) -> list[Event]:
        first, last = window or (-(10**9), 10**9)
        return [
            one
            for one in self.events
            if one.start_us < last
            and one.start_us + max(one.duration_us, 1) > first
            and (not nodes or one.node in nodes)
        ]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("lanes")
    events = framework.unlike(framework.some_timeline_events(seed=5, many=700))
    framework.write(folder / "job", events)
    bins = (max(one.end_us for one in events) - min(one.start_us for one in events)) // BIN_US
    with mock.patch.multiple(convert_lanes, MOST_BINS=bins, FEWEST_BINS=bins):
        found = convert(folder / "job", folder / "store")
    return Job(events, found.store(), found.job_id)


def check(frame: Lanes, events: list[Event], last_ns: int) -> None:
    """Every column of every lane, to the microsecond."""
    by_lane: dict[tuple[str, str], list[Event]] = {}
    for one in events:
        by_lane.setdefault((one.node, one.phase), []).append(one)
    assert {(lane.node, lane.phase) for lane in frame.lanes} == set(by_lane)
    first_ns, width_ns = frame.start_ns - 1000 * trees.START_US, frame.column_ns
    for at, lane in enumerate(frame.lanes):
        mine = by_lane[lane.node, lane.phase]
        assert (lane.events, lane.duration_ns) == (len(mine), 1000 * sum(one.duration_us for one in mine))
        for column in range(frame.covered.shape[1]):
            low = first_ns + column * width_ns
            high = min(low + width_ns, last_ns)
            reached, total = low, 0
            for one in sorted(mine, key=lambda event: event.start_us):
                begin, end = max(1000 * one.start_us, reached), min(1000 * one.end_us, high)
                if end > begin:
                    total, reached = total + end - begin, end
            assert frame.covered[at, column] == pytest.approx(total / (high - low), abs=1e-6)
            assert frame.begun[at, column] == sum(low <= 1000 * one.start_us < high for one in mine)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("nodes", [(), ("algo-2",)])
def test_columns_from_events_are_exact(job: Job, window: Span | None, nodes: tuple[str, ...]) -> None:
    with mock.patch.multiple(lanes, MAX_BARS=-1, _FEWEST_COLUMNS=10**9):
        frame = job.store.fetch(lanes.over_time, job.select(window, nodes), 40)
    assert frame.bars is None
    events = job.inside(window, nodes)
    assert frame.events == len(events)
    check(frame, events, 1000 * (window[1] if window else max(one.end_us for one in job.events)) + (not window))


def test_columns_of_stored_bins_are_exact_to_the_bin(job: Job) -> None:
    with mock.patch.multiple(lanes, MAX_BARS=-1, _FEWEST_COLUMNS=0):
        frame = job.store.fetch(lanes.over_time, job.select(None), 40)
    bin_ns = job.store.stored(job.job_id).manifest.lane_bin_ns
    assert frame.column_ns % bin_ns == 0
    assert frame.covered.shape[1] <= 40
    check(frame, job.events, 10**12)


def test_few_events_come_one_by_one_and_never_overlap_at_one_depth(job: Job) -> None:
    window = (200, 420)
    frame = job.store.fetch(lanes.over_time, job.select(window), 40)
    events = job.inside(window)
    assert frame.bars is not None
    found = Counter(
        (frame.lanes[lane].node, frame.lanes[lane].phase, name, start_ns // 1000 - trees.START_US, duration_ns // 1000)
        for lane, name, start_ns, duration_ns in zip(
            frame.bars.lane,
            frame.bars.names,
            frame.bars.start_ns.tolist(),
            frame.bars.duration_ns.tolist(),
            strict=True,
        )
    )
    assert found == Counter((one.node, one.phase, one.name, one.start_us, one.duration_us) for one in events)
    taken: dict[tuple[int, int], int] = {}
    for lane, depth, start_ns, length in zip(
        frame.bars.lane.tolist(), frame.bars.depth.tolist(), frame.bars.start_ns, frame.bars.duration_ns, strict=True
    ):
        assert start_ns >= taken.get((lane, depth), 0)
        taken[lane, depth] = start_ns + length


@pytest.mark.parametrize("window", WINDOWS)
def test_the_longest_events_of_a_lane(job: Job, window: Span | None) -> None:
    node, phase = job.events[0].node, job.events[0].phase
    with mock.patch.object(lanes, "MAX_EVENTS", 500):
        found = job.store.fetch(lanes.longest, job.select(window), node, phase)
    mine = [one for one in job.inside(window) if (one.node, one.phase) == (node, phase)]
    assert (found.total, found.duration_ns) == (len(mine), 1000 * sum(one.duration_us for one in mine))
    assert found.rows["duration_ns"].tolist() == sorted((1000 * one.duration_us for one in mine), reverse=True)[:500]
    assert Counter(found.rows["name"]) == Counter(one.name for one in mine)


def test_lanes_are_cut_to_whole_nodes_and_the_fullest_phases(job: Job) -> None:
    with mock.patch.multiple(lanes, MAX_LANES=3, MAX_PHASES=2):
        frame = job.store.fetch(lanes.over_time, job.select(None), 40)
    assert [lane.node for lane in frame.lanes] == ["algo-1", "algo-1"]
    assert frame.lane_count == len({(one.node, one.phase) for one in job.events})
    assert frame.node_count == len({one.node for one in job.events})
    assert frame.events == len(job.events)


def test_nothing_runs_in_an_empty_window(job: Job) -> None:
    frame = job.store.fetch(lanes.over_time, job.select((10**6, 10**6 + 10)), 40)
    assert (frame.lanes, frame.events, frame.lane_count) == ((), 0, 0)
    assert frame.covered.shape == (0, 0)
    with pytest.raises(MissingTable):
        job.store.fetch(lanes.over_time, job.select(None, ("algo-77",)), 40)


def test_a_job_without_events_says_so(tmp_path: Path) -> None:
    write_job(tmp_path / "job", trees.machine())
    found = convert(tmp_path / "job", tmp_path / "store")
    with pytest.raises(MissingTable, match="no framework events"):
        found.store().fetch(lanes.over_time, Selection(found.job_id), 40)
    assert not np.any([path.name.startswith("lane") for path in found.folder.iterdir()])
