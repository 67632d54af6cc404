"""Lanes of events: order and colours, columns and bars, where a click leads, and what is said of reduction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from app.urls import read_lane
from components.figures import lanes
from components.figures.axes import View
from components.theme import hue, rgba
from data.frames.framework import LaneBars, Lanes
from tests import frames
from tests.components.figures.plot import VIEW, WHOLE, assert_house_rules, everything

HOSTILE = "<b>x</b> %{y} $a$ 1970-01-01"


def order_of(frame: Lanes) -> list[str]:
    return [row[1] for row in lanes.framework_lanes(frame, VIEW).figure.layout.meta["rows"]]


def test_steps_come_first_then_loading_then_computation() -> None:
    assert order_of(frames.lanes()) == ["Step:ModeKeys.TRAIN", "DataLoaderIter", "Forward"]


def test_columns_are_as_strong_as_their_share_in_the_colour_of_what_works() -> None:
    view = lanes.framework_lanes(frames.lanes(), VIEW)
    assert_house_rules(view.figure, time=True)
    loading = next(trace for trace in view.figure.data if trace.meta["lane"] == "algo-1/DataLoaderIter")
    assert loading.colorscale[-1][1] == rgba(hue("dark", "io"), 1.0)
    (row,) = np.asarray(loading.z)
    assert np.isnan(row[0])
    assert row[1] == 50
    assert np.asarray(loading.customdata)[0, 1] == 240
    assert (loading.meta["startNs"], loading.meta["columnNs"]) == (str(frames.START_NS), str(50 * frames.S))
    assert view.note == "3 lanes · one column = 50 s · as strong as the share of it that is covered"
    assert "3,600 events in this window, counted exactly. Too many" in view.caption


def test_totals_of_each_lane_are_beside_it_and_nodes_have_titles_where_there_are_several() -> None:
    one = lanes.framework_lanes(frames.lanes(), VIEW)
    two = lanes.framework_lanes(frames.lanes(nodes=("algo-1", "algo-2")), VIEW)
    texts = [note.text for note in one.figure.layout.annotations]
    assert texts.count("1,200 events · 1m 30s") == 3
    assert "<b>algo-2</b>" in [note.text for note in two.figure.layout.annotations]
    assert "<b>algo-1</b>" not in texts
    assert two.height > 2 * one.height - 60


def test_lanes_that_are_left_out_are_said() -> None:
    some = lanes.framework_lanes(frames.lanes(lane_count=40), VIEW)
    nodes = lanes.framework_lanes(frames.lanes(lane_count=40, node_count=9), VIEW)
    assert "3 of 40 lanes are drawn, the fullest phases: 3,600 events." in some.caption
    assert "the first 1 of 9 nodes" in nodes.caption


def test_few_events_are_bars_that_lie_below_each_other_where_they_overlap() -> None:
    view = lanes.framework_lanes(frames.lane_bars(), VIEW)
    assert_house_rules(view.figure, time=True)
    loading = next(trace for trace in view.figure.data if trace.y is not None and len(trace.y) == 2)
    assert loading.marker.color == rgba(hue("dark", "io"), 1.0)
    assert list(loading.x) == [20_000, 18_000]
    assert list(loading.base) == ["2020-12-04T22:39:30.000000", "2020-12-04T22:39:31.000000"]
    assert loading.y[1] - loading.y[0] == lanes.BAR_PX
    assert loading.customdata[0][:3] == [
        str(frames.START_NS + 10 * frames.S),
        str(frames.START_NS + 30 * frames.S),
        "algo-1/DataLoaderIter",
    ]
    assert loading.customdata[1][5] == ", thread 7, step 0"
    assert "each event is a bar" in view.note


@pytest.mark.parametrize("frame", [frames.lanes(("n%{x}",), (HOSTILE,)), frames.lane_bars((HOSTILE, HOSTILE))])
def test_names_from_files_are_no_markup(frame: Lanes) -> None:
    figure = lanes.framework_lanes(frame, VIEW).figure
    plain = [str(part) for row in figure.layout.meta["rows"] for part in row]
    drawn = everything(figure)
    for part in plain:
        drawn = drawn.replace(part, "")
    assert "<b>x" not in drawn
    assert "$a$" not in drawn
    assert "%{y} " not in drawn


@pytest.mark.parametrize(("node", "phase"), [("algo-1", "Step:ModeKeys.TRAIN"), ("a/b", "x,y%2F ~/"), ("n", "50 %")])
def test_a_lane_in_an_address_is_read_back(node: str, phase: str) -> None:
    token = lanes.lane_token(node, phase)
    assert unquote(token.split("/")[0]) == node
    assert read_lane(f"/{token}") == (None, node, phase)
    found = read_lane(f"1607121560122.5-1607121560200/{token}")
    assert found is not None
    assert found[1:] == (node, phase)
    assert found[0] is not None
    assert (found[0].start_ns, found[0].end_ns) == (1607121560122500000, 1607121560200000000)


@pytest.mark.parametrize("text", ["", "/", "5-4/a/b", "x-y/a/b", "/a", "1-2", "1-2/a/"])
def test_what_is_no_lane_is_none(text: str) -> None:
    assert read_lane(text) is None


def test_an_undated_job_has_no_date_on_its_axis() -> None:
    view = View(WHOLE, origin_ns=frames.START_NS, offset_minutes=90)
    figure = lanes.framework_lanes(frames.lanes(), view).figure
    assert list(figure.layout.xaxis.range) == ["1970-01-01 00:00:00.000000", "1970-01-01 00:08:23.000000"]
    assert all("%d" not in stop["value"] and "+" in stop["value"] for stop in figure.layout.xaxis.tickformatstops)
    assert view.clock(frames.START_NS + 1_250_000_000) == "+1.25 s"
    assert view.exact(frames.START_NS + 1_250_000_000) == "+00:00:01.250000"


@pytest.mark.parametrize("frame", [frames.lanes(), frames.lane_bars(), frames.lanes(phases=("Step:ModeKeys.TRAIN",))])
def test_the_strip_shows_where_work_is(frame: Lanes) -> None:
    figure = lanes.minimap(frame, VIEW, (frames.START_NS, frames.START_NS + frames.S))
    brush, line = figure.data
    assert brush.fill == "tozeroy"
    assert max(line.y) > 0


def test_the_deepest_events_share_a_row() -> None:
    frame = frames.lane_bars(tuple("abcdefghijkl"))
    assert isinstance(frame.bars, LaneBars)
    deep = replace(frame, bars=replace(frame.bars, duration_ns=np.full(12, frames.S)))
    ys: Any = next(trace.y for trace in lanes.framework_lanes(deep, VIEW).figure.data if len(trace.y) == 12)
    assert len(set(ys)) == lanes.DEEPEST
