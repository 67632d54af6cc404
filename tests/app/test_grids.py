"""What grids ask for is bounded and of known columns, whatever the browser says."""

from __future__ import annotations

import pytest

from app.grids import read_block, read_order, read_search


@pytest.mark.parametrize(
    ("model", "order"),
    [
        ([{"colId": "gpus", "sort": "asc"}], (("gpus", "asc"),)),
        ([{"colId": "gpus", "sort": "x"}, {"colId": "name", "sort": "desc"}], (("gpus", "asc"), ("name", "desc"))),
        ([{"colId": "1; drop table jobs"}], ()),
        ([{"sort": "desc"}], ()),
        ([], ()),
        (None, ()),
        ("gpus", ()),
        ([3, None], ()),
    ],
)
def test_only_known_columns_sort(model: object, order: tuple[tuple[str, str], ...]) -> None:
    assert read_order({"sortModel": model}, ("name", "gpus")) == order


@pytest.mark.parametrize("request_", [None, {}, [], "x", 3])
def test_a_request_without_an_order_has_none(request_: object) -> None:
    assert read_order(request_, ("name",)) == ()


def test_blocks_are_bounded() -> None:
    assert read_block({"startRow": 100, "endRow": 200}) == (100, 200)
    assert read_block({"startRow": -5, "endRow": 10**9}) == (0, 1000)
    assert read_block({"startRow": "x"}) == (0, 1000)
    assert read_block({"startRow": 50, "endRow": 10}) == (50, 50)


def test_the_search_is_bounded() -> None:
    assert read_search("cifar") == "cifar"
    assert len(read_search("x" * 10_000)) == 200
    assert read_search(["cifar"]) == ""
