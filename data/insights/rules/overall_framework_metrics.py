"""OverallFrameworkMetrics: how the time of framework events divides up, in figures (reference 4.11)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import OperatorTotal, StepRecords
from data.frames.findings import Figure, FigureTable, Outcome
from data.frames.operators import FrameworkShares, TimeShare
from data.insights.evidence import Evidence
from data.insights.operators import share_remarks
from data.insights.rule import ORIGINAL, Rule, Values
from data.insights.statement import NS_PER_S

BETWEEN_PERCENT = 25.0
"""Time between steps above this share is worth a word (reference 4.13)."""

PASS_PERCENT = 70.0
"""One of forward and backward above this share of both is worth a word (reference 4.13)."""

KEPT_PERCENT = 2.0
"""The original leaves smaller shares out, and makes the others add up to 100 again."""

MOST_OPERATORS = 20


def judge(evidence: Evidence, values: Values) -> Outcome:
    """The shares that Overview shows: overlapping steps count once, and the time between steps is what none covers."""
    shares = evidence.shares
    groups = (
        ("CPU and GPU", shares.sides),
        ("other lanes", shares.general),
        ("passes", shares.passes),
        ("communication", shares.communication),
        ("steps", shares.steps),
    )
    rows = tuple(
        (group, "between steps" if one.role == "others" else one.name, one.percent, one.total_ns / NS_PER_S, one.count)
        for group, parts in groups
        for one in parts
    )
    between = next((one.percent for one in shares.steps if one.role == "others"), None)
    remarks = " ".join(remark.text for remark in share_remarks(shares))
    return Outcome(
        "summary",
        remarks or "Framework events were recorded, but nothing that could be compared.",
        sum(one.count for _, parts in groups[:2] for one in parts) + sum(one.count for one in shares.steps),
        "framework events",
        figures=() if between is None else (Figure("time between steps", between, "%"),),
        tables=(
            FigureTable("Framework time", ("group", "name", "share, %", "time, s", "events"), rows),
            *_operators(evidence),
        ),
        advice=_advice(shares, between),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: its keys, small shares left out and the rest made 100 again, and its way to `others`."""
    try:
        totals = evidence.operators
    except MissingTable:
        totals = ()
    rows = [
        *_rows("ratio", _percents(_sums(totals, ("cpu", "gpu"), by="phase"))),
        *_kept("CPU", _sums(totals, ("cpu",))),
        *_kept("GPU", _sums(totals, ("gpu",))),
        *_rows("phase", _phases(evidence, totals)),
        *_rows("general", _percents(_sums(totals, ("general", "forward", "backward"), by="phase"))),
        *_rows("forward_backward", _passes(totals)),
        *_rows("horovod", _percents(_large(_sums(totals, ("communication",))))),
    ]
    return Outcome(
        "summary",
        "Shares of the time of framework events.",
        0,
        "",
        tables=(FigureTable("Framework time", ("key", "name", "value"), tuple(rows)),),
    )


def others_ns(start_ns: NDArray[np.int64], duration_ns: NDArray[np.int64], gpu_count: int) -> float:
    """The original's time outside of steps, after the last of them.

    At every step O' = (its end - start of the first) - (all steps so far + O) / gpu_count: it takes its own last value
    for time in steps, and swings. Each step's part in the last value has been divided once for every step after it.
    """
    passed_ns = start_ns + duration_ns - start_ns[0] - np.cumsum(duration_ns) / gpu_count
    after = np.arange(len(passed_ns))[::-1]
    return float(np.dot(passed_ns, (-1.0 / gpu_count) ** after))


def _operators(evidence: Evidence) -> tuple[FigureTable, ...]:
    try:
        totals = evidence.operators
    except MissingTable:
        return ()
    rows = []
    for side, role in (("CPU", "cpu"), ("GPU", "gpu"), ("communication", "communication")):
        sums = _sums(totals, (role,))
        percents = _percents(sums)
        longest = sorted(sums, key=lambda name: (-sums[name], name))[:MOST_OPERATORS]
        rows += [(side, name, percents[name], sums[name] / NS_PER_S) for name in longest]
    return (FigureTable("Longest operators", ("side", "name", "share, %", "time, s"), tuple(rows)),) if rows else ()


def _advice(shares: FrameworkShares, between: float | None) -> tuple[str, ...]:
    found = []
    if between is not None and between > BETWEEN_PERCENT:
        found.append("Much time lies between steps: see in Nodes what runs there.")
    longer: TimeShare | None = max(shares.passes, key=lambda one: one.percent, default=None)
    if longer is not None and longer.percent > PASS_PERCENT:
        found.append(f"The {longer.role} pass takes most of the time of both passes: look for what makes it long.")
    return tuple(found)


def _sums(totals: Iterable[OperatorTotal], roles: tuple[str, ...], by: str = "name") -> dict[str, int]:
    found: dict[str, int] = {}
    for one in totals:
        if one.role in roles:
            found[getattr(one, by)] = found.get(getattr(one, by), 0) + one.total_ns
    return found


def _percents(parts: dict[str, int]) -> dict[str, float]:
    whole = sum(parts.values())
    return {name: 100 * part / whole for name, part in parts.items()} if whole else {}


def _large(parts: dict[str, int]) -> dict[str, int]:
    percents = _percents(parts)
    return {name: part for name, part in parts.items() if percents.get(name, 0.0) > KEPT_PERCENT}


def _kept(key: str, parts: dict[str, int]) -> list[tuple[str, str, float]]:
    large = _large(parts)
    return _rows(key, _percents(large)) + _rows(f"{key}_total", {name: part / 1000 for name, part in large.items()})


def _rows(key: str, values: dict[str, float]) -> list[tuple[str, str, float]]:
    return [(key, name, value) for name, value in sorted(values.items(), key=lambda item: -item[1])]


def _passes(totals: Iterable[OperatorTotal]) -> dict[str, float]:
    forward, backward = (sum(_sums(totals, (role,)).values()) for role in ("forward_inner", "backward_inner"))
    if not forward or not backward:
        return {}
    return _percents({"Forward pass": forward, "Backward pass": backward})


def _phases(evidence: Evidence, totals: Iterable[OperatorTotal]) -> dict[str, float]:
    try:
        records: StepRecords = evidence.steps
    except MissingTable:
        return {}
    chosen = np.array(["Step" in phase for phase, _ in records.groups])[records.group]
    if not chosen.any():
        return {}
    time_ns = np.bincount(records.group[chosen], weights=records.duration_ns[chosen], minlength=len(records.groups))
    parts: dict[str, float] = {}
    for (phase, _), length in zip(records.groups, time_ns.tolist(), strict=True):
        if length:
            parts[phase] = parts.get(phase, 0.0) + length
    gpus = max(len({one.phase for one in totals if one.role == "gpu"}), 1)
    parts["others"] = others_ns(records.start_ns[chosen], records.duration_ns[chosen], gpus)
    whole = sum(parts.values())
    return {name: 100 * part / whole for name, part in parts.items()} if whole else {}


RULE = Rule(
    name="OverallFrameworkMetrics",
    title="What the framework spent its time on",
    claim="Sums up how the time of framework events divides up: CPU, GPU, passes, communication and steps.",
    advice=(),
    settings=(),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
