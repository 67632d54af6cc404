"""The data quality tab in the browser: it opens, its grids ask, search and switch stand in the address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import trees
from tests.browser.driving import serving, settled
from tests.stored import convert

LONG = "algo-1-" + "with-a-very-long-name-" * 5


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server over a job that lost lines, and the job's path; a source of its own folder."""
    folder = tmp_path_factory.mktemp("quality")
    records = trees.machine("algo-1", ticks=500) + trees.machine("algo-2", ticks=500, skip=range(100, 260))
    metrics = trees.metrics_files(records)
    broken = trees.metrics_path(trees.START_US, "algo-2")
    trees.write(folder / "job", metrics | {broken: metrics[broken] + b'{"broken\n' * 150})
    trees.write(folder / "job", {trees.metrics_path(trees.START_US, LONG): b'{"cut":'})
    job_id = convert(folder / "job", folder / "store").job_id
    with serving(source=(str(folder / "job"),), store=folder / "store", cache=folder / "cache") as address:
        yield address, f"jobs/{job_id}"


def test_the_mark_of_a_job_leads_to_the_tab(page: Page, damaged: tuple[str, str]) -> None:
    address, job = damaged
    page.goto(address)
    page.get_by_role("link", name=re.compile("151 records lost")).click()
    expect(page).to_have_url(re.compile(f"{job}/quality$"))
    expect(page.locator(".job-tab[aria-current]")).to_contain_text("Data quality")
    settled(page)
    expect(page.locator(".verdict")).to_contain_text("151 records of")
    expect(page.locator("[data-panel='quality-coverage'] .js-plotly-plot .barlayer").first).to_be_attached()
    expect(page.locator("table.statements")).to_contain_text("algo-2 has no record for 1 min 20 s")


def test_problems_are_searched_and_the_words_stay_in_the_address(page: Page, damaged: tuple[str, str]) -> None:
    address, job = damaged
    page.goto(f"{address}{job}/quality")
    page.locator("#quality-problem-grid").scroll_into_view_if_needed()
    expect(page.locator("#quality-problems-note")).to_contain_text("22 problems and notes")
    page.keyboard.press("/")
    page.keyboard.type("cut off")
    expect(page.locator("#quality-problems-note")).to_contain_text("1 problem or note")
    expect(page).to_have_url(re.compile(r"\?q=cut\+off$"))
    page.reload()
    expect(page.locator("#quality-search")).to_have_value("cut off")
    page.locator("#quality-problem-grid").scroll_into_view_if_needed()
    expect(page.locator("#quality-problems-note")).to_contain_text("1 problem or note")
    page.locator("#quality-search").fill("")
    expect(page.locator("#quality-problems-note")).to_contain_text("22 problems and notes")
    expect(page).to_have_url(re.compile("quality$"))


def test_all_files_are_shown_where_they_are_asked_for(page: Page, damaged: tuple[str, str]) -> None:
    address, job = damaged
    page.goto(f"{address}{job}/quality")
    page.locator("#quality-file-grid").scroll_into_view_if_needed()
    expect(page.locator("#quality-files-note")).to_contain_text("2 files with")
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("#quality-files-note")).to_have_text("10 files")
    expect(page).to_have_url(re.compile(r"\?files=all$"))
    settled(page)
    page.set_viewport_size({"width": 1024, "height": 768})
    page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_gap_is_shown_on_nodes(page: Page, damaged: tuple[str, str], context: object) -> None:
    address, job = damaged
    page.goto(f"{address}{job}/quality")
    page.get_by_role("link", name="Show in Nodes").first.click()
    expect(page).to_have_url(re.compile(rf"{job}/nodes\?from=\d+(\.\d+)?&to=\d+(\.\d+)?$"))
    settled(page)


def test_problems_come_as_csv(page: Page, damaged: tuple[str, str]) -> None:
    address, job = damaged
    page.goto(f"{address}{job}/quality")
    settled(page)  # a click before the page is at work is nobody's
    with page.expect_download() as download:
        page.locator("#quality-problem-csv").click()
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 23


def test_a_job_without_losses_says_so(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(tab="quality"))
    settled(page)
    expect(page.locator(".verdict")).to_contain_text("Everything was read")
    expect(page.locator(".chip.lost")).to_have_count(0)
