"""Whether the numbers of a job can be trusted: a verdict, and what each loss touches on which page, in plain words.

Works on what the queries of `data.queries.quality` found. It says what is missing and where that shows; it does not
guess what the lost records held.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from data.frames import (
    STRETCHES,
    ClockOffset,
    ClockOffsets,
    Coverage,
    FilesOfKind,
    MetricValues,
    NodeLoss,
    OutOfRange,
    Quality,
)

MIN_SHARED_STEPS = 10
"""Fewer shared steps than this tell nothing of a clock: one late step would be its 5 or 95 percent mark."""

MOST_NAMED = 6
"""Nodes named one by one in statements of one sort; the rest are counted."""

NS_PER_S = 10**9

Panels = tuple[tuple[str, tuple[str, ...]], ...]
"""Pages with the titles of their panels."""

_STEP_PANELS: Panels = (
    ("Overview", ("Time spent in phases of training", "Training progress over time")),
    ("Nodes", ("Step duration", "Step timeline")),
)
FILE_KINDS: tuple[tuple[str, str, Panels], ...] = (
    (
        "system",
        "system metrics",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "Over time", "Distributions"))),
    ),
    ("pythontimeline", "Python timelines", _STEP_PANELS),
    ("model_timeline", "model timelines", _STEP_PANELS),
    ("training_job", "the job's description", (("Overview", ("Training job details",)),)),
)
"""Kind of file, its name in words, and the panels that are drawn from it."""

METRICS: tuple[tuple[str, str, Panels], ...] = (
    (
        "gpu",
        "GPU utilization",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "GPU utilization"))),
    ),
    (
        "cpu",
        "CPU utilization",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "CPU utilization"))),
    ),
    (
        "gpu_memory",
        "GPU memory",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "GPU memory"))),
    ),
    ("memory", "CPU memory", (("Overview", ("Resource utilization",)), ("Nodes", ("CPU memory",)))),
    ("io_wait", "I/O wait", (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "I/O wait")))),
    ("network", "network", (("Overview", ("Resource utilization",)), ("Nodes", ("Network",)))),
    ("throughput", "disk throughput", (("Nodes", ("Disk throughput",)),)),
    ("iops", "disk operations", (("Nodes", ("Disk operations",)),)),
)
"""Metric as queries name it, its name in words, and the panels that show it."""


class Level(StrEnum):
    """How much a statement weighs: something could not be read, is missing or odd, or is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    GOOD = "good"


@dataclass(frozen=True)
class Verdict:
    """The answer to "can I trust these numbers?": a sentence, and what follows from it."""

    level: Level
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Statement:
    """One thing to know before a number is trusted."""

    level: Level
    found: str
    touches: Panels  # empty where no panel is touched
    means: str
    window: tuple[int, int] | None = None  # where in time it shows, nanoseconds
    node: str = ""  # whose it is, "" for the job's


def kind_name(kind: str) -> str:
    """A kind of file in words."""
    return next((name for key, name, _ in FILE_KINDS if key == kind), kind.replace("_", " "))


def verdict(quality: Quality, coverage: Coverage) -> Verdict:
    """Everything was read, or what was not."""
    read = _read(quality)
    if not quality.has_data:
        files = _counted(quality.files, "file")
        lost = f" {_counted(quality.lost_rows, 'record')} could not be used." if quality.lost_rows else ""
        return Verdict(
            Level.ERROR,
            f"Nothing of this job could be read: {files}, and no usable record or event.{lost}",
            "The profiler writes profiler-output/system (metrics) and profiler-output/framework (steps). Check that it "
            "was on for this job and that its output was copied completely, then press the refresh button above.",
        )
    damaged = sum(kind.damaged for kind in quality.kinds)
    left_out = sum(kind.left_out for kind in quality.kinds)
    also = f" {_counted(left_out, 'whole event')} made no sense and {_were(left_out)} left out." if left_out else ""
    if quality.lost_rows or quality.errors:
        whole = quality.system_rows + quality.events + quality.duplicates + quality.lost_rows
        lost = (
            f"{_counted(quality.lost_rows, 'record')} of {whole:,} ({_share(quality.lost_rows, whole)}) "
            f"{_were(quality.lost_rows)} lost in {_counted(damaged, 'file')}"
            if quality.lost_rows
            else f"{_counted(damaged, 'file')} could not be read"
        )
        return Verdict(
            Level.ERROR if quality.errors else Level.WARNING,
            f"{lost}; everything else was read: {read}.{also}",
            "What is lost is listed below, with the panels that it touches.",
        )
    if left_out or quality.problems:
        odd = also.strip() or f"{_counted(quality.problems, 'remark')} below."
        return Verdict(Level.WARNING, f"No record was lost: {read}. {odd}")
    if any(node.missing for node in coverage.nodes):
        return Verdict(
            Level.WARNING, f"Every file was read whole: {read}. But not all of the job's time has records; see below."
        )
    return Verdict(Level.GOOD, f"Everything was read: {read}.")


def _read(quality: Quality) -> str:
    records = [_counted(quality.system_rows, "record")] if quality.system_rows else []
    events = [_counted(quality.events, "event")] if quality.events else []
    return f"{' and '.join([*records, *events])} from {_counted(quality.files, 'file')}"


def statements(
    quality: Quality, coverage: Coverage, values: MetricValues, clocks: ClockOffsets
) -> tuple[Statement, ...]:
    """All that is to know, errors first."""
    found = [
        *_losses(quality),
        *_stretches(coverage),
        *_unlike_intervals(coverage),
        *_missing_metrics(quality, values),
        *_left_out(quality),
        *map(_out_of_range, values.out_of_range),
        *_clock_differences(clocks),
        *_dropped(quality),
        *_endings(quality),
    ]
    order = list(Level)
    return tuple(sorted(found, key=lambda one: order.index(one.level)))


def panels_of_kind(kind: str) -> Panels:
    """The panels that are drawn from files of this kind; none where nothing is drawn from them yet."""
    return next((panels for key, _, panels in FILE_KINDS if key == kind), ())


def panels_of_metric(metric: str) -> Panels:
    """The panels that show a metric."""
    return next((panels for key, _, panels in METRICS if key == metric), ())


# --- what reading lost ---


def _losses(quality: Quality) -> Iterator[Statement]:
    for kind in quality.kinds:
        mine = [loss for loss in quality.losses if loss.kind == kind.kind]
        for loss in mine[:MOST_NAMED]:
            yield _loss(kind, loss)
        rest = mine[MOST_NAMED:]
        if rest:
            lost, files = sum(one.lost_rows for one in rest), sum(one.files for one in rest)
            yield _loss(kind, NodeLoss(kind.kind, f"{len(rest)} more nodes", files, lost))


def _loss(kind: FilesOfKind, loss: NodeLoss) -> Statement:
    whose = f" of {loss.node}" if loss.node else ""
    files = _counted(loss.files, "file")
    if not loss.lost_rows:
        found = f"{files} of {kind_name(kind.kind)}{whose} could not be read"
        return Statement(Level.ERROR, found, panels_of_kind(kind.kind), "What they held is missing everywhere.")
    return Statement(
        Level.WARNING,
        f"{_counted(loss.lost_rows, 'record')} of {kind_name(kind.kind)}{whose} {_were(loss.lost_rows)} lost in {files}",
        panels_of_kind(kind.kind),
        "Means, percentiles and counts rest on the other records."
        if kind.kind == "system"
        else "Steps may be missing.",
    )


def _left_out(quality: Quality) -> Iterator[Statement]:
    for kind in quality.kinds:
        if kind.left_out:
            yield Statement(
                Level.WARNING,
                f"{_counted(kind.left_out, 'event')} of {kind_name(kind.kind)} had no usable time, duration or start",
                panels_of_kind(kind.kind),
                "They are left out; their place in time cannot be known.",
            )


def _dropped(quality: Quality) -> Iterator[Statement]:
    if quality.duplicates:
        yield Statement(
            Level.NOTE,
            f"{_counted(quality.duplicates, 'duplicate record')} {_were(quality.duplicates)} dropped",
            (),
            "Same series, time and value as another record: counting them twice would be wrong.",
        )
    copies = sum(kind.copies for kind in quality.kinds)
    if copies:
        yield Statement(
            Level.NOTE,
            f"{_counted(copies, 'file')} {'repeats another one' if copies == 1 else 'repeat others'} byte for byte",
            (),
            "The copies are left out; nothing is lost.",
        )


def _endings(quality: Quality) -> Iterator[Statement]:
    if quality.has_data and not quality.ended:
        yield Statement(
            Level.NOTE,
            "The profiler did not write both of its end marks",
            (("Jobs", ("Status",)),),
            "The job may still run, may have been killed, or not all of its files are here.",
        )


# --- which time has records ---


def _stretches(coverage: Coverage) -> Iterator[Statement]:
    yield from _interruptions(coverage)
    found = [(at, _own_stretches(coverage, at)) for at in range(len(coverage.nodes))]
    found = [(at, own) for at, own in found if own]
    found.sort(key=lambda item: -sum(end - start for start, end, _ in item[1]))
    for at, own in found[:MOST_NAMED]:
        yield _without_record(coverage.nodes[at].node, own)
    if len(found) > MOST_NAMED:
        yield Statement(
            Level.WARNING,
            f"{_counted(len(found) - MOST_NAMED, 'more node')} "
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
        f" ({_counted(len(merged), 'interruption')})",
        (("Overview", ("Training progress over time",)), *panels_of_kind("system")),
        "The job was stopped or the instances were taken away; the time counts in its duration.",
        window=longest,
    )


def _unlike_intervals(coverage: Coverage) -> Iterator[Statement]:
    seen: dict[int, list[str]] = {}
    for node in coverage.nodes:
        seen.setdefault(node.nominal_ns, []).append(node.node)
    if len(seen) < 2:
        return
    parts = [f"{span(nominal)} ({_names(nodes)})" for nominal, nodes in sorted(seen.items())]
    yield Statement(
        Level.WARNING,
        f"Nodes were sampled at unlike intervals: {', '.join(parts)}",
        panels_of_kind("system"),
        "A node that is sampled less often shows fewer and shorter peaks; its extremes are not comparable.",
    )


# --- which metrics there are, and their values ---


def _missing_metrics(quality: Quality, values: MetricValues) -> Iterator[Statement]:
    if quality.has_data and not quality.system_rows:
        yield Statement(
            Level.WARNING,
            "There are no system metrics",
            panels_of_kind("system"),
            "Utilization of this job cannot be known; its steps can.",
        )
    if quality.has_data and not quality.steps:
        yield Statement(
            Level.NOTE,
            "The framework recorded no steps",
            panels_of_kind("pythontimeline"),
            "Phases and step times are unknown; everything else is not touched.",
        )
    lacking: dict[tuple[str, ...], list[int]] = {}
    for at, (metric, _, _) in enumerate(METRICS):
        nodes = tuple(one.node for one in values.measured if metric not in one.metrics)
        if nodes:
            lacking.setdefault(nodes, []).append(at)
    for nodes, metrics in lacking.items():
        yield _lacking(nodes, metrics, everywhere=len(nodes) == len(values.measured))


def _lacking(nodes: Sequence[str], metrics: Sequence[int], *, everywhere: bool) -> Statement:
    names = ", ".join(METRICS[at][1] for at in metrics)
    panels = _joined(METRICS[at][2] for at in metrics)
    if everywhere:
        return Statement(Level.NOTE, f"Not recorded on any node: {names}", panels, "Its panels and rows are not there.")
    return Statement(
        Level.WARNING,
        f"Not recorded on {_names(nodes)}, but on other nodes: {names}",
        panels,
        "Means over all nodes are of those that have it.",
    )


def _joined(many: Iterable[Panels]) -> Panels:
    """Panels of several sorts, each once, by page."""
    pages: dict[str, dict[str, None]] = {}
    for panels in many:
        for page, titles in panels:
            pages.setdefault(page, {}).update(dict.fromkeys(titles))
    return tuple((page, tuple(titles)) for page, titles in pages.items())


def _out_of_range(odd: OutOfRange) -> Statement:
    name = next((words for key, words, _ in METRICS if key == odd.metric), odd.metric)
    many = f"{_counted(odd.samples, 'value')} of {name}" if odd.samples else f"Values of {name}"
    device = f"{odd.node} {odd.device}".strip()
    others = f" and {_counted(odd.series - 1, 'other device')}" if odd.series > 1 else ""
    return Statement(
        Level.WARNING,
        f"{many} {'lies' if odd.samples == 1 else 'lie'} outside 0 to 100 %, from {odd.lowest:g} to {odd.highest:g} % "
        f"({device}{others})",
        panels_of_metric(odd.metric),
        "Kept as they were measured in every number; only drawings cut them off at 0 and 100.",
        node=odd.node,
    )


# --- clocks ---


def steady(offset: ClockOffset) -> bool:
    """Whether a node starts shared steps always later, or always earlier, than the reference (p5 to p95)."""
    return offset.steps >= MIN_SHARED_STEPS and (offset.p5_ns > 0 or offset.p95_ns < 0)


def _clock_differences(clocks: ClockOffsets) -> Iterator[Statement]:
    moved = sorted((one for one in clocks.nodes if steady(one)), key=lambda one: -abs(one.median_ns))
    if not moved:
        return
    worst = moved[0]
    which = "later" if worst.median_ns > 0 else "earlier"
    others = (
        f"; so {'does' if len(moved) == 2 else 'do'} {_counted(len(moved) - 1, 'more node')}" if len(moved) > 1 else ""
    )
    yield Statement(
        Level.NOTE,
        f"{worst.node} starts shared steps {span(abs(worst.median_ns))} {which} than {clocks.reference}{others}",
        (("Nodes", ("System utilization", "Over time", "Step timeline")),),
        "Its clock is off, or it is truly late: the data cannot tell which. Charts show times as they were written.",
        node=worst.node,
    )


# --- words ---


def span(duration_ns: float) -> str:
    """A length of time for a sentence: 4 min 10 s, 2.5 s, 38 ms."""
    total_s = round(duration_ns / NS_PER_S)
    if total_s >= 3600:
        return f"{total_s // 3600} h {total_s % 3600 // 60} min"
    if total_s >= 60:
        return f"{total_s // 60} min {total_s % 60} s"
    if duration_ns >= NS_PER_S:
        return f"{duration_ns / NS_PER_S:.2f}".rstrip("0").rstrip(".") + " s"
    if duration_ns >= 10**6:
        return f"{duration_ns / 10**6:.1f}".rstrip("0").rstrip(".") + " ms"
    return f"{duration_ns / 1000:.0f} µs"


def _counted(value: int, noun: str) -> str:
    return f"{value:,} {noun if value == 1 else noun + 's'}"


def _were(value: int) -> str:
    return "was" if value == 1 else "were"


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole if whole else math.nan
    return "under 0.01 %" if percent < 0.01 else f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def _names(nodes: Iterable[str]) -> str:
    names = list(nodes)
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
