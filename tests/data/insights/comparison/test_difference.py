"""Whether a difference is more than noise: rates over many seeds, known answers, and series that cannot be judged."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import lfilter

from data.insights.comparison.difference import batch_means, difference, warm_up

Floats = NDArray[np.float64]
PAIRS = 100


def noisy_steps(seed: int, count: int = 2000, correlation: float = 0.5, mean_s: float = 1.0) -> Floats:
    """Step durations with noise of 5 % that hangs together from one step to the next."""
    shocks = np.random.default_rng(seed).normal(0, 1, count + 300)
    noise: Floats = lfilter([1], [1, -correlation], shocks)[300:] * math.sqrt(1 - correlation**2)
    return mean_s * (1 + 0.05 * noise)


def pairs(**changes: float) -> Iterator[tuple[Floats, Floats]]:
    for pair in range(PAIRS):
        yield noisy_steps(2 * pair, **changes), noisy_steps(2 * pair + 1, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_runs_that_differ_in_nothing_but_noise_do_not_differ(correlation: float) -> None:
    alarms = sum(difference(a, b).verdict != "no detectable difference" for a, b in pairs(correlation=correlation))
    assert alarms <= 5


def test_three_percent_more_is_found_in_two_thousand_steps() -> None:
    assert sum(difference(a, 1.03 * b).verdict == "higher" for a, b in pairs()) >= 95
    assert sum(difference(1.03 * a, b).verdict == "lower" for a, b in pairs()) >= 95


def test_the_interval_that_is_shown_holds_the_true_difference_about_as_often_as_it_says() -> None:
    held = 0
    for a, b in pairs():
        found = difference(a, 1.03 * b)
        held += found.low <= 0.03 <= found.high
    assert held >= 90  # 95 are meant; fewer than 90 of 100 would happen by chance about once in 90 times


def test_the_smallest_difference_is_found_about_as_often_as_it_says() -> None:
    found = 0
    for a, b in pairs():
        smallest = difference(a, b).smallest
        found += difference(a, b + smallest).verdict == "higher"
    assert 65 <= found <= 95  # 80 are meant


def test_means_of_independent_batches_are_compared_as_by_welch() -> None:
    a, b = noisy_steps(1, correlation=0), noisy_steps(2, correlation=0, mean_s=1.01)
    found, means = difference(a, b), (batch_means(a), batch_means(b))
    expected = stats.ttest_ind(means[1], means[0], equal_var=False).confidence_interval(0.95)
    assert found.high - found.low == pytest.approx(expected.high - expected.low)
    assert found.low + found.high == pytest.approx(2 * found.difference)
    assert found.difference == pytest.approx(b.mean() - a.mean())


def test_a_series_with_a_long_memory_gets_longer_batches() -> None:
    short, long = batch_means(noisy_steps(3, correlation=0)), batch_means(noisy_steps(3, correlation=0.95))
    assert short is not None
    assert long is not None
    assert len(short) == 30
    assert len(long) < 15


def test_constant_series() -> None:
    one = np.ones(200)
    assert difference(one, one).verdict == "no detectable difference"
    assert difference(one, 2 * one).verdict == "higher"
    assert difference(0 * one, 0 * one).verdict == "no detectable difference"
    assert difference(one, 0 * one).verdict == "lower"


def test_rounding_is_no_difference() -> None:
    assert difference(np.full(200, 0.1 + 0.2), np.full(200, 0.3)).verdict == "no detectable difference"


@pytest.mark.parametrize("count", [0, 1, 39])
def test_too_few_steps_cannot_be_judged_but_have_a_mean(count: int) -> None:
    found = difference(np.full(count, 2.0), np.ones(1000))
    assert found.verdict == "cannot be judged"
    assert found.reason
    assert found.mean_b == 1.0
    assert math.isnan(found.low)
    assert math.isnan(found.smallest)


def test_missing_values_are_left_out() -> None:
    holes = noisy_steps(4)
    holes[::7] = np.nan
    assert difference(holes, holes).count_a == 2000 - 286


def test_the_warm_up_ends_where_the_steps_become_alike() -> None:
    steps = noisy_steps(5, count=500)
    steps[:20] += np.linspace(3, 0.5, 20)
    assert warm_up(steps) in (20, 25)


def test_nothing_is_left_out_of_a_steady_or_short_series() -> None:
    assert warm_up(np.ones(1000)) == 0
    assert warm_up(np.array([9.0, 1.0, 1.0])) == 0
    assert warm_up(noisy_steps(6)) <= 100
