"""The HTML file as text: one file, a policy that fits, everything escaped, every part there or said to be missing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import pytest

from components.report.render import render
from data.frames.report import Absent
from tests import frames, reports

SECTIONS = (
    "basis", "summary", "insights", "cost", "usage", "framework", "operators", "functions", "steps", "utilization",
    "memory", "quality", "comparison",
)  # fmt: skip
VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Tags with their attributes, the scripts' texts, and the words that are shown, of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page(**changes: object) -> Page:
    return Page(render(reports.report(**changes), "html"))


def test_every_section_has_a_heading_and_is_in_the_list_of_contents() -> None:
    found = page()
    ids = [attributes.get("id") for tag, attributes in found.tags if tag == "section"]
    assert ids == list(SECTIONS)
    links = [attributes["href"] for tag, attributes in found.tags if tag == "a"]
    assert links == [f"#{section}" for section in SECTIONS]
    titles = {attributes.get("id") for tag, attributes in found.tags if tag == "h2"}
    labels = {attributes.get("aria-labelledby") for tag, attributes in found.tags if tag == "section"}
    assert labels == titles
    assert found.faults == []
    assert found.open == []


def test_every_table_has_a_caption_and_every_chart_a_name() -> None:
    found = page()
    tags = [tag for tag, _ in found.tags]
    assert tags.count("table") == tags.count("caption") > 10
    charts = [attributes for _, attributes in found.tags if "data-chart" in attributes]
    assert len(charts) == 9  # phases, progress, 2 of steps, 3 nodes, memory, coverage
    assert all(one["role"] == "group" and one["aria-label"] for one in charts)
    figures = json.loads(next(text for attributes, text in found.scripts if attributes.get("id") == "figures"))
    assert sorted(figures) == sorted(str(one["data-chart"]) for one in charts)
    assert all(figure["data"] for figure in figures.values())


def test_the_policy_allows_the_scripts_of_the_page_and_nothing_else() -> None:
    found = page()
    (policy,) = [attributes["content"] for tag, attributes in found.tags if attributes.get("http-equiv")]
    assert policy is not None
    run = [text for attributes, text in found.scripts if attributes.get("type") != "application/json"]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    handlers = [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert handlers == []
    loaded = [name for _, attributes in found.tags for name in attributes if name in ("src", "srcset")]
    assert loaded == []


def test_hostile_names_are_text() -> None:
    found = Page(render(reports.hostile_report(), "html"))
    assert found.faults == []
    assert [tag for tag, _ in found.tags if tag in ("img", "iframe", "object", "svg")] == []
    assert len(found.scripts) == 3
    assert "<img src=x onerror=alert(1)>" in found.text
    assert "{{7*7}}" in found.text
    assert "\u202e" not in found.text


def test_figures_are_written_as_on_the_pages() -> None:
    text = page().text
    for words in ("8m 23s", "$6.16", "13.5", "1 of 1 rules", "aten::linear", "503.000 s"):
        assert words in text, words
    assert "and 29 problems more" in text
    assert "At most 0.50 GPU-hours (30.0 % of the job's GPU time): $1.84 at $3.672 per GPU-hour." in text
    assert "threshold_p95 60 % (usually 70)" in text


def test_a_section_without_data_says_why() -> None:
    found = Page(render(reports.bare_report(), "html"))
    ids = [attributes.get("id") for tag, attributes in found.tags if tag == "section"]
    assert ids == list(SECTIONS)
    assert found.text.count("It was not recorded. Record it.") == 9
    assert "counted from the start of the recording" in found.text


@pytest.mark.parametrize("left", ["gpu_memory", "heatmap", "step_timeline"])
def test_a_chart_without_data_is_left_out(left: str) -> None:
    charts = [attributes for _, attributes in page(**{left: Absent("No.")}).tags if "data-chart" in attributes]
    assert len(charts) == {"gpu_memory": 8, "heatmap": 6, "step_timeline": 8}[left]


def test_nodes_that_are_not_drawn_are_counted() -> None:
    nodes = tuple(f"algo-{at}" for at in range(1, 21))
    text = page(header=frames.job_header(nodes=nodes), heatmap=frames.heatmap(nodes[:16], cores=8, bins=10)).text
    assert "The first 16 nodes are drawn; 4 more are not." in text


def test_title_and_language() -> None:
    text = render(reports.report(header=frames.job_header(name="a <b> & c")), "html")
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert f"<title>{html.escape('a <b> & c')} · report</title>" in text
