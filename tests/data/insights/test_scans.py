"""Verdicts over overlapping windows, and stretches of ticks, against the plain way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.insights.scans import SCAN_NS, Scanned, scan_ends, seen_by
from data.insights.stretches import stretches, tick_seconds, unused_seconds

S = 1_000_000_000


@given(
    st.lists(st.sampled_from([0.0, 9.99, 10.0, 10.01, 69.5, 70.0, 70.5, 100.0]), min_size=1, max_size=60),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]),
    st.sampled_from([10.0, 70.0]),
)
def test_counting_gives_what_sorting_gives(values: list[float], window: int, point: float, limit: float) -> None:
    window = min(window, len(values))
    ends = np.arange(window, len(values) + 1)
    scanned = Scanned(np.array(values), ends, window)
    exact = [float(np.quantile(values[end - window : end], point)) for end in ends]
    assert scanned.quantiles(point, np.ones(len(ends), bool)).tolist() == exact
    assert scanned.below(point, limit).tolist() == [one < limit for one in exact]
    assert scanned.above(point, limit).tolist() == [one > limit for one in exact]


def test_samples_of_overlapping_windows_are_covered_once() -> None:
    scanned = Scanned(np.zeros(10), np.array([4, 6, 10]), 3)
    assert np.flatnonzero(scanned.covered(np.array([True, True, False]))).tolist() == [1, 2, 3, 4, 5]
    assert not scanned.covered(np.zeros(3, bool)).any()


def test_no_scan_judges() -> None:
    scanned = Scanned(np.zeros(3), np.array([], np.int64), 500)
    assert len(scanned.below(0.95, 70.0)) == len(scanned.above(0.95, 70.0)) == 0
    assert len(scanned.quantiles(0.95, np.array([], bool))) == 0


def test_scans_end_with_the_job() -> None:
    assert (scan_ends(0, 2 * SCAN_NS) // SCAN_NS).tolist() == [1, 2]
    assert (scan_ends(0, 2 * SCAN_NS + 1) // SCAN_NS).tolist() == [1, 2, 3]
    assert (scan_ends(7, 7) - 7).tolist() == [SCAN_NS]
    assert seen_by(np.array([0, 60, 61]) * S, scan_ends(0, 61 * S)).tolist() == [2, 3]


def test_stretches_join_what_is_near() -> None:
    times = np.array([0, 1, 2, 30, 31, 32, 33, 43, 100]) * S
    flagged = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1], bool)
    # 32 to 43 are 11 intervals apart, 1 to 30 are 29
    assert stretches(times, flagged, S) == [
        ((30 * S, 33 * S), 3),
        ((0, 2 * S), 2),
        ((43 * S, 44 * S), 1),
        ((100 * S, 101 * S), 1),
    ]
    assert stretches(times, np.zeros(9, bool), S) == []


def test_a_gap_is_nobody_s_time() -> None:
    times = np.array([0, 1, 2, 60]) * S
    assert tick_seconds(times, S).tolist() == [1.0, 1.0, 1.5, 1.0]
    assert len(tick_seconds(times[:0], S)) == 0


def test_unused_time_of_each_gpu() -> None:
    percent = np.array([[30.0, np.nan], [100.5, 0.0]])
    assert unused_seconds(np.array([0, 2]) * S, 2 * S, percent) == pytest.approx(np.array([[1.4, 0.0], [0.0, 2.0]]))
