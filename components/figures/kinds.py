"""The colours of kinds of events: the hue is what works (input, CPU, GPU, network), its strength tells kinds apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from components.panels import LegendItem
from components.theme import Theme, hue, rgba
from data.insights.event_kinds import KINDS, SPAN

UNCOVERED: Final = "uncovered"
WORDS: Final = {**dict(KINDS), UNCOVERED: "not covered by any event"}
_HUES: Final = {
    "data_loading": ("io", 1.0),
    "backward": ("cpu", 1.0),
    "optimizer": ("memory", 1.0),
    "forward": ("cpu", 0.62),
    "compute": ("cpu", 0.34),
    "communication": ("network", 1.0),
    "gpu": ("gpu", 1.0),
    "data_workers": ("io", 0.5),
    "other": ("steps", 0.7),
    SPAN: ("steps", 1.0),
}


def kind_colour(theme: Theme, kind: str, alpha: float = 1.0) -> str:
    """The colour of a kind; grey for what is none."""
    metric, strength = _HUES.get(kind, ("steps", 0.7))
    return rgba(hue(theme, metric), round(strength * alpha, 3))


def kinds_legend(kinds: Sequence[str]) -> list[LegendItem]:
    """The legend of kinds, in their order."""
    return [
        LegendItem(WORDS[kind], f"kind-{kind}", "hatch" if kind == UNCOVERED else "box")
        for kind in WORDS
        if kind in kinds
    ]
