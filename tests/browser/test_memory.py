"""What the browser remembers: theme and time zone; and that a change of theme needs no server."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.driving import ranges, settled

LINES = "[data-panel=nodes-gpu] .scatterlayer .js-line"


def test_theme_sticks_and_needs_no_request(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(tab="nodes"))
    settled(page)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    strokes = f"[...document.querySelectorAll({LINES!r})].map(line => line.style.stroke).join()"
    dark = page.evaluate(strokes)
    page.get_by_role("button", name="Switch between dark and light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.wait_for_function(f"before => {strokes} !== before", arg=dark)
    assert asked == []
    page.remove_listener("request", note)
    page.reload()
    settled(page)
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate(strokes) != dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 249)"


THEMES_SEEN = """
localStorage.setItem('mantine-color-scheme-value', THEME);
window.themes = [];
(() => {
  const note = () => {
    const root = document.documentElement, theme = root && document.body && root.dataset.theme;
    if (theme && theme !== themes.at(-1)) themes.push(theme);
  };
  new MutationObserver(note).observe(document, {subtree: true, childList: true, attributes: true});
  const everyFrame = () => { note(); requestAnimationFrame(everyFrame); };
  everyFrame();
})();
"""
"""The themes in their order, from the first moment at which there is a body to paint."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_never_flashes_in_the_other_theme(page: Page, site: str, theme: str) -> None:
    page.add_init_script(THEMES_SEEN.replace("THEME", repr(theme)))
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    assert page.evaluate("themes") == [theme]


def test_time_zone_sticks_and_keeps_the_window(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(tab="nodes", query="?from=1607121860000&to=1607121920000.5"))
    settled(page)
    seen, url = ranges(page), page.url
    expect(page.locator(".job-head .page-sub")).to_contain_text("22:39–22:48 UTC")
    page.get_by_role("button", name="Local").click()
    expect(page.locator(".job-head .page-sub")).to_contain_text("23:39–23:48 UTC+01:00")
    settled(page)
    page.wait_for_function("() => insights.panels.graphs()[1]._fullLayout.xaxis.range[0].includes(' 23:')")
    assert ranges(page) == seen
    assert page.url == url
    page.reload()
    settled(page)
    expect(page.get_by_role("button", name="Local")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-window-time]").first).to_have_text(re.compile("^23:"))
    assert ranges(page) == seen


def test_copy_link_copies_the_address(page: Page, job_url: Callable[..., str]) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(job_url())
    settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_help_lists_the_keys(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    page.locator("main").focus()
    page.keyboard.press("?")
    expect(page.locator("#help-dialog")).to_contain_text("zoom in and out")
    page.keyboard.press("Escape")
    expect(page.locator("#help-dialog")).to_be_hidden()
