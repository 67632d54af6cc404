"""The frame around every page: head line, place for notices, main part, help; and the head of a job with its tabs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from components import controls, theme
from components.format import counted, duration, moment, plain
from components.markup import attributes
from data.frames import JobHeader

PRODUCT = "Debugger Insights"


class ShellId(StrEnum):
    """Ids that exist on every page."""

    URL = "url"
    MAIN = "main"
    CRUMBS = "shell-crumbs"
    AGE = "shell-age"
    NOTICE = "shell-notice"
    REFRESH = "shell-refresh"
    REFRESHED = "shell-refreshed"
    ARRIVED = "shell-arrived"
    WATCH = "shell-watch"
    WATCHED = "shell-watched"
    PROGRESS = "shell-progress"
    EXPORT = "shell-export"
    EXPORT_DOWNLOAD = "shell-export-download"
    REPORT_DOWNLOAD = "shell-report-download"
    REPORT_ANONYMOUS = "shell-report-anonymous"
    REPORT_WORDS = "shell-report-words"


REPORT_WORDS = "Download report"
REPORT_FORMATS = (
    ("html", "HTML, opens from disk"),
    ("json", "JSON, for programs"),
    ("md", "Markdown, for a pull request"),
)
"""Formats of the report with their words in the menu."""

TAB_NAMES = {"quality": "Data quality"}
"""Names of tabs that are not the last part of their address."""

KEYS = (
    (("/",), "search jobs"),
    (("W", "S"), "zoom in and out"),
    (("A", "D"), "move earlier and later"),
    (("0",), "whole job (or double click a chart)"),
    (("F",), "back to the last window you dragged"),
    (("?",), "this list"),
)

STATUS_WORDS = {
    "InProgress": ("◐", "In progress", "running"),
    "Completed": ("✓", "Completed", ""),
    "Stopped": ("■", "Stopped", ""),
    "Stopping": ("■", "Stopping", ""),
    "Failed": ("✕", "Failed", "failed"),
}


def index_string(first_script: str) -> str:
    """The HTML document: `first_script`, in the assets folder, runs before anything is painted and sets the theme."""
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="dark" data-zone="utc">
<head>
<script src="{first_script}"></script>
{{%metas%}}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{%title%}}</title>
<link rel="icon" type="image/svg+xml" href="{first_script.rsplit("/", 1)[0]}/favicon.svg">
{{%css%}}
</head>
<body>
{{%app_entry%}}
<footer>
{{%config%}}
{{%scripts%}}
{{%renderer%}}
</footer>
</body>
</html>"""


def frame(home: str) -> html.Div:
    """The whole document body; `home` is the address of the list of jobs."""
    return html.Div(
        [
            dcc.Location(id=ShellId.URL, refresh="callback-nav"),
            dcc.Store(id=ShellId.REFRESHED),
            dcc.Store(id=ShellId.ARRIVED),
            dcc.Store(id=ShellId.WATCHED),
            dcc.Store(id=ShellId.EXPORT),
            dcc.Download(id=ShellId.EXPORT_DOWNLOAD),
            dcc.Interval(id=ShellId.WATCH, interval=500, disabled=True),
            html.A("Skip to the page", href="#main", className="skip-link"),
            _topbar(home),
            html.Div(id=ShellId.NOTICE, className="shell-notice"),
            html.Main(id=ShellId.MAIN, tabIndex=-1),
            _help_dialog(),
            _offline_note(),
        ],
        id="shell",
        **attributes(data_swaps=json.dumps(theme.swaps()), data_home=home),
    )


def _topbar(home: str) -> html.Header:
    mark = html.Span([html.I(), html.I(), html.I()], className="brand-mark", **attributes(aria_hidden="true"))
    refresh = controls.icon_button(
        "refresh", "Look for new data", [controls.icon("refresh")], button_id=ShellId.REFRESH, quiet=True
    )
    return html.Header(
        [
            dcc.Link([mark, PRODUCT], href=home, className="brand"),
            html.Nav(id=ShellId.CRUMBS, className="crumbs", **attributes(aria_label="Breadcrumb")),
            html.Div(
                [
                    html.Div([html.Span(id=ShellId.AGE, className="age-words"), refresh], className="age"),
                    controls.zone_segments(),
                    controls.theme_button(),
                    controls.icon_button("help", "Keys and help", [html.Span("?", **attributes(aria_hidden="true"))]),
                ],
                className="topbar-right",
            ),
        ],
        className="topbar",
    )


def crumbs(steps: Sequence[tuple[str, str]]) -> html.Ol:
    """The way to this page as (words, address); the last one is the page itself."""
    items: list[Component] = []
    for position, (words, href) in enumerate(steps):
        last = position == len(steps) - 1
        child = (
            html.Span(plain(words), **attributes(aria_current="page")) if last else dcc.Link(plain(words), href=href)
        )
        items.append(html.Li(child))
    return html.Ol(items)


def age(prefix: str, time_ns: int) -> html.Span:
    """How long ago something was, counted on by the browser: "read 2 min ago"."""
    return html.Span(**attributes(data_age_ns=str(time_ns), data_age_prefix=prefix))


def status_chip(status: str, detail: str = "") -> html.Span:
    """A job's status as a sign and a word; colour comes on top."""
    sign, words, kind = STATUS_WORDS.get(status, ("?", "Unknown", ""))
    return html.Span(
        [html.Span(sign, **attributes(aria_hidden="true")), words],
        className=f"chip {kind}".strip(),
        title=plain(detail),
    )


def job_header(
    header: JobHeader, tab: str, links: Mapping[str, str], *, changed: bool = False, compare: str = ""
) -> html.Div:
    """Name, status and facts of a job, and its tabs; `links` are the addresses of the tabs by name, `compare` that of
    the choice of another run.
    """
    beside = [dcc.Link("Compare with\u2026", href=compare, className="button")] if compare else []
    copy = html.Button("Copy link", className="button", type="button", **attributes(data_action="copy-link"))
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H1(plain(header.name)),
                            html.Div(
                                [*_facts(header, changed=changed), *_lost(header, tab, links)], className="page-sub"
                            ),
                        ]
                    ),
                    html.Div([*beside, *([_report_menu()] if header.end_ns else []), copy], className="actions"),
                ],
                className="page-head",
            ),
            _tabs(header, tab, links),
        ],
        id="job",
        className="job-head",
        **attributes(
            data_job_start_ns=str(header.start_ns), data_job_end_ns=str(header.end_ns), data_title=plain(header.name)
        ),
        **({} if header.wall_clock else attributes(data_job_origin_ns=str(header.start_ns))),
    )


def report_button(name: str) -> str:
    """The id of the button that downloads the report in a format."""
    return f"shell-report-{name}"


def _report_menu() -> html.Details:
    buttons = [html.Button(words, id=report_button(name), type="button") for name, words in REPORT_FORMATS]
    names = dcc.Checklist(
        id=ShellId.REPORT_ANONYMOUS,
        options=[{"label": "Leave out hosts, paths and names", "value": "anonymous"}],
        value=[],
        className="report-names",
    )
    return html.Details(
        [
            html.Summary(REPORT_WORDS, id=ShellId.REPORT_WORDS, className="button"),
            html.Div([*buttons, names], className="picker-list report-list"),
            dcc.Download(id=ShellId.REPORT_DOWNLOAD),
        ],
        className="picker report-menu",
    )


def _facts(header: JobHeader, *, changed: bool) -> list[Component]:
    facts: list[Component] = [html.Span(status_chip(header.status, header.status_detail))]
    if header.status not in STATUS_WORDS and header.status_detail:
        facts.append(html.Span(plain(header.status_detail)))
    machines = plain(header.instances) or counted(len(header.nodes), "node")
    facts.append(html.Span(machines))
    facts.append(html.Span(_gpus(header)))
    if header.framework:
        facts.append(html.Span(plain(header.framework)))
    if not header.wall_clock:
        facts.append(html.Span(duration(header.end_ns - header.start_ns)))
    elif header.end_ns > 0:
        words = utc_range(header.start_ns, header.end_ns)
        facts.append(html.Span(controls.utc_time(words, header.start_ns, "range", end_ns=header.end_ns)))
    if changed:
        facts.append(html.Span(html.Span("source has changed since it was read", className="chip changed")))
    return facts


def _gpus(header: JobHeader) -> str:
    if header.gpus or header.measured:
        return counted(header.gpus, "GPU") if header.gpus else "no GPU"
    return "GPU kernels traced" if header.kernels else "no GPU kernels traced"


def _lost(header: JobHeader, tab: str, links: Mapping[str, str]) -> list[Component]:
    """A way to the tab that says what was lost; nothing where all was read, or on that tab."""
    if not header.lost_rows or tab == "quality" or "quality" not in links:
        return []
    sign = html.Span("◆", **attributes(aria_hidden="true"))
    words = f"{counted(header.lost_rows, 'record')} lost"
    return [html.Span(dcc.Link([sign, words], href=links["quality"], className="chip lost"))]


def _tabs(header: JobHeader, tab: str, links: Mapping[str, str]) -> html.Nav:
    counts = {"nodes": str(len(header.nodes))} if header.nodes else {}
    if header.problems:
        counts["quality"] = counted(header.problems, "problem")
    items: list[Component] = []
    for name, href in links.items():
        current = attributes(aria_current="page") if name == tab else {}
        words: list[str | Component] = [TAB_NAMES.get(name, name.capitalize())]
        if name in counts:
            words.append(html.Span(counts[name], className="tab-count"))
        # dcc.Link takes no aria attributes, so the mark of the current tab sits on a plain element
        if current:
            items.append(html.Span(words, className="job-tab", **current))
        else:
            items.append(dcc.Link(words, href=href, className="job-tab"))
    return html.Nav(items, className="job-tabs", **attributes(aria_label="Parts of the job"))


def utc_range(start_ns: int, end_ns: int) -> str:
    """A span of time in UTC: 4 Dec 2020, 22:39–22:47 UTC."""
    start, end = moment(start_ns), moment(end_ns)
    first = f"{start.day} {start:%b %Y}, {start:%H:%M}"
    last = f"{end:%H:%M}" if start.date() == end.date() else f"{end.day} {end:%b %Y}, {end:%H:%M}"
    return f"{first}–{last} UTC"


def _help_dialog() -> html.Dialog:
    rows: list[Component] = []
    for keys, words in KEYS:
        rows.extend((html.Dt([html.Kbd(key) for key in keys]), html.Dd(words)))
    return html.Dialog(
        [
            html.H2("Keys"),
            html.Dl(rows, className="keys"),
            html.P(
                "Drag on any chart to zoom all of them. The address holds everything on the screen: "
                "copy it to show someone the same view.",
                style={"marginTop": "14px"},
            ),
            html.Div(
                html.Button("Close", className="button", type="button", **attributes(data_action="close-dialog")),
                className="actions",
            ),
        ],
        id="help-dialog",
        **attributes(aria_label="Keys and help"),
    )


def _offline_note() -> html.Div:
    retry = html.Button("Try again", className="button small", type="button", **attributes(data_action="retry"))
    return html.Div(
        [html.Span("The server does not answer."), retry],
        id="offline-note",
        className="offline-note",
        role="alert",
        hidden=True,
    )
