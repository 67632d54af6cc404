"""Histograms of metrics: shares of exact counts, quantiles as lines, nodes on an axis of names."""

import numpy as np
import pytest

from components.figures import distribution
from tests import frames
from tests.components.figures.plot import VIEW, assert_house_rules, everything, numbers


def test_shares_of_samples():
    view = distribution.metric_histogram(frames.metric_histogram(), VIEW)
    assert_house_rules(view.figure, time=False)
    bars = view.figure.data[0]
    shares = numbers(bars.y)
    assert shares.size == 50
    assert shares.sum() == pytest.approx(100)
    assert (shares[0], shares[5], shares[48]) == pytest.approx((27, 60, 13))
    assert numbers(bars.x)[:2].tolist() == [1, 3]
    assert bars.customdata[48][0] == "96 to under 98 %"
    assert bars.customdata[49][0] == "98 to 100 %"
    assert "% of samples" in view.figure.layout.meta["unit"]
    assert view.note == "share of samples per 2 %"


def test_zero_and_above_90_in_words():
    caption = distribution.metric_histogram(frames.metric_histogram(), VIEW).caption
    assert caption == "300 GPU samples: 27.0 % at 0, 13.0 % above 90 %."
    idle = frames.node_histogram(zero=0, over_90=0, below=1, above=2)
    caption = distribution.metric_histogram(frames.metric_histogram("cpu", [idle]), VIEW).caption
    assert caption == "100 core samples: none at 0, none above 90 %. 3 outside 0 to 100 left out of the bars."


def test_quantiles_stand_where_they_are():
    figure = distribution.metric_histogram(frames.metric_histogram(), VIEW).figure
    p50, p95 = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines+text"]
    assert set(p50.x) == {10.0}
    assert set(p95.x) == {96.0}
    assert "p50 <b>10</b>" in p50.text[1]
    assert "p95 <b>96</b>" in p95.text[1]
    assert p95.line.dash == "dot"


def test_nodes_named_like_numbers_are_categories_in_order():
    nodes = [frames.node_histogram(name) for name in ("1", "2", "10")]
    figure = distribution.metric_histogram(frames.metric_histogram(nodes=nodes), VIEW).figure
    axis = figure.layout.yaxis2
    assert axis.type == "category"
    assert list(axis.categoryarray) == ["1", "2", "10"]
    assert axis.range[0] > axis.range[1]  # the first one on top
    strips = figure.data[-1]
    assert list(strips.y) == ["1", "2", "10"]
    assert np.asarray(strips.customdata)[2, 0] == pytest.approx(27)


def test_one_node_needs_no_strips():
    view = distribution.metric_histogram(frames.metric_histogram(nodes=[frames.node_histogram()]), VIEW)
    assert not [trace for trace in view.figure.data if trace.type == "heatmap"]
    assert view.height == distribution.expected_height(1)
    assert distribution.metric_histogram(frames.metric_histogram(), VIEW).height == distribution.expected_height(3)


def test_nothing_in_the_window():
    empty = frames.node_histogram(counts=np.zeros(50, np.int64), zero=0, over_90=0, total=0, p50=np.nan, p95=np.nan)
    frame = frames.metric_histogram(nodes=[empty], p50=np.nan, p95=np.nan)
    view = distribution.metric_histogram(frame, VIEW)
    assert view.caption == "No sample lies in this window."
    assert not [trace for trace in view.figure.data if trace.type == "scatter" and trace.mode == "lines+text"]


def test_names_from_files_are_text():
    nodes = [frames.node_histogram("<b>x</b>"), frames.node_histogram("b")]
    assert "<b>x" not in everything(distribution.metric_histogram(frames.metric_histogram(nodes=nodes), VIEW).figure)
