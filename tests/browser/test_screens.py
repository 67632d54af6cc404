"""Every page in both themes and two sizes: nothing sticks out, no serious fault of accessibility, and pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.driving import settled

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "images"
SCREENS = ("jobs", "overview", "nodes", "quality")
SIZES = ((1440, 900), (1024, 768))
SERIOUS = {"serious", "critical"}


@pytest.fixture
def show(page: Page, site: str, job_url: Callable[..., str]) -> Callable[[str, str], None]:
    """Opens a screen in a theme."""

    def run(screen: str, theme: str) -> None:
        page.add_init_script(f"localStorage.setItem('mantine-color-scheme-value', '{theme}')")
        if screen == "jobs":
            page.goto(site)
            expect(page.locator(".job-link")).to_have_count(4)
        else:
            page.goto(job_url(tab="" if screen == "overview" else screen))
            settled(page)
        if screen == "quality":  # grids lay themselves out when they come into view
            for grid in ("problem", "file"):
                page.locator(f"#quality-{grid}-grid").scroll_into_view_if_needed()
                expect(page.locator(f"#quality-{grid}-grid .ag-overlay-no-rows-center")).to_be_visible()
            page.evaluate("scrollTo(0, 0)")
            settled(page)

    return run


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_has_no_serious_fault_and_is_pictured(
    page: Page, show: Callable[..., None], tmp_path: Path, screen: str, theme: str
) -> None:
    show(screen, theme)
    picture = tmp_path / f"{screen}-{theme}.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size > 20_000
    keep(picture)
    found = Axe().run(page).response["violations"]
    assert [describe(fault) for fault in found if fault["impact"] in SERIOUS] == []


def keep(picture: Path) -> None:
    """Put a picture into the documents where it is missing there, or where UPDATE_PICTURES asks for new ones."""
    kept = PICTURES / picture.name
    if os.environ.get("UPDATE_PICTURES") or not kept.exists():
        PICTURES.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(picture.read_bytes())


def describe(fault: dict[str, Any]) -> str:
    """A fault in one line."""
    return f"{fault['id']}: {[node['html'][:160] for node in fault['nodes'][:3]]}"


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_sticks_out_of_the_page(page: Page, show: Callable[..., None], screen: str) -> None:
    show(screen, "dark")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
