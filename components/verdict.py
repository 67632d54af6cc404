"""The verdict on a job's data, and its figures: what was read and lost, and how much time is covered."""

from __future__ import annotations

import math

from dash import html

from components import format as text
from components.cards import Kpi, kpi_strip
from components.coverage_tables import share_shown
from components.levels import level_sign
from data.frames.quality import Coverage, Quality
from data.insights.quality import Verdict


def verdict_line(verdict: Verdict) -> html.Div:
    """The answer in a sentence or two."""
    advice = [html.P(text.plain(verdict.advice, 600), className="verdict-advice")] if verdict.advice else []
    sentence = html.P(text.plain(verdict.text, 600), className="verdict-text")
    return html.Div([level_sign(verdict.level), html.Div([sentence, *advice])], className=f"verdict {verdict.level}")


def figures_strip(quality: Quality, coverage: Coverage) -> html.Div:
    """What was read and lost, over the whole job."""
    damaged = sum(kind.damaged for kind in quality.kinds)
    copies = sum(kind.copies for kind in quality.kinds)
    left_out = sum(kind.left_out for kind in quality.kinds)
    ratio = quality.raw_bytes / quality.stored_bytes if quality.stored_bytes else 0
    events = f"{text.counted(quality.events, 'event')}, {text.counted(quality.steps, 'step')}"
    return kpi_strip(
        [
            Kpi("Files read", text.count(quality.files), note=text.byte_size(quality.raw_bytes)),
            Kpi("Records read", text.count(quality.system_rows), note=events),
            Kpi(
                "Records lost",
                text.count(quality.lost_rows),
                note=f"in {text.counted(damaged, 'file')}" if damaged else "nothing was lost",
            ),
            Kpi("Events left out", text.count(left_out), note="no usable time or duration" if left_out else "none"),
            Kpi(
                "Duplicates dropped",
                text.count(quality.duplicates),
                note=f"{text.counted(copies, 'copy', 'copies')} of files left out" if copies else "no copies of files",
            ),
            _time_covered(coverage),
            Kpi(
                "In the store",
                text.byte_size(quality.stored_bytes),
                note=f"{text.number(ratio)} times smaller"
                if ratio >= 1
                else f"{text.number(ratio, 2)} of the size read",
            ),
        ]
    )


def _time_covered(coverage: Coverage) -> Kpi:
    known = [node for node in coverage.nodes if not math.isnan(node.covered_percent)]
    if not known:
        return Kpi("Time covered", text.MISSING, note="no system metrics")
    least = min(known, key=lambda node: node.covered_percent)
    whose = f"lowest node, {text.plain(least.node, 40)}"
    if least.covered_percent == 100:
        whose = "all nodes" if len(known) == len(coverage.nodes) else f"{len(known)} of {len(coverage.nodes)} nodes"
    return Kpi("Time covered", text.number(share_shown(least.covered_percent)), "%", whose)
