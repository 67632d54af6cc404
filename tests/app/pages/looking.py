"""A fetch that answers from built frames, and a panel's request."""

from __future__ import annotations

from typing import Any

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
