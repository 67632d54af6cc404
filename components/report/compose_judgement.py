"""What is concluded of a job, as a report has it: insights, cost, data quality, and the basis of comparisons."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

from components.file_tables import kind_words
from components.format import is_missing
from components.insights import Price, waste_sentence
from components.report import conclusions as doc
from components.report.parts import Absence
from components.report.values import Calendar, absence, name, number, seconds, sentence
from data.frames.findings import FigureTable, Finding, Findings, Number, Parameter
from data.frames.quality import NodeCoverage
from data.frames.report import Absent
from data.insights.cost import Cost
from data.insights.quality import statements, verdict
from data.insights.report import Report
from data.insights.statement import Statement

MOST_TABLE_ROWS: Final = 60
"""Rows of a table of a finding; how many more there are is said."""
_HOUR_S: Final = 3600


def insights(report: Report, calendar: Calendar) -> doc.Insights:
    """What the rules concluded."""
    found = report.findings
    if isinstance(found, Absent):
        return doc.Insights(absence(found), "", 0, None, None, [])
    return concluded(found, calendar, report.cost)


def concluded(found: Findings, calendar: Calendar, cost: Cost | Absent) -> doc.Insights:
    """The same of findings alone."""
    return doc.Insights(
        absent=None,
        mode=found.mode,
        issues=len(found.issues),
        gpu_h=_hours(found.gpu_s),
        node_h=_hours(found.node_s),
        findings=[_finding(one, calendar, cost) for one in found.findings],
    )


def _finding(one: Finding, calendar: Calendar, cost: Cost | Absent) -> doc.Finding:
    outcome = one.outcome
    return doc.Finding(
        rule=name(one.rule),
        title=name(one.title),
        claim=sentence(one.claim),
        origin=one.origin,
        state=outcome.state,
        severity=one.severity,
        text=sentence(outcome.text),
        confidence=sentence(outcome.confidence),
        points=outcome.points,
        points_are=name(outcome.points_are),
        triggered=outcome.triggered,
        violations=outcome.violations,
        places=[
            doc.Place(
                name(place.node),
                name(place.device),
                None if place.window is None else calendar.span(place.window),
                place.metric,
                sentence(place.text),
            )
            for place in outcome.places
        ],
        figures=[doc.Figure(name(figure.name), number(figure.value), name(figure.unit)) for figure in outcome.figures],
        tables=[_table(table) for table in outcome.tables],
        advice=[sentence(advice) for advice in one.advice],
        parameters=[_parameter(one) for one in one.parameters],
        waste=waste_sentence(one, _price(cost)) if outcome.state == "issue" else "",
        wasted_gpu_h=_hours(outcome.wasted_gpu_s),
        wasted_node_h=_hours(outcome.wasted_node_s),
        wasted_percent=None if one.share is None else 100 * one.share,
        saved_s=number(outcome.saved_s),
        wasted_usd=_wasted_usd(one, cost),
    )


def _table(table: FigureTable) -> doc.Table:
    return doc.Table(
        name=name(table.name),
        columns=[name(column) for column in table.columns],
        rows=[
            [name(cell) if isinstance(cell, str) else number(cell) for cell in row]
            for row in table.rows[:MOST_TABLE_ROWS]
        ],
        more=max(len(table.rows) - MOST_TABLE_ROWS, 0),
    )


def _price(cost: Cost | Absent) -> Price:
    return Price() if isinstance(cost, Absent) else Price(cost.usd_per_gpu_hour, cost.usd_per_node_hour)


def _wasted_usd(one: Finding, cost: Cost | Absent) -> float | None:
    """What the wasted hours cost; None where no price is known, or where the rule cannot tell hours."""
    if isinstance(cost, Absent):
        return None
    outcome = one.outcome
    hourly, wasted_s = cost.usd_per_gpu_hour, outcome.wasted_gpu_s
    if wasted_s is None:
        hourly, wasted_s = cost.usd_per_node_hour, outcome.wasted_node_s
    return None if hourly is None or wasted_s is None else float(hourly * Decimal(wasted_s) / _HOUR_S)


def _parameter(one: Parameter) -> doc.Parameter:
    return doc.Parameter(name(one.name), _finite(one.value), _finite(one.default), name(one.unit), sentence(one.means))


def _finite(value: Number) -> Number:
    """A parameter's value; JSON has no number for infinity."""
    return name(value) if isinstance(value, str) or not math.isfinite(value) else value


def _hours(value_s: float | None) -> float | None:
    known = number(value_s)
    return None if known is None else known / _HOUR_S


def cost(report: Report) -> doc.Cost:
    """What the job cost, or what keeps that from being known."""
    found = report.cost
    if isinstance(found, Absent):
        return doc.Cost(absence(found), None, None, None, None, None, None, "", [], [], [])
    return doc.Cost(
        absent=None,
        usd=_plain(found.total_usd),
        spot_saving_percent=_plain(found.spot_saving_percent),
        usd_per_gpu_hour=_plain(found.usd_per_gpu_hour),
        usd_per_node_hour=_plain(found.usd_per_node_hour),
        gpus=found.gpus,
        gpu_h=_plain(found.gpu_hours),
        gpu_h_from=found.gpu_hours_from,
        lines=[
            doc.CostLine(
                instance_type=name(line.group.instance_type),
                count=line.group.count,
                warm_pool=line.warm_pool,
                billed_s=_plain(line.seconds),
                usd_per_hour=_plain(line.price.usd_per_hour) if line.price else None,
                price_region=name(line.price.region) if line.price else "",
                price_as_of=name(line.price.as_of) if line.price else "",
                price_source=name(line.price.source) if line.price else "",
                usd=_plain(line.usd),
            )
            for line in found.lines
        ],
        notes=[sentence(note) for note in found.notes],
        unknown=[Absence(sentence(one.reason), sentence(one.hint)) for one in found.unknown],
    )


def _plain(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def quality(report: Report, calendar: Calendar) -> doc.DataQuality:
    """What was read and lost, and what that touches."""
    found = report.quality
    said = verdict(found, report.coverage)
    every = statements(found, report.coverage, report.values, report.clocks)
    rows: list[Any] = list(report.problems.rows.itertuples(index=False))
    return doc.DataQuality(
        level=str(said.level),
        verdict=said.text,
        advice=said.advice,
        files=found.files,
        raw_bytes=found.raw_bytes,
        stored_bytes=found.stored_bytes,
        system_rows=found.system_rows,
        events=found.events,
        steps=found.steps,
        lost_rows=found.lost_rows,
        duplicates=found.duplicates,
        ended=found.ended,
        statements=[_statement(one, calendar) for one in every],
        nodes=[_records(one, calendar) for one in report.coverage.nodes],
        kinds=[
            doc.Files(
                name(kind_words(kind.kind)),
                kind.files,
                kind.size_bytes,
                kind.rows,
                kind.lost_rows,
                kind.left_out,
                kind.copies,
                kind.problems,
            )
            for kind in found.kinds
        ],
        problems=report.problems.total,
        listed_problems=[_problem(row) for row in rows],
        more_problems=report.problems.total - len(rows),
    )


def _statement(one: Statement, calendar: Calendar) -> doc.Statement:
    return doc.Statement(
        level=str(one.level),
        found=sentence(one.found),
        means=sentence(one.means),
        touches=[f"{page}: {', '.join(titles)}" for page, titles in one.touches],
        window=None if one.window is None else calendar.span(one.window),
    )


def _records(node: NodeCoverage, calendar: Calendar) -> doc.NodeRecords:
    apart = node.ticks > 1
    return doc.NodeRecords(
        node=name(node.node),
        first=calendar.moment(node.start_ns),
        last=calendar.moment(node.end_ns),
        ticks=node.ticks,
        interval_ms=node.nominal_ns / 1e6,
        median_ms=node.median_ns / 1e6 if apart else None,
        longest_s=seconds(node.longest_ns) if apart else None,
        missing_s=seconds(node.missing_ns),
        missing=node.missing,
        covered_percent=number(node.covered_percent),
    )


def _problem(row: Any) -> doc.Problem:
    return doc.Problem(
        severity=str(row.severity),
        file=name(row.file),
        line=None if is_missing(row.line) else int(row.line),
        message=sentence(row.message),
        lost_rows=0 if is_missing(row.lost_rows) else int(row.lost_rows),
    )


def comparison(report: Report) -> doc.Comparison:
    """What has to be alike before figures are compared."""
    basis = report.basis
    return doc.Comparison(
        instances=[doc.Instances(name(kind), count) for kind, count in basis.groups],
        spot=basis.spot,
        nodes=[doc.NodeDevices(name(node), gpus, cpus) for node, gpus, cpus in basis.node_gpus],
        sampling_intervals_ms=[one / 1e6 for one in report.header.intervals_ns],
        framework=name(report.header.framework),
        step_phases=[name(phase) for phase in report.header.phases],
        step_processes=basis.workers,
        hyperparameters=[doc.Hyperparameter(name(key), name(value)) for key, value in basis.hyperparameters],
    )
