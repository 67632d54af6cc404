"""Quantiles of counted values are those of the values written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.quantiles import weighted_quantiles

POINTS = (0.0, 0.05, 0.25, 0.5, 0.95, 0.99, 1.0)
VALUES = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 2))


def test_the_published_vector() -> None:
    values = np.array([0.0, 10, 20, 30, 40])
    found = weighted_quantiles(values, np.ones(5, int), (0.05, 0.25, 0.5, 0.95, 0.99))
    assert found == pytest.approx([2, 10, 20, 38, 39.6])


@settings(max_examples=200)
@given(st.dictionaries(VALUES, st.integers(1, 40), min_size=1, max_size=30))
def test_like_numpy_on_the_values_written_out(counted: dict[float, int]) -> None:
    values = np.array(sorted(counted))
    counts = np.array([counted[value] for value in values.tolist()])
    expected = np.quantile(np.repeat(values, counts), POINTS)
    assert weighted_quantiles(values, counts, POINTS) == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-9)


def test_values_that_never_occur_do_not_count() -> None:
    assert weighted_quantiles(np.array([1.0, 2, 3]), np.array([0, 1, 0]), (0.0, 0.5, 1.0)) == [2, 2, 2]


@pytest.mark.parametrize(("values", "counts"), [([], []), ([1.0], [0])])
def test_without_values_there_is_no_quantile(values: list[float], counts: list[int]) -> None:
    found = weighted_quantiles(np.array(values), np.array(counts, int), (0.5, 0.95))
    assert len(found) == 2
    assert all(math.isnan(one) for one in found)


def test_large_counts_need_no_memory() -> None:
    found = weighted_quantiles(np.array([1.0, 2.0]), np.array([10**12, 10**12]), (0.25, 0.75))
    assert found == [1.0, 2.0]
