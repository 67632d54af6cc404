"""Compare: what the page asks for, what it says of two runs, and what it says where one is missing."""

from __future__ import annotations

import math
from typing import Any

import pytest

from app.pages import compare
from app.panels import Request
from app.urls import Address
from components.panels import EmptyView
from data.errors import UnknownJob
from data.frames.comparison import SINGLE, TESTED, Comparison, Fact, FindingChange, Parity, Row
from data.frames.cost import Billing
from data.prices import PriceTables
from data.selection import Selection
from tests import frames
from tests.app.pages.looking import FakeFetch
from tests.drawn import components, ids, said, words

UNBILLED = Billing(
    described=False, ended=False, groups=(), billed_s=None, training_s=None, spot=None, region="", region_from="",
    pool_status="", retained_s=None, stages=(), gpus=0, nodes=0, covered_s=None,
)  # fmt: skip
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def row(**changes: Any) -> Row:
    fields: dict[str, Any] = {
        "key": "step_time", "phase": "Step:ModeKeys.TRAIN", "name": "Step time", "unit": "s", "a": 1.0, "b": 1.05,
        "better": "lower", "verdict": "worse", "low": 0.03, "high": 0.07, "smallest": 0.02, "basis": TESTED,
        "note": "180 steps of A",
    }  # fmt: skip
    return Row(**fields | changes)


def found(*rows: Row, facts: tuple[Fact, ...] = (), warnings: tuple[str, ...] = ()) -> Comparison:
    return Comparison("a", "b", "run a", "run b", Parity(facts, warnings), rows or (row(),))


def verdict_fetch(comparison: Comparison) -> FakeFetch:
    return FakeFetch(comparison_comparison=comparison, cost_tables=PriceTables(), cost_billing=UNBILLED)


def request(**query: str) -> Request:
    return Request(Selection("run-a"), 1000, query={"b": "run-b"} | query)


def test_layout_asks_for_nothing_and_every_panel_depends_on_both_runs() -> None:
    page = compare.layout(Address(Selection("a"), "compare", (("b", "b"),)))
    panels = set(compare.Id) - {compare.Id.CHOICE}
    assert {f"{panel}-request" for panel in panels} <= set(ids(page))
    keys = [getattr(part, "data-query-keys", None) for part in components(page)]
    assert all({"a", "b"} <= set(found.split()) for found in keys if found is not None)


@pytest.mark.parametrize(("a", "b"), [("", ""), ("a", ""), ("", "b")])
def test_without_two_jobs_the_page_says_how_to_choose_them(a: str, b: str) -> None:
    page = compare.layout(Address(Selection(a), "compare", (("b", b),)))
    assert "Tick two jobs" in words(page)
    assert (f"{compare.Id.CHOICE}-request" in ids(page)) is bool(a)


def test_a_request_without_a_second_job_is_refused_in_words() -> None:
    with pytest.raises(UnknownJob):
        compare.pair(Request(Selection("run-a"), 1000))


def test_swapping_leads_to_the_other_way_round(dash_app: Any) -> None:
    fetch = FakeFetch(jobs_any_header=lambda selection: frames.job_header(name=f"{selection.job} {HOSTILE}"))
    head = compare.draw_head(fetch, dash_app, request(align="start"))
    (swap,) = [part.href for part in components(head) if getattr(part, "className", "") == "button"]
    assert swap == "/compare?a=run-b&b=run-a&align=start"
    assert "\u202e" not in said(head)


def test_the_verdict_has_difference_bounds_and_what_would_have_been_found() -> None:
    table = compare.draw_verdict(verdict_fetch(found()), request())
    text = words(table)
    for expected in ("1 s", "1.05 s", "+50 ms", "+5.0 %", "worse", "+30 ms to +70 ms", "20 ms would have been found"):
        assert expected in text


def test_a_figure_of_one_value_each_is_said_to_be_untested_and_a_missing_one_is_no_zero() -> None:
    unknown = row(
        key="duration", name="Duration", unit="s", a=1.0, b=math.nan, basis=SINGLE, verdict="cannot be judged"
    )
    table = compare.draw_verdict(verdict_fetch(found(unknown)), request())
    assert "not tested" in words(table)
    assert words(table).count("n/a") == 3 + 4  # b, the difference, and percent; and of the cost a, too


def test_the_banner_names_what_differs_and_keeps_hostile_text_plain() -> None:
    facts = (Fact("lr", HOSTILE, "0.1", False, "Mind it."), Fact("Nodes", "3", "3", True, ""))
    banner = compare.draw_parity(
        FakeFetch(comparison_comparison=found(facts=facts, warnings=("lr: mind it.",))), request()
    )
    assert "These runs differ in lr." in words(banner)
    assert "mind it" in words(banner)
    assert "\u202e" not in said(banner)


def test_runs_that_are_alike_are_said_to_be() -> None:
    banner = compare.draw_parity(FakeFetch(comparison_comparison=found()), request())
    assert "alike" in words(banner)


def test_findings_say_what_became_of_them_and_count_the_quiet_ones() -> None:
    changes = (
        FindingChange("LowGPUUtilization", "GPUs are little used", "fixed", frames.finding(), None),
        FindingChange("IOBottleneck", "I/O", "no issue", None, None),
    )
    fetch = FakeFetch(comparison_changes=changes)
    table = compare.draw_findings(fetch, request(mode="compat"))
    assert "fixed" in words(table)
    assert "1 rule found no issue" in words(table)
    assert fetch.asked[0][1][2].mode == "compat"


def test_one_run_is_offered_the_newest_others(dash_app: Any) -> None:
    jobs = (("run-a", "stored"), ("other", "stored"), ("new", "not converted"))
    rows = [{"job_id": job, "name": HOSTILE, "state": state} for job, state in jobs]
    page = frames.job_list_page(rows)
    choice = compare.draw_choice(FakeFetch(jobs_job_list=page), dash_app, Request(Selection("run-a"), 1000))
    assert [part.href for part in components(choice) if hasattr(part, "href")] == ["/compare?a=run-a&b=other"]
    assert "\u202e" not in said(choice)
    nothing = frames.job_list_page(rows[:1])
    found = compare.draw_choice(FakeFetch(jobs_job_list=nothing), dash_app, Request(Selection("run-a"), 1000))
    assert isinstance(found, EmptyView)
