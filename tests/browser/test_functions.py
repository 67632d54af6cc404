"""The table of Python functions in the browser: search, part of the training, names as text, CSV, accessibility."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests import trees
from tests.browser.driving import serving, settled
from tests.stored import convert, only_job

PANEL = "#overview-functions-grid"
ROWS = f"{PANEL} .ag-center-cols-container .ag-row"


def show(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    page.locator("[data-panel='overview-functions']").scroll_into_view_if_needed()
    expect(page.locator(ROWS).first).to_be_visible()


def names(page: Page) -> list[str]:
    return page.locator(f"{ROWS} [col-id='function']").all_inner_texts()


def test_search_filters_names_and_files_also_after_a_change_of_phase(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url())
    page.fill("#overview-functions-search", "augment.py")
    expect(page.locator(ROWS)).to_have_count(2)
    assert sorted(names(page)) == ["normalize", "random_crop"]
    page.fill("#overview-functions-search", "zlib")
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("button", name="Finalization", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(1)
    assert names(page) == ["<built-in method zlib.compress>"]
    assert "phase=finalization" in page.url


def test_a_click_on_a_header_sorts(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url())
    page.locator(f"{PANEL} .ag-header-cell[col-id='cumulative']").click()
    page.locator(f"{PANEL} .ag-header-cell[col-id='cumulative']").click()
    expect(page.locator(f"{PANEL} .ag-header-cell[col-id='cumulative']")).to_have_attribute("aria-sort", "descending")
    expect(page.locator(f"{PANEL} [row-index='0'] [col-id='function']")).to_have_text("main")


def test_csv_holds_the_chosen_part(page: Page, job_url: Callable[..., str]) -> None:
    show(page, job_url(query="?phase=finalization"))
    with page.expect_download() as download:
        page.click("#overview-functions-csv")
    head, *lines = csv.reader(io.StringIO(Path(download.value.path()).read_text()))
    assert head[3] == "function"
    assert {line[3] for line in lines} >= {"finish", "evaluate", "save"}
    assert "train_step" not in {line[3] for line in lines}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_table_has_no_serious_fault_of_accessibility(page: Page, job_url: Callable[..., str], theme: str) -> None:
    page.add_init_script(f"localStorage.setItem('mantine-color-scheme-value', '{theme}')")
    show(page, job_url())
    found = Axe().run(page, context="[data-panel='overview-functions']").response["violations"]
    assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []


def test_names_of_functions_are_text(page: Page, tmp_path: Path) -> None:
    name = "<img src=x onerror='window.run = 1'>"
    stats: trees.FunctionStats = {(f"{name}.py", 3, name): (1, 2, 1.5, 1.5, {})}
    path = trees.profile_path("train-1-stepstart", trees.START_US, "train-1-stepend", trees.START_US + 900_000)
    trees.write(tmp_path / "job", {path: trees.profile_file(stats)})
    convert(tmp_path / "job", tmp_path / "store")
    with serving(source=(str(tmp_path / "job"),), store=tmp_path / "store", cache=tmp_path / "cache") as site:
        show(page, f"{site}jobs/{only_job(tmp_path / 'job').job_id}")
        assert names(page) == [name]
        assert page.evaluate("window.run") is None
