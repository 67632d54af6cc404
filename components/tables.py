"""Tables: resource utilization with a range bar per row, and the problems found while reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html
from dash.development.base_component import Component

from components import format as text
from components.cards import missing
from components.markup import attributes
from data.frames import Problems, UsageSummary

_METRICS = {
    "Network": ("network", "Network"),
    "GPU": ("gpu", "GPU"),
    "CPU": ("cpu", "CPU"),
    "CPU memory": ("memory", "CPU memory"),
    "GPU memory": ("gpu_memory", "GPU memory"),
    "I/O": ("io_wait", "I/O"),
}
_STATISTICS = ("max", "p99", "p95", "p50", "min")


def usage_table(usage: UsageSummary) -> html.Div:
    """Statistics over time of every node and metric, as numbers and as a bar on a common scale per unit."""
    rows: list[Any] = list(usage.itertuples())
    rate_top = max((row.max for row in rows if row.unit != "%" and not text.is_missing(row.max)), default=1.0)
    divisor, rate_unit = text.bytes_scale(rate_top)
    body: list[Component] = []
    for index, row in enumerate(rows):
        first = index == 0 or rows[index - 1].node != row.node
        last = index + 1 == len(rows) or rows[index + 1].node != row.node
        scale = (1.0, "%", 100.0) if row.unit == "%" else (divisor, f"{rate_unit}/s", rate_top / divisor or 1.0)
        body.append(_usage_row(row, scale, first=first, last=last))
    head = ["Node", "Metric", "Unit", "Max", "p99", "p95", "p50", "Min"]
    legend = html.Th(_range_legend(), className="range-head")
    return html.Div(
        html.Table(
            [
                html.Thead(
                    html.Tr(
                        [
                            *(
                                html.Th(name, className="n" if index > 2 else "", scope="col")
                                for index, name in enumerate(head)
                            ),
                            legend,
                        ]
                    )
                ),
                html.Tbody(body),
            ],
            className="data usage",
        ),
        className="table-scroll usage-scroll",
        tabIndex=0,
        role="region",
        **attributes(aria_label="Resource utilization per node"),
    )


def _usage_row(row: Any, scale: tuple[float, str, float], *, first: bool, last: bool) -> html.Tr:
    divisor, unit, top = scale
    metric, name = _METRICS.get(row.metric, ("steps", row.metric))
    node = text.plain(row.node)
    values = {key: getattr(row, key) / divisor for key in _STATISTICS}
    show = _shown(unit)
    cells: list[Component] = [
        html.Th(node, className="key", scope="row")
        if first
        else html.Th(html.Span(node, className="visually-hidden"), scope="row"),
        html.Td([html.Span(className="dot", **attributes(data_metric=metric)), name], className="metric"),
        html.Td(unit, className="unit"),
    ]
    for key in _STATISTICS:
        value = values[key]
        child = missing() if text.is_missing(value) else html.B(show(value)) if key == "p95" else show(value)
        cells.append(html.Td(child, className="n"))
    cells.append(html.Td(range_bar(values, top, metric), className="range-cell"))
    return html.Tr(cells, className="" if last else "within")


def _shown(unit: str) -> Callable[[float], str]:
    if unit == "%":
        return lambda value: text.number(value, 1)
    return lambda value: text.number(value, 0 if value >= 100 else 1)


def range_bar(values: dict[str, float], top: float, metric: str) -> html.Div | html.Span:
    """From lowest to highest as a thin line, p50 to p95 as a bar, p99 as a tick; the numbers stand beside it."""
    if any(text.is_missing(value) for value in values.values()):
        return html.Span(className="range-bar hatched", **attributes(aria_hidden="true"))
    place = {key: min(max(100 * value / top, 0.0), 100.0) for key, value in values.items()}
    return html.Div(
        [
            html.I(className="range-whole", style=_span(place["min"], place["max"])),
            html.I(className="range-usual", style=_span(place["p50"], place["p95"])),
            html.I(className="range-tick", style={"left": f"{place['p99']:.2f}%"}),
        ],
        className="range-bar",
        **attributes(data_metric=metric, aria_hidden="true"),
    )


def _span(start: float, end: float) -> dict[str, str]:
    return {"left": f"{start:.2f}%", "width": f"{end - start:.2f}%"}


def _range_legend() -> html.Span:
    return html.Span(
        [
            "min",
            html.I(className="key-thin"),
            "p50",
            html.I(className="key-thick"),
            "p95",
            html.I(className="key-tick"),
            "p99",
            html.I(className="key-thin"),
            "max",
        ],
        className="range-legend",
    )


def problem_list(problems: Problems, limit: int = 5) -> html.Details:
    """What could not be read: a line of summary, and the first few places."""
    lost = int(problems["lost_rows"].fillna(0).sum())
    summary = f"{text.counted(len(problems), 'problem')} while reading, {text.counted(lost, 'record')} lost"
    items = [html.Li(_problem(row)) for row in problems.head(limit).itertuples()]
    if len(problems) > limit:
        items.append(html.Li(f"and {text.count(len(problems) - limit)} more"))
    return html.Details(
        [
            html.Summary(
                [
                    html.Span(summary, className="notice-text"),
                    html.Span("Everything else was loaded.", className="notice-hint"),
                ]
            ),
            html.Ul(items, className="problem-places"),
        ],
        className="notice notice-warning",
    )


def _problem(row: Any) -> list[str | Component]:
    line = "" if text.is_missing(row.line) else f", line {int(row.line)}"
    return [html.Span(f"{text.plain(row.file)}{line}", className="mono"), f" {text.plain(row.message)}"]
