"""Self times against a plain walk over every moment, and against cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.nesting import self_times

Event = tuple[int, int, int]  # lane, start, end
ALWAYS = (-(2**62), 2**62)


def by_numpy(events: list[Event], within: tuple[int, int] = ALWAYS) -> list[int]:
    lane, start, end = (np.array([event[at] for event in events], np.int64) for at in range(3))
    tie = np.arange(len(events)).astype(np.uint64)
    found: list[int] = self_times(lane.astype(np.uint64), start, end, tie, within).tolist()
    return found


def by_moments(events: list[Event], within: tuple[int, int] = ALWAYS) -> list[int]:
    """Every unit of time goes to the event that began last; of those, to the one that ends first, then the last."""
    own = [0] * len(events)
    for lane in {event[0] for event in events}:
        for now in range(130):
            if not within[0] <= now < within[1]:
                continue
            running = [at for at, one in enumerate(events) if one[0] == lane and one[1] <= now < one[2]]
            if running:
                own[max(running, key=lambda at: (events[at][1], -events[at][2], at))] += 1
    return own


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([(0, 0, 100)], [100]),
        ([(0, 0, 100), (0, 10, 30), (0, 40, 60)], [60, 20, 20]),
        ([(0, 0, 100), (0, 10, 60), (0, 20, 30)], [50, 40, 10]),
        ([(0, 0, 100), (0, 60, 120)], [60, 60]),  # the child ends after its parent
        ([(0, 0, 100), (0, 10, 50), (0, 20, 80)], [30, 10, 60]),  # two children overlap
        ([(0, 0, 100), (1, 10, 50)], [100, 40]),  # another thread takes nothing
        ([(0, 0, 50), (0, 0, 50)], [0, 50]),
        ([(0, 0, 50), (0, 0, 80)], [50, 30]),
        ([(0, 5, 5), (0, 0, 10)], [0, 10]),
        ([(0, 0, 10), (0, 10, 20)], [10, 10]),
    ],
)
def test_cases_by_hand(events: list[Event], expected: list[int]) -> None:
    assert by_numpy(events) == expected
    assert by_moments(events) == expected


def test_nothing_at_all() -> None:
    assert by_numpy([]) == []


LANES = st.integers(0, 2)
EVENTS = st.lists(
    st.tuples(LANES, st.integers(0, 60), st.integers(0, 39)).map(lambda one: (one[0], one[1], one[1] + one[2])),
    max_size=40,
)


@given(EVENTS)
def test_any_events_have_the_time_that_is_theirs(events: list[Event]) -> None:
    assert by_numpy(events) == by_moments(events)


@given(EVENTS, st.integers(0, 99), st.integers(0, 99))
def test_any_window_of_them(events: list[Event], one: int, other: int) -> None:
    within = (min(one, other), max(one, other))
    assert by_numpy(events, within) == by_moments(events, within)


@given(EVENTS, st.integers(0, 99))
def test_windows_add_up(events: list[Event], cut: int) -> None:
    before, after = by_numpy(events, (0, cut)), by_numpy(events, (cut, 100))
    assert [sum(pair) for pair in zip(before, after, strict=True)] == by_numpy(events)


def test_what_lies_inside_a_thousand_others() -> None:
    deep = [(0, at, 4000 - at) for at in range(1000)]
    assert by_numpy(deep) == [2] * 999 + [4000 - 2 * 999]
    assert by_numpy([*deep, (0, 5000, 5001)])[-1] == 1
