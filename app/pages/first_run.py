"""The screen of a server that has no job to show: what was looked for, and how to get data."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from components.format import plain
from components.markup import attributes

COMMANDS = (
    ("make demo", "writes four demo jobs and shows them"),
    ("make serve SOURCE=/path/to/jobs", "shows your own"),
)


def layout(looked: Sequence[tuple[str, str]]) -> html.Div:
    """`looked` are the sources as the user named them, each with the reason why nothing was found in it."""
    lead = "This server was started without a source." if not looked else "None of the sources holds a training job."
    return html.Div(
        html.Section(
            [
                html.H1("No training jobs yet"),
                html.P(lead, className="lead"),
                *_looked(looked),
                html.H2("What is looked for"),
                html.P(
                    [
                        "A folder of training jobs as Amazon SageMaker Debugger's profiler writes them: each holds ",
                        html.Code("profiler-output/system/incremental/…json"),
                        " and, where steps were recorded, ",
                        html.Code("profiler-output/framework/"),
                        ". One job's own folder will do as well.",
                    ],
                    className="sentence",
                ),
                html.H2("How to get data"),
                *(_command(command, words) for command, words in COMMANDS),
            ],
            className="card",
        ),
        className="middle",
        **attributes(data_title="No training jobs yet"),
    )


def _looked(looked: Sequence[tuple[str, str]]) -> list[Component]:
    if not looked:
        return []
    items = [
        html.Li([html.Code(plain(uri, 400)), html.Span(plain(reason, 400) or "holds no training job")])
        for uri, reason in looked
    ]
    return [html.H2("Where we looked"), html.Ul(items, className="looked")]


def _command(command: str, words: str) -> html.Div:
    return html.Div([html.Code(command), html.Span(words)], className="command")
