"""OverallSystemUsage: how much of every node's hardware was used, in figures (reference 4.10)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from data.frames import UsageSummary
from data.frames.evidence import NodeSums
from data.frames.findings import Figure, FigureTable, Outcome
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Values
from data.insights.statement import counted

STATISTICS = ("max", "p99", "p95", "p50", "min")
POINTS = (1, 0.99, 0.95, 0.5, 0)
METRICS = (
    ("Network", "network", ""),
    ("GPU", "gpu", "gpu"),
    ("CPU", "cpu", "core"),
    ("CPU memory", "memory", ""),
    ("GPU memory", "gpu_memory", "gpu"),
    ("I/O", "io_wait", "core"),
)
"""As the original calls them, where their sums are, and what a sum is divided by the number of."""


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Statistics over the ticks of each node of the mean over its devices, as Overview shows them."""
    usage = evidence.usage
    names = (usage[column].tolist() for column in ("node", "metric", "unit"))
    numbers = (usage[column].astype(float).tolist() for column in (*STATISTICS, "ticks"))
    rows = tuple(zip(*names, *numbers, strict=True))
    return Outcome(
        "summary",
        _sentence(usage),
        int(usage.loc[usage["metric"] == "CPU", "ticks"].sum()),
        "ticks of nodes",
        figures=tuple(
            Figure(f"highest p95 of {metric}", float(mine.max()), "%")
            for metric in ("GPU", "CPU")
            if len(mine := usage.loc[usage["metric"] == metric, "p95"])
        ),
        tables=(FigureTable("System usage", ("node", "metric", "unit", *STATISTICS, "ticks"), rows),),
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: sums at exact times, by the number of names on all nodes, with two decimals, never negative."""
    usage = evidence.exact_usage
    names = {"": 1, "core": usage.core_names, "gpu": usage.gpu_names}
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (metric, node.node, *_statistics(getattr(node, column), names[divisor]))
        for metric, column, divisor in METRICS
        for node in usage.nodes
        if len(getattr(node, column)) and names[divisor]
    )
    first: tuple[NodeSums, ...] = usage.nodes[:1]
    return Outcome(
        "summary",
        f"Statistics of {counted(len(usage.nodes), 'node')}.",
        sum(len(node.cpu) for node in first),
        "times of CPU records on the first node",
        tables=(FigureTable("System usage", ("metric", "node", *STATISTICS), rows),),
    )


def _statistics(sums: NDArray[np.float64], divisor: int) -> list[float]:
    return [max(round(value, 2), 0.0) for value in np.quantile(sums / divisor, POINTS).tolist()]


def _sentence(usage: UsageSummary) -> str:
    parts = []
    for metric in ("GPU", "CPU"):
        p95 = usage.loc[usage["metric"] == metric, "p95"]
        if len(p95):
            low, high = f"{p95.min():.1f}", f"{p95.max():.1f}"
            parts.append(f"{metric} utilization is at most {high if low == high else f'{low} to {high}'} %")
    text = ", ".join(parts) or "neither GPU nor CPU utilization was recorded"
    return f"For 95 % of the time, on {counted(usage['node'].nunique(), 'node')}: {text}."


RULE = Rule(
    name="OverallSystemUsage",
    title="How much of the hardware was used",
    claim="Sums up how much of each node's GPUs, cores, memory, storage and network was used.",
    advice=(),
    settings=(),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
