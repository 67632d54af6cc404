"""Markdown for a pull request: it says what matters, and names are read as they are."""

from __future__ import annotations

import re

import pytest

from components.report.markdown import escaped
from components.report.render import render
from tests import frames, reports


def test_headline_verdicts_findings_and_cost() -> None:
    text = render(reports.report(), "md")
    assert text.startswith("## Training job tf-hvd-resnet50-cifar10-256: 1 issue\n")
    assert "| GPUs are little used | Issue, high | \\$1.84 |" in text
    assert "**GPUs are little used** (high): 1 of 12 GPUs stayed below 70 %" in text
    assert "| Cost | \\$6.16 |" in text
    assert "threshold\\_p95 60 % (usually 70)" in text
    assert text.endswith("</sub>\n")


def test_money_of_the_finding_by_hand() -> None:
    """Half a GPU-hour of 12 GPUs that cost 44.064 dollars an hour together."""
    assert f"{0.5 * 44.064 / 12:.2f}" == "1.84"


def test_parts_that_are_missing_say_why() -> None:
    text = render(reports.bare_report(), "md")
    for heading in ("Utilization", "Insights", "Cost", "Steps"):
        assert f"### {heading}\n\nIt was not recorded. Record it.\n" in text


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("a|b", "a\\|b"),
        ("`code`", "\\`code\\`"),
        ("<b>", "\\<b\\>"),
        ("&lt;", "\\&lt;"),
        ("[x](y)", "\\[x\\](y)"),
        ("line\nbreak", "line break"),
        ("a_b * c", "a\\_b \\* c"),
        ("@someone", "@\u2060someone"),
        ("https://x", "https:\u2060//x"),
        ("fixes #12", "fixes \\#\u206012"),
    ],
)
def test_names_are_escaped(words: str, shown: str) -> None:
    assert escaped(words) == shown


def test_hostile_names_make_no_markup_and_no_cell() -> None:
    text = render(reports.hostile_report(), "md")
    bare = re.sub(r"\\.", "", text)
    assert "<img" not in bare
    assert "`" not in bare
    assert "](" not in bare
    tables = [block.splitlines() for block in bare.split("\n\n") if block.startswith("|")]
    assert len(tables) == 6
    assert [table for table in tables if len({line.count("|") for line in table}) > 1] == []


def test_long_lists_are_cut_and_said() -> None:
    rows = [row for at in range(40) for row in frames.usage_rows(f"algo-{at}")]
    text = render(reports.report(usage=frames.usage_summary(rows)), "md")
    assert "and 140 rows more" in text
