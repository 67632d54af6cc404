"""Operators and framework time as short lists: a name, a bar, a share and a time in each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dash import html
from dash.development.base_component import Component

from components import format as text
from components.markup import attributes
from data.frames.operators import FrameworkShares, Operators, TimeShare
from data.insights.operators import PASS_WORDS, Remark

HEAVIEST: Final = 8
"""Lines of a list; what else there is follows in one line."""

LINE_PX: Final = 26
SIDES: Final = (("cpu", "CPU"), ("gpu", "GPU"), ("communication", "Communication"))
_HUES: Final = {"cpu": "cpu", "gpu": "gpu", "communication": "network", "step": "loop", "others": "text"}
_NAME_LENGTH: Final = 300


def heaviest(operators: Operators, side: str, remarks: Sequence[Remark]) -> html.Div:
    """The operators of a side that took longest, and what stands out."""
    mine = operators[operators["side"] == side]
    rows: list[Any] = list(mine.head(HEAVIEST).itertuples())
    top = max((row.percent for row in rows), default=0.0)
    lines = [
        _line(
            row.name,
            row.percent,
            row.total_ns,
            top,
            hue="network" if row.communication else _HUES[side],
            mark="comm." if row.communication and side == "gpu" else "",
            hint=f"{text.counted(int(row.count), 'call')}, {text.duration(row.mean_ns)} on average",
        )
        for row in rows
    ]
    rest = mine.iloc[HEAVIEST:]
    if len(rest):
        percent, total_ns = float(rest["percent"].sum()), int(rest["total_ns"].sum())
        lines.append(_line("", percent, total_ns, 0.0, words=f"{text.count(len(rest))} more"))
    return html.Div([html.Ol(lines, className="bars"), remark_list(remarks)])


@dataclass(frozen=True)
class ShareGroup:
    """One question about framework time; `basis` says what the percentages are of."""

    title: str
    basis: str
    shares: Sequence[TimeShare]
    hue: str = ""

    @staticmethod
    def words(one: TimeShare) -> str:
        """Our own words for what has no name, or one that is ours; "" where the file's name is meant."""
        if one.role == "others":
            return "between steps"
        if one.name in PASS_WORDS and one.name == one.role:
            return PASS_WORDS[one.name].capitalize()
        return ""


def share_groups(shares: FrameworkShares) -> tuple[ShareGroup, ...]:
    """How framework time divides up, a group for each question that events can answer."""
    spoken = "of the time of all events of Horovod or SMDataParallel"
    if shares.communication_percent is not None:
        spoken = "of the time of kernels by which GPUs talk to each other"
    inner = ", summed over submodules" if shares.inner_passes else ""
    return (
        ShareGroup("CPU to GPU", "of the time of all operators, by lane", shares.sides),
        ShareGroup("General", "of the time of all other lanes but steps", shares.general),
        ShareGroup("Forward and backward", f"of the time of both passes{inner}", shares.passes),
        ShareGroup("Communication", spoken, shares.communication, hue="network"),
        ShareGroup("Steps", "of the time from first to last step, by process", shares.steps),
    )


def divided(shares: FrameworkShares, remarks: Sequence[Remark]) -> html.Div:
    """How framework time divides up, a short list for each question that the events answer."""
    blocks = [_block(group) for group in share_groups(shares)]
    return html.Div(
        [html.Div([block for block in blocks if block is not None], className="shares"), remark_list(remarks)]
    )


def _block(group: ShareGroup) -> html.Div | None:
    """One question; None where nothing answers it."""
    if not group.shares:
        return None
    shown, rest = group.shares[:HEAVIEST], group.shares[HEAVIEST:]
    top = max(one.percent for one in shown)
    lines = [
        _line(
            one.name,
            one.percent,
            one.total_ns,
            top,
            hue=group.hue or _HUES.get(one.role, "steps"),
            words=group.words(one),
            hint=text.counted(one.count, "event") if one.count else "",
        )
        for one in shown
    ]
    if rest:
        percent, total_ns = sum(one.percent for one in rest), sum(one.total_ns for one in rest)
        lines.append(_line("", percent, total_ns, 0.0, words=f"{text.count(len(rest))} more"))
    head = html.H4([group.title, html.Span(f"% {group.basis}", className="section-note")], className="share-title")
    return html.Div([head, html.Ol(lines, className="bars")])


def _line(
    name: str,
    percent: float,
    total_ns: int,
    top: float,
    *,
    hue: str = "text",
    words: str = "",
    mark: str = "",
    hint: str = "",
) -> html.Li:
    """A line: the name as the file has it, or words of ours; the bar shows its share of the top one (0 for none)."""
    known = not text.is_missing(percent)
    width = 100 * percent / top if known and top else 0
    bar = [html.I(style={"width": f"{width:.1f}%"})] if width else []
    shown = words or text.plain(name, _NAME_LENGTH) or "(no name)"
    title = " · ".join(part for part in (shown, mark, hint) if part)
    label: list[Component] = [html.Span(shown, className="bar-words" if words else "bar-words mono")]
    if mark:
        label.append(html.Span(mark, className="tag"))
    return html.Li(
        [
            html.Span(label, className="bar-name", title=title),
            html.Span(bar, className="bar-track", **attributes(aria_hidden="true")),
            html.B(text.share(percent / 100) if known else text.MISSING, className="num"),
            html.Span(text.duration(total_ns), className="num bar-time"),
        ],
        **attributes(data_metric=hue),
    )


def remark_list(remarks: Sequence[Remark]) -> html.Div:
    """Sentences below a list."""
    items: list[Component] = []
    for remark in remarks:
        words = remark.text.replace(" %", "\u00a0%")
        line: list[str | Component] = [words]
        if remark.subject:
            line = [html.Span(text.plain(remark.subject, 80), className="mono"), f" {words}"]
        items.append(html.P(line))
    return html.Div(items, className="remarks")
