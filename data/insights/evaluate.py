"""All rules over one job: conclusions, ordered by what they waste. A rule that breaks is reported, never fatal."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from data.errors import InsightsError, MissingTable
from data.frames.evidence import Ticks
from data.frames.findings import COMPAT, Finding, Findings, Mode, Number, Outcome, Parameter, Severity, State
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values

log = logging.getLogger(__name__)

NS_PER_S = 1_000_000_000
HIGH_SHARE, MEDIUM_SHARE = 0.25, 0.05
"""Shares of a job's GPU time from which a waste weighs much, and something."""

MOST_PLACES = 5

_ORDER: tuple[State, ...] = ("issue", "failed", "not enough data", "n/a", "no issue", "summary")

Threshold = tuple[str, str, Number]
"""Rule, parameter, value: one that was moved from its default."""


def evaluate(
    rules: Sequence[Rule], evidence: Evidence, thresholds: Iterable[Threshold] = (), mode: Mode = "fixed"
) -> Findings:
    """Judges a job by every rule. In `compat` only those that the original had."""
    moved = {(rule, name): value for rule, name, value in thresholds}
    gpu_s, node_s = _capacity(evidence)
    found = []
    for rule in rules:
        if mode == COMPAT and rule.origin == ORIGINAL and rule.compat is None:
            continue
        if mode == COMPAT and rule.origin != ORIGINAL:
            continue
        parameters = tuple(_parameter(setting, moved.get((rule.name, setting.name))) for setting in rule.settings)
        outcome = _judged(rule, evidence, parameters, mode)
        share = _share(outcome, gpu_s, node_s)
        found.append(
            Finding(
                rule=rule.name,
                title=rule.title,
                claim=rule.claim,
                advice=(*outcome.advice, *rule.advice),
                origin=rule.origin,
                parameters=parameters,
                severity=_severity(outcome, share),
                outcome=replace(outcome, places=outcome.places[:MOST_PLACES]),
                share=share,
            )
        )
    found.sort(key=lambda one: (_ORDER.index(one.outcome.state), -(one.share or 0.0)))
    return Findings(mode, tuple(found), gpu_s, node_s)


def _parameter(setting: Setting, value: Number | None) -> Parameter:
    """The value in force: the moved one where it makes sense, else the default."""
    chosen = setting.default
    if value is not None and isinstance(value, str) == isinstance(setting.default, str):
        if isinstance(value, str):
            chosen = value
        elif math.isfinite(value):
            chosen = min(max(value, setting.low), setting.high)
    return Parameter(setting.name, chosen, setting.default, setting.unit, setting.low, setting.high, setting.means)


def _judged(rule: Rule, evidence: Evidence, parameters: tuple[Parameter, ...], mode: Mode) -> Outcome:
    judge = rule.compat if mode == COMPAT and rule.compat is not None else rule.judge
    try:
        return judge(evidence, Values({one.name: one.value for one in parameters}))
    except MissingTable as missing:
        return Outcome("n/a", " ".join(filter(None, (missing.message, missing.hint))))
    except InsightsError as error:
        return Outcome("failed", " ".join(filter(None, (error.message, error.hint))))
    except Exception:
        log.exception("rule failed", extra={"rule": rule.name})
        return Outcome("failed", "This rule broke while it looked at the job; the log has the details.")


def _capacity(evidence: Evidence) -> tuple[float | None, float | None]:
    """GPU-seconds and node-seconds from each node's first record to its last."""
    try:
        ticks = evidence.ticks
    except MissingTable:
        return None, None
    seconds = [(_covered_s(ticks, at), len(node.gpus)) for at, node in enumerate(ticks.nodes)]
    gpu_s = sum(covered * gpus for covered, gpus in seconds)
    return gpu_s or None, sum(covered for covered, _ in seconds) or None


def _covered_s(ticks: Ticks, at: int) -> float:
    node = ticks.nodes[at]
    if not len(node.tick_ns):
        return 0.0
    return float(node.tick_ns[-1] - node.tick_ns[0] + node.interval_ns) / NS_PER_S


def _share(outcome: Outcome, gpu_s: float | None, node_s: float | None) -> float | None:
    for wasted, whole in ((outcome.wasted_gpu_s, gpu_s), (outcome.wasted_node_s, node_s)):
        if wasted is not None and whole:
            return min(wasted / whole, 1.0)
    return None


def _severity(outcome: Outcome, share: float | None) -> Severity:
    if outcome.state != "issue":
        return ""
    if share is None:
        return "low"
    return "high" if share >= HIGH_SHARE else "medium" if share >= MEDIUM_SHARE else "low"
