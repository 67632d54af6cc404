"""The report as a user gets it: from the page's menu to a file that opens offline and says what the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from components.report.render import render
from tests import frames, reports
from tests.browser.driving import settled

JOB = "tf-hvd-resnet50-cifar10-256"
DAY_S = 24 * 3600


@pytest.fixture
def offline(context: BrowserContext) -> Iterator[Callable[[Path], Page]]:
    """Opens a file from disk in a browser without a network; nothing may be asked for, said or complained about."""
    faults: list[str] = []

    def refuse(route: Any) -> None:
        faults.append(f"asked {route.request.url}")
        route.abort()

    def show(path: Path) -> Page:
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.route(re.compile("^(?!file:|data:|blob:)"), refuse)
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(f"said {dialog.message}"), dialog.dismiss()))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        return page

    yield show
    assert faults == []


def download(page: Page, words: str, *, nameless: bool = False) -> Path:
    """The file behind an entry of the menu."""
    page.locator("#shell-report-words").click()
    box = page.locator("#shell-report-anonymous input")
    if box.is_checked() != nameless:
        box.click()
    with page.expect_download(timeout=60_000) as started:
        page.locator(".report-list").get_by_role("button", name=words).click()
    expect(page.locator("#shell-report-words")).to_have_text("Download report")
    page.keyboard.press("Escape")
    path = Path(started.value.path()).with_name(started.value.suggested_filename)
    Path(started.value.path()).rename(path)
    page.locator("h1").click()
    return path


def test_the_report_opens_offline_and_says_what_the_page_says(
    page: Page, job_url: Callable[..., str], offline: Callable[[Path], Page]
) -> None:
    page.goto(job_url(JOB))
    settled(page)
    facts = page.locator("#overview-details-body dl.facts")
    names, values = facts.locator("dt").all_inner_texts(), facts.locator("dd").all_inner_texts()
    details = list(zip(names, values, strict=True))[:11]
    page.locator("[data-panel='overview-usage']").scroll_into_view_if_needed()
    page.wait_for_selector("table.usage")
    usage = [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()][:8]
        for row in page.locator("table.usage tbody tr").all()
    ]
    page.evaluate("window.scrollTo(0, 0)")
    file = download(page, "HTML")
    assert file.name == f"{JOB}-report.html"
    assert file.stat().st_size < 5_000_000
    found = json.loads(download(page, "JSON").read_text())
    assert download(page, "Markdown").read_text().startswith(f"## Training job {JOB}")

    report = offline(file)
    expect(report.locator("h1")).to_have_text(JOB)
    shown = dict(
        zip(
            report.locator("#summary table tbody th").all_inner_texts(),
            report.locator("#summary table tbody td").all_inner_texts(),
            strict=True,
        )
    )
    assert len(details) == 11
    assert [(name, shown[name]) for name, _ in details] == details
    table = [row.locator("th, td").all_inner_texts() for row in report.locator("#usage tbody tr").all()]
    assert table == usage
    assert len(table) == 18
    assert f"{found['cost']['usd']:.2f}" == "6.16"
    expect(report.locator(".kpis")).to_contain_text("$6.16")
    assert report.locator(".chart .main-svg").count() >= 2 * 9
    busiest = found["system_usage"]["rows"][1]
    assert [busiest["metric"], f"{busiest['p95']:.1f}"] == ["GPU", usage[1][5]]


def test_the_report_without_names(page: Page, job_url: Callable[..., str], offline: Callable[[Path], Page]) -> None:
    page.goto(job_url(JOB))
    settled(page)
    file = download(page, "HTML", nameless=True)
    assert file.name == "report.html"
    text = file.read_text()
    assert [name for name in (JOB, "algo-1", "resnet50-cifar10") if name in text] == []
    expect(offline(file).locator("h1")).to_have_text("job")


def test_hostile_names_do_nothing(tmp_path: Path, offline: Callable[[Path], Page]) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(reports.hostile_report(), "html"))
    page = offline(path)
    assert page.locator("img, iframe, object").count() == 0
    expect(page.locator("h1")).to_contain_text("<img src=x onerror=alert(1)>")


def test_without_scripts_all_but_the_charts_is_there(tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(reports.report(), "html"))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.locator("noscript .absent")).to_be_visible()
    expect(page.locator("#usage tbody tr")).to_have_count(18)
    context.close()


def long_report() -> Any:
    """A day of 16 nodes with 8 GPUs and 96 cores each, sampled twice a second, 160,000 steps; reduced as queries do."""
    nodes = tuple(f"algo-{at}" for at in range(1, 17))
    header = frames.job_header(
        nodes=nodes, gpus=128, cpus=16 * 96, end_ns=frames.START_NS + DAY_S * frames.S, step_count=160_000
    )
    devices = [(node, f"gpu{at}") for node in nodes for at in range(8)]
    rows = [row for node in nodes for row in frames.usage_rows(node)]
    points = frames.step_timeline()
    repeat = -(-2000 // len(points.step))
    timeline = {
        name: getattr(points, name).repeat(repeat)[:2000]
        for name in ("group", "start_ns", "step", "duration_ns", "mean_ns")
    }
    heat = frames.heatmap(nodes, gpus=8, cores=96, pooled=12, bins=400, bin_ns=216 * frames.S)
    return reports.report(
        header=header,
        usage=frames.usage_summary(rows),
        heatmap=heat,
        step_timeline=frames.step_timeline(**timeline),
        gpu_memory=frames.over_time("gpu_memory", devices, bins=480, bin_ns=180 * frames.S),
    )


def test_a_day_of_sixteen_nodes_stays_small_and_draws(tmp_path: Path, offline: Callable[[Path], Page]) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(long_report(), "html"))
    assert path.stat().st_size < 5_000_000
    page = offline(path)
    assert page.locator("#utilization .chart .main-svg").count() >= 16


@pytest.mark.parametrize("width", [1440, 700])
def test_the_report_fits_the_screen(tmp_path: Path, offline: Callable[[Path], Page], width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(reports.report(), "html"))
    page = offline(path)
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_report_has_no_serious_fault_of_accessibility(context: BrowserContext, tmp_path: Path) -> None:
    """With the policy taken out, which would not let the checker in."""
    path = tmp_path / "report.html"
    text = render(reports.report(), "html")
    path.write_text(re.sub(r"<meta http-equiv=.*?>", "", text, count=1))
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    found = Axe().run(page).response["violations"]
    assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []


def test_the_report_prints(tmp_path: Path, offline: Callable[[Path], Page]) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(reports.report(), "html"))
    page = offline(path)
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 3 <= pages <= 12
    assert page.locator("details[open]").count() == 0  # as before printing
