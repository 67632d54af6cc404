"""Two runs on one time axis: which moment of B lies at which moment of A, and what each is asked for.

The window of the address is in the time of A; B's records are moved by `shift_ns` to lie beside A's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

from app.panels import Request
from components.figures.axes import View
from data.errors import MissingTable
from data.frames import JobTimes
from data.queries import jobs
from data.selection import Selection, Window
from data.store import Fetch

Alignment = Literal["start", "loop", "wall"]
ALIGNMENTS: Final = (("start", "Start"), ("loop", "First step"), ("wall", "Wall clock"))
"""Values of the key `align` with their words; the first is the default."""


@dataclass(frozen=True)
class Aligned:
    """Both runs as one chart sees them."""

    a: Selection
    b: Selection
    shift_ns: int  # to be added to times of B
    view: View


def aligned(fetch: Fetch, request: Request, a: Selection, b: Selection) -> Aligned:
    """Raises MissingTable where the runs have no moment in common."""
    times = fetch(jobs.times, a), fetch(jobs.times, b)
    how = chosen_alignment(request)
    shift_ns = _shift(how, *times)
    start = min(times[0].start_ns, times[1].start_ns + shift_ns)
    end = max(times[0].end_ns, times[1].end_ns + shift_ns, start + 1)
    window = request.selection.window or Window(start, end)
    origin = None if how == "wall" else start
    view = View(window, request.theme, request.offset_minutes, request.search, origin)
    moved = Window(window.start_ns - shift_ns, window.end_ns - shift_ns)
    return Aligned(Selection(a.job, window), Selection(b.job, moved), shift_ns, view)


def chosen_alignment(request: Request) -> Alignment:
    """The alignment that the address asks for."""
    value = request.query.get("align", "start")
    return cast(Alignment, value if value in {key for key, _ in ALIGNMENTS} else "start")


def _shift(how: Alignment, a: JobTimes, b: JobTimes) -> int:
    if how == "wall":
        return 0
    if how == "start":
        return a.start_ns - b.start_ns
    if a.loop_start_ns is None or b.loop_start_ns is None:
        lacking = " and ".join(name for name, one in (("A", a), ("B", b)) if one.loop_start_ns is None)
        raise MissingTable(f"{lacking} recorded no steps, so there is no first step to align by.", "Align by start.")
    return a.loop_start_ns - b.loop_start_ns
