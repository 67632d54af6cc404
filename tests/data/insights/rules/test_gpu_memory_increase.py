"""GPUMemoryIncrease: a rise counts once, with where and how much; in the original at every sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from data.errors import MissingTable
from data.insights.rules.gpu_memory_increase import RULE, compat, increases, judge
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, ticks, values


def given(*memories: Sequence[float]) -> Given:
    return Given(ticks=ticks(node_ticks(gpu_memory=list(memories), length=max(map(len, memories)))))


def judged(memory: Sequence[float], **moved: float) -> Any:
    return judge(given(memory), values(RULE, **moved))


def test_one_rise_counts_once() -> None:
    found = judged([40.0] * 1100 + [80.0] * 300)
    assert (found.state, found.violations, found.triggered, found.points) == ("issue", 1, 1, 1400)
    (place,) = found.places
    assert (place.node, place.device, place.text) == ("algo-1", "gpu0", "from 40.0 to 80.0 %")
    # The last mean without any of the new values ends at sample 1,100; ten later it holds nothing else.
    assert place.window == (START_NS + 1099 * S // 2, START_NS + 1109 * S // 2 + 1)
    assert found.wasted_gpu_s is None


def test_a_rise_that_takes_long_is_still_one() -> None:
    found = judged([40.0] * 1100 + [40 + at / 10 for at in range(400)] + [80.0] * 100)
    assert found.violations == 1
    assert found.places[0].text == "from 40.0 to 80.0 %"


def test_two_rises_and_the_larger_first() -> None:
    found = judged([40.0] * 1100 + [50.0] * 100 + [70.0] * 100)
    assert [place.text for place in found.places] == ["from 50.0 to 70.0 %", "from 40.0 to 50.0 %"]


def test_a_return_to_an_old_level_is_no_rise() -> None:
    assert judged([60.0] * 500 + ([20.0] * 100 + [60.0] * 100) * 5).state == "no issue"


def test_growth_while_it_is_waited_for_is_no_rise() -> None:
    assert judged([at / 20 for at in range(1000)] + [50.0] * 200).state == "no issue"
    assert judged([at / 20 for at in range(1000)] + [50.0] * 200, patience=500).state == "issue"


def test_a_rise_at_the_threshold_is_none() -> None:
    for step in (5.0, 0.3):
        memory = [40.1] * 1100 + [40.1 + step] * 100
        assert judged(memory, increase=step).state == "no issue"
        assert judged(memory, increase=step - 0.01).state == "issue"


def test_a_short_peak_is_averaged() -> None:
    # One of ten samples at 85 is 4.5 points more in the mean, one at 95 is 5.5.
    assert judged([40.0] * 1100 + [85.0] + [40.0] * 100).state == "no issue"
    assert judged([40.0] * 1100 + [95.0] + [40.0] * 100).state == "issue"


def test_what_comes_close_to_full_is_said() -> None:
    assert judged([40.0] * 1100 + [89.0] * 100).advice == ()
    assert judged([40.0] * 1100 + [91.0] * 100).advice != ()


@pytest.mark.parametrize(("samples", "state"), [(1, "not enough data"), (1000, "not enough data"), (1001, "no issue")])
def test_nobody_is_judged_before_the_patience_is_exceeded(samples: int, state: str) -> None:
    found = judged([40.0] * samples)
    assert (found.state, found.points) == (state, samples)
    assert ("Only 1 sample" in found.confidence) is (samples == 1001)


def test_a_window_longer_than_the_patience_is_waited_for() -> None:
    assert judged([40.0] * 50, patience=0, window=50).state == "not enough data"
    assert judged([40.0] * 50 + [99.0], patience=0, window=50, increase=1).state == "issue"  # a mean of 41.18


def test_missing_samples_are_no_zeros() -> None:
    assert judged([40.0, math.nan] * 700).state == "not enough data"
    assert judged([math.nan] * 1400).state == "not enough data"
    assert judged([math.nan, 40.0] * 1100).state == "no issue"


def test_one_gpu_with_too_few_samples_does_not_hide_the_other() -> None:
    found = judge(given([40.0] * 1100 + [80.0] * 100, [math.nan] * 600 + [10.0] * 600), values(RULE))
    assert [place.device for place in found.places] == ["gpu0"]
    assert "1 GPU had too few samples" in found.confidence


def test_nothing_to_judge() -> None:
    for evidence in (Given(), Given(ticks=ticks()), Given(ticks=ticks(node_ticks(length=2000)))):
        for way in (judge, compat):
            with pytest.raises(MissingTable):
                way(evidence, values(RULE))


# --- compat ---


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ([10.0] * 11 + [40.0], 3.0),
        ([10.0] * 11 + [40.0, 40.0], 6.0),
        ([10.0] * 6 + [40.0] * 6, 4.666667),
        ([float(value) for value in range(1, 13)], 1.5),
    ],
)
def test_increase_of_the_original(memory: list[float], expected: float) -> None:
    """The vectors of the reference, with windows of 10."""
    assert increases(np.array(memory), 10)[-1] == pytest.approx(expected, abs=1e-6)


def test_the_original_waits_for_two_samples_more_than_a_window() -> None:
    assert len(increases(np.full(11, 5.0), 10)) == 0
    assert len(increases(np.full(12, 5.0), 10)) == 1


def test_compat_counts_every_sample() -> None:
    """By the definition, sample by sample."""
    random = np.random.default_rng(3)
    memory = np.round(random.uniform(30, 60, 1150), 2)
    expected = 0
    for count in range(1, len(memory) + 1):
        seen = memory[:count]
        if count > 11 and count > 1000:
            expected += np.mean(seen[-10:]) - np.mean(seen[-11:-2]) > 1.0
    found = compat(given(memory.tolist()), values(RULE, increase=1.0))
    assert (found.triggered, found.violations, found.points) == (expected, expected, 1150)
    assert expected > 10


def test_compat_counts_the_samples_of_the_last_gpu() -> None:
    found = compat(given([40.0] * 1201, [math.nan] * 100 + [40.0] * 1101), values(RULE))
    assert (found.state, found.points, found.triggered) == ("no issue", 1101, 0)
