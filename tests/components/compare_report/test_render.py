"""A comparison as a file: strict JSON, Markdown and HTML that run nothing, and a test case for each budget."""

from __future__ import annotations

import json
import math
from typing import Any
from xml.etree import ElementTree

from components.compare_report.document import Document, compose
from components.compare_report.render import FORMATS, render
from data.frames.comparison import SINGLE, TESTED, BudgetResult, Comparison, Fact, FindingChange, Parity, Row
from tests import frames

HOSTILE = "<script>alert(1)</script> | [x](http://e) \u202e\x07"


def row(**changes: Any) -> Row:
    fields: dict[str, Any] = {
        "key": "step_time", "phase": "TRAIN", "name": "Step time", "unit": "s", "a": 1.0, "b": 1.05, "better": "lower",
        "verdict": "worse", "low": 0.03, "high": 0.07, "smallest": 0.02, "basis": TESTED, "note": "180 steps",
    }  # fmt: skip
    return Row(**fields | changes)


def document(*rows: Row, name: str = "run b", budgets: tuple[BudgetResult, ...] = ()) -> Document:
    facts = (Fact("lr", "0.1", HOSTILE, False, "Mind it."), Fact("Nodes", "3", "", True, ""))
    comparison = Comparison("a", "b", "run a", name, Parity(facts, (f"lr: {HOSTILE}",)), rows)
    changes = (
        FindingChange("LowGPUUtilization", "GPUs are little used", "fixed", frames.finding(), None),
        FindingChange("IOBottleneck", "I/O", "no issue", None, None),
    )
    headers = [frames.job_header(name="run a"), frames.job_header(name=name)]
    return compose(comparison, headers, rows or (row(),), changes, budgets, software="1.0", made_ns=frames.START_NS)


UNKNOWN = row(key="cost", phase="", name="Cost", unit="USD", b=math.nan, basis=SINGLE, verdict="cannot be judged",
              low=math.nan, high=math.nan, smallest=math.nan)  # fmt: skip


def test_json_is_strict_and_what_is_not_known_is_null() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    found = json.loads(render(document(row(), UNKNOWN), "json"), parse_constant=refuse)
    assert (found["schema"], found["version"]) == ("debugger-insights/comparison", 1)
    assert found["figures"][0]["difference"] == 1.05 - 1.0
    assert found["figures"][1]["b"] is None
    assert found["figures"][1]["percent"] is None
    assert found["findings"][0] == {
        "rule": "LowGPUUtilization",
        "title": "GPUs are little used",
        "change": "fixed",
        "a": frames.outcome().text,
        "b": None,
    }
    assert found["made"] == "2020-12-04T22:39:20Z"


def test_markdown_has_every_figure_and_only_findings_that_are_any() -> None:
    text = render(document(row(), UNKNOWN), "md")
    assert "| Step time (TRAIN) | 1 s | 1.05 s | +50 ms | +5.0 % | worse | 95 %: +30 ms to +70 ms. 180 steps |" in text
    assert "| Cost | 1.00 USD | n/a | n/a | n/a | cannot be judged |" in text
    assert "LowGPUUtilization" in text
    assert "IOBottleneck" not in text


def test_names_from_files_run_nothing_in_any_format() -> None:
    for as_format in FORMATS:
        text = render(document(name=HOSTILE, budgets=(BudgetResult("cost>1%", True, HOSTILE),)), as_format)
        assert "\u202e" not in text
        assert "\x07" not in text
        if as_format != "json":
            assert "<script>" not in text
    assert "\\[x\\]" in render(document(name=HOSTILE), "md")


def test_html_asks_nothing_of_any_other_place() -> None:
    page = render(document(), "html")
    assert "default-src 'none'" in page
    for loading in ("<script", "<link", "<img", "src=", "@import", "url("):
        assert loading not in page


def test_junit_has_a_case_for_each_budget() -> None:
    budgets = (BudgetResult("step_time>3%", True, "Step time: +5 %"), BudgetResult("cost>1%", False, "Cost: +0 %"))
    suite = ElementTree.fromstring(render(document(budgets=budgets), "junit"))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    first, second = suite.findall("testcase")
    failure = first.find("failure")
    assert failure is not None
    assert failure.get("message") == "Step time: +5 %"
    assert second.find("failure") is None


def test_without_budgets_junit_is_an_empty_suite() -> None:
    suite = ElementTree.fromstring(render(document(), "junit"))
    assert suite.get("tests") == "0"
