"""A fetch that answers from built frames, and ways to look into what a page drew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component

from app.panels import Request
from data.selection import Selection, Window


class FakeFetch:
    """Answers each query by its module and name, raises exceptions, and remembers what was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, tuple[Any, ...]]] = []

    def __call__(self, query: Any, /, *args: Any, **kwargs: Any) -> Any:
        name = f"{query.__module__.rsplit('.', 1)[-1]}_{query.__name__}"
        self.asked.append((name, args))
        answer = self.answers[name]
        answer = answer(*args, **kwargs) if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        return answer


def request(window: Window | None = None, nodes: tuple[str, ...] = (), **changes: Any) -> Request:
    """A request of a panel 1,000 pixels wide."""
    fields = {"selection": Selection("run-a-1a2b3c4d", window, nodes), "width": 1000, **changes}
    return Request(**fields)


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
    return [str(part.id) for part in components(root) if getattr(part, "id", None)]
