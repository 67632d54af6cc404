"""Paths as DuckDB's file readers want them."""

from __future__ import annotations

_LITERAL = str.maketrans({character: f"[{character}]" for character in "[*?"})


def literal_pattern(path: str) -> str:
    """A path as a pattern that matches this one file only: DuckDB takes [, * and ? in any path for wildcards."""
    return path.translate(_LITERAL)
