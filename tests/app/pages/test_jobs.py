"""The list of jobs: its blocks, its order, and what it asks of store and conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.pages import jobs
from app.pages.jobs import comparison_of
from app.urls import build

ROWS = "..jobs-grid.getRowsResponse...jobs-count.children.."
TOTALS = (
    "..jobs-kpis.children...jobs-sources.children...jobs-grid.style"
    "...jobs-convert-all.hidden...jobs-convert-all.disabled...jobs-convert-label.children.."
)


def test_without_an_order_the_newest_come_first(call: Callable[..., Any]) -> None:
    request = {"startRow": 0, "endRow": 100, "sortModel": [{"colId": "1; drop table jobs", "sort": "asc"}]}
    rows = call(ROWS, **{"jobs-grid.getRowsRequest": request, "jobs-search.value": ""})["jobs-grid"]["getRowsResponse"]
    starts = [row["start_ms"] for row in rows["rowData"]]
    assert starts == sorted(starts, reverse=True)


def test_a_block_of_rows(call: Callable[..., Any]) -> None:
    request = {"startRow": 0, "endRow": 100, "sortModel": [{"colId": "name", "sort": "asc"}]}
    answer = call(ROWS, **{"jobs-grid.getRowsRequest": request, "jobs-search.value": ""})
    rows = answer["jobs-grid"]["getRowsResponse"]
    assert rows["rowCount"] == 4
    names = [row["name"] for row in rows["rowData"]]
    assert names == sorted(names)
    assert answer["jobs-count"]["children"] == "4 jobs"
    answer = call(ROWS, **{"jobs-grid.getRowsRequest": request, "jobs-search.value": "cifar"})
    assert answer["jobs-grid"]["getRowsResponse"]["rowCount"] == 2


def test_totals_and_sources(call: Callable[..., Any], demo: Any) -> None:
    answer = call(TOTALS, **{"jobs-kpis.id": "jobs-kpis"})
    assert answer["jobs-convert-all"]["hidden"] is True
    assert str(demo.source) in str(answer["jobs-sources"])


def test_the_list_as_csv(call: Callable[..., Any]) -> None:
    answer = call("jobs-download.data", **{"jobs-csv.n_clicks": 1, "jobs-search.value": ""})
    content = answer["jobs-download"]["data"]["content"]
    assert content.count("\r\n") == 5
    assert "tf-hvd-resnet50-cifar10-256" in content


def test_two_ticked_rows_are_compared_and_the_earlier_is_the_baseline() -> None:
    late, early = {"job_id": "late", "start_ms": 2.0}, {"job_id": "early", "start_ms": 1.0}
    found = comparison_of([late, early])
    assert found is not None
    assert build(found) == ("/compare", "?a=early&b=late")


@pytest.mark.parametrize("rows", [None, [], [{"job_id": "a"}], [{"job_id": "a"}] * 3, [{}, {}], ["a", "b"], "ab"])
def test_anything_else_is_no_comparison(rows: Any) -> None:
    assert comparison_of(rows) is None


@pytest.mark.parametrize(
    ("search", "shown"),
    [("", "all"), (None, "all"), ("?issues=issues", "issues"), ("?q=a&issues=high", "high"), ("?issues=other", "all")],
)
def test_the_address_says_which_jobs_are_shown(search, shown):
    assert jobs._shown(search) == shown
