"""Nodes in figures: coverage, intervals, clocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components import coverage_tables as tables
from tests import quality as built
from tests.frames import START_NS, S


def test_nodes_in_figures() -> None:
    late = built.node("algo-2", start_ns=START_NS + 20 * S)
    coverage = built.coverage(
        [(0, 100, 190, "gap")], nodes=[built.node("algo-1"), late], events=built.extents("algo-1")
    )
    first, second = tables.node_grid("g", coverage, 0).rowData
    assert first["covered_text"] == "82.1 %"
    assert first["missing_text"] == "1m 30s"
    assert first["events_text"] == "22:42:40 – 22:47:40 · 564"
    assert second["first_text"] == "2020-12-04 22:39:40.000"
    assert second["events_text"] is None
    assert (first["nominal_text"], first["p95_text"], first["longest_text"]) == ("500 ms", "502 ms", "512 ms")


def test_times_of_nodes_follow_the_zone() -> None:
    (row,) = tables.node_grid("g", built.coverage(names=["algo-1"]), 60).rowData
    assert row["first_text"] == "2020-12-04 23:39:20.000"


def test_one_tick_tells_no_interval() -> None:
    alone = built.node("algo-1", ticks=1, median_ns=0, p95_ns=built.NOT_KNOWN, covered_percent=built.NOT_KNOWN)
    (row,) = tables.node_grid("g", built.coverage(nodes=[alone]), 0).rowData
    for key in ("covered", "median", "p95", "longest"):
        assert row[f"{key}_text"] is None, key


def test_nodes_with_events_only_have_a_row() -> None:
    rows = tables.node_grid("g", built.coverage(names=["algo-1"], events=built.extents("algo-1", "algo-9")), 0).rowData
    assert [row["node"] for row in rows] == ["algo-1", "algo-9"]
    assert "covered_text" not in rows[1]


def test_intervals_in_words() -> None:
    assert tables.interval_words(built.coverage()).startswith("All nodes were sampled every 500 ms")
    unlike = built.coverage(nodes=[built.node("a"), built.node("b", nominal_ns=S)])
    assert tables.interval_words(unlike) == "Nodes were sampled at unlike intervals: 500 ms, 1 s."
    assert tables.interval_words(built.coverage(names=())) == ""


@pytest.mark.parametrize(
    ("offset", "shown", "said_of_it"),
    [
        (("algo-2", 188, 30, 38, 45), "+38 ms", "always later"),
        (("algo-2", 188, -45, -38, -30), "−38 ms", "always earlier"),
        (("algo-2", 188, -2, 1, 3), "+1 ms", "no steady difference"),
        (("algo-2", 9, 30, 38, 45), None, "cannot be told"),
        (("algo-2", 0, built.NOT_KNOWN, built.NOT_KNOWN, built.NOT_KNOWN), None, "cannot be told"),
    ],
)
def test_clock_offsets(offset: Any, shown: str | None, said_of_it: str) -> None:
    (row,) = tables.clock_grid("g", built.clocks(offset)).rowData
    assert (row["median_text"], row["said"]) == (shown, said_of_it)
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_names_of_nodes_stay_text() -> None:
    grid = tables.node_grid("g", built.coverage(names=[built.HOSTILE]), 0)
    (row,) = grid.rowData
    assert row["node"].startswith("<img")
    assert "\u202e" not in json.dumps(row, ensure_ascii=False)
    assert "dangerously_allow_code" not in grid.to_plotly_json()["props"]
