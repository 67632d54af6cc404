"""Insights in the browser: opened, followed into Nodes, judged anew by another threshold, and back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.driving import ranges, serving, settled
from tests.browser.test_screens import SERIOUS, describe
from tests.conftest import Demo
from tests.quality import HOSTILE

RULE = "LowGPUUtilization"
ENTRY = f"[data-insight='{RULE}']"
P95 = f"#threshold-{RULE}_threshold_p95"


def opened(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.insight[open]')].map(one => one.dataset.insight)"
    )
    return found


def test_an_insight_opens_by_key_and_leads_to_its_window(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(query="?insight="))
    settled(page)
    expect(page.locator(".insights-count")).to_contain_text(re.compile(r"Showing \d+ rules, \d+ found an issue"))
    assert opened(page) == []
    page.locator(f"{ENTRY} > summary").focus()
    page.keyboard.press("Enter")
    link = page.locator(f"{ENTRY} .insight-places a").first
    expect(link).to_be_visible()
    expect(page).to_have_url(re.compile(rf"\?insight={RULE}$"))
    target = link.get_attribute("href") or ""
    window = re.search(r"from=([\d.]+)&to=([\d.]+)", target)
    assert window is not None
    link.click()
    expect(page).to_have_url(re.compile(re.escape(target)))
    settled(page)
    heatmap = page.locator("[data-panel='nodes-heatmap']")
    expect(heatmap.locator(".js-plotly-plot .hm").first).to_be_attached()
    first, last = float(window[1]), float(window[2])
    assert all(abs(float(start) - first) < 1 and abs(float(end) - last) < 1 for start, end in ranges(page))
    page.go_back()
    settled(page)
    assert opened(page) == [RULE]


def test_another_threshold_turns_the_verdict_and_back_turns_it_again(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(query=f"?insight={RULE}"))
    settled(page)
    badge = page.locator(f"{ENTRY} .insight-badge")
    expect(badge).to_have_text("Issue, high")
    page.locator(f"#threshold-{RULE}_threshold_p5").fill("0")
    page.locator(P95).fill("0")
    page.keyboard.press("Enter")
    expect(badge).to_have_text("No issue")
    expect(page).to_have_url(re.compile(rf"{RULE}_threshold_p95=0"))
    assert opened(page) == [RULE]
    expect(page.locator(P95)).to_be_focused()
    page.go_back()
    expect(badge).to_have_text("Issue, high")
    expect(page.locator(P95)).to_have_value("70")
    page.go_forward()
    expect(badge).to_have_text("No issue")
    expect(page.locator(P95)).to_have_value("0")
    page.locator(f"{ENTRY} [data-reset]").click()
    expect(badge).to_have_text("Issue, high")
    expect(page).not_to_have_url(re.compile("threshold"))


def test_a_value_that_makes_no_sense_is_refused_with_a_word(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(query=f"?insight={RULE}"))
    settled(page)
    row = page.locator(f"[data-threshold='{RULE}_threshold_p95']")
    page.locator(P95).fill("101")
    page.keyboard.press("Enter")
    expect(row.get_by_role("alert")).to_have_text("From 0 to 100.")
    expect(page.locator(P95)).to_have_attribute("aria-invalid", "true")
    page.locator(P95).fill("")
    page.keyboard.press("Tab")
    expect(row.get_by_role("alert")).to_have_text("That is no number.")
    expect(page).not_to_have_url(re.compile("threshold"))
    page.locator(P95).fill("71")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"{RULE}_threshold_p95=71"))
    expect(row.locator(".threshold-word")).to_be_empty()


def test_thresholds_come_as_a_file_and_all_can_be_reset(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url(query=f"?{RULE}_window=250&StoppedGPU_seconds=30"))
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save thresholds").click()
    profile = tomllib.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert (profile[RULE]["window"], profile["StoppedGPU"]["seconds"]) == (250, 30)
    page.get_by_role("button", name="Reset all").click()
    expect(page).not_to_have_url(re.compile("window|seconds"))
    expect(page.locator(".insight-title span")).to_have_count(0)


def test_counting_as_the_original_is_a_switch_in_the_address(page: Page, job_url: Callable[..., str]) -> None:
    page.goto(job_url())
    settled(page)
    expect(page.locator("[data-insight='StoppedGPU']")).to_have_count(1)
    page.get_by_role("button", name="As the original counted").click()
    expect(page.locator("[data-insight='StoppedGPU']")).to_have_count(0)
    expect(page).to_have_url(re.compile("mode=compat"))
    page.go_back()
    expect(page.locator("[data-insight='StoppedGPU']")).to_have_count(1)


CUSTOM = """
from data.frames.findings import Figure, Outcome, Place
from data.insights.rule import Rule, Setting

WORDS = {words!r}


def judge(evidence, values):
    places = tuple(Place(WORDS, WORDS, None, WORDS) for _ in range(5))
    figures = (Figure(WORDS, 1.0, WORDS),)
    return Outcome("issue", WORDS, 3, WORDS, 2, 1, places, figures, advice=(WORDS,), confidence=WORDS)


RULE = Rule("Custom{number}", WORDS, WORDS, (WORDS,), (Setting("limit" * 8, 1.0, WORDS, WORDS),), judge)
"""


@pytest.fixture(scope="module")
def crowded(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo job under more than twenty rules, most of them with hostile words."""
    folder = tmp_path_factory.mktemp("rules")
    for number in range(20):
        (folder / f"rule{number}.py").write_text(
            CUSTOM.format(words=HOSTILE + "w" * 80, number=number), encoding="utf-8"
        )
    (folder / "broken.py").write_text("def", encoding="utf-8")
    cache = tmp_path_factory.mktemp("cache")
    with serving(source=(str(demo.source),), store=demo.store, cache=cache, rules=folder) as address:
        yield f"{address}jobs/{demo.job_ids['tf-hvd-resnet50-cifar10-256']}"


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_many_findings_with_hostile_words_fit_and_can_be_read(page: Page, crowded: str, theme: str) -> None:
    page.add_init_script(f"localStorage.setItem('mantine-color-scheme-value', '{theme}')")
    page.set_default_timeout(3 * PATIENCE_MS)
    page.goto(f"{crowded}?insight=Custom3.Broken.LowGPUUtilization&LowGPUUtilization_window=0")
    settled(page)
    expect(page.locator("[data-insight='Custom19']")).to_have_count(1)
    expect(page.locator("[data-insight='Broken'] .insight-sentence")).to_contain_text("invalid syntax")
    found = Axe().run(page).response["violations"]
    assert [describe(fault) for fault in found if fault["impact"] in SERIOUS] == []
    for width in (1440, 1181, 1024, 700):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        wide = page.evaluate(
            """() => [...document.querySelectorAll('.insights *')].filter(one => {
                 const box = one.getBoundingClientRect(), panel = one.closest('.panel').getBoundingClientRect();
                 return box.width > 1 && (box.right > panel.right + 1 || box.left < panel.left - 1);
               }).filter(one => !one.closest('.visually-hidden')).map(one => one.className).slice(0, 5)"""
        )
        assert wide == [], width


def test_insights_come_first_on_a_narrow_screen_and_at_the_right_on_a_wide_one(
    page: Page, job_url: Callable[..., str]
) -> None:
    page.goto(job_url())
    settled(page)

    def at(selector: str) -> dict[str, float]:
        box = page.locator(selector).bounding_box()
        assert box is not None
        return dict(box)

    assert at("[data-panel='overview-insights']")["x"] > at(".overview-main")["x"]
    page.set_viewport_size({"width": 1024, "height": 900})
    page.wait_for_function("() => document.querySelector('.overview-main').clientWidth > 900")
    assert at("[data-panel='overview-insights']")["y"] < at(".overview-main")["y"]
    assert at("[data-panel='overview-insights']")["y"] > at("[data-panel='overview-kpis']")["y"]


def test_the_list_of_jobs_is_sorted_and_filtered_by_issues(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator(".job-link")).to_have_count(4)
    page.locator(".ag-header-cell[col-id='wasted_gpu_hours']").click()
    page.locator(".ag-header-cell[col-id='wasted_gpu_hours']").click()
    first = page.locator(".ag-pinned-left-cols-container .ag-row[row-index='0']")
    expect(first).to_contain_text("tf-hvd-resnet50-cifar10-256")
    page.get_by_role("button", name="High", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?issues=high$"))
    expect(page.locator(".job-link")).not_to_have_count(4)
    expect(page.locator(".ag-cell[col-id='issues'] .level.error")).to_have_count(page.locator(".job-link").count())
    page.go_back()
    expect(page.locator(".job-link")).to_have_count(4)
