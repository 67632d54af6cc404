"""Tables of the data quality tab: key figures, statements, files by kind, nodes, clocks, problems and files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import dash_ag_grid as dag
from dash import dcc, html
from dash.development.base_component import Component

from components import format as text
from components.cards import Kpi, kpi_strip
from components.grid import HEADER_PX, RIGHT, ROW_PX, asking_grid, column, csv_text, filled_grid
from components.markup import attributes
from data.frames.quality import (
    FILE_ROWS_COLUMNS,
    PROBLEM_ROWS_COLUMNS,
    ClockOffset,
    ClockOffsets,
    Coverage,
    FileRows,
    FilesOfKind,
    NodeCoverage,
    ProblemRows,
    Quality,
)
from data.insights.coverage import MIN_SHARED_STEPS, steady
from data.insights.quality import Verdict
from data.insights.statement import Panels, Statement, kind_name

SIGNS: Final = {
    "error": ("▲", "Error"),
    "warning": ("◆", "Warning"),
    "note": ("○", "Note"),
    "good": ("✓", "All read"),
}
"""A sign of its own shape and a word for every level: colour comes on top."""
TALLEST: Final = 10
MOST_SHOWN: Final = 14
LONGEST_PATH: Final = 500


def _sign(level: str) -> html.Span:
    shape, word = SIGNS.get(level, SIGNS["note"])
    return html.Span(
        [html.I(shape, **attributes(aria_hidden="true")), html.Span(word, className="visually-hidden")],
        className=f"level {level}",
        title=word,
    )


def verdict_line(verdict: Verdict) -> html.Div:
    """The answer in a sentence or two."""
    advice = [html.P(text.plain(verdict.advice, 600), className="verdict-advice")] if verdict.advice else []
    sentence = html.P(text.plain(verdict.text, 600), className="verdict-text")
    return html.Div([_sign(verdict.level), html.Div([sentence, *advice])], className=f"verdict {verdict.level}")


def figures_strip(quality: Quality, coverage: Coverage) -> html.Div:
    """What was read and lost, over the whole job."""
    damaged = sum(kind.damaged for kind in quality.kinds)
    copies = sum(kind.copies for kind in quality.kinds)
    left_out = sum(kind.left_out for kind in quality.kinds)
    ratio = quality.raw_bytes / quality.stored_bytes if quality.stored_bytes else 0
    events = f"{text.counted(quality.events, 'event')}, {text.counted(quality.steps, 'step')}"
    return kpi_strip(
        [
            Kpi("Files read", text.count(quality.files), note=text.byte_size(quality.raw_bytes)),
            Kpi("Records read", text.count(quality.system_rows), note=events),
            Kpi(
                "Records lost",
                text.count(quality.lost_rows),
                note=f"in {text.counted(damaged, 'file')}" if damaged else "nothing was lost",
            ),
            Kpi("Events left out", text.count(left_out), note="no usable time or duration" if left_out else "none"),
            Kpi(
                "Duplicates dropped",
                text.count(quality.duplicates),
                note=f"{text.counted(copies, 'copy', 'copies')} of files left out" if copies else "no copies of files",
            ),
            _time_covered(coverage),
            Kpi(
                "In the store",
                text.byte_size(quality.stored_bytes),
                note=f"{text.number(ratio)} times smaller"
                if ratio >= 1
                else f"{text.number(ratio, 2)} of the size read",
            ),
        ]
    )


def _time_covered(coverage: Coverage) -> Kpi:
    known = [node for node in coverage.nodes if not math.isnan(node.covered_percent)]
    if not known:
        return Kpi("Time covered", text.MISSING, note="no system metrics")
    least = min(known, key=lambda node: node.covered_percent)
    whose = f"lowest node, {text.plain(least.node, 40)}"
    if least.covered_percent == 100:
        whose = "all nodes" if len(known) == len(coverage.nodes) else f"{len(known)} of {len(coverage.nodes)} nodes"
    return Kpi("Time covered", text.number(_share_shown(least.covered_percent)), "%", whose)


def _share_shown(percent: float) -> float:
    """Rounded to a tenth, but never to a whole that it is not."""
    return min(percent, 99.9) if percent < 100 else percent


def kinds_table(kinds: Sequence[FilesOfKind]) -> html.Div:
    """Files read by kind."""
    heads = ("Kind of file", "Files", "Size", "Records", "Lost", "Left out", "Copies", "Problems")
    head = html.Tr([html.Th(name, scope="col", className="n" if at else "") for at, name in enumerate(heads)])
    rows = [_kind_row(kind) for kind in kinds]
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="data")
    return html.Div(
        table, className="table-scroll", tabIndex=0, role="region", **attributes(aria_label="Files by kind")
    )


def _kind_row(kind: FilesOfKind) -> html.Tr:
    has_rows = kind.kind not in _WITHOUT_RECORDS
    counts = [kind.lost_rows, kind.left_out, kind.copies, kind.problems]
    cells = [
        text.count(kind.files),
        text.byte_size(kind.size_bytes),
        text.count(kind.rows) if has_rows else text.NOT_APPLICABLE,
        *(text.count(value) if value else text.NOT_APPLICABLE for value in counts),
    ]
    return html.Tr(
        [html.Th(text.plain(_kind_words(kind.kind)), scope="row"), *(html.Td(c, className="n") for c in cells)]
    )


_WITHOUT_RECORDS = ("system_end", "framework_end", "training_job", "tensorflow_metadata")
_KIND_WORDS = {"system_end": "end mark of the metrics", "framework_end": "end mark of the events"}


def _kind_words(kind: str) -> str:
    return _KIND_WORDS.get(kind) or kind_name(kind)


# --- statements ---


def statement_table(statements: Sequence[Statement], href: Callable[[Statement], str]) -> html.Div:
    """What to know before a number is trusted: what was found, what it touches, what it means."""
    heads: list[str | Component] = [
        html.Span("Weight", className="visually-hidden"),
        "What was found",
        "Touches",
        "What it means",
        html.Span("Where", className="visually-hidden"),
    ]
    head = html.Tr([html.Th(name, scope="col") for name in heads])
    rows = [_statement_row(one, href) for one in statements]
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="data statements")
    return html.Div(
        table,
        className="table-scroll",
        tabIndex=0,
        role="region",
        **attributes(aria_label="What to know before trusting"),
    )


def _statement_row(one: Statement, href: Callable[[Statement], str]) -> html.Tr:
    link: list[Component] = []
    if one.window is not None:
        link.append(dcc.Link("Show in Nodes →", href=href(one)))
    return html.Tr(
        [
            html.Td(_sign(one.level)),
            html.Th(text.plain(one.found, 400), scope="row"),
            html.Td(_touched(one.touches)),
            html.Td(text.plain(one.means, 400)),
            html.Td(link, className="n"),
        ]
    )


def _touched(panels: Panels) -> str:
    return "; ".join(f"{page}: {', '.join(titles)}" for page, titles in panels) or "no panel"


# --- nodes and clocks ---


def node_grid(grid_id: str, coverage: Coverage, offset_minutes: int, origin_ns: int | None = None) -> dag.AgGrid:
    """Every node: how much of the time it covers, when it begins and ends, and how far its records lie apart.

    With an origin, nobody knows when the job was: its events are placed by what has passed since then.
    """

    def moment(time_ns: int) -> str:
        return text.clock(time_ns, offset_minutes) if origin_ns is None else text.elapsed(time_ns - origin_ns)

    def words(key: str) -> dict[str, Any]:
        return {"cellRendererParams": {"text": f"{key}_text"}, **RIGHT}

    columns = [
        column("node", "Node", 140, "CellText", flex=1, minWidth=110, pinned="left", sortable=False),
        column("covered", "Covered", 86, "CellText", **words("covered")),
        column("missing", "No record", 92, "CellText", **words("missing")),
        column("stretches", "Stretches", 88, "CellText", **RIGHT),
        column("first", "First record", 186, "CellText", **words("first")),
        column("last", "Last record", 186, "CellText", **words("last")),
        column("nominal", "Nominal", 84, "CellText", **words("nominal")),
        column("median", "Median", 84, "CellText", **words("median")),
        column("p95", "p95", 84, "CellText", **words("p95")),
        column("longest", "Longest", 88, "CellText", **words("longest")),
    ]
    if coverage.events:
        seen = {"cellRendererParams": {"text": "events_text", "none": text.NOT_APPLICABLE}, "sortable": False}
        columns.append(column("events", "Framework events", 210, "CellText", **seen))
    extents = {one.node: one for one in coverage.events}
    rows = [_node_row(node, offset_minutes) for node in coverage.nodes]
    rows += [
        {"node": text.plain(name), "node_text": text.plain(name)}
        for name in extents
        if name not in {node.node for node in coverage.nodes}
    ]
    names = [*(node.node for node in coverage.nodes), *extents]
    for row, name in zip(rows, dict.fromkeys(names), strict=True):
        extent = extents.get(name)
        row["events_text"] = (
            None
            if extent is None
            else f"{moment(extent.start_ns)} – {moment(extent.end_ns)} · {text.count(extent.events)}"
        )
    return filled_grid(grid_id, columns, rows, tallest=TALLEST)


def _node_row(node: NodeCoverage, offset_minutes: int) -> dict[str, Any]:
    apart = node.ticks > 1
    covered = None if math.isnan(node.covered_percent) else node.covered_percent
    return {
        "node": text.plain(node.node),
        "node_text": text.plain(node.node),
        "covered": covered,
        "covered_text": None if covered is None else text.percent(_share_shown(covered)),
        "missing": node.missing_ns,
        "missing_text": text.duration(node.missing_ns) if node.missing else text.NOT_APPLICABLE,
        "stretches": node.missing,
        "first": node.start_ns / 1e6,
        "first_text": text.timestamp(node.start_ns, offset_minutes),
        "last": node.end_ns / 1e6,
        "last_text": text.timestamp(node.end_ns, offset_minutes),
        "nominal": node.nominal_ns,
        "nominal_text": text.duration(node.nominal_ns),
        "median": node.median_ns if apart else None,
        "median_text": text.duration(node.median_ns) if apart else None,
        "p95": node.p95_ns if apart else None,
        "p95_text": text.duration(node.p95_ns) if apart else None,
        "longest": node.longest_ns if apart else None,
        "longest_text": text.duration(node.longest_ns) if apart else None,
    }


def interval_words(coverage: Coverage) -> str:
    """Whether the nodes were sampled alike, in a sentence."""
    nominal = sorted({node.nominal_ns for node in coverage.nodes})
    if len(nominal) > 1:
        return f"Nodes were sampled at unlike intervals: {', '.join(map(text.duration, nominal))}."
    if not nominal:
        return ""
    return f"All nodes were sampled every {text.duration(nominal[0])}: the nearest interval that the profiler offers."


def clock_grid(grid_id: str, clocks: ClockOffsets) -> dag.AgGrid:
    """How much later than the first node each node starts the steps that both take."""

    def words(key: str) -> dict[str, Any]:
        return {"cellRendererParams": {"text": f"{key}_text"}, **RIGHT}

    columns = [
        column("node", "Node", 220, "CellText", pinned="left", sortable=False),
        column("median", "Median", 100, "CellText", **words("median")),
        column("p5", "p5", 90, "CellText", **words("p5")),
        column("p95", "p95", 90, "CellText", **words("p95")),
        column("steps", "Shared steps", 104, **RIGHT),
        column(
            "said",
            "What can be told",
            240,
            "CellText",
            flex=2,
            minWidth=180,
            cellRendererParams={"text": "said"},
            sortable=False,
        ),
    ]
    return filled_grid(grid_id, columns, [_clock_row(one) for one in clocks.nodes], tallest=TALLEST)


def _clock_row(one: ClockOffset) -> dict[str, Any]:
    enough = one.steps >= MIN_SHARED_STEPS
    row: dict[str, Any] = {"node": text.plain(one.node), "steps": one.steps, "said": _clock_words(one)}
    for key, value in (("median", one.median_ns), ("p5", one.p5_ns), ("p95", one.p95_ns)):
        row[key] = value if enough else None
        row[f"{key}_text"] = _signed(value) if enough else None
    return row


def _signed(value_ns: float) -> str:
    return text.duration(value_ns) if value_ns < 0 else f"+{text.duration(value_ns)}"


def _clock_words(one: ClockOffset) -> str:
    if one.steps < MIN_SHARED_STEPS:
        return "cannot be told"
    if not steady(one):
        return "no steady difference"
    return "always later" if one.median_ns > 0 else "always earlier"


# --- problems and files ---


def problem_grid(grid_id: str) -> dag.AgGrid:
    """The empty table of problems; it asks for its rows block by block."""
    columns = [
        column("severity", "Severity", 104, "QualityLevel"),
        column("file", "File", 300, "QualityPath", flex=3, minWidth=220, cellRendererParams={"text": "file"}),
        column("line", "Line", 80, "CellText", cellRendererParams={"text": "line", "none": "–"}, **RIGHT),
        column(
            "message",
            "What is wrong",
            320,
            "CellText",
            flex=4,
            minWidth=240,
            cellRendererParams={"text": "message", "title": "whole_message"},
        ),
        column(
            "lost_rows", "Records lost", 106, "CellText", cellRendererParams={"text": "lost_rows", "none": "–"}, **RIGHT
        ),
    ]
    return asking_grid(grid_id, columns, nothing="No problem was found.", style=grid_style(1))


def problem_rows(frame: ProblemRows) -> list[dict[str, Any]]:
    """Rows of a block as the grid takes them."""
    return [
        {
            "severity": SIGNS.get(str(severity), SIGNS["note"])[1],
            "sign": SIGNS.get(str(severity), SIGNS["note"])[0],
            "level": str(severity),
            "file": text.plain(file, LONGEST_PATH),
            "line": None if text.is_missing(line) else text.count(int(line)),
            "message": text.plain(_without_place(str(message), str(file)), 400),
            "whole_message": text.plain(message, 400),
            "lost_rows": text.count(int(lost)) if lost else None,
        }
        for severity, file, line, message, lost in frame[list(PROBLEM_ROWS_COLUMNS)].itertuples(index=False)
    ]


def _without_place(message: str, file: str) -> str:
    """A message without the line and the file that stand beside it."""
    name = re.escape(file.rsplit("/", 1)[-1])
    return re.sub(rf"^(?:line \d+ of )?{name}:? ", "", message) or message


def problem_csv(frame: ProblemRows) -> str:
    """Problems as CSV."""
    return csv_text(PROBLEM_ROWS_COLUMNS, _csv_rows(frame, PROBLEM_ROWS_COLUMNS))


def file_grid(grid_id: str) -> dag.AgGrid:
    """The empty table of files; it asks for its rows block by block."""

    def number(key: str) -> dict[str, Any]:
        return {"cellRendererParams": {"text": key, "none": "–"}, **RIGHT}

    columns = [
        column("file", "File", 320, "QualityPath", flex=3, minWidth=240, cellRendererParams={"text": "file"}),
        column("kind", "Kind", 140, "CellText", cellRendererParams={"text": "kind"}),
        column("size_bytes", "Size", 84, "CellText", **number("size_bytes")),
        column("rows", "Records", 90, "CellText", **number("rows")),
        column("lost_rows", "Lost", 76, "CellText", **number("lost_rows")),
        column("problems", "Problems", 90, "CellText", **number("problems")),
        column(
            "copy_of",
            "Copy of",
            180,
            "QualityPath",
            flex=2,
            minWidth=120,
            cellRendererParams={"text": "copy_of", "none": "–"},
        ),
    ]
    return asking_grid(grid_id, columns, nothing="No file of this sort.", style=grid_style(1))


def file_rows(frame: FileRows) -> list[dict[str, Any]]:
    """Rows of a block as the grid takes them."""
    return [
        {
            "file": text.plain(file, LONGEST_PATH),
            "kind": _kind_words(str(kind)),
            "size_bytes": text.byte_size(int(size)),
            "rows": text.count(int(rows)),
            "lost_rows": text.count(int(lost)) if lost else None,
            "problems": text.count(int(problems)) if problems else None,
            "copy_of": text.plain(copy_of, LONGEST_PATH) if copy_of else None,
        }
        for file, kind, size, rows, lost, problems, copy_of in frame[list(FILE_ROWS_COLUMNS)].itertuples(index=False)
    ]


def file_csv(frame: FileRows) -> str:
    """Files as CSV."""
    return csv_text(FILE_ROWS_COLUMNS, _csv_rows(frame, FILE_ROWS_COLUMNS))


def _csv_rows(frame: Any, names: Sequence[str]) -> list[list[Any]]:
    return [
        [value if isinstance(value, str) else None if text.is_missing(value) else int(value) for value in row]
        for row in frame[list(names)].itertuples(index=False)
    ]


def grid_style(rows: int) -> dict[str, str]:
    """A grid as high as its rows, up to some; the others are scrolled to."""
    return {"height": f"{HEADER_PX + ROW_PX * min(max(rows, 2), MOST_SHOWN) + 20}px", "width": "100%"}
