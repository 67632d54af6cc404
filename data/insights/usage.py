"""One plain sentence per node about how well its hardware was used, and what that suggests.

Limits as in the profiler's report (reference, 4.13), read on the p95 and p50 of the node's mean over devices. Two
faults of the original are not repeated: a job without GPUs gets a sentence too, and a p95 of exactly 70 belongs to
the busy side instead of to no case at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from data.frames import UsageSummary

BUSY_PERCENT = 70.0


class Verdict(StrEnum):
    """What the figures of a node amount to."""

    UNDERUSED = "underused"
    CPU_BOUND = "cpu_bound"
    WELL_USED = "well_used"
    UNEVEN = "uneven"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class UsageSentence:
    """A node, what was concluded, and the sentence to show."""

    node: str
    verdict: Verdict
    text: str


def usage_sentences(usage: UsageSummary) -> tuple[UsageSentence, ...]:
    """A sentence for every node of the summary, in its order."""
    return tuple(
        _judge(str(node), {str(row.metric): row for row in rows.itertuples()})
        for node, rows in usage.groupby("node", sort=False)
    )


def _judge(node: str, rows: Mapping[str, object]) -> UsageSentence:
    gpu, cpu = rows.get("GPU"), rows.get("CPU")
    gpu_p95, gpu_p50 = _figure(gpu, "p95"), _figure(gpu, "p50")
    cpu_p95, cpu_p50 = _figure(cpu, "p95"), _figure(cpu, "p50")
    if gpu_p95 is None or gpu_p50 is None:
        return _without_gpu(node, cpu_p95)
    if gpu_p95 < BUSY_PERCENT and cpu_p95 is not None and cpu_p95 < BUSY_PERCENT:
        return UsageSentence(
            node,
            Verdict.UNDERUSED,
            f"GPUs and CPUs are both underused: for 95 % of the time GPU utilization is at most {gpu_p95:.1f} % and "
            f"CPU utilization at most {cpu_p95:.1f} %. A smaller instance may do, or a larger batch.",
        )
    if gpu_p95 < BUSY_PERCENT:
        busy = f"while CPU utilization reaches {cpu_p95:.1f} %" if cpu_p95 is not None else "and no CPU was recorded"
        advice = "The GPUs probably wait for the CPUs." if cpu_p95 is not None else ""
        text = f"The GPUs are underused: utilization is at most {gpu_p95:.1f} % for 95 % of the time, {busy}. {advice}"
        verdict = Verdict.CPU_BOUND if cpu_p95 is not None else Verdict.UNDERUSED
        return UsageSentence(node, verdict, text.strip())
    if gpu_p50 > BUSY_PERCENT:
        return UsageSentence(
            node, Verdict.WELL_USED, f"The GPUs are well used: half of the time utilization is above {gpu_p50:.1f} %."
        )
    cpus = f", CPU utilization {cpu_p50:.1f} %" if cpu_p50 is not None else ""
    return UsageSentence(
        node,
        Verdict.UNEVEN,
        f"The GPUs are busy in bursts: p95 is {gpu_p95:.1f} %, but median GPU utilization only {gpu_p50:.1f} %{cpus}.",
    )


def _without_gpu(node: str, cpu_p95: float | None) -> UsageSentence:
    if cpu_p95 is None:
        return UsageSentence(node, Verdict.UNKNOWN, "Neither GPU nor CPU utilization was recorded.")
    if cpu_p95 < BUSY_PERCENT:
        return UsageSentence(
            node,
            Verdict.UNDERUSED,
            f"No GPU was recorded, and the CPUs are underused: utilization is at most {cpu_p95:.1f} % for 95 % of "
            "the time. A smaller instance may do.",
        )
    return UsageSentence(
        node, Verdict.WELL_USED, f"No GPU was recorded; the CPUs are busy, with a p95 of {cpu_p95:.1f} %."
    )


def _figure(row: object, column: str) -> float | None:
    value = getattr(row, column, None)
    return None if value is None or not math.isfinite(value) else float(value)
