"""How a request wants its charts: the span and kind of its time axis, its width, and what its address chooses."""

from __future__ import annotations

from app.panels import Request
from components.figures.axes import View
from data.frames import JobHeader
from data.queries import jobs
from data.selection import Selection, Window
from data.store import Fetch

_PLOT_MARGIN_PX = 66


def view_of(fetch: Fetch, request: Request) -> View:
    """The view of a request; without a window the axis spans the job."""
    header = fetch(jobs.header, Selection(request.selection.job))
    window = request.selection.window
    if window is None:
        window = Window(header.start_ns, max(header.end_ns, header.start_ns + 1))
    return View(window, request.theme, request.offset_minutes, request.search, origin_of(header))


def origin_of(header: JobHeader) -> int | None:
    """The moment that times count from where nobody knows when the job was."""
    return None if header.wall_clock else header.start_ns


def plot_px(request: Request) -> int:
    """The width of the plot in steps of 20 pixels, so that nearly equal screens share an answer."""
    return max((request.width - _PLOT_MARGIN_PX) // 20 * 20, 100)


def chosen(request: Request, key: str, options: tuple[tuple[str, str], ...], default: str) -> str:
    """The value of a key of the address, where it is one of the options."""
    value = request.query.get(key, default)
    return value if value in {option for option, _ in options} else default
