"""The list of jobs: its blocks, its order, and what it asks of store and conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.pages.jobs import DEFAULT_SORT, read_block, read_search, read_sort

ROWS = "..jobs-grid.getRowsResponse...jobs-count.children.."
TOTALS = (
    "..jobs-kpis.children...jobs-sources.children...jobs-grid.style"
    "...jobs-convert-all.hidden...jobs-convert-all.disabled...jobs-convert-label.children.."
)


@pytest.mark.parametrize(
    ("model", "order"),
    [
        ([{"colId": "gpus", "sort": "asc"}], (("gpus", "asc"),)),
        ([{"colId": "gpus", "sort": "x"}, {"colId": "name", "sort": "desc"}], (("gpus", "asc"), ("name", "desc"))),
        ([{"colId": "1; drop table jobs"}], DEFAULT_SORT),
        ([], DEFAULT_SORT),
        (None, DEFAULT_SORT),
        ("gpus", DEFAULT_SORT),
        ([3, None], DEFAULT_SORT),
    ],
)
def test_only_columns_of_the_list_sort_it(model: object, order: tuple[tuple[str, str], ...]) -> None:
    assert read_sort(model) == order


def test_blocks_are_bounded() -> None:
    assert read_block({"startRow": 100, "endRow": 200}) == (100, 200)
    assert read_block({"startRow": -5, "endRow": 10**9}) == (0, 1000)
    assert read_block({"startRow": "x"}) == (0, 1000)
    assert read_block({"startRow": 50, "endRow": 10}) == (50, 50)


def test_the_search_is_bounded() -> None:
    assert read_search("cifar") == "cifar"
    assert len(read_search("x" * 10_000)) == 200
    assert read_search(["cifar"]) == ""


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
