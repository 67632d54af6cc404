"""Which operators came, went, or changed."""

from __future__ import annotations

import math

import pandas as pd

from data.frames.operators import OPERATORS_COLUMNS, Operators
from data.insights.comparison.operators import operator_changes


def operators(*rows: tuple[str, str, int, float]) -> Operators:
    """Side, name, calls, nanoseconds of a call."""
    columns = dict.fromkeys(OPERATORS_COLUMNS)
    found = [columns | {"side": s, "name": n, "count": c, "mean_ns": m, "total_ns": int(c * m)} for s, n, c, m in rows]
    return Operators(pd.DataFrame(found, columns=list(OPERATORS_COLUMNS)))


def test_every_verdict() -> None:
    a = operators(("cpu", "gone", 1, 10), ("cpu", "same", 4, 100), ("gpu", "slow", 2, 100), ("gpu", "fast", 2, 100))
    b = operators(("cpu", "came", 1, 30), ("cpu", "same", 8, 105), ("gpu", "slow", 2, 106), ("gpu", "fast", 2, 94))
    verdicts = {one.name: one.verdict for one in operator_changes(a, b)}
    assert verdicts == {"gone": "removed", "came": "added", "same": "unchanged", "slow": "slower", "fast": "faster"}


def test_what_changed_most_in_total_comes_first() -> None:
    a = operators(("cpu", "small", 1, 10), ("cpu", "large", 10, 10))
    b = operators(("cpu", "small", 1, 20), ("cpu", "large", 20, 10))
    assert [one.name for one in operator_changes(a, b)] == ["large", "small"]


def test_a_side_without_it_has_no_time_of_a_call() -> None:
    (found,) = operator_changes(operators(("cpu", "gone", 3, 10)), operators())
    assert (found.count_a, found.count_b, found.total_b_ns) == (3, 0, 0)
    assert math.isnan(found.mean_b_ns)


def test_the_same_name_twice_on_a_side_is_one_operator() -> None:
    (found,) = operator_changes(operators(("gpu", "k", 1, 10), ("gpu", "k", 3, 50)), operators(("gpu", "k", 4, 40)))
    assert (found.count_a, found.mean_a_ns, found.total_a_ns, found.verdict) == (4, 40, 160, "unchanged")


def test_the_same_name_on_two_sides_is_two() -> None:
    assert len(operator_changes(operators(("cpu", "x", 1, 1)), operators(("gpu", "x", 1, 1)))) == 2
