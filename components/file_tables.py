"""Tables of a job's files: by kind, one by one, and the problems that were found in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import dash_ag_grid as dag
from dash import html

from components import format as text
from components.grid import HEADER_PX, RIGHT, ROW_PX, asking_grid, column, csv_text
from components.levels import SIGNS
from components.markup import attributes
from data.frames.quality import FILE_ROWS_COLUMNS, PROBLEM_ROWS_COLUMNS, FileRows, FilesOfKind, ProblemRows
from data.insights.statement import kind_name

MOST_SHOWN: Final = 14
LONGEST_PATH: Final = 500
_WITHOUT_RECORDS = ("system_end", "framework_end", "training_job", "tensorflow_metadata")
_KIND_WORDS = {"system_end": "end mark of the metrics", "framework_end": "end mark of the events"}


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
        [html.Th(text.plain(kind_words(kind.kind)), scope="row"), *(html.Td(c, className="n") for c in cells)]
    )


def kind_words(kind: str) -> str:
    """A kind of file in words."""
    return _KIND_WORDS.get(kind) or kind_name(kind)


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
    return csv_text(PROBLEM_ROWS_COLUMNS, plain_rows(frame, PROBLEM_ROWS_COLUMNS))


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
            "kind": kind_words(str(kind)),
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
    return csv_text(FILE_ROWS_COLUMNS, plain_rows(frame, FILE_ROWS_COLUMNS))


def plain_rows(frame: Any, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Rows as an export takes them: texts, whole numbers, None for what is missing."""
    return [
        tuple(value if isinstance(value, str) else None if text.is_missing(value) else int(value) for value in row)
        for row in frame[list(names)].itertuples(index=False)
    ]


def grid_style(rows: int) -> dict[str, str]:
    """A grid as high as its rows, up to some; the others are scrolled to."""
    return {"height": f"{HEADER_PX + ROW_PX * min(max(rows, 2), MOST_SHOWN) + 20}px", "width": "100%"}
