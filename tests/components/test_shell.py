"""The frame around pages and the head of a job."""

from __future__ import annotations

import json

import pytest

from components import controls, notices, shell
from components.panels import LegendItem, content_panel, figure_panel
from data.frames import JobHeader
from tests import drawn
from tests.drawn import said
from tests.frames import job_header

LINKS = {"overview": "/jobs/a", "nodes": "/jobs/a/nodes"}


def test_a_job_header_says_what_the_job_is() -> None:
    header = job_header(status="Completed", instances="3 × ml.p3.8xlarge", gpus=12)
    words = said(shell.job_header(header, "nodes", LINKS))
    for part in (header.name, "Completed", "3 × ml.p3.8xlarge", "12 GPUs", str(header.start_ns), "Copy link"):
        assert part in words
    assert '"aria-current": "page"' in words
    assert "changed" not in words
    assert "has changed" in said(shell.job_header(header, "nodes", LINKS, changed=True))


def facts(header: JobHeader) -> list[str]:
    """The facts below a job's name, each as its text."""
    (line,) = (
        part
        for part in drawn.components(shell.job_header(header, "overview", LINKS))
        if getattr(part, "className", "") == "page-sub"
    )
    return [drawn.words(fact) for fact in line.children]


def test_lost_records_lead_to_the_tab_that_says_which() -> None:
    links = {**LINKS, "quality": "/jobs/a/quality"}
    header = job_header(problems=3, lost_rows=281)
    assert "281 records lost" in said(shell.job_header(header, "overview", links))
    assert "281 records lost" not in said(shell.job_header(header, "quality", links))
    assert "lost" not in said(shell.job_header(job_header(problems=3), "overview", links))
    assert "3 problems" in drawn.words(shell.job_header(header, "nodes", links))


def test_what_is_known_is_said_in_facts() -> None:
    assert facts(job_header())[:-1] == ["✓ Completed", "3 × ml.p3.8xlarge", "12 GPUs", "TensorFlow 2.3.1"]
    assert facts(job_header())[-1].startswith("4 Dec 2020, ")
    assert facts(job_header(framework=""))[2:-1] == ["12 GPUs"]


def test_what_is_unknown_is_not_invented() -> None:
    header = job_header(
        status="Unknown", status_detail="no data for 3 h", instances="", framework="", gpus=0, start_ns=0, end_ns=0
    )
    assert facts(header) == ["? Unknown", "no data for 3 h", "3 nodes", "no GPU"]


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "words"),
    [
        (1_607_121_560_000_000_000, 1_607_122_063_000_000_000, "4 Dec 2020, 22:39–22:47 UTC"),
        (1_607_121_560_000_000_000, 1_607_212_800_000_000_000, "4 Dec 2020, 22:39–6 Dec 2020, 00:00 UTC"),
    ],
)
def test_spans_of_time(start_ns: int, end_ns: int, words: str) -> None:
    assert shell.utc_range(start_ns, end_ns) == words


def test_the_document_sets_the_theme_first() -> None:
    html = shell.index_string("/x/assets/first.js?m=1")
    assert html.index("first.js") < html.index("{%css%}")
    assert '<html lang="en"' in html
    assert "/x/assets/favicon.svg" in html


def test_the_frame_carries_the_swaps_and_the_home() -> None:
    props = json.loads(said(shell.frame("/insights/")))["props"]
    assert props["data-home"] == "/insights/"
    assert set(json.loads(props["data-swaps"])) == {"dark", "light"}


def test_a_figure_panel_holds_what_its_callback_writes() -> None:
    words = said(
        figure_panel("p", "Panel", height=150, metric="cpu", legend=[LegendItem("mean", "cpu")], query_keys=())
    )
    for part in ('"p-request"', '"id": "p"', '"p-note"', '"p-caption"', '"p-empty"', '"data-panel": "p"', "150px"):
        assert part in words
    assert '"data-query-keys": ""' in words
    assert '"data-query-keys": "*"' in said(figure_panel("p", "Panel", height=150))
    assert '"p-body"' in said(content_panel("p", "Panel", min_height=40))


def test_few_nodes_are_segments_and_many_a_list() -> None:
    few = controls.node_picker(["algo-1", "algo-2"])
    assert type(few).__name__ == "Div"
    many = controls.node_picker([f"algo-{number}" for number in range(1, 40)])
    assert type(many).__name__ == "Details"
    assert said(many).count('"data-node"') == 39


def test_segments_mark_their_default() -> None:
    words = said(controls.segments("scale", (("linear", "Linear"), ("log", "Log")), default="log", label="Scale"))
    assert words.count('"data-query-default": "true"') == 1
    assert '"aria-label": "Scale"' in words


def test_a_progress_bar_tells_how_far_or_that_nobody_knows() -> None:
    assert '"aria-valuenow": "42"' in said(notices.progress_bar(42.3, "Reading"))
    assert "aria-valuenow" not in said(notices.progress_bar(None, "Reading"))
    assert '"width": "100.0%"' in said(notices.progress_bar(250, "Reading"))
