"""Time that intervals cover, against counting moment by moment."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from data.coverage import covered, merged

intervals = st.lists(st.tuples(st.integers(-20, 60), st.integers(0, 25)), max_size=12)


def moments(found: list[tuple[int, int]]) -> set[int]:
    return {moment for start, length in found for moment in range(start, start + length)}


@given(intervals)
def test_merged_stretches_hold_the_same_moments_and_lie_apart(found: list[tuple[int, int]]) -> None:
    start, end = np.array(sorted(found), np.int64).reshape(-1, 2).T
    islands = merged(start, start + end)
    assert moments([(a, b - a) for a, b in islands.T.tolist()]) == moments(found)
    assert (islands[0, 1:] > islands[1, :-1]).all()


@given(intervals, st.lists(st.integers(-30, 90), min_size=2, max_size=8, unique=True))
def test_columns_count_the_moments_inside_them(found: list[tuple[int, int]], edges: list[int]) -> None:
    start, end = np.array(sorted(found), np.int64).reshape(-1, 2).T
    all_of_them = moments(found)
    columns = covered(merged(start, start + end), np.array(sorted(edges), np.int64))
    expected = [len(all_of_them & set(range(a, b))) for a, b in zip(sorted(edges)[:-1], sorted(edges)[1:], strict=True)]
    assert columns.tolist() == expected
