"""Whether two runs can be compared: what was alike, what was not, and what that makes unfair."""

from __future__ import annotations

from collections.abc import Iterator

from data.frames import JobHeader
from data.frames.comparison import Fact, Parity
from data.insights.comparison.run import BATCH_SIZES, Run
from data.insights.statement import span

_SET_BY_SAGEMAKER = ("sagemaker_",)
LENGTH_RATIO = 1.5
"""Runs that differ in length by more than this are said to."""


def parity(a: Run, b: Run) -> Parity:
    """All facts, those that matter most first, and the warnings that follow from those that differ."""
    facts = (*_machines(a.header, b.header), *_software(a, b), *_data(a, b))
    warnings = [f"{fact.name}: {fact.a or 'unknown'} in A, {fact.b or 'unknown'} in B. {fact.unfair}" for fact in facts]
    warnings = [text for text, fact in zip(warnings, facts, strict=True) if not fact.same and fact.unfair]
    running = [name for name, run in (("A", a), ("B", b)) if run.header.status == "InProgress"]
    if running:
        warnings.append(f"{' and '.join(running)} still in progress: its figures are of what was recorded so far.")
    return Parity(facts, tuple(warnings))


def _fact(name: str, a: str, b: str, unfair: str = "") -> Fact:
    return Fact(name, a, b, a == b, unfair)


def _machines(a: JobHeader, b: JobHeader) -> Iterator[Fact]:
    yield _fact(
        "Instances",
        a.instances,
        b.instances,
        "Utilization is of different machines: read it beside time and cost, not alone.",
    )
    yield _fact("Nodes", str(len(a.nodes)), str(len(b.nodes)), "Totals over nodes are not alike.")
    yield _fact("GPUs", str(a.gpus), str(b.gpus), "A share of more GPUs is more GPU time.")


def _software(a: Run, b: Run) -> Iterator[Fact]:
    yield _fact("Framework", a.header.framework, b.header.framework, "A difference may come from the framework.")
    yield _fact("Image", a.image, b.image)
    size_a, size_b = (f"{one[1]:g}" if one else "" for one in (a.batch_size, b.batch_size))
    yield _fact(
        "Batch size", size_a, size_b, "A step does not hold the same work: compare the time for all of it, and cost."
    )
    given_a, given_b = dict(a.hyperparameters), dict(b.hyperparameters)
    for name in sorted(given_a.keys() | given_b.keys()):
        if name not in BATCH_SIZES and not name.startswith(_SET_BY_SAGEMAKER):
            yield _fact(name, given_a.get(name, ""), given_b.get(name, ""))


def _data(a: Run, b: Run) -> Iterator[Fact]:
    yield _fact(
        "Sampling interval",
        _intervals(a.header),
        _intervals(b.header),
        "Percentiles are taken over means of the longer interval in both.",
    )
    unfair = "What only one of them has cannot be compared."
    yield _fact("Recorded", _recorded(a.header), _recorded(b.header), unfair)
    lengths = (a.times.duration_ns, b.times.duration_ns)
    alike = max(lengths) <= LENGTH_RATIO * max(min(lengths), 1)
    yield Fact(
        "Duration",
        span(lengths[0]),
        span(lengths[1]),
        alike,
        "" if alike else "One run is much longer: start-up weighs less in its means.",
    )


def _intervals(header: JobHeader) -> str:
    return ", ".join(span(interval) for interval in header.intervals_ns)


def _recorded(header: JobHeader) -> str:
    parts = (
        ("system metrics", header.measured),
        ("steps", header.step_count),
        ("operators", header.operator_roles),
        ("kernels", header.kernels),
        ("Python functions", header.function_count),
    )
    return ", ".join(name for name, present in parts if present)
