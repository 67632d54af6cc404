"""Budgets for use in continuous integration: broken only by a difference that is more than noise."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from data.errors import InsightsError
from data.frames.comparison import TESTED, BudgetResult, Row

_BUDGET = re.compile(r"\s*(?P<key>[a-z][a-z0-9_]*)\s*(?P<sign>[<>])\s*(?P<limit>[+-]?\d+(?:\.\d+)?)\s*(?P<unit>%?)\s*")

KEYS = (
    "step_time", "throughput", "samples", "duration", "startup", "gpu_mean", "gpu_p50", "gpu_p95", "cpu_mean",
    "cpu_p50", "cpu_p95", "io_wait_mean", "network_mean", "gpu_memory_peak", "cost",
)  # fmt: skip


def check(budgets: Iterable[str], rows: Sequence[Row]) -> tuple[BudgetResult, ...]:
    """Every budget against the figures. `key>3%` limits the change in percent, `key>3` in the figure's own unit.

    A figure of several phases must hold in each. What cannot be judged is not broken, and is said. Raises InsightsError
    for a budget that nobody can read.
    """
    return tuple(result for budget in budgets for result in _checked(budget, rows))


def _checked(budget: str, rows: Sequence[Row]) -> list[BudgetResult]:
    found = _BUDGET.fullmatch(budget)
    if found is None or found["key"] not in KEYS:
        raise InsightsError(
            f"There is no budget {budget!r}.", f"Write KEY>NUMBER% or KEY<NUMBER%; keys: {', '.join(KEYS)}."
        )
    mine = [row for row in rows if row.key == found["key"]]
    if not mine:
        return [BudgetResult(budget, False, f"{found['key']} was not recorded in either run: nothing to hold against.")]
    return [_result(budget, found["sign"], float(found["limit"]), found["unit"] == "%", row) for row in mine]


def _result(budget: str, sign: str, limit: float, percent: bool, row: Row) -> BudgetResult:
    change, unit = (row.percent, "%") if percent else (row.difference, f" {row.unit}")
    where = f"{row.name}{f' of {row.phase}' if row.phase else ''}"
    if math.isnan(change):
        return BudgetResult(budget, False, f"{where}: cannot be judged. {row.note}".strip())
    text = f"{where}: {change:+.2f}{unit}"
    beyond = change > limit if sign == ">" else change < limit
    if beyond and row.basis == TESTED and row.verdict in ("no detectable difference", "cannot be judged"):
        return BudgetResult(budget, False, f"{text}, but that is {row.verdict}.")
    return BudgetResult(budget, beyond, text)
