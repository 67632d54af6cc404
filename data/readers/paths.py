"""Paths as DuckDB's file readers want them."""

from __future__ import annotations


def literal_pattern(path: str) -> str:
    """A path as a pattern that matches this one file only: DuckDB takes [, * and ? in any path for wildcards."""
    return "".join(f"[{character}]" if character in "[*?" else character for character in path)
