"""A report's frames to its document: job, times, utilization, steps and memory. Nothing is rounded here."""

from __future__ import annotations

from typing import Any

import numpy as np

from components import format as text
from components.report import document as doc
from components.report.compose_framework import framework, functions, operators
from components.report.compose_judgement import comparison, cost, insights, quality
from components.report.values import Calendar, absence, maybe_seconds, milliseconds, name, number, seconds, wall
from data.frames import Heatmap, OverTime, StepHistogram
from data.frames.report import Absent
from data.insights.report import Report
from data.insights.usage import usage_sentences

PRODUCT = "Debugger Insights"


def compose(report: Report) -> doc.Document:
    """All figures of a report."""
    calendar = calendar_of(report)
    return doc.Document(
        schema=doc.SCHEMA,
        version=doc.VERSION,
        made=wall(report.made_ns),
        software=doc.Software(PRODUCT, report.software),
        anonymous=report.anonymous,
        job=_job(report, calendar),
        training_job_summary=_summary(report, calendar),
        system_usage=_usage(report),
        framework=framework(report),
        operators=operators(report),
        python_functions=functions(report),
        insights=insights(report, calendar),
        cost=cost(report),
        steps=_steps(report.step_histogram, calendar),
        utilization=_utilization(report.heatmap, report),
        gpu_memory=_memory(report.gpu_memory, calendar),
        data_quality=quality(report, calendar),
        comparison_basis=comparison(report),
    )


def calendar_of(report: Report) -> Calendar:
    """How the times of a report are written."""
    return Calendar(None if report.header.wall_clock else report.header.start_ns)


def _job(report: Report, calendar: Calendar) -> doc.Job:
    header = report.header
    return doc.Job(
        name=name(header.name),
        id=header.job_id,
        source=name(header.source),
        status=header.status,
        status_detail=name(header.status_detail),
        framework=name(header.framework),
        instances=name(header.instances),
        nodes=[name(node) for node in header.nodes],
        gpus=header.gpus,
        cpus=header.cpus,
        start=calendar.moment(header.start_ns),
        end=calendar.moment(header.end_ns),
        wall_clock=header.wall_clock,
        sampling_intervals_ms=[one / 1e6 for one in header.intervals_ns],
        data_version=header.version,
    )


def _summary(report: Report, calendar: Calendar) -> doc.Summary:
    times = report.times
    why = Absent(times.steps_reason) if times.steps_reason else None
    return doc.Summary(
        absent=absence(why),
        start=calendar.moment(times.start_ns),
        end=calendar.moment(times.end_ns),
        duration_s=seconds(times.duration_ns),
        loop_start=calendar.maybe(times.loop_start_ns),
        loop_end=calendar.maybe(times.loop_end_ns),
        loop_s=maybe_seconds(times.loop_duration_ns),
        initialization_s=maybe_seconds(times.initialization_ns),
        finalization_s=maybe_seconds(times.finalization_ns),
        initialization_percent=number(times.initialization_percent),
        loop_percent=number(times.loop_percent),
        finalization_percent=number(times.finalization_percent),
        first_step=times.first_step,
        billed_s=number(times.billed_s),
        training_s=number(times.training_s),
        interruptions=[calendar.span(gap) for gap in times.spot_gaps],
    )


def _usage(report: Report) -> doc.Usage:
    usage = report.usage
    if isinstance(usage, Absent):
        return doc.Usage(absence(usage), [], [])
    rows: list[Any] = list(usage.itertuples())
    sentences = usage_sentences(usage)
    return doc.Usage(
        absent=None,
        rows=[
            doc.UsageRow(
                node=name(row.node),
                metric=str(row.metric),
                unit=str(row.unit),
                max=number(row.max),
                p99=number(row.p99),
                p95=number(row.p95),
                p50=number(row.p50),
                min=number(row.min),
                ticks=int(row.ticks),
            )
            for row in rows
        ],
        sentences=[doc.UsageVerdict(name(one.node), str(one.verdict), one.text) for one in sentences],
    )


def _steps(frame: StepHistogram | Absent, calendar: Calendar) -> doc.Steps:
    if isinstance(frame, Absent):
        return doc.Steps(absence(frame), 0, None, None, None, 0, [], [], [])
    return doc.Steps(
        absent=None,
        steps=frame.steps,
        p50_ms=milliseconds(frame.p50_ns),
        p95_ms=milliseconds(frame.p95_ns),
        p99_ms=milliseconds(frame.p99_ns),
        outliers=frame.outlier_count,
        edges_ms=[float(edge) / 1e6 for edge in frame.edges_ns],
        groups=[
            doc.StepGroup(
                phase=name(group.phase),
                node=name(group.node),
                steps=group.steps,
                mean_ms=group.mean_ns / 1e6,
                p50_ms=group.p50_ns / 1e6,
                p95_ms=group.p95_ns / 1e6,
                p99_ms=group.p99_ns / 1e6,
                outliers=group.outliers,
                counts=[int(count) for count in group.counts],
            )
            for group in frame.groups
        ],
        longest=[
            doc.Step(
                node=name(step.node),
                phase=name(step.phase),
                step=step.step if step.step >= 0 else None,
                start=calendar.moment(step.start_ns),
                duration_ms=step.duration_ns / 1e6,
            )
            for step in frame.outliers
        ],
    )


def _utilization(frame: Heatmap | Absent, report: Report) -> doc.Utilization:
    if isinstance(frame, Absent):
        return doc.Utilization(absence(frame), [], 0)
    nodes = list(dict.fromkeys(row.node for row in frame.rows))
    return doc.Utilization(
        absent=None,
        nodes=[
            doc.NodeUse(name(node), number(frame.node_gpu_mean.get(node)), number(frame.node_cpu_mean.get(node)))
            for node in nodes
        ],
        nodes_left_out=max(len(report.header.nodes) - len(nodes), 0),
    )


def _memory(frame: OverTime | Absent, calendar: Calendar) -> doc.GpuMemory:
    if isinstance(frame, Absent):
        return doc.GpuMemory(absence(frame), None, [])
    highest = [float(np.nanmax(row)) if np.isfinite(row).any() else None for row in frame.maximum]
    peak = frame.peak
    return doc.GpuMemory(
        absent=None,
        peak=None
        if peak is None
        else doc.MemoryPeak(name(peak.node), text.plain(peak.device, 60), calendar.moment(peak.time_ns), peak.value),
        devices=[
            doc.DeviceMemory(name(node), text.plain(device, 60), value)
            for (node, device), value in zip(frame.groups, highest, strict=True)
        ],
    )
