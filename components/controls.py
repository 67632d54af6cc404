"""Controls that write the address: node picker, segments, theme and time zone.

None of them has a callback: the browser changes the URL (or its memory), and panels follow the URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from components.format import plain
from components.markup import attributes

FEW_NODES = 6
"""Up to this many nodes are shown as segments; more go into a list."""


def icon(name: str) -> html.Span:
    """A small drawing from the style sheet, in the colour of the text; it says nothing that words do not."""
    return html.Span(className=f"icon icon-{name}", **attributes(aria_hidden="true"))


def segments(key: str, options: Sequence[tuple[str, str]], *, default: str, label: str) -> html.Div:
    """One of a few values of a URL key, `options` being (value, words); the default is left out of the URL."""
    return html.Div(
        [
            html.Button(
                words,
                className="segment",
                type="button",
                **attributes(
                    data_query_key=key,
                    data_query_value=value,
                    data_query_default=_flag(value == default),
                    aria_pressed=_flag(value == default),
                ),
            )
            for value, words in options
        ],
        className="segments",
        role="group",
        **attributes(aria_label=label),
    )


def field(label: str, control: Component) -> html.Div:
    """A control with its name above."""
    return html.Div([html.Span(label, className="field-label"), control], className="field")


def node_picker(nodes: Sequence[str]) -> Component:
    """All nodes or some of them."""
    if len(nodes) <= FEW_NODES:
        buttons = [_node_button("All", "", "segment"), *(_node_button(plain(node), node, "segment") for node in nodes)]
        return html.Div(buttons, className="segments", role="group", **attributes(aria_label="Nodes"))
    buttons = [_node_button("All nodes", "", ""), *(_node_button(plain(node), node, "") for node in nodes)]
    words = html.Span(f"All {len(nodes)} nodes", **attributes(data_node_summary=str(len(nodes))))
    return html.Details(
        [
            html.Summary(words, className="button small"),
            html.Div(buttons, className="picker-list", role="group", **attributes(aria_label="Nodes")),
        ],
        className="picker",
    )


def picker(key: str, options: Sequence[tuple[str, str]], label: str) -> html.Details:
    """One of many values of a URL key, in a list that opens; `options` are (value, words)."""
    buttons = [
        html.Button(
            words, type="button", **attributes(data_query_key=key, data_query_value=value, aria_pressed=_flag(False))
        )
        for value, words in options
    ]
    return html.Details(
        [
            html.Summary(label, className="button small"),
            html.Div(buttons, className="picker-list", role="group", **attributes(aria_label=label)),
        ],
        className="picker",
    )


def _node_button(words: str, node: str, class_name: str) -> html.Button:
    """A toggle of one node; without a node it chooses all of them."""
    target = attributes(data_node=node) if node else attributes(data_node_all="true")
    return html.Button(
        words, className=class_name, type="button", **target, **attributes(aria_pressed=_flag(node == ""))
    )


def _flag(on: bool) -> str:
    return "true" if on else "false"


def time_window() -> html.Div:
    """The window in view, in words, with the keys that change it; the browser fills it."""
    return html.Div(
        [
            html.Div(className="window-time", **attributes(data_window_time="true")),
            html.Div(
                [
                    html.Span(**attributes(data_window_note="true")),
                    html.Span("· drag to zoom"),
                    html.Span([html.Kbd(key) for key in "WASD"], className="window-keys"),
                ],
                className="window-note",
            ),
        ],
        className="window",
    )


def zone_segments() -> html.Div:
    """UTC or local time; the browser remembers it."""
    return html.Div(
        [
            html.Button(
                words,
                className="segment",
                type="button",
                **attributes(data_zone_value=value, aria_pressed="true" if value == "utc" else "false"),
            )
            for value, words in (("utc", "UTC"), ("local", "Local"))
        ],
        className="segments",
        role="group",
        **attributes(aria_label="Time zone"),
    )


def theme_button() -> html.Button:
    """Dark or light; the browser remembers it."""
    return icon_button("theme", "Switch between dark and light", [icon("moon"), icon("sun")])


def icon_button(
    action: str, label: str, children: Sequence[Component], *, button_id: str = "", quiet: bool = False
) -> html.Button:
    """A button with a drawing only; `label` is its name and its tooltip."""
    identity: dict[str, Any] = {"id": button_id} if button_id else {}
    return html.Button(
        list(children),
        **identity,
        className="icon-button quiet" if quiet else "icon-button",
        type="button",
        title=label,
        **attributes(aria_label=label, data_action=action),
    )


def utc_time(text: str, time_ns: int, style: str, *, end_ns: int | None = None) -> html.Time:
    """A time written in UTC, which the browser rewrites in the zone chosen.

    `style` is "datetime", "clock" or "range" (then with `end_ns`).
    """
    end = {} if end_ns is None else attributes(data_time_end_ns=str(end_ns))
    return html.Time(text, **attributes(data_time_ns=str(time_ns), data_time_format=style), **end)
