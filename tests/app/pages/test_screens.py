"""Screens that stand in for a page: converting, first run, not found."""

from __future__ import annotations

import pytest

from app.conversion import ConversionStatus, State
from app.pages import converting, first_run, not_found
from tests.drawn import said

RUNNING = ConversionStatus(
    "a", State.RUNNING, "metrics", files_done=3, files_total=12, bytes_done=30_000_000, bytes_total=120_000_000,
    started_s=1000.0,
)  # fmt: skip


def test_progress_in_figures() -> None:
    assert dict(converting.figures(RUNNING, now_s=1002.0)) == {
        "Files": "3 of 12",
        "Read": "30 MB of 120 MB",
        "Rate": "15 MB/s",
        "Time left": "6 s",
    }
    assert converting.percent(RUNNING) == 25.0


@pytest.mark.parametrize("status", [None, ConversionStatus("a", State.QUEUED)])
def test_nothing_is_invented_before_it_runs(status: ConversionStatus | None) -> None:
    assert {value for _, value in converting.figures(status)} == {"–"}
    assert converting.percent(status) is None
    assert "Cancel" in said(converting.progress(status))


def test_a_failed_conversion_says_why() -> None:
    failed = ConversionStatus("a", State.FAILED, message="The disk is full.", hint="Free some space.")
    words = said(converting.layout("run-a", failed))
    assert "The disk is full." in words
    assert "Free some space." in words
    assert "Convert again" in words
    assert "Cancel" not in words


def test_a_cancelled_conversion_is_no_failure() -> None:
    words = said(converting.progress(ConversionStatus("a", State.CANCELLED)))
    assert "cancelled" in words
    assert "notice-failed" not in words


def test_a_damaged_job_can_be_converted_again() -> None:
    words = said(converting.broken("run-a", "The manifest is damaged.", "Convert the job again."))
    assert "The manifest is damaged." in words
    assert "Convert again" in words


def test_the_first_screen_says_what_was_looked_for() -> None:
    words = said(first_run.layout([("/data/jobs", "There is no such folder."), ("/other", "")]))
    for part in ("/data/jobs", "There is no such folder.", "holds no training job", "make demo", "profiler-output"):
        assert part in words
    assert "without a source" in said(first_run.layout([]))


def test_not_found_names_the_job_as_plain_text() -> None:
    words = said(not_found.layout("/", job_id="<b>\u202ex"))
    assert "<b>" in words
    assert "\u202e" not in words
    assert "No such page" in said(not_found.layout("/"))
