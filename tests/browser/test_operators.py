"""The operators in the browser: the sections show, the table searches, sorts and saves, names are text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests import framework
from tests.browser.driving import serving, settled
from tests.framework import Event
from tests.stored import convert, only_job

PANEL = "#overview-operators-grid"
ROWS = f"{PANEL} .ag-center-cols-container .ag-row"
JOB = "pt-bert-squad-running"


def show(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    page.locator("[data-panel='overview-operators']").scroll_into_view_if_needed()
    expect(page.locator(ROWS).first).to_be_visible()


def names(page: Page) -> list[str]:
    return page.locator(f"{ROWS} [col-id='name']").all_inner_texts()


def test_the_sections_show_and_the_table_searches(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url(JOB))
    expect(page.locator("[data-panel='overview-cpu-operators'] .bars li").first).to_contain_text("AddmmBackward")
    expect(page.locator("[data-panel='overview-gpu-operators'] .bars li").first).to_contain_text("AddmmBackward")
    expect(page.locator("[data-panel='overview-framework']")).to_contain_text("Forward pass")
    page.fill("#overview-operators-search", "softmax_backward")
    expect(page.locator(ROWS)).to_have_count(1)
    assert names(page) == ["_softmax_backward_data"]
    page.fill("#overview-operators-search", "embedding")
    expect(page.locator(ROWS)).to_have_count(5)
    page.locator("[data-panel='overview-operators']").get_by_role("button", name="GPU", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(2)
    assert sorted(names(page)) == ["EmbeddingBackward", "embedding"]
    assert "side=gpu" in page.url


def test_a_click_on_a_header_sorts_by_time_and_not_by_words(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url(JOB, query="?side=cpu"))
    head = page.locator(f"{PANEL} .ag-header-cell[col-id='own']")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.click()
    expect(page.locator(f"{PANEL} [row-index='0'] [col-id='name']")).to_have_text("mm")


def test_csv_holds_the_chosen_side(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url(JOB, query="?side=gpu"))
    with page.expect_download() as download:
        page.click("#overview-operators-csv")
    head, *lines = csv.reader(io.StringIO(Path(download.value.path()).read_text()))
    assert head[:2] == ["side", "operation"]
    assert {line[0] for line in lines} == {"gpu"}
    assert len(lines) == 13


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_sections_have_no_serious_fault_of_accessibility(
    page: Page, job_url: Callable[..., str], theme: str
) -> None:
    page.add_init_script(f"localStorage.setItem('mantine-color-scheme-value', '{theme}')")
    show(page, job_url(JOB))
    for panel in ("overview-cpu-operators", "overview-operators", "overview-framework"):
        page.locator(f"[data-panel='{panel}']").scroll_into_view_if_needed()
        settled(page)
        found = Axe().run(page, context=f"[data-panel='{panel}']").response["violations"]
        assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []


def test_names_of_operators_are_text(page: Page, tmp_path: Path) -> None:
    name = "<img src=x onerror='window.run = 1'>"
    framework.write(tmp_path / "job", [Event("cpu", "cpu_functions", name, 0, 10, "1")])
    convert(tmp_path / "job", tmp_path / "store")
    with serving(source=(str(tmp_path / "job"),), store=tmp_path / "store", cache=tmp_path / "cache") as site:
        show(page, f"{site}jobs/{only_job(tmp_path / 'job').job_id}")
        assert names(page) == [name]
        expect(page.locator("[data-panel='overview-cpu-operators'] .bars li")).to_contain_text(name)
        assert page.evaluate("window.run") is None
