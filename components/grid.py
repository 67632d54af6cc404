"""What all grids share: their look, in the colours of the page, their options, and texts in what they save."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import dash_ag_grid as dag
from dash import dcc, html
from dash.development.base_component import Component

from components import controls
from components.format import plain
from components.markup import attributes

BLOCK_ROWS: Final = 100
ROW_PX: Final = 31
HEADER_PX: Final = 34
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
GRID_THEME: Final = (
    "themeQuartz.withParams({backgroundColor:'var(--card)',foregroundColor:'var(--text)',"
    "headerBackgroundColor:'var(--sunken)',headerTextColor:'var(--text-3)',borderColor:'var(--line)',"
    "rowBorder:{color:'var(--line)'},headerColumnBorder:false,columnBorder:false,wrapperBorder:false,"
    "oddRowBackgroundColor:'var(--card)',rowHoverColor:'transparent',accentColor:'var(--accent)',"
    "selectedRowBackgroundColor:'var(--accent-bg)',fontFamily:'inherit',fontSize:12.5,headerFontSize:11.5,"
    "cellHorizontalPadding:9,browserColorScheme:'inherit',headerColumnResizeHandleColor:'transparent',"
    "pinnedColumnBorder:false,iconColor:'var(--text-3)',wrapperBorderRadius:0})"
)
COLUMN: Final[dict[str, Any]] = {"sortable": True, "resizable": True, "suppressHeaderMenuButton": True, "minWidth": 44}
OPTIONS: Final[dict[str, Any]] = {
    "theme": {"function": GRID_THEME},
    "rowHeight": ROW_PX,
    "headerHeight": HEADER_PX,
    "suppressDragLeaveHidesColumns": True,
}
ALL_COLUMNS: Final[dict[str, Any]] = {"suppressColumnVirtualisation": True}
"""Few columns are all there, in view or not: else a grid without its width yet is a table without heads."""
BLOCKS: Final[dict[str, Any]] = {
    "cacheBlockSize": BLOCK_ROWS,
    "maxBlocksInCache": 20,
    "infiniteInitialRowCount": 1,
    "blockLoadDebounceMillis": 60,
}
"""Options of a grid that asks the server for its rows, block by block."""

RIGHT: Final = {"type": "rightAligned"}


def column(field: str, words: str, width: int, renderer: str = "", **more: Any) -> dict[str, Any]:
    """A column of `width` pixels; a renderer is one of `assets/dashAgGridComponentFunctions.js`."""
    definition: dict[str, Any] = {"field": field, "headerName": words, "width": width, **more}
    if renderer:
        definition["cellRenderer"] = renderer
    return definition


def asking_grid(
    grid_id: str, columns: Sequence[Mapping[str, Any]], *, nothing: str, style: Mapping[str, str]
) -> dag.AgGrid:
    """An empty grid that asks for its rows block by block; `nothing` is what it says where there are none."""
    return dag.AgGrid(
        id=grid_id,
        className="jobs-grid",
        columnDefs=list(columns),
        defaultColDef=COLUMN,
        rowModelType="infinite",
        style=dict(style),
        dashGridOptions=OPTIONS | ALL_COLUMNS | BLOCKS | {"localeText": {"noRowsToShow": nothing, "loadingOoo": "…"}},
    )


def filled_grid(
    grid_id: str, columns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], *, tallest: int
) -> dag.AgGrid:
    """A grid with its rows, as high as they are up to `tallest` rows; the browser sorts them."""
    height = HEADER_PX + ROW_PX * min(max(len(rows), 1), tallest) + 18
    return dag.AgGrid(
        id=grid_id,
        className="jobs-grid",
        columnDefs=list(columns),
        defaultColDef=COLUMN,
        rowData=[dict(row) for row in rows],
        style={"height": f"{height}px", "width": "100%"},
        dashGridOptions=OPTIONS | ALL_COLUMNS | {"localeText": {"noRowsToShow": "Nothing to show."}},
    )


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; a text that a spreadsheet would run as a formula is disarmed, None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(
            "" if value is None else disarmed(plain(value, 1000)) if isinstance(value, str) else value for value in row
        )
    return out.getvalue()


def disarmed(text: str) -> str:
    """Text for a table that a spreadsheet may open: nothing in it is run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def search_box(box_id: str, label: str, *, value: str = "", hint: str = "", filters: str = "") -> html.Div:
    """A box for the words to search by. The browser filters the rows of the grid that `filters` names; without one,
    grids send the words along when they ask the server for rows, and the key / is shown that leads into the box.
    """
    box = dcc.Input(id=box_id, type="search", value=value, placeholder=f"{hint or label}…", autoComplete="off")
    named = html.Label(label, htmlFor=box_id, className="visually-hidden")
    return html.Div(
        [named, controls.icon("search"), box, *([] if filters else [html.Kbd("/")])],
        className="search grid-search" if filters else "search",
        role="search",
        **(attributes(data_filters=filters) if filters else {}),
    )


def grid_controls(panel_id: str, what: str, choices: Sequence[Component] = ()) -> html.Div:
    """What stands above a grid in a panel: choices, a search over its rows (which are `what`), and CSV."""
    return html.Div(
        [
            *choices,
            search_box(f"{panel_id}-search", f"Search {what}", filters=f"{panel_id}-grid"),
            html.Button(
                "CSV",
                id=f"{panel_id}-csv",
                className="button small",
                type="button",
                title=f"Save these {what} as a table",
                **attributes(aria_label=f"Save {what} as CSV"),
            ),
            dcc.Download(id=f"{panel_id}-download"),
        ],
        className="grid-controls",
    )
