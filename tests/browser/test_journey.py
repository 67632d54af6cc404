"""The way of a user: the list, a job, its tabs, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.driving import serving, settled


def test_list_shows_the_jobs_and_opens_one(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    expect(page).to_have_title("Jobs · Debugger Insights")
    page.get_by_role("link", name="tf-hvd-resnet50-cifar10-256").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tf-hvd-resnet50-cifar10-256")
    expect(page).to_have_url(re.compile(r"/jobs/tf-hvd-resnet50-cifar10-256-[0-9a-f]{8}$"))
    settled(page)
    expect(page.locator("main")).to_contain_text("503.000 s")
    page.locator("a.job-tab", has_text="Nodes").click()
    settled(page)
    expect(page.locator("[data-panel='nodes-heatmap'] .js-plotly-plot .hm").first).to_be_attached()
    page.go_back()
    expect(page.locator(".job-tab[aria-current]")).to_have_text("Overview")
    page.go_back()
    expect(page.locator(".job-link")).to_have_count(4)


def test_search_filters_the_list_and_stays_in_the_address(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    page.keyboard.press("/")
    page.keyboard.type("cifar")
    expect(page.locator(".job-link")).to_have_count(2)
    expect(page.locator("#jobs-count")).to_have_text("2 jobs")
    expect(page).to_have_url(re.compile(r"\?q=cifar$"))
    page.reload()
    expect(page.locator(".job-link")).to_have_count(2)


def test_sorting_asks_the_server(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    page.locator(".ag-header-cell[col-id='gpus']").click()
    first = page.locator(".ag-pinned-left-cols-container .ag-row[row-index='0']")
    expect(first).to_contain_text("pt-tabular-cpu")
    page.locator(".ag-header-cell[col-id='gpus']").click()
    expect(first).to_contain_text("cifar10-256")


def test_csv_holds_what_the_list_shows(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("job_id,name,status")


def test_reload_of_the_list_keeps_the_screen(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator("#jobs-count")).to_have_text("4 jobs")
    page.get_by_role("button", name="Look for new data").click()
    expect(page.locator(".age-words")).to_contain_text("listed")
    expect(page.locator(".job-link")).to_have_count(4)


def test_refresh_of_a_job_draws_it_again(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(tab="nodes"))
    settled(page)
    page.evaluate("() => { document.querySelector('[data-panel]').dataset.old = '1'; }")
    page.get_by_role("button", name="Look for new data").click()
    expect(page.locator("[data-old]")).to_have_count(0)
    settled(page)
    expect(page.locator("[data-panel='nodes-heatmap'] .js-plotly-plot .hm").first).to_be_attached()


def test_a_job_without_gpus_says_so(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url("pt-tabular-cpu", "nodes"))
    settled(page)
    expect(page.locator("main")).to_contain_text("no GPU")
    expect(page.locator(".hatch-tag").first).to_be_attached()


def test_a_job_not_converted_opens_by_itself(page: Page, demo_source: Path, tmp_path: Path) -> None:
    with serving(source=(str(demo_source / "pt-tabular-cpu"),), store=tmp_path / "store") as address:
        page.goto(address)
        expect(page.locator(".ag-row .cell-muted").filter(has_text="not converted").first).to_be_visible()
        page.get_by_role("link", name="pt-tabular-cpu").click()
        expect(page.get_by_role("progressbar")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        page.wait_for_selector(".job-tab", timeout=60_000)
        settled(page)
        page.go_back()
        page.get_by_role("button", name="Remove pt-tabular-cpu from the store").click()
        expect(page.locator("#jobs-remove-dialog")).to_contain_text("Its source is not touched")
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.locator(".ag-row .cell-muted").filter(has_text="not converted").first).to_be_visible()
    assert (demo_source / "pt-tabular-cpu").is_dir()


def test_convert_all_shows_its_progress(page: Page, demo_source: Path, tmp_path: Path) -> None:
    with serving(source=(str(demo_source / "pt-tabular-cpu"),), store=tmp_path / "store") as address:
        page.goto(address)
        page.get_by_role("button", name="Convert all").click()
        expect(page.get_by_role("progressbar")).to_be_visible()
        expect(page.locator(".sparkline, .cell-bar").first).to_be_visible(timeout=60_000)
        expect(page.get_by_role("progressbar")).to_have_count(0)
        expect(page.get_by_role("button", name="Convert all")).to_be_hidden()


def test_an_empty_folder_opens_the_first_screen(page: Page, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    with serving(source=(str(tmp_path / "jobs"),), store=tmp_path / "store") as address:
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_have_text("No training jobs yet")
        expect(page.locator("main")).to_contain_text(str(tmp_path / "jobs"))
        expect(page.locator("main")).to_contain_text("make demo")


def test_everything_works_below_a_prefix(page: Page, demo_source: Path, tmp_path: Path, demo: object) -> None:
    store = demo.store  # type: ignore[attr-defined]
    with serving(source=(str(demo_source),), store=store, cache=tmp_path / "cache", prefix="/insights/") as address:
        page.goto(address)
        page.get_by_role("link", name="tf-hvd-resnet50-cifar10-512").click()
        settled(page)
        page.locator("a.job-tab", has_text="Nodes").click()
        settled(page)
        expect(page).to_have_url(re.compile(r"/insights/jobs/[^/]+/nodes$"))
        page.get_by_role("link", name="Debugger Insights").click()
        expect(page.locator(".job-link")).to_have_count(4)
