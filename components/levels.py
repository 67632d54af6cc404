"""How much a statement or a problem weighs, told by a sign of its own shape and a word: colour comes on top."""

from __future__ import annotations

from typing import Final

from dash import html

from components.markup import attributes

SIGNS: Final = {
    "error": ("▲", "Error"),
    "warning": ("◆", "Warning"),
    "note": ("○", "Note"),
    "good": ("✓", "All read"),
}
"""Shape and word of every level."""


def level_sign(level: str) -> html.Span:
    """The sign of a level, with its word for those who do not see it."""
    shape, word = SIGNS.get(level, SIGNS["note"])
    return html.Span(
        [html.I(shape, **attributes(aria_hidden="true")), html.Span(word, className="visually-hidden")],
        className=f"level {level}",
        title=word,
    )
