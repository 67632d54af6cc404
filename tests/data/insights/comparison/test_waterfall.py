"""From the mean step of one run to that of the other: the parts add up, whatever was recorded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.frames.framework import StepBreakdown
from data.insights.comparison.waterfall import waterfall
from data.insights.event_kinds import KINDS

S = 1_000_000_000


def breakdown(durations_s: list[float], **kinds_s: list[float]) -> StepBreakdown:
    spent = np.array([kinds_s[kind] for kind in kinds_s], float).T.reshape(len(durations_s), len(kinds_s)) * S
    count = len(durations_s)
    return StepBreakdown(
        "TRAIN", tuple(kinds_s), np.arange(count), np.arange(count) * S, np.array(durations_s) * S, spent,
        np.ones(count, np.int64), count,
    )  # fmt: skip


def test_each_kind_has_its_mean_and_the_rest_is_named() -> None:
    a = breakdown([1.0, 3.0], data_loading=[0.5, 1.5], gpu=[0.25, 0.75])
    b = breakdown([1.0], gpu=[1.0])
    found = waterfall(a, b, mean_a_s=2.5, mean_b_s=1.0)
    parts = {part.key: (part.a_s, part.b_s) for part in found.parts}
    assert parts == {
        "data_loading": (1.0, 0.0),
        "gpu": (0.5, 1.0),
        "uncovered": (0.5, 0.0),  # 2 s a step, of which 1.5 s are covered
        "unexplained": (0.5, 0.0),  # the steps with events took 2 s, all steps 2.5 s
    }
    assert (found.steps_a, found.steps_b) == (2, 1)


SECONDS = st.floats(0, 100, allow_nan=False)


@given(st.data())
def test_it_always_adds_up(data: st.DataObject) -> None:
    runs = []
    for _ in range(2):
        kinds = data.draw(st.lists(st.sampled_from([kind for kind, _ in KINDS]), unique=True, max_size=4))
        count = data.draw(st.integers(1, 4))
        column = st.lists(SECONDS, min_size=count, max_size=count)
        runs.append(breakdown(data.draw(column), **{kind: data.draw(column) for kind in kinds}))
    mean_a, mean_b = data.draw(SECONDS), data.draw(SECONDS)
    found = waterfall(runs[0], runs[1], mean_a, mean_b)
    assert sum(part.a_s for part in found.parts) == pytest.approx(mean_a, abs=1e-6)
    assert found.a_s + sum(part.difference_s for part in found.parts) == pytest.approx(mean_b, abs=1e-6)
