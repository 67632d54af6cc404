"""The cost of a job in words and tables: instances and prices, stages that are billed, and what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dash import html
from dash.development.base_component import Component

from components import format as text
from components.cards import Kpi, facts, missing
from components.markup import attributes
from data.frames.cost import Billing, Price, Stage
from data.insights.cost import Cost, CostLine, is_billed

MOST_LINES: Final = 20
MOST_STAGES: Final = 40
MOST_FAULTS: Final = 10

_BASIS: Final = {"billed": "of the billed time", "covered": "of the measured time", "": ""}


def cost_kpi(billing: Billing, cost: Cost) -> Kpi:
    """The cost as a key number, with the time that it is for."""
    billed = "" if billing.billed_s is None else f"{text.duration(billing.billed_s * text.NS_PER_S)} billed"
    if cost.total_usd is not None:
        return Kpi("Cost", text.money(cost.total_usd), note=billed)
    hours = "" if cost.gpu_hours is None else f"{text.hours(cost.gpu_hours)} GPU-hours"
    known = "no price" if any(line.price is None for line in cost.lines) else billed
    return Kpi("Cost", text.MISSING, note=" · ".join(filter(None, (known, hours))) or "training-job.json does not say")


def cost_content(billing: Billing, cost: Cost, faults: Sequence[str], offset_minutes: int = 0) -> html.Div:
    """What the job costs and why; `faults` are what is wrong with the table of prices, in words."""
    left: list[Component] = []
    if cost.lines:
        left.append(_scrolled(_lines_table(cost), "Cost by instances"))
    if billing.stages:
        left.append(_scrolled(_stages_table(billing.stages, offset_minutes), "Stages of the job"))
    remarks = _remarks(cost, faults)
    if not left:
        return html.Div([html.Div(remarks, className="cost-words"), _sums(cost)], className="cost")
    return html.Div([html.Div([*left, html.Div(remarks, className="cost-words")]), _sums(cost)], className="cost")


def _sums(cost: Cost) -> html.Div:
    basis = _BASIS[cost.gpu_hours_from]
    rows = [
        ("Total", text.money(cost.total_usd)),
        ("GPU-hours", _gpu_hours(cost)),
        ("Price of a GPU-hour", _each(cost, cost.usd_per_gpu_hour)),
        ("Price of a node-hour", text.price(cost.usd_per_node_hour)),
    ]
    if cost.spot_saving_percent is not None:
        rows.append(("Saved by spot instances", text.percent(float(cost.spot_saving_percent))))
    notes = [f"GPU-hours {basis}."] if basis else []
    notes.append("Instances alone: no storage, no transfer, no taxes.")
    return html.Div([facts(rows), *(html.P(note, className="panel-note") for note in notes)], className="cost-sums")


def _gpu_hours(cost: Cost) -> str:
    return text.NOT_APPLICABLE if cost.gpus == 0 else text.hours(cost.gpu_hours)


def _each(cost: Cost, usd: Any) -> str:
    return text.NOT_APPLICABLE if cost.gpus == 0 else text.price(usd)


def _lines_table(cost: Cost) -> html.Table:
    heads = (("Instances", ""), ("Billed each", "n"), ("Price of an hour", "n"), ("Cost", "n"))
    rows = [_line(line) for line in cost.lines[:MOST_LINES]]
    if len(cost.lines) > MOST_LINES:
        more = f"and {text.count(len(cost.lines) - MOST_LINES)} more"
        rows.append(html.Tr([html.Th(more, scope="row"), html.Td(), html.Td(), html.Td()]))
    if len(cost.lines) > 1:
        total: Any = missing() if cost.total_usd is None else text.money(cost.total_usd)
        rows.append(html.Tr([html.Th("Total", scope="row"), html.Td(), html.Td(), html.Td(total, className="n key")]))
    return _table(heads, rows)


def _line(line: CostLine) -> html.Tr:
    what = f"{text.count(line.group.count)} × {text.plain(line.group.instance_type, 60)}"
    name = "warm pool" if line.warm_pool else text.plain(line.group.name, 60)
    seconds: Any = missing() if line.seconds is None else f"{text.number(float(line.seconds), 0)} s"
    return html.Tr(
        [
            html.Th([what, *([html.Span(name, className="cost-part")] if name else [])], scope="row"),
            html.Td(seconds, className="n"),
            html.Td(_price(line.price), className="n"),
            html.Td(missing() if line.usd is None else text.money(line.usd), className="n"),
        ]
    )


def _price(price: Price | None) -> list[Any]:
    if price is None:
        return [missing()]
    origin = [price.region or "all regions", price.as_of or "undated", text.plain(price.source, 80) or "your table"]
    return [text.price(price.usd_per_hour), html.Div(" · ".join(origin), className="cost-source")]


def _stages_table(stages: Sequence[Stage], offset_minutes: int) -> html.Table:
    heads = (("Stage", ""), (f"Start ({text.zone(offset_minutes)})", "n"), ("Duration", "n"), ("Billed", ""), ("", ""))
    rows = [_stage(one, stages[:at], offset_minutes) for at, one in enumerate(stages[:MOST_STAGES])]
    if len(stages) > MOST_STAGES:
        more = f"and {text.count(len(stages) - MOST_STAGES)} more"
        rows.append(html.Tr([html.Th(more, scope="row"), *(html.Td() for _ in range(4))]))
    return _table(heads, rows)


def _stage(stage: Stage, earlier: Sequence[Stage], offset_minutes: int) -> html.Tr:
    known = stage.start_ns is not None and stage.end_ns is not None
    lasted = (stage.end_ns or 0) - (stage.start_ns or 0)
    duration: Any = text.duration(lasted) if known and lasted else text.NOT_APPLICABLE if known else missing()
    billed = {True: "billed", False: "not billed", None: text.NOT_APPLICABLE}[is_billed(stage, earlier)]
    return html.Tr(
        [
            html.Th(text.plain(stage.status, 60) or "(no name)", scope="row"),
            html.Td(
                missing() if stage.start_ns is None else text.timestamp(stage.start_ns, offset_minutes)[:-4],
                className="n",
            ),
            html.Td(duration, className="n"),
            html.Td(billed, className="cost-billed"),
            html.Td(text.plain(stage.message, 160), className="cost-message"),
        ]
    )


def _remarks(cost: Cost, faults: Sequence[str]) -> list[Component]:
    lines: list[Component] = [
        html.P([html.B(one.reason), f" {one.hint}" if one.hint else ""], className="cost-unknown")
        for one in cost.unknown[:MOST_LINES]
    ]
    lines += [html.P(note) for note in cost.notes[:MOST_LINES]]
    lines += [html.P(text.plain(words, 400), className="cost-fault") for words in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        lines.append(html.P(f"and {text.count(len(faults) - MOST_FAULTS)} more rows of the table of prices"))
    return lines


def _table(heads: Sequence[tuple[str, str]], rows: Sequence[Component]) -> html.Table:
    head = html.Tr([html.Th(words, scope="col", className=kind) for words, kind in heads])
    return html.Table([html.Thead(head), html.Tbody(list(rows))], className="data")


def _scrolled(table: html.Table, label: str) -> html.Div:
    return html.Div(table, className="table-scroll", tabIndex=0, role="region", **attributes(aria_label=label))
