"""Whether the numbers of a job can be trusted: a verdict, and what each loss touches on which page, in plain words.

Works on what the queries of `data.queries.quality` found. It says what is missing and where that shows; it does not
guess what the lost records held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.frames.quality import ClockOffsets, Coverage, FilesOfKind, MetricValues, NodeLoss, OutOfRange, Quality
from data.insights.coverage import clock_differences, unlike_intervals, without_records
from data.insights.statement import (
    METRICS,
    MOST_NAMED,
    Level,
    Statement,
    counted,
    joined,
    kind_name,
    names,
    panels_of_kind,
    panels_of_metric,
    share,
    were,
)


@dataclass(frozen=True)
class Verdict:
    """The answer to "can I trust these numbers?": a sentence, and what follows from it."""

    level: Level
    text: str
    advice: str = ""


def verdict(quality: Quality, coverage: Coverage) -> Verdict:
    """Everything was read, or what was not."""
    read = _read(quality)
    if not quality.has_data:
        files = counted(quality.files, "file")
        lost = f" {counted(quality.lost_rows, 'record')} could not be used." if quality.lost_rows else ""
        return Verdict(
            Level.ERROR,
            f"Nothing of this job could be read: {files}, and no usable record or event.{lost}",
            "The profiler writes profiler-output/system (metrics) and profiler-output/framework (steps). Check that it "
            "was on for this job and that its output was copied completely, then press the refresh button above.",
        )
    damaged = sum(kind.damaged for kind in quality.kinds)
    left_out = sum(kind.left_out for kind in quality.kinds)
    also = f" {counted(left_out, 'whole event')} made no sense and {were(left_out)} left out." if left_out else ""
    if quality.lost_rows or quality.errors:
        whole = sum((quality.system_rows, quality.events, quality.functions, quality.duplicates, quality.lost_rows))
        lost = (
            f"{counted(quality.lost_rows, 'record')} of {whole:,} ({share(quality.lost_rows, whole)}) "
            f"{were(quality.lost_rows)} lost in {counted(damaged, 'file')}"
            if quality.lost_rows
            else f"{counted(damaged, 'file')} could not be read"
        )
        return Verdict(
            Level.ERROR if quality.errors else Level.WARNING,
            f"{lost}; everything else was read: {read}.{also}",
            "What is lost is listed below, with the panels that it touches.",
        )
    if left_out or quality.problems:
        odd = also.strip() or f"{counted(quality.problems, 'remark')} below."
        return Verdict(Level.WARNING, f"No record was lost: {read}. {odd}")
    if any(node.missing or node.ticks < 2 for node in coverage.nodes):
        return Verdict(
            Level.WARNING, f"Every file was read whole: {read}. But not all of the job's time has records; see below."
        )
    return Verdict(Level.GOOD, f"Everything was read: {read}.")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _read(quality: Quality) -> str:
    records = [counted(quality.system_rows, "record")] if quality.system_rows else []
    events = [counted(quality.events, "event")] if quality.events else []
    functions = [counted(quality.functions, "row") + " of Python profiles"] if quality.functions else []
    return f"{_listed([*records, *events, *functions])} from {counted(quality.files, 'file')}"


def statements(
    quality: Quality, coverage: Coverage, values: MetricValues, clocks: ClockOffsets
) -> tuple[Statement, ...]:
    """All that is to know, errors first."""
    found = [
        *_losses(quality),
        *without_records(coverage),
        *unlike_intervals(coverage),
        *_missing_metrics(quality, values),
        *_left_out(quality),
        *map(_out_of_range, values.out_of_range),
        *clock_differences(clocks),
        *_dropped(quality),
        *_endings(quality),
    ]
    order = list(Level)
    return tuple(sorted(found, key=lambda one: order.index(one.level)))


# --- what reading lost ---


def _losses(quality: Quality) -> Iterator[Statement]:
    if not quality.has_data:  # the verdict says it all
        return
    for kind in quality.kinds:
        mine = [loss for loss in quality.losses if loss.kind == kind.kind]
        for loss in mine[:MOST_NAMED]:
            yield _loss(kind, loss)
        rest = mine[MOST_NAMED:]
        if rest:
            lost, files = sum(one.lost_rows for one in rest), sum(one.files for one in rest)
            yield _loss(kind, NodeLoss(kind.kind, f"{len(rest)} more nodes", files, lost))


_MEANT = {
    "system": "Means, percentiles and counts rest on the other records.",
    "pythontimeline": "Steps may be missing.",
    "model_timeline": "Steps may be missing.",
}


def _loss(kind: FilesOfKind, loss: NodeLoss) -> Statement:
    whose = f" of {loss.node}" if loss.node else ""
    files = counted(loss.files, "file")
    if not loss.lost_rows:
        found = f"{files} of {kind_name(kind.kind)}{whose} could not be read"
        return Statement(Level.ERROR, found, panels_of_kind(kind.kind), "What they held is missing everywhere.")
    return Statement(
        Level.WARNING,
        f"{counted(loss.lost_rows, 'record')} of {kind_name(kind.kind)}{whose} {were(loss.lost_rows)} lost in {files}",
        panels_of_kind(kind.kind),
        _MEANT.get(kind.kind, "What they held is missing there."),
    )


def _left_out(quality: Quality) -> Iterator[Statement]:
    for kind in quality.kinds:
        if kind.left_out:
            yield Statement(
                Level.WARNING,
                f"{counted(kind.left_out, 'event')} of {kind_name(kind.kind)} had no usable time, duration or start",
                panels_of_kind(kind.kind),
                "They are left out; their place in time cannot be known.",
            )


def _dropped(quality: Quality) -> Iterator[Statement]:
    if quality.duplicates:
        yield Statement(
            Level.NOTE,
            f"{counted(quality.duplicates, 'duplicate record')} {were(quality.duplicates)} dropped",
            (),
            "Same series, time and value as another record: counting them twice would be wrong.",
        )
    copies = sum(kind.copies for kind in quality.kinds)
    if copies:
        yield Statement(
            Level.NOTE,
            f"{counted(copies, 'file')} {'repeats another one' if copies == 1 else 'repeat others'} byte for byte",
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
    what = ", ".join(METRICS[at][1] for at in metrics)
    panels = joined(METRICS[at][2] for at in metrics)
    if everywhere:
        return Statement(Level.NOTE, f"Not recorded on any node: {what}", panels, "Its panels and rows are not there.")
    return Statement(
        Level.WARNING,
        f"Not recorded on {names(nodes)}, but on other nodes: {what}",
        panels,
        "Means over all nodes are of those that have it.",
    )


def _out_of_range(odd: OutOfRange) -> Statement:
    name = next((words for key, words, _ in METRICS if key == odd.metric), odd.metric)
    many = f"{counted(odd.samples, 'value')} of {name}" if odd.samples else f"Values of {name}"
    device = f"{odd.node} {odd.device}".strip()
    others = f" and {counted(odd.series - 1, 'other device')}" if odd.series > 1 else ""
    return Statement(
        Level.WARNING,
        f"{many} {'lies' if odd.samples == 1 else 'lie'} outside 0 to 100 %, from {odd.lowest:g} to {odd.highest:g} % "
        f"({device}{others})",
        panels_of_metric(odd.metric),
        "Kept as they were measured in every number; only drawings cut them off at 0 and 100.",
        node=odd.node,
    )
