"""A rule's parameters as fields. The browser checks what is typed and writes it into the address; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping

from dash import dcc, html
from dash.development.base_component import Component

from components import format as text
from components.markup import attributes
from data.frames.findings import Finding, Number, Parameter

Base = Mapping[tuple[str, str], Number]
"""The server's own thresholds where they are not the rule's, by rule and parameter."""


def threshold_rows(one: Finding, base: Base) -> html.Div | None:
    """A field for each parameter; None where the rule has none."""
    if not one.parameters:
        return None
    rows = [_row(one.rule, parameter, base.get((one.rule, parameter.name))) for parameter in one.parameters]
    moved = [
        f"{one.rule}_{parameter.name}"
        for parameter in one.parameters
        if parameter.value != base.get((one.rule, parameter.name), parameter.default)
    ]
    reset = html.Button(
        "Reset",
        className="button small quiet",
        type="button",
        title="Back to the defaults of this rule",
        **attributes(data_reset=" ".join(moved), aria_label=f"Reset the parameters of {text.plain(one.rule, 60)}"),
    )
    head = html.Div(
        [
            html.H4("Parameters", className="column-title"),
            html.Span("change one and the verdict follows", className="panel-note"),
            *([reset] if moved else []),
        ],
        className="threshold-head",
    )
    return html.Div([head, *rows], className="insight-part")


def _row(rule: str, parameter: Parameter, base: Number | None) -> html.Div:
    key = f"{rule}_{parameter.name}"
    is_text = isinstance(parameter.default, str)
    standard = parameter.default if base is None else base
    limits = {} if is_text else {"data_low": f"{parameter.low:.17g}", "data_high": f"{parameter.high:.17g}"}
    box = dcc.Input(
        id=f"threshold-{key}",
        type="text" if is_text else "number",
        step="any",
        value=shown(parameter.value),
        autoComplete="off",
        className="threshold-box",
    )
    note = f"default {shown(parameter.default)}" + ("" if base is None else f", here {shown(base)}")
    unit = [html.Span(text.plain(parameter.unit, 20), className="unit")] if parameter.unit else []
    children: list[Component] = [
        html.Label(
            [html.Code(parameter.name), html.Span(text.plain(parameter.means, 200), className="threshold-means")],
            htmlFor=f"threshold-{key}",
        ),
        html.Span([box, *unit], className="threshold-field"),
        html.Span(note, className="threshold-default num"),
        html.Span(className="threshold-word", role="alert"),
    ]
    return html.Div(
        children,
        className="threshold" if parameter.value == standard else "threshold moved",
        **attributes(data_threshold=key, data_standard=shown(standard), **limits),
    )


def shown(value: Number) -> str:
    """A parameter's value as it is typed and stands in addresses: 70, 0.5."""
    return value if isinstance(value, str) else f"{value:.15g}"
