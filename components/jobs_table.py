"""The table of jobs: its columns, its rows as the grid and as CSV take them, and the figures above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import dash_ag_grid as dag
from dash import html
from dash.development.base_component import Component

from components.cards import Kpi, kpi_strip
from components.format import (
    MISSING,
    byte_size,
    count,
    counted,
    duration,
    hours,
    is_missing,
    money,
    plain,
    seconds,
    timestamp,
)
from components.grid import BLOCKS, COLUMN, HEADER_PX, OPTIONS, RIGHT, ROW_PX, column
from components.grid import csv_text as grid_csv
from components.markup import attributes
from components.shell import STATUS_WORDS
from data.frames import JOB_LIST_COLUMNS, JobList, JobTotals


def jobs_grid(grid_id: str) -> dag.AgGrid:
    """The empty table; it asks for its rows block by block."""
    options = {
        **OPTIONS,
        **BLOCKS,
        "suppressMultiSort": False,
        "rowSelection": {"mode": "multiRow", "headerCheckbox": False, "enableClickSelection": False},
        "selectionColumnDef": {"width": 36, "pinned": "left", "suppressHeaderMenuButton": True},
        "localeText": {"noRowsToShow": "No job matches.", "loadingOoo": "\u2026"},
    }
    return dag.AgGrid(
        id=grid_id,
        className="jobs-grid",
        columnDefs=_columns(),
        defaultColDef=COLUMN,
        rowModelType="infinite",
        style=grid_style(8),
        getRowId="params.data.job_id",
        dashGridOptions=options,
    )


def _columns() -> list[dict[str, Any]]:
    def text(key: str) -> dict[str, Any]:
        return {"cellRendererParams": {"text": key}}

    def bar(metric: str) -> dict[str, Any]:
        return {"cellRendererParams": {"metric": metric}, **RIGHT}

    return [
        column("name", "Job", 226, "JobName", flex=1, minWidth=220, pinned="left"),
        column("status", "Status", 104, "JobStatus"),
        column("start_ns", "Started (UTC)", 120, "JobStarted", sort="desc", **RIGHT),
        column("issues", "Issues", 64, "JobIssues"),
        column("wasted_gpu_hours", "Wasted GPU-h", 110, "JobText", **text("wasted"), **RIGHT),
        column("duration_ns", "Duration", 82, "JobText", **text("duration"), **RIGHT),
        column("instances", "Instances", 140, "JobText", **text("instances")),
        column("gpus", "GPUs", 58, "JobText", **text("gpus_text"), **RIGHT),
        column("gpu_trend", "GPU over time", 98, "JobTrend", sortable=False),
        column("gpu_p95", "GPU p95 %", 92, "JobBar", **bar("gpu")),
        column("cpu_p95", "CPU p95 %", 92, "JobBar", **bar("cpu")),
        column("nodes", "Nodes", 56, "JobText", **text("nodes_text"), **RIGHT),
        column("billed_s", "Billed", 72, "JobText", **text("billed"), **RIGHT),
        column("cost_usd", "Cost", 74, "JobText", **text("cost"), **RIGHT),
        column("gpu_hours", "GPU-hours", 82, "JobText", **text("gpu_hours"), **RIGHT),
        column("problems", "Data", 56, "JobData"),
        column("stored_bytes", "Disk", 72, "JobText", **text("disk"), **RIGHT),
        column("remove", "", 42, "JobRemove", sortable=False, resizable=False, pinned="right"),
    ]


def grid_rows(frame: JobList, href: Callable[[str], str]) -> list[dict[str, Any]]:
    """The rows of a block as the grid takes them; `href` gives the address of a job, missing values are null."""
    return [_row(dict(zip(frame.columns, values, strict=True)), href) for values in frame.itertuples(index=False)]


def _row(job: dict[str, Any], href: Callable[[str], str]) -> dict[str, Any]:
    missing = {key: value for key, value in job.items() if key != "gpu_trend" and is_missing(value)}
    known = {key: None if key in missing else value for key, value in job.items()}
    sign, words, kind = STATUS_WORDS.get(str(job["status"]), ("?", "Unknown", ""))
    return {
        "job_id": str(job["job_id"]),
        "href": href(str(job["job_id"])),
        "name": plain(job["name"]) or "(no name)",
        "status": words,
        "status_sign": sign,
        "status_kind": kind,
        "status_detail": plain(job["status_detail"]),
        "source": plain(job["source"]),
        "state": str(job["state"]),
        "state_detail": plain(job["state_detail"]),
        "start_ms": None if known["start_ns"] is None else int(known["start_ns"]) / 1e6,
        "duration": None if known["duration_ns"] is None else duration(int(known["duration_ns"])),
        "billed": None if known["billed_s"] is None else duration(float(known["billed_s"]) * 1e9),
        "cost": None if known["cost_usd"] is None else money(Decimal(str(known["cost_usd"]))),
        "gpu_hours": None if known["gpu_hours"] is None else hours(Decimal(str(known["gpu_hours"]))),
        "issues": None if known["issues"] is None else int(known["issues"]),
        "worst": str(job["worst"]),
        "wasted": None if known["wasted_gpu_hours"] is None else hours(Decimal(str(known["wasted_gpu_hours"]))),
        "instances": plain(job["instances"]) or None,
        "nodes_text": None if known["nodes"] is None else count(known["nodes"]),
        "gpus_text": None if known["gpus"] is None else count(known["gpus"]),
        "gpus": None if known["gpus"] is None else int(known["gpus"]),
        "gpu_trend": [None if is_missing(value) else round(float(value), 1) for value in job["gpu_trend"]],
        "gpu_p95": None if known["gpu_p95"] is None else float(known["gpu_p95"]),
        "cpu_p95": None if known["cpu_p95"] is None else float(known["cpu_p95"]),
        "problems": None if known["problems"] is None else int(known["problems"]),
        "lost_rows": None if known["lost_rows"] is None else int(known["lost_rows"]),
        "disk": byte_size(known["stored_bytes"]) if known["stored_bytes"] else None,
    }


def table_foot() -> html.Div:
    """What the signs in the table mean."""
    marks = (
        ("", "all read"),
        ("problems", "with problems"),
        ("lost", "records lost"),
        ("unreadable", "unreadable"),
        ("none", "not converted"),
    )
    items: list[Component] = [
        html.Span(
            [html.I(className=f"data-mark {kind}".strip(), **attributes(aria_hidden="true")), words],
            className="legend-item",
        )
        for kind, words in marks
    ]
    items.append(html.Span([html.Span("n/a", className="hatch-tag"), "not measured"], className="legend-item"))
    words = "p95 of the mean over devices, highest node; duration is from first to last system sample"
    return html.Div([html.Span(words), html.Div(items, className="legend")], className="grid-foot")


def csv_text(frame: JobList) -> str:
    """The list as CSV, in UTC and plain units; a text that a spreadsheet would run as a formula is disarmed."""
    columns = [name for name in JOB_LIST_COLUMNS if name != "gpu_trend"]
    names = [{"start_ns": "start_utc", "duration_ns": "duration_s"}.get(name, name) for name in columns]
    rows = frame[columns].itertuples(index=False)
    return grid_csv(names, ([_csv_value(*pair) for pair in zip(columns, row, strict=True)] for row in rows))


def _csv_value(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if name == "start_ns":
        return timestamp(int(value))
    if name == "duration_ns":
        return seconds(int(value)).removesuffix(" s").replace(",", "").strip()
    return str(value)


def grid_style(jobs: int) -> dict[str, str]:
    """The table is as high as its rows, but no higher than the window."""
    rows_px = HEADER_PX + ROW_PX * max(jobs, 1) + 20
    return {"height": f"max(180px, min({rows_px}px, 100vh - 350px))", "width": "100%"}


def sources_line(uris: list[str], problems: Sequence[str] = (), notes: Sequence[str] = ()) -> list[Component]:
    """The sources by name, the first two of them; notes on them, and why some could not be listed."""
    shown = [html.Span(plain(uri, 120), className="mono") for uri in uris[:2]]
    more = [html.Span(counted(len(uris) - 2, "more source"))] if len(uris) > 2 else []
    wrong = [html.Span(html.Span(plain(words, 300), className="chip failed"), role="alert") for words in problems]
    noted = [html.Span(plain(words, 600)) for words in notes]
    return [*shown, *more, *noted, *wrong] or [html.Span("what the store holds; no source was given")]


def totals_strip(totals: JobTotals) -> Component:
    """The figures above the table, over all jobs of all sources."""

    def known(value: str) -> str:
        return value if totals.stored else MISSING

    times = totals.raw_bytes / totals.stored_bytes if totals.stored_bytes else 0
    ratio = f"{times:.0f} times smaller" if times >= 2 else "of converted jobs" if totals.stored else "nothing stored"
    open_points = [
        f"{count(number)} {words}"
        for number, words in ((totals.not_converted, "not converted"), (totals.unreadable, "unreadable"))
        if number
    ]
    running = "data still arriving" if totals.in_progress else "none" if totals.stored else ""
    return kpi_strip(
        [
            Kpi("Jobs", count(totals.jobs), note=" · ".join(open_points) or "all converted"),
            Kpi("GPUs", known(count(totals.gpus)), note="of converted jobs"),
            Kpi("In progress", known(count(totals.in_progress)), note=running or "of converted jobs"),
            Kpi("Raw data", known(byte_size(totals.raw_bytes)), note="of converted jobs"),
            Kpi("In the store", byte_size(totals.stored_bytes), note=ratio),
        ]
    )


def totals_places() -> Component:
    """The same figures before they are known, so that nothing moves when they come."""
    words = ("Jobs", "GPUs", "In progress", "Raw data", "In the store")
    return kpi_strip([Kpi(name, "\u2013", note="\u00a0") for name in words])
