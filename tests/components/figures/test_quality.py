"""The coverage of nodes: bars of records, open gaps, hatched interruptions, and limits that hold."""

from __future__ import annotations

import re
from typing import Any

from components.figures import quality as figures
from tests import quality as built
from tests.components.figures.plot import VIEW, assert_house_rules, everything, named
from tests.frames import NODES, S


def test_gaps_are_left_open_and_interruptions_hatched() -> None:
    common = [(at, 100, 190, "interruption") for at in range(3)]
    view = figures.coverage_figure(built.coverage([*common, (1, 300, 314, "gap")], events=built.extents()), VIEW)
    assert_house_rules(view.figure, time=True)
    records, gap, spot = (named(view.figure, name) for name in ("records", "no record", "interruption"))
    assert len(records.x) == 3 * 2 + 1
    assert records.x[0] == 100_000  # milliseconds
    assert gap.x == (14_000,)
    assert gap.base == ("2020-12-04 22:44:20.000000",)
    assert gap.marker.pattern.shape is None
    assert spot.marker.pattern.shape == "/"
    assert spot.x == (90_000,) * 3
    assert named(view.figure, "framework events").x == (300_000,) * 3
    assert "algo-2 covers least, 79.3 % of the job's time; 3 of 3 nodes lack some of it." in view.caption


def test_a_node_s_bars_lie_in_its_row() -> None:
    view = figures.coverage_figure(built.coverage([(1, 300, 314, "gap")], events=built.extents()), VIEW)
    assert list(view.figure.layout.yaxis.ticktext) == list(NODES)
    for trace in view.figure.data:
        for row, words in zip(trace.y, trace.customdata, strict=True):
            middle, height = row, trace.width
            place = NODES.index(words[0])
            assert place < middle - height / 2
            assert middle + height / 2 < place + 1


def test_late_and_early_nodes_are_not_drawn_as_recording() -> None:
    node = built.node("algo-1", start_ns=VIEW.window.start_ns + 20 * S, missing=1)
    view = figures.coverage_figure(built.coverage([(0, 0, 20, "before the first record")], nodes=[node]), VIEW)
    assert named(view.figure, "records").x == (483_000,)
    assert named(view.figure, "no record").x == (20_000,)


def test_everything_covered_is_said() -> None:
    view = figures.coverage_figure(built.coverage(), VIEW)
    assert [trace.name for trace in view.figure.data] == ["records"]
    assert view.caption == "Every node has records from the beginning to the end."


def test_a_node_with_one_record_is_not_said_to_be_covered() -> None:
    alone = built.node("algo-2", ticks=1, end_ns=VIEW.window.start_ns, covered_percent=built.NOT_KNOWN)
    view = figures.coverage_figure(built.coverage(nodes=[built.node("algo-1"), alone]), VIEW)
    assert view.caption == (
        "Every other node has records from the beginning to the end. 1 node has a record at one time only."
    )


def test_many_nodes_grow_the_figure_within_limits() -> None:
    names = [f"algo-{at}" for at in range(1000)]
    gaps: list[Any] = [(at, 10, 20 + at / 10, "gap") for at in range(1000)]
    view = figures.coverage_figure(built.coverage(gaps, names=names), VIEW)
    assert view.height == figures.expected_height(1000) <= 1100
    assert {words[0] for words in named(view.figure, "records").customdata} == set(names[-figures.MAX_ROWS :])
    assert f"The {figures.MAX_ROWS} least covered of 1,000 nodes are drawn." in view.caption
    assert len(view.figure.layout.yaxis.ticktext) < 100


def test_many_gaps_are_reduced_to_the_longest() -> None:
    gaps = [(0, at / 20, at / 20 + 0.02 + at * 1e-7, "gap") for at in range(figures.MAX_STRETCHES + 500)]
    view = figures.coverage_figure(built.coverage(gaps), VIEW)
    drawn = named(view.figure, "no record")
    assert len(drawn.x) == figures.MAX_STRETCHES
    assert "The longest 3,000 of 3,500 stretches are drawn." in view.caption


def test_names_are_no_markup() -> None:
    name = "<b>algo</b>%{x} $1$ <img src=x>"
    view = figures.coverage_figure(built.coverage([(0, 1, 9, "gap")], names=[name], events=built.extents(name)), VIEW)
    assert re.search("<b>algo|<img|[^&#;]%{x}", everything(view.figure)) is None
    assert len(view.figure.layout.yaxis.ticktext[0]) < 80


def test_events_alone_have_rows_too() -> None:
    view = figures.coverage_figure(built.coverage(names=(), events=built.extents("algo-7")), VIEW)
    assert list(view.figure.layout.yaxis.ticktext) == ["algo-7"]
    assert [trace.name for trace in view.figure.data] == ["framework events"]
