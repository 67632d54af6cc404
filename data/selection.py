"""What a page looks at: the part of the URL that decides which rows a query reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, nanoseconds since 1970 UTC; `end_ns` is exclusive."""

    start_ns: int
    end_ns: int

    def __post_init__(self) -> None:
        if self.end_ns <= self.start_ns:
            raise ValueError(f"a window must end after it starts: {self.start_ns} .. {self.end_ns}")

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Selection:
    """A job, and optionally a window of it and some of its nodes. Frozen, so that it keys the cache.

    `window` None is the whole job, `nodes` empty is all nodes.
    """

    job: str
    window: Window | None = None
    nodes: tuple[str, ...] = ()
