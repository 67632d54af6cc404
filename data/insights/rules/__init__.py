"""The built-in rules, one module each, named for the problem. `docs/rules.md` describes every one."""

from __future__ import annotations

from data.insights.rule import Rule
from data.insights.rules import low_gpu_utilization

RULES: tuple[Rule, ...] = (low_gpu_utilization.RULE,)
