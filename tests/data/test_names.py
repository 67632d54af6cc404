"""Natural order and slugs."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from data.names import natural_key, slug


def test_numbers_in_names_count_as_numbers() -> None:
    names = ["algo-10", "algo-2", "algo-1-k7", "algo-1", "b", "algo-02", "algo-", "10", "9"]
    assert sorted(names, key=natural_key) == [
        "9", "10", "algo-", "algo-1", "algo-1-k7", "algo-02", "algo-2", "algo-10", "b",
    ]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 10**30), st.text(max_size=5))))
def test_any_texts_can_be_ordered(parts: list[tuple[str, int, str]]) -> None:
    names = [f"{before}{number}{after}" for before, number, after in parts]
    assert sorted(sorted(names, key=natural_key, reverse=True), key=natural_key) == sorted(names, key=natural_key)


@settings(deadline=None)
@given(st.integers(0, 10**40), st.integers(0, 10**40))
def test_order_of_two_numbers(low: int, high: int) -> None:
    low, high = min(low, high), max(low, high)
    assert natural_key(f"n{low}") <= natural_key(f"n{high}")


def test_slugs_of_known_names() -> None:
    assert slug("it's job [v2] #1 50% größe") == "it-s-job-v2-1-50-grosse"
    assert slug("日本") == "job"
    assert slug("a" * 39 + "--b") == "a" * 39


@settings(deadline=None)
@given(st.text())
def test_every_slug_fits_a_url(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(text))
    assert len(slug(text)) <= 40
