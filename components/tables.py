"""Tables: resource utilization with a range bar per row, and the problems found while reading."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dash import html
from dash.development.base_component import Component

from components import format as text
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
    """Statistics over time of every node and metric, as numbers and as a bar on a common scale per unit.

    The rows travel as text in an attribute, and `assets/85_usage.js` builds them: a Dash component for each of hundreds
    of cells holds the page up for seconds, because every one of them listens to every change of the page.
    """
    return html.Div(
        className="table-scroll usage-scroll",
        tabIndex=0,
        role="region",
        **attributes(aria_label="Resource utilization per node", data_usage=json.dumps(usage_rows(usage))),
    )


def usage_rows(usage: UsageSummary) -> list[dict[str, Any]]:
    """The rows of the table in words, with where the marks of their bars lie."""
    rows: list[Any] = list(usage.itertuples())
    rate_top = max((row.max for row in rows if row.unit != "%" and not text.is_missing(row.max)), default=1.0)
    divisor, rate_unit = text.bytes_scale(rate_top)
    percent, rate = (1.0, "%", 100.0), (divisor, f"{rate_unit}/s", rate_top / divisor or 1.0)
    return [_usage_row(row, percent if row.unit == "%" else rate) for row in rows]


def _usage_row(row: Any, scale: tuple[float, str, float]) -> dict[str, Any]:
    """A row's words, and where its bar's marks lie in percent of the scale (None where a value is missing)."""
    divisor, unit, top = scale
    metric, name = _METRICS.get(row.metric, ("steps", row.metric))
    values = {key: getattr(row, key) / divisor for key in _STATISTICS}
    show = _shown(unit)
    marks: dict[str, float] | None = None
    if not any(text.is_missing(value) for value in values.values()):
        marks = {key: round(min(max(100 * value / top, 0.0), 100.0), 2) for key, value in values.items()}
    return {
        "node": text.plain(row.node),
        "metric": metric,
        "name": text.plain(name),
        "unit": unit,
        "values": [text.MISSING if text.is_missing(values[key]) else show(values[key]) for key in _STATISTICS],
        "marks": marks,
    }


def _shown(unit: str) -> Callable[[float], str]:
    if unit == "%":
        return lambda value: text.number(value, 1)
    return lambda value: text.number(value, 0 if value >= 100 else 1)


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
