"""A report without names: hosts become node-1, files file-1, the job job; paths, addresses and account numbers go.

Names are replaced in the frames, before anything is concluded or drawn from them. In texts from files, and in sentences
that hold names, they are searched for. A host whose name is a bare number or one letter tells nothing; it may stay in
sentences.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar

import pandas as pd

from data.frames import Heatmap, OverTime, Peak, Step, StepHistogram, StepTimeline
from data.frames.findings import Finding, Findings
from data.frames.operators import FrameworkShares, TimeShare
from data.frames.quality import ClockOffsets, Coverage, MetricValues, ProblemPage, Quality
from data.frames.report import Absent
from data.insights.report import Report

F = TypeVar("F", bound=pd.DataFrame)
Rows = tuple[tuple[str | float | None, ...], ...]

_PATTERNS = (
    (re.compile(r"\barn:\S+"), "(address)"),
    (re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://\S+"), "(address)"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "(address)"),
    (re.compile(r"(?<!\w)~?/(?:[\w.@%+~-]+/)+[\w.@%+~-]*"), "(path)"),
    (re.compile(r"\b[A-Za-z]:\\\S+"), "(path)"),
    (re.compile(r"(?<!\d)\d{12}(?!\d)"), "(account)"),
    (re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"), "(address)"),
)


class Names:
    """What names become, the same everywhere in a report."""

    def __init__(self, report: Report) -> None:
        self._nodes: dict[str, str] = {}
        self._files: dict[str, str] = {}
        header = report.header
        events = (one.node for one in report.coverage.events)
        for node in (*header.nodes, *(one.node for one in report.coverage.nodes), *events):
            self.node(node)
        told = {node for node in self._nodes if len(node) > 1 and not node.isdigit()}
        self._told = _any_of(told, r"(?<![\w-])(?:{})(?![\w-])")
        private = {header.name, header.job_id, header.source, *header.source.replace("\\", "/").split("/")[-1:]}
        self._foreign = _any_of({name for name in private if len(name) > 2} | told, r"(?:{})(?!\d)")

    def node(self, name: str) -> str:
        """What a node becomes."""
        if not name:
            return ""
        return self._nodes.setdefault(name, f"node-{len(self._nodes) + 1}")

    def known(self, words: str) -> str:
        """What a text becomes that is the name of a node; "" for any other."""
        return self._nodes.get(words, "")

    def file(self, name: str) -> str:
        """What a file becomes."""
        return self._files.setdefault(name, f"file-{len(self._files) + 1}") if name not in ("", "~") else name

    def said(self, words: str) -> str:
        """A sentence of ours, which may name nodes."""
        return self._told.sub(lambda found: self.node(found[0]), words)

    def foreign(self, words: str) -> str:
        """A text from a file, which may hold anything."""
        for file in sorted(self._files, key=len, reverse=True):
            last = file.rsplit("/", 1)[-1]
            words = words.replace(file, self._files[file])
            words = words.replace(last, self._files[file]) if len(last) > 3 else words
        for pattern, word in _PATTERNS:
            words = pattern.sub(word, words)
        return self._foreign.sub(lambda found: self._nodes.get(found[0], "job"), words)


def _any_of(names: set[str], frame: str) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(frame.format("|".join(map(re.escape, longest_first)) or r"(?!)"))


def anonymous(report: Report) -> Report:
    """The same report without names."""
    names = Names(report)
    header = report.header
    return replace(
        report,
        header=replace(
            header,
            name="job",
            job_id="job",
            source="",
            status_detail=names.foreign(header.status_detail),
            nodes=tuple(map(names.node, header.nodes)),
            phases=tuple(map(names.foreign, header.phases)),
        ),
        basis=replace(
            report.basis,
            node_gpus=tuple((names.node(node), gpus, cpus) for node, gpus, cpus in report.basis.node_gpus),
        ),
        usage=_nodes_of(report.usage, names),
        operators=_told(report.operators, names),
        shares=report.shares if isinstance(report.shares, Absent) else _shares(report.shares, names),
        functions=_functions(report, names),
        findings=report.findings if isinstance(report.findings, Absent) else _findings(report.findings, names),
        step_histogram=_histogram(report.step_histogram, names),
        step_timeline=_timeline(report.step_timeline, names),
        heatmap=_heatmap(report.heatmap, names),
        gpu_memory=_memory(report.gpu_memory, names),
        quality=_quality(report.quality, names),
        coverage=_coverage(report.coverage, names),
        values=_values(report.values, names),
        clocks=_clocks(report.clocks, names),
        problems=_problems(report.problems, names),
        anonymous=True,
    )


def _problems(page: ProblemPage, names: Names) -> ProblemPage:
    files = [names.file(str(file)) for file in page.rows["file"]]
    messages = [names.foreign(str(words)) for words in page.rows["message"]]
    return replace(page, rows=page.rows.assign(file=files, message=messages))


def _nodes_of(frame: F | Absent, names: Names) -> F | Absent:
    return frame if isinstance(frame, Absent) else frame.assign(node=[names.node(str(one)) for one in frame["node"]])


def _told(frame: F | Absent, names: Names) -> F | Absent:
    if isinstance(frame, Absent):
        return frame
    nodes = pd.Series([tuple(map(names.node, one)) for one in frame["nodes"]], index=frame.index, dtype=object)
    return frame.assign(name=[names.foreign(str(one)) for one in frame["name"]], nodes=nodes)


def _shares(found: FrameworkShares, names: Names) -> FrameworkShares:
    def told(many: tuple[TimeShare, ...]) -> tuple[TimeShare, ...]:
        return tuple(replace(one, name=names.foreign(one.name)) for one in many)

    return replace(
        found,
        sides=told(found.sides),
        general=told(found.general),
        passes=told(found.passes),
        communication=told(found.communication),
        steps=told(found.steps),
    )


def _functions(report: Report, names: Names) -> Any:
    found = report.functions
    if isinstance(found, Absent):
        return found
    files = [names.file(str(one)) for one in found.rows["code_file"]]
    told = [names.foreign(str(one)) for one in found.rows["function"]]
    return replace(found, rows=found.rows.assign(code_file=files, function=told))


def _findings(found: Findings, names: Names) -> Findings:
    return replace(found, findings=tuple(_finding(one, names) for one in found.findings))


def _finding(one: Finding, names: Names) -> Finding:
    outcome = one.outcome
    places = tuple(
        replace(place, node=names.node(place.node), device=names.foreign(place.device), text=names.foreign(place.text))
        for place in outcome.places
    )
    return replace(
        one,
        title=names.foreign(one.title) if one.origin == "custom" else one.title,
        claim=names.foreign(one.claim) if one.origin == "custom" else one.claim,
        advice=tuple(map(names.said, one.advice)),
        outcome=replace(
            outcome,
            text=names.said(outcome.text),
            confidence=names.said(outcome.confidence),
            advice=tuple(map(names.said, outcome.advice)),
            places=places,
            tables=tuple(replace(table, rows=_cells(table.rows, names)) for table in outcome.tables),
        ),
    )


def _cells(rows: Rows, names: Names) -> Rows:
    return tuple(
        tuple((names.known(cell) or names.foreign(cell)) if isinstance(cell, str) else cell for cell in row)
        for row in rows
    )


def _step(step: Step, names: Names) -> Step:
    return replace(step, node=names.node(step.node), worker="", phase=names.foreign(step.phase))


def _histogram(frame: StepHistogram | Absent, names: Names) -> StepHistogram | Absent:
    if isinstance(frame, Absent):
        return frame
    groups = tuple(
        replace(group, node=names.node(group.node), phase=names.foreign(group.phase)) for group in frame.groups
    )
    return replace(frame, groups=groups, outliers=tuple(_step(step, names) for step in frame.outliers))


def _timeline(frame: StepTimeline | Absent, names: Names) -> StepTimeline | Absent:
    if isinstance(frame, Absent):
        return frame
    groups = tuple((names.foreign(phase), names.node(node)) for phase, node in frame.groups)
    return replace(frame, groups=groups, outliers=tuple(_step(step, names) for step in frame.outliers))


def _peak(peak: Peak | None, names: Names) -> Peak | None:
    return None if peak is None else replace(peak, node=names.node(peak.node))


def _heatmap(frame: Heatmap | Absent, names: Names) -> Heatmap | Absent:
    if isinstance(frame, Absent):
        return frame
    return replace(
        frame,
        rows=tuple(replace(row, node=names.node(row.node)) for row in frame.rows),
        node_gpu_mean={names.node(node): mean for node, mean in frame.node_gpu_mean.items()},
        node_cpu_mean={names.node(node): mean for node, mean in frame.node_cpu_mean.items()},
        peak=_peak(frame.peak, names),
    )


def _memory(frame: OverTime | Absent, names: Names) -> OverTime | Absent:
    if isinstance(frame, Absent):
        return frame
    groups = tuple((names.node(node), device) for node, device in frame.groups)
    return replace(frame, groups=groups, peak=_peak(frame.peak, names))


def _quality(found: Quality, names: Names) -> Quality:
    losses = tuple(replace(loss, node=names.node(loss.node)) for loss in found.losses)
    return replace(found, nodes=tuple(map(names.node, found.nodes)), losses=losses)


def _coverage(found: Coverage, names: Names) -> Coverage:
    return replace(
        found,
        nodes=tuple(replace(one, node=names.node(one.node)) for one in found.nodes),
        events=tuple(replace(one, node=names.node(one.node)) for one in found.events),
    )


def _values(found: MetricValues, names: Names) -> MetricValues:
    return replace(
        found,
        measured=tuple(replace(one, node=names.node(one.node)) for one in found.measured),
        out_of_range=tuple(replace(one, node=names.node(one.node)) for one in found.out_of_range),
    )


def _clocks(found: ClockOffsets, names: Names) -> ClockOffsets:
    nodes = tuple(replace(one, node=names.node(one.node)) for one in found.nodes)
    return replace(found, reference=names.node(found.reference), nodes=nodes)
