"""Framework events in the browser: a click leads to a table, a zoom to bars, and names from traces stay text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests import framework, trees
from tests.browser.driving import drag, serving, settled
from tests.framework import Event
from tests.stored import convert, only_job

NAME = "<b>conv</b> $x$ %{y}"
ROWS = "#nodes-events-grid .ag-center-cols-container .ag-row"
LANES = "[data-panel='nodes-lanes']"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A job of one process: 1,000 steps of 10 ms, each with a forward and a backward pass and a wait for data."""
    folder = tmp_path_factory.mktemp("framework")
    events = []
    for step in range(1000):
        at = step * 10_000
        events.append(Event("step", "Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", at, 9_900))
        events.append(Event("", "DataLoaderIter", "GetNext", at, 1_000))
        events.append(Event("forward", "Forward", NAME, at + 1_000, 3_000))
        events.append(Event("backward", "Backward(post-forward)", "net", at + 4_000, 5_000))
    framework.write(folder / "job", events)
    convert(folder / "job", folder / "store")
    with serving(source=(str(folder / "job"),), store=folder / "store", cache=folder / "cache") as site:
        yield f"{site}jobs/{only_job(folder / 'job').job_id}/nodes"


def show(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    page.locator(LANES).scroll_into_view_if_needed()
    settled(page)


def click(page: Page, across: float, down_px: float) -> None:
    """Click the lanes at a fraction of their width."""
    box = page.locator(f"{LANES} .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down_px)
    page.wait_for_function("() => document.querySelector(\"[data-panel='nodes-lanes'] .hoverlayer .hovertext\")")
    page.mouse.click(box["x"] + across * box["width"], box["y"] + down_px)


def test_a_click_on_a_column_lists_its_events_and_csv_saves_them(page: Page, address: str) -> None:
    show(page, address)
    expect(page.locator("#nodes-lanes-caption")).to_contain_text("4,000 events in this window, counted exactly")
    click(page, 0.5, 123)
    expect(page.locator(ROWS).first).to_be_visible()
    expect(page.locator(f"{ROWS} [col-id='name']").first).to_have_text(NAME)
    assert "Forward" in page.url
    with page.expect_download() as download:
        page.locator("[data-grid-csv]").click()
    head, *lines = csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig")))
    assert head[:2] == ["name", "duration ms"]
    assert {tuple(line[:2]) for line in lines} == {(NAME, "3")}


def test_a_zoom_shows_single_events_and_a_click_on_one_those_beside_it(page: Page, address: str) -> None:
    show(page, address)
    drag(page, "nodes-lanes", 0.4, 0.44)
    expect(page.locator("#nodes-lanes-note")).to_contain_text("each event is a bar")
    assert page.evaluate("() => document.querySelector('#nodes-lanes .js-plotly-plot')._fullData[0].type") == "bar"
    click(page, 0.5, 20)
    expect(page.locator(ROWS).first).to_contain_text("Step:ModeKeys.TRAIN")


def test_a_lane_can_be_chosen_by_keyboard_and_the_page_is_accessible(page: Page, address: str) -> None:
    show(page, address)
    page.locator("[data-panel='nodes-events'] summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="DataLoaderIter", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-panel='nodes-events']")).to_contain_text("1,000 events, 1 s together, the 500 longest")
    found = Axe().run(page, context="main").response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_an_undated_job_counts_from_its_start(page: Page, tmp_path: Path) -> None:
    trace = b'{"traceEvents": [{"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 5000000, "dur": 2000000}]}'
    trees.write(tmp_path / "job", {"run.trace.json": trace})
    convert(tmp_path / "job", tmp_path / "store")
    with serving(source=(str(tmp_path / "job"),), store=tmp_path / "store", cache=tmp_path / "cache") as site:
        show(page, f"{site}jobs/{only_job(tmp_path / 'job').job_id}/nodes")
        expect(page.locator("[data-window-time]")).to_have_text("+0.00 ms – +2 s")
        drag(page, "nodes-lanes", 0.25, 0.5)
        expect(page.locator("[data-window-time]")).to_contain_text("+50")
        assert "1970" not in page.locator("main").inner_text()
        page.goto(site)
        expect(page.locator("#jobs-grid [col-id='start_ns'] .hatch-tag")).to_be_visible()
