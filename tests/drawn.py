"""Ways to look into what was drawn: the components of a tree, its text, its ids, all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component


def components(root: Any) -> Iterator[Component]:
    """Everything in a tree."""
    if isinstance(root, Component):
        yield root
        children = getattr(root, "children", None)
        for child in children if isinstance(children, list | tuple) else [children]:
            yield from components(child)
    elif isinstance(root, list | tuple):
        for child in root:
            yield from components(child)


def words(root: Any) -> str:
    """All text in a tree, in order."""
    if root is None:
        return ""
    if isinstance(root, str | int | float):
        return str(root)
    if isinstance(root, list | tuple):
        return " ".join(part for part in (words(child) for child in root) if part)
    return words(getattr(root, "children", None))


def ids(root: Any) -> list[str]:
    """The ids in a tree."""
    return [str(found) for part in components(root) if (found := getattr(part, "id", None))]


def said(root: Any) -> str:
    """A tree as the JSON that the browser gets."""
    return json.dumps(root, default=lambda part: part.to_plotly_json(), ensure_ascii=False)
