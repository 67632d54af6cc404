"""One time axis: a drag on one chart moves all of them, the address holds the window, and the way back works."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import drag, ranges, settled

GPU = "nodes-gpu"


def window_ms(page: Page) -> tuple[float, float]:
    query = parse_qs(urlsplit(page.url).query)
    return float(query["from"][0]), float(query["to"][0])


@pytest.fixture
def nodes(page: Page, job_url: Callable[..., str]) -> Page:
    page.goto(job_url(tab="nodes"))
    settled(page)
    page.locator(f"[data-panel='{GPU}']").scroll_into_view_if_needed()
    settled(page)
    return page


def zoomed(page: Page) -> None:
    expect(page).to_have_url(re.compile(r"[?&]from=\d+(\.\d{1,6})?&to=\d+"))
    settled(page)


def test_a_drag_moves_all_charts_and_the_address(nodes: Page) -> None:
    before = ranges(nodes)
    assert len(before) >= 3
    assert len({tuple(pair) for pair in before}) == 1
    drag(nodes, GPU, 0.5, 0.7)
    zoomed(nodes)
    after = ranges(nodes)
    assert len({tuple(pair) for pair in after}) == 1
    start, end = window_ms(nodes)
    assert [float(value) for value in after[0]] == pytest.approx([start, end], abs=1)
    whole = float(before[0][1]) - float(before[0][0])
    assert end - start == pytest.approx(0.2 * whole, rel=0.05)


def test_a_drag_is_one_step_of_the_history(nodes: Page) -> None:
    before = ranges(nodes)
    length = nodes.evaluate("history.length")
    drag(nodes, GPU, 0.3, 0.8)
    zoomed(nodes)
    assert nodes.evaluate("history.length") == length + 1
    nodes.go_back()
    expect(nodes).not_to_have_url(re.compile("from="))
    nodes.wait_for_function("() => insights.address.currentWindow() === null")
    settled(nodes)
    assert ranges(nodes) == before


def test_a_zoom_asks_again_at_finer_resolution(nodes: Page) -> None:
    note = nodes.locator(f"#{GPU}-note")
    coarse = note.inner_text()
    drag(nodes, GPU, 0.7, 0.72)
    zoomed(nodes)
    expect(note).not_to_have_text(coarse)
    expect(note).to_contain_text("500 ms")


def test_reload_gives_the_same_screen(nodes: Page) -> None:
    drag(nodes, GPU, 0.4, 0.6)
    zoomed(nodes)
    seen, url = ranges(nodes)[0], nodes.url
    nodes.reload()
    settled(nodes)
    assert nodes.url == url
    assert ranges(nodes)[0] == seen


def test_double_click_returns_to_the_whole_job(nodes: Page) -> None:
    before = ranges(nodes)
    drag(nodes, GPU, 0.4, 0.6)
    zoomed(nodes)
    for _ in range(2):
        nodes.locator(f"[data-panel='{GPU}'] .nsewdrag").first.dblclick()
        expect(nodes).not_to_have_url(re.compile("from="))
        settled(nodes)
        assert ranges(nodes) == before


def test_keys_zoom_and_pan_within_the_job(nodes: Page) -> None:
    whole = [float(value) for value in ranges(nodes)[0]]
    nodes.keyboard.press("w")
    zoomed(nodes)
    start, end = window_ms(nodes)
    assert end - start == pytest.approx((whole[1] - whole[0]) / 2, rel=0.01)
    for _ in range(6):
        nodes.keyboard.press("d")
    expect(nodes).not_to_have_url(re.compile(re.escape(f"to={end:.0f}")))
    settled(nodes)
    start, end = window_ms(nodes)
    assert end <= whole[1] + 1
    assert end - start == pytest.approx((whole[1] - whole[0]) / 2, rel=0.01)
    nodes.keyboard.press("0")
    expect(nodes).not_to_have_url(re.compile("from="))


def test_keys_do_nothing_while_typing(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("searchbox").fill("")
    page.get_by_role("searchbox").press_sequentially("wasd0?")
    expect(page.get_by_role("searchbox")).to_have_value("wasd0?")
    expect(page.locator("#help-dialog")).to_be_hidden()


def test_nodes_and_metric_are_in_the_address(nodes: Page) -> None:
    nodes.get_by_role("button", name="algo-2").click()
    expect(nodes).to_have_url(re.compile(r"\?node=algo-2$"))
    settled(nodes)
    nodes.get_by_role("button", name="GPU memory", exact=True).click()
    expect(nodes).to_have_url(re.compile("metric=gpu_memory"))
    nodes.reload()
    settled(nodes)
    expect(nodes.get_by_role("button", name="algo-2")).to_have_attribute("aria-pressed", "true")
    expect(nodes.get_by_role("button", name="GPU memory", exact=True)).to_have_attribute("aria-pressed", "true")
    nodes.go_back()
    expect(nodes.get_by_role("button", name="GPU memory", exact=True)).to_have_attribute("aria-pressed", "false")


def test_the_hover_line_is_common(nodes: Page) -> None:
    box = nodes.locator(f"[data-panel='{GPU}'] .nsewdrag").first.bounding_box()
    assert box is not None
    nodes.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40)
    expect(nodes.locator(".hover-line.on").nth(2)).to_be_attached()
    expect(nodes.locator("[data-panel='nodes-cpu'] .hover-tag.on")).to_contain_text("%")


def test_a_window_survives_the_address_exactly(nodes: Page) -> None:
    same = nodes.evaluate(
        """() => [0n, 1n, 999999n, 1607121560122500000n, 1607121560122500001n, -1500000n].every(ns =>
             insights.address.parseMilliseconds(insights.address.formatMilliseconds(ns)) === ns)"""
    )
    assert same
