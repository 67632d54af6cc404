"""Data loading in numbers: the loaders' settings in words, and a row per process and worker."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from components import format as text
from components.markup import attributes
from data.frames.framework import DataLoading, LoaderGroup

_KINDS = {"wait": "waits for a batch", "worker": "worker fetches", "start": "sets up"}
_HEADS = ("Node", "Process", "What", "Worker", "Events", "Together", "Median", "p95", "Longest", "Outliers")
_NUMBERS = 6
"""This many of the last columns hold numbers."""


def settings_words(frame: DataLoading) -> str:
    """Workers and pinned memory as the loaders were set up; where nothing tells, that."""
    if not frame.settings:
        return "The loaders' settings were not recorded."
    parts = []
    for workers, pinned in frame.settings:
        words = f"{workers} workers" if workers else "workers not recorded"
        memory = {"true": "memory pinned", "false": "memory not pinned"}.get(pinned, "pinning not recorded")
        parts.append(f"{words}, {memory}")
    return f"Loaders were set up with {'; '.join(parts)}."


def loader_table(frame: DataLoading) -> html.Div:
    """The processes and workers with the most time."""
    head = [
        html.Th(words, scope="col", className="n" if at >= len(_HEADS) - _NUMBERS else "")
        for at, words in enumerate(_HEADS)
    ]
    table = html.Table(
        [html.Thead(html.Tr(head)), html.Tbody([_row(group) for group in frame.groups])], className="data"
    )
    return html.Div(
        table, className="table-scroll", tabIndex=0, role="region", **attributes(aria_label="Data loading by process")
    )


def _row(group: LoaderGroup) -> html.Tr:
    words = [text.plain(group.process, 40), _KINDS[group.kind], text.plain(group.loader, 20) or text.NOT_APPLICABLE]
    numbers = [
        text.count(group.events),
        text.duration(group.total_ns),
        text.duration(group.median_ns),
        text.duration(group.p95_ns),
        text.duration(group.longest_ns),
        text.count(group.outliers),
    ]
    cells: list[Component] = [html.Th(text.plain(group.node, 60), scope="row")]
    cells += [html.Td(one) for one in words]
    cells += [html.Td(one, className="n") for one in numbers]
    return html.Tr(cells)
