"""Which operators came, went, or take longer or shorter for a call."""

from __future__ import annotations

from data.frames.comparison import OperatorChange, OperatorVerdict
from data.frames.operators import Operators

TOLERANCE = 0.05
"""A call that takes up to this much longer or shorter is unchanged: calls of one run differ as much."""


def operator_changes(a: Operators, b: Operators) -> tuple[OperatorChange, ...]:
    """Operators of both runs by side and name, those whose total time changed most first."""
    of_a, of_b = _rows(a), _rows(b)
    found = [_change(key, of_a.get(key), of_b.get(key)) for key in dict.fromkeys([*of_a, *of_b])]
    return tuple(sorted(found, key=lambda one: (-abs(one.total_b_ns - one.total_a_ns), one.side, one.name)))


Row = tuple[int, float, int]  # count, mean and total, nanoseconds


def _rows(operators: Operators) -> dict[tuple[str, str], Row]:
    found: dict[tuple[str, str], Row] = {}
    for side, name, count, mean, total in zip(
        *(operators[column] for column in ("side", "name", "count", "mean_ns", "total_ns")), strict=True
    ):
        before = found.get((side, name))
        if before is not None:  # the same name as kernel of its own and as communication
            count, total = count + before[0], total + before[2]
            mean = (mean * (count - before[0]) + before[1] * before[0]) / count
        found[side, name] = (int(count), float(mean), int(total))
    return found


def _change(key: tuple[str, str], a: Row | None, b: Row | None) -> OperatorChange:
    nothing: Row = (0, float("nan"), 0)
    verdict: OperatorVerdict = "added" if a is None else "removed" if b is None else _by_call(a[1], b[1])
    (count_a, mean_a, total_a), (count_b, mean_b, total_b) = a or nothing, b or nothing
    return OperatorChange(*key, verdict, count_a, count_b, mean_a, mean_b, total_a, total_b)


def _by_call(a_ns: float, b_ns: float) -> OperatorVerdict:
    if b_ns > a_ns * (1 + TOLERANCE):
        return "slower"
    return "faster" if b_ns < a_ns * (1 - TOLERANCE) else "unchanged"
