"""A document as Markdown for a pull request: headline, key figures, what to do first, cost, and where the figures end.

Names are escaped so that they are read as they are: no markup, no table cell, no link, no mention of somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from components import format as text
from components.levels import SIGNS
from components.report import conclusions as concluded
from components.report import document as doc
from components.report.parts import Absence
from components.report.words import (
    duration,
    during,
    figure,
    hours,
    milliseconds,
    parameter,
    rate,
    state,
    status,
    usd,
    when,
)

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~#$!&])")
_JOINER: Final = "\N{WORD JOINER}"
_LINKS: Final = re.compile(r"(?<=@)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=#)(?=\d)|(?<=[Gg][Hh])(?=-\d)")
MOST_ISSUES: Final = 20


def markdown(document: doc.Document) -> str:
    """The report in some screens of text, with a line break at its end."""
    parts = [
        *_headline(document),
        *_usage(document.system_usage),
        *_insights(document.insights),
        *_cost(document.cost),
        *_steps(document.steps),
        *_quality(document.data_quality),
        *_comparison(document.comparison_basis),
        f"<sub>{escaped(document.software.name)} {escaped(document.software.version)}, {when(document.made)} UTC, "
        f"data {escaped(document.job.data_version)}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def escaped(words: object) -> str:
    """Text that may come from a file, to be read as it is."""
    plain = text.plain(words, 1200)
    return _MARKUP.sub(r"\\\1", _LINKS.sub(_JOINER, plain))


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], numbers: int = 0) -> str:
    """A table whose last `numbers` columns hold numbers; the cells are escaped here."""
    marks = ["---:" if at >= len(heads) - numbers else "---" for at in range(len(heads))]
    lines = [heads, marks, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _absent(part: Absence) -> str:
    return escaped(f"{part.reason} {part.hint}".strip())


def _headline(document: doc.Document) -> Iterator[str]:
    job, summary = document.job, document.training_job_summary
    issues = "not judged" if document.insights.absent else text.counted(document.insights.issues, "issue")
    machines = job.instances or text.counted(len(job.nodes), "node")
    yield f"## Training job {escaped(job.name)}: {escaped(issues)}"
    told = [status(job.status), machines, text.counted(job.gpus, "GPU"), job.framework]
    yield escaped(" · ".join(part for part in told if part))
    percents = (summary.initialization_percent, summary.loop_percent, summary.finalization_percent)
    rows = [
        ("Duration", duration(summary.duration_s)),
        ("Initialization / loop / finalization", " / ".join(text.percent(one, 2) for one in percents)),
        ("Billed time", duration(summary.billed_s)),
        ("Cost", usd(document.cost.usd)),
        ("Step time (median, p95)", f"{milliseconds(document.steps.p50_ms)}, {milliseconds(document.steps.p95_ms)}"),
        ("Records lost", text.count(document.data_quality.lost_rows)),
    ]
    yield _table(("", "Figure"), rows, numbers=1)


def _usage(usage: doc.Usage) -> Iterator[str]:
    yield "### Utilization"
    if usage.absent:
        yield _absent(usage.absent)
        return
    rows = [
        (row.node, row.metric, *(text.number(value) for value in (row.max, row.p95, row.p50)))
        for row in usage.rows
        if row.unit == "%"
    ]
    yield _table(("Node", "Metric (%)", "Max", "p95", "p50"), rows[:60], numbers=3)
    if len(rows) > 60:
        yield f"and {text.counted(len(rows) - 60, 'row')} more"


def _insights(insights: concluded.Insights) -> Iterator[str]:
    yield "### Insights"
    if insights.absent:
        yield _absent(insights.absent)
        return
    rows = [(one.title, state(one), _waste(one)) for one in insights.findings]
    yield _table(("Rule", "Verdict", "Wasted at most"), rows, numbers=1)
    if sum(row[2] != text.NOT_APPLICABLE for row in rows) > 1:
        yield "Wastes overlap: do not add them up."
    for one in [one for one in insights.findings if one.state == "issue"][:MOST_ISSUES]:
        yield _finding(one)


def _waste(one: concluded.Finding) -> str:
    if one.wasted_usd is not None:
        return usd(one.wasted_usd)
    if one.wasted_gpu_h is not None:
        return f"{hours(one.wasted_gpu_h)} GPU-h"
    return f"{hours(one.wasted_node_h)} node-h" if one.wasted_node_h is not None else text.NOT_APPLICABLE


def _finding(one: concluded.Finding) -> str:
    lines = [f"**{escaped(one.title)}** ({escaped(one.severity)}): {escaped(one.text)}"]
    if one.confidence:
        lines.append(f"- Not sure: {escaped(one.confidence)}")
    for place in one.places:
        where = " ".join(part for part in (place.node, place.device) if part) or "whole job"
        lines.append(f"- {escaped(where)}, {escaped(during(place.window))}: {escaped(place.text)}")
    lines += [
        f"- Figure: {escaped(number.name)} {escaped(figure(number.value, number.unit))}" for number in one.figures
    ]
    if one.waste:
        lines.append(f"- Wasted: {escaped(one.waste)}")
    lines += [f"- To do: {escaped(advice)}" for advice in one.advice]
    if one.parameters:
        lines.append(f"- Judged with {escaped(', '.join(map(parameter, one.parameters)))}")
    return "\n".join(lines)


def _cost(cost: concluded.Cost) -> Iterator[str]:
    yield "### Cost"
    if cost.absent:
        yield _absent(cost.absent)
        return
    rows: list[tuple[object, ...]] = [
        (
            f"{one.instance_type}{' (warm pool)' if one.warm_pool else ''}",
            one.count,
            duration(one.billed_s),
            rate(one.usd_per_hour),
            usd(one.usd),
        )
        for one in cost.lines
    ]
    if rows:
        rows.append(("Together", "", "", "", usd(cost.usd)))
        yield _table(("Instance", "Count", "Billed", "Per hour", "Cost"), rows, numbers=4)
    said = [("GPU-hours", hours(cost.gpu_h)), ("Spot saved", text.percent(cost.spot_saving_percent))]
    lines = [f"- {name}: {escaped(words)}" for name, words in said if words != text.MISSING]
    lines += [f"- {escaped(note)}" for note in cost.notes]
    lines += [f"- Not known: {escaped(f'{one.reason} {one.hint}'.strip())}" for one in cost.unknown]
    if lines:
        yield "\n".join(lines)


def _steps(steps: doc.Steps) -> Iterator[str]:
    yield "### Steps"
    if steps.absent:
        yield _absent(steps.absent)
        return
    rows = [
        (one.phase, one.node, text.count(one.steps), milliseconds(one.p50_ms), milliseconds(one.p95_ms), one.outliers)
        for one in steps.groups[:40]
    ]
    yield _table(("Phase", "Node", "Steps", "p50", "p95", "Outliers"), rows, numbers=4)
    if len(steps.groups) > len(rows):
        yield f"and {text.counted(len(steps.groups) - len(rows), 'row')} more"


def _quality(quality: concluded.DataQuality) -> Iterator[str]:
    yield "### Data quality"
    yield f"{SIGNS.get(quality.level, SIGNS['note'])[1]}: {escaped(quality.verdict)}"
    lines = [f"- {SIGNS.get(one.level, SIGNS['note'])[1]}: {escaped(one.found)}" for one in quality.statements[:10]]
    if len(quality.statements) > len(lines):
        lines.append(f"- and {len(quality.statements) - len(lines)} more")
    if lines:
        yield "\n".join(lines)


def _comparison(basis: concluded.Comparison) -> Iterator[str]:
    yield "### Comparison basis"
    instances = ", ".join(f"{one.count} × {one.instance_type}" for one in basis.instances)
    spot = {True: "yes", False: "no"}.get(basis.spot) if basis.spot is not None else None
    rows = [
        ("Instances", instances or text.MISSING),
        ("Spot", spot or text.MISSING),
        ("Sampling interval", ", ".join(map(milliseconds, basis.sampling_intervals_ms)) or text.MISSING),
        ("Framework", basis.framework or text.MISSING),
        ("Processes with steps", basis.step_processes),
        *((one.name, one.value) for one in basis.hyperparameters),
    ]
    yield _table(("", "This job"), rows)
