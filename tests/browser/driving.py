"""How browser tests drive the dashboard: a server in a thread, waiting for panels, dragging."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from werkzeug.serving import make_server

if TYPE_CHECKING:
    from playwright.sync_api import Page


@contextmanager
def serving(**values: Any) -> Iterator[str]:
    """The address of a server with these settings."""
    from app.server import create_app
    from app.settings import load

    settings = load(**values)
    server = create_app(settings).server
    server.test_client().get(settings.prefix)
    listener = make_server("127.0.0.1", 0, server, threaded=True)
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.port}{settings.prefix}"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


def is_local(url: str) -> bool:
    """Whether a request stays on this host."""
    return url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def settled(page: Page) -> None:
    """Wait until every panel in view has its answer."""
    page.wait_for_selector("#job")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.panel.loading')].every(panel => {
             const box = panel.getBoundingClientRect();
             return box.top > innerHeight + 150 || box.bottom < -150;
           }) && document.querySelectorAll('[data-panel]').length > 0"""
    )


def ranges(page: Page) -> list[list[str]]:
    """The ranges of the time axes of all charts in view."""
    found: list[list[str]] = page.evaluate(
        """() => insights.panels.graphs()
             .filter(graph => insights.panels.isTime(graph) && !insights.zoom.isWhole(graph))
             .filter(graph => insights.panels.inView(graph))
             .map(graph => graph._fullLayout.xaxis.range.map(value =>
               insights.zoom.fromPlotly(value) / 1000000n + ''))"""
    )
    return found


def drag(page: Page, panel: str, start: float, end: float) -> None:
    """Drag over a chart from one fraction of its width to another."""
    chart = page.locator(f"[data-panel='{panel}'] .nsewdrag").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], middle, steps=4)
    page.mouse.move(box["x"] + end * box["width"], middle, steps=4)
    page.mouse.up()
