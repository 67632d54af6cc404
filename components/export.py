"""What a panel shows as a table: from a chart the values that it draws, from a list or a grid its rows.

The same rules as `assets/80_csv.js`, which saves charts as CSV without asking the server.
"""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import dash_ag_grid as dag
import numpy as np
import plotly.graph_objects as go
from dash import dcc
from dash.development.base_component import Component

from components.format import MISSING
from components.grid import csv_text


@dataclass(frozen=True)
class Table:
    """Rows of an export. Numbers are numbers, times are times on the clock that the chart shows, missing is None."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def csv_of(table: Table) -> str:
    """The table as CSV; a text that a spreadsheet would run as a formula is disarmed, numbers stay numbers."""
    return csv_text(table.columns, ([_printed(cell) for cell in row] for row in table.rows))


def _printed(cell: Any) -> Any:
    return cell.isoformat(sep=" ", timespec="microseconds") if isinstance(cell, datetime) else cell


# --- charts ---


def figure_table(figure: go.Figure) -> Table:
    """The values that a chart draws."""
    parts = figure.to_plotly_json()
    traces, layout = [_decoded(trace) for trace in parts["data"]], parts["layout"]
    meta = layout.get("meta") or {}
    if meta.get("spans"):
        rows = [(_name(trace), *map(_plain, values)) for trace in traces for values in trace.get("customdata", ())]
        return Table(tuple(meta["spans"]), rows)
    if meta.get("bars"):
        return _bars(traces)
    cells = [trace for trace in traces if trace.get("type") == "heatmap"]
    if meta.get("rows") and cells:
        return _heatmap(cells, meta)
    return _points([trace for trace in traces if trace.get("type") != "heatmap"], meta)


def _decoded(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace whose arrays are arrays: Plotly keeps some of them as it sends them."""
    return {
        name: _array(value) if isinstance(value, dict) and "bdata" in value else value for name, value in trace.items()
    }


def _array(value: dict[str, Any]) -> Any:
    flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    shape = [int(size) for size in str(value.get("shape", len(flat))).split(",")]
    return flat.reshape(shape)


def _bars(traces: Sequence[dict[str, Any]]) -> Table:
    """Single events: their words lie beside them."""
    rows = [
        (words[4], words[3], words[5].removeprefix(", "), _time(start), _number(length))
        for trace in traces
        for words, start, length in zip(
            trace.get("customdata", ()), _values(trace.get("base")), _values(trace.get("x")), strict=False
        )
    ]
    return Table(("lane", "event", "where", "start", "duration ms"), [tuple(map(_plain, row)) for row in rows])


def _heatmap(traces: Sequence[dict[str, Any]], meta: dict[str, Any]) -> Table:
    """The traces are blocks of rows, in order; `rows` has the node and device of each."""
    names = iter(meta["rows"])
    rows: list[tuple[Any, ...]] = []
    for trace in traces:
        highest, mean = np.asarray(trace["z"], float), np.asarray(trace["customdata"], float)
        times = [_x(trace, column) for column in range(highest.shape[1])]
        for place in range(highest.shape[0]):
            node, device = (*next(names, ("", "")), "")[:2]
            for column, time in enumerate(times):
                value = _number(highest[place, column])
                rows.append((node, device, time, value, None if value is None else _number(mean[place, column])))
    heads = tuple(meta.get("heads") or ("node", "device", "middle of column", "highest %", "mean %"))
    return Table(heads, rows)


def _points(traces: Sequence[dict[str, Any]], meta: dict[str, Any]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for trace in traces:
        marks = trace.get("meta") or {}
        if trace.get("hoverinfo") == "skip" or marks.get("mark"):
            continue
        name = "outliers" if marks.get("zoom") else _name(trace)
        if trace.get("type") == "pie":
            rows += zip(map(_plain, trace["labels"]), trace["labels"], map(_number, trace["values"]), strict=True)
            continue
        rows += [(name, _x(trace, at), _number(value)) for at, value in enumerate(_values(trace.get("y")))]
    return Table(("series", "time" if meta.get("time") else "value", meta.get("unit") or "number"), rows)


def _name(trace: dict[str, Any]) -> str:
    return str(_plain(trace.get("name") or ""))


def _plain(value: Any) -> Any:
    """Charts hold names with entities in place of markup; a table holds them as they were."""
    return html.unescape(value) if isinstance(value, str) else value.item() if isinstance(value, np.generic) else value


def _x(trace: dict[str, Any], at: int) -> Any:
    if trace.get("x") is not None and len(trace["x"]):
        return _time(trace["x"][at])
    start, step = trace.get("x0", 0), trace.get("dx", 1)
    begun = _time(start)
    return begun + timedelta(milliseconds=float(step) * at) if isinstance(begun, datetime) else start + step * at


def _time(value: Any) -> Any:
    """A place on an axis: a time where it is one."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return _plain(value)
    return _number(value)


def _values(values: Any) -> Sequence[Any]:
    found: Sequence[Any] = () if values is None else values
    return found


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return round(value, 9) if math.isfinite(value) else None
    return value


# --- lists, tables and grids ---


def content_table(content: Component) -> Table | None:
    """The rows of the tables of a panel's content; None where it has none. Several stand one below the other."""
    found = list(_tables(content, [""]))
    if not found:
        return None
    if len(found) == 1:
        return found[0][1]
    widest = max((table for _, table in found), key=lambda table: len(table.columns))
    width = len(widest.columns)
    rows = [
        (title or number + 1, *row, *(None,) * (width - len(row)))
        for number, (title, table) in enumerate(found)
        for row in table.rows
    ]
    return Table(("table", *widest.columns), rows)


def _tables(part: Any, title: list[str]) -> Iterator[tuple[str, Table]]:
    """Tables with the heading that came last before them, which `title` keeps."""
    kind = type(part).__name__
    if kind in ("H3", "H4", "Caption") or getattr(part, "className", "") == "column-title":
        title[0] = _text(_children(part)[:1])
        return
    if isinstance(part, Component) and not isinstance(part, dag.AgGrid | dcc.Graph):
        made = _table(part, kind)
        if made is not None:
            yield title[0], made
            return
    if isinstance(part, dag.AgGrid):
        yield title[0], _grid(part)
    elif not isinstance(part, dcc.Graph | str | int | float):
        for one in _children(part):
            yield from _tables(one, title)


def _table(part: Component, kind: str) -> Table | None:
    usage = getattr(part, "data-usage", None)
    if usage is not None:
        rows = [(row["node"], row["name"], row["unit"], *map(_cell, row["values"])) for row in json.loads(usage)]
        return Table(("node", "metric", "unit", "max", "p99", "p95", "p50", "min"), rows)
    if kind == "Table":
        return _html_table(part)
    if kind == "Dl":
        words = [_text(one) for one in _children(part)]
        return Table(
            ("name", "value"), [(name, _cell(value)) for name, value in zip(words[::2], words[1::2], strict=False)]
        )
    if kind == "Ol" or (kind == "Ul" and getattr(part, "className", "") == "phase-legend"):
        return _lines(part)
    return None


def _lines(part: Component) -> Table:
    """A list whose items are a name, a share and a time, in any order."""
    rows = []
    for item in _children(part):
        name, *rest = [words for words in map(_text, _children(item)) if words]
        share = next((words.removesuffix(" %") for words in rest if words.endswith(" %")), "")
        time = next((words for words in rest if not words.endswith(" %")), "")
        rows.append((name, _cell(share), time or None))
    return Table(("name", "share %", "time"), rows)


def _grid(grid: Any) -> Table:
    """A grid's rows: what it sorts by, else its words."""
    columns = [column for column in grid.columnDefs if column.get("field")]
    rows = [tuple(_number(row.get(column["field"])) for column in columns) for row in grid.rowData or []]
    return Table(tuple(column.get("headerName") or column["field"] for column in columns), rows)


def _html_table(table: Component) -> Table:
    lines = [_children(row) for row in _rows(table)]
    cells = [[_text(cell) for cell in line] for line in lines]
    heads = cells[0] if cells else []
    rows = [tuple(map(_cell, line)) for line in cells[1:] if len(line) == len(heads)]
    return Table(tuple(head or f"column {at + 1}" for at, head in enumerate(heads)), rows)


def _rows(part: Any) -> Iterator[Component]:
    if type(part).__name__ == "Tr":
        yield part
        return
    for one in _children(part):
        yield from _rows(one)


def _children(part: Any) -> list[Any]:
    children = part if isinstance(part, list | tuple) else getattr(part, "children", None)
    return [] if children is None else list(children) if isinstance(children, list | tuple) else [children]


def _text(part: Any) -> str:
    if part is None or isinstance(part, str | int | float):
        return "" if part is None else str(part)
    children = part if isinstance(part, list) else _children(part)
    return " ".join(filter(None, (_text(one) for one in children))).strip()


def _cell(words: str) -> Any:
    """A number where a cell is nothing but one; None for what is not known."""
    if words in (MISSING, ""):
        return None
    try:
        return float(words.replace(",", "").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return words
