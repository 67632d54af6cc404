"""Two runs on one time axis."""

from __future__ import annotations

from typing import Any

import pytest

from app.alignment import aligned
from app.panels import Request
from data.errors import MissingTable
from data.selection import Selection, Window
from tests import frames
from tests.app.pages.looking import FakeFetch

S = frames.S
A, B = Selection("a"), Selection("b")


def times(start_s: int, length_s: int, loop_s: int | None = 10) -> Any:
    start = start_s * S
    loop = None if loop_s is None else start + loop_s * S
    return frames.job_times(start_ns=start, end_ns=start + length_s * S, loop_start_ns=loop)


def both(align: str = "", window: Window | None = None, **changes: Any) -> Any:
    found = {"a": times(1000, 100), "b": times(5000, 300, 40)} | changes
    fetch = FakeFetch(jobs_times=lambda selection: found[selection.job])
    return aligned(fetch, Request(Selection("a", window), 1000, query={"align": align}), A, B)


@pytest.mark.parametrize(
    ("align", "shift_s"), [("", -4000), ("start", -4000), ("loop", -4030), ("wall", 0), ("x", -4000)]
)
def test_the_shift_of_each_alignment(align: str, shift_s: int) -> None:
    assert both(align).shift_ns == shift_s * S


def test_the_axis_holds_both_runs_whole() -> None:
    found = both("loop")
    assert found.view.window == Window(970 * S, 1270 * S)
    assert found.view.origin_ns == 970 * S


def test_a_window_is_in_the_time_of_a_and_b_is_asked_for_the_same_moments() -> None:
    found = both("start", Window(1010 * S, 1020 * S))
    assert found.a == Selection("a", Window(1010 * S, 1020 * S))
    assert found.b == Selection("b", Window(5010 * S, 5020 * S))


def test_by_wall_clock_times_are_times_of_day() -> None:
    found = both("wall")
    assert found.view.origin_ns is None
    assert found.view.window == Window(1000 * S, 5300 * S)


def test_without_steps_there_is_no_first_step_to_align_by() -> None:
    with pytest.raises(MissingTable, match="B recorded no steps"):
        both("loop", b=times(5000, 300, None))
