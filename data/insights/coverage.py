"""Which of a job's time has records, how evenly they come, and whether the nodes' clocks agree: in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from data.frames.quality import STRETCHES, ClockOffset, ClockOffsets, Coverage
from data.insights.statement import MOST_NAMED, Level, Statement, counted, joined, names, panels_of_kind, span

MIN_SHARED_STEPS = 10
"""Fewer shared steps than this tell nothing of a clock: one late step would be its 5 or 95 percent mark."""


def without_records(coverage: Coverage) -> Iterator[Statement]:
    """Times that no node has, and times that one node lacks."""
    yield from _interruptions(coverage)
    alone = [node.node for node in coverage.nodes if node.ticks < 2]
    if alone:
        yield Statement(
            Level.WARNING,
            f"{names(alone)} {'has' if len(alone) == 1 else 'have'} a record at one time only",
            panels_of_kind("system"),
            "How much of the time it should have covered cannot be told; nearly all of it is missing.",
        )
    found = [(at, _own_stretches(coverage, at)) for at in range(len(coverage.nodes))]
    found = [(at, own) for at, own in found if own]
    found.sort(key=lambda item: -sum(end - start for start, end, _ in item[1]))
    for at, own in found[:MOST_NAMED]:
        yield _without_record(coverage.nodes[at].node, own)
    if len(found) > MOST_NAMED:
        yield Statement(
            Level.WARNING,
            f"{counted(len(found) - MOST_NAMED, 'more node')} "
            f"{'lacks' if len(found) == MOST_NAMED + 1 else 'lack'} records for some of the time",
            panels_of_kind("system"),
            "Their stretches are drawn and listed under coverage.",
        )


Stretch = tuple[int, int, int]  # start, end, kind


def _own_stretches(coverage: Coverage, at: int) -> list[Stretch]:
    """What a node lacks beside the interruptions that all share."""
    mine = coverage.node == at
    return [
        (int(start), int(end), int(kind))
        for start, end, kind in zip(
            coverage.stretch_start_ns[mine], coverage.stretch_end_ns[mine], coverage.kind[mine], strict=True
        )
        if kind != STRETCHES.index("interruption")
    ]


def _without_record(node: str, own: Sequence[Stretch]) -> Statement:
    start, end, kind = max(own, key=lambda one: one[1] - one[0])
    where = "" if STRETCHES[kind] == "gap" else f" {STRETCHES[kind]}"
    found = f"{node} has no record for {span(sum(last - first for first, last, _ in own))}"
    found += where if len(own) == 1 else f" in {len(own)} stretches, the longest {span(end - start)}{where}"
    return Statement(
        Level.WARNING,
        found,
        panels_of_kind("system"),
        "Charts stay empty there; means and percentiles are of the rest of the time.",
        window=(start, end),
        node=node,
    )


def _interruptions(coverage: Coverage) -> Iterator[Statement]:
    common = [
        (int(start), int(end))
        for start, end, kind in zip(coverage.stretch_start_ns, coverage.stretch_end_ns, coverage.kind, strict=True)
        if STRETCHES[int(kind)] == "interruption"
    ]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(common):
        if merged and start < merged[-1][1]:  # what all nodes lack is where their gaps overlap
            merged[-1] = (max(merged[-1][0], start), min(merged[-1][1], end))
        else:
            merged.append((start, end))
    if not merged:
        return
    longest = max(merged, key=lambda one: one[1] - one[0])
    yield Statement(
        Level.WARNING,
        f"No node has a record for {span(sum(end - start for start, end in merged))}"
        f" ({counted(len(merged), 'interruption')})",
        joined([(("Overview", ("Training progress over time",)),), panels_of_kind("system")]),
        "The job was stopped or the instances were taken away; the time counts in its duration.",
        window=longest,
    )


def unlike_intervals(coverage: Coverage) -> Iterator[Statement]:
    """Nodes that were sampled more or less often than others."""
    seen: dict[int, list[str]] = {}
    for node in coverage.nodes:
        seen.setdefault(node.nominal_ns, []).append(node.node)
    if len(seen) < 2:
        return
    parts = [f"{span(nominal)} ({names(nodes)})" for nominal, nodes in sorted(seen.items())]
    yield Statement(
        Level.WARNING,
        f"Nodes were sampled at unlike intervals: {', '.join(parts)}",
        panels_of_kind("system"),
        "A node that is sampled less often shows fewer and shorter peaks; its extremes are not comparable.",
    )


def steady(offset: ClockOffset) -> bool:
    """Whether a node starts shared steps always later, or always earlier, than the reference (p5 to p95)."""
    return offset.steps >= MIN_SHARED_STEPS and (offset.p5_ns > 0 or offset.p95_ns < 0)


def clock_differences(clocks: ClockOffsets) -> Iterator[Statement]:
    """Nodes that are always late or early at the steps they share."""
    moved = sorted((one for one in clocks.nodes if steady(one)), key=lambda one: -abs(one.median_ns))
    if not moved:
        return
    worst = moved[0]
    which = "later" if worst.median_ns > 0 else "earlier"
    others = (
        f"; so {'does' if len(moved) == 2 else 'do'} {counted(len(moved) - 1, 'more node')}" if len(moved) > 1 else ""
    )
    yield Statement(
        Level.NOTE,
        f"{worst.node} starts shared steps {span(abs(worst.median_ns))} {which} than {clocks.reference}{others}",
        (("Nodes", ("System utilization", "Over time", "Step timeline")),),
        "Its clock is off, or it is truly late: the data cannot tell which. Charts show times as they were written.",
        node=worst.node,
    )
