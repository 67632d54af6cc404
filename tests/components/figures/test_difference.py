"""The difference of two heatmaps: device by device, at the same moment of both axes."""

from __future__ import annotations

import numpy as np

from components.figures.axes import View
from components.figures.difference import difference_heatmap
from components.panels import EmptyView, FigureView
from data.frames import NO_DATA, Heatmap, HeatmapRow
from data.selection import Window

S = 1_000_000_000
VIEW = View(Window(0, 10 * S), origin_ns=0)


def heatmap(rows: dict[tuple[str, str], list[int]], start_ns: int = 0, bin_ns: int = S) -> Heatmap:
    cells = np.array(list(rows.values()), np.uint8)
    names = tuple(HeatmapRow(*key) for key in rows)
    return Heatmap("utilization", names, start_ns, bin_ns, cells, cells, 1.0, {}, {}, 0, None)


def cells(view: FigureView | EmptyView) -> list[list[float | None]]:
    assert isinstance(view, FigureView)
    return [[None if np.isnan(value) else float(value) for value in row] for row in view.figure.data[0].z]


def test_b_minus_a_of_the_devices_that_both_have() -> None:
    a = heatmap({("n", "gpu0"): [10, 20], ("n", "gpu1"): [1, 1]})
    b = heatmap({("n", "gpu0"): [15, 10], ("m", "gpu0"): [9, 9]})
    view = difference_heatmap(a, b, 0, VIEW)
    assert cells(view) == [[5, -10]]
    assert isinstance(view, FigureView)
    assert "2 rows of only one run left out" in str(view.note)
    assert view.figure.data[0].customdata[0][1].tolist() == [20, 10]


def test_b_is_looked_up_at_the_moment_that_lies_beside_a() -> None:
    a = heatmap({("n", "gpu0"): [0, 0, 0, 0]})
    b = heatmap({("n", "gpu0"): [30, 40]}, start_ns=101 * S)
    assert cells(difference_heatmap(a, b, -100 * S, VIEW)) == [[None, 30, 40, None]]


def test_wider_columns_of_b_count_for_each_column_of_a_inside_them() -> None:
    a = heatmap({("n", "gpu0"): [0, 0, 0, 0]})
    b = heatmap({("n", "gpu0"): [30, 40]}, bin_ns=2 * S)
    assert cells(difference_heatmap(a, b, 0, VIEW)) == [[30, 30, 40, 40]]


def test_what_was_not_measured_has_no_difference() -> None:
    a = heatmap({("n", "gpu0"): [NO_DATA, 10, 10]})
    b = heatmap({("n", "gpu0"): [10, NO_DATA, 10]})
    assert cells(difference_heatmap(a, b, 0, VIEW)) == [[None, None, 0]]


def test_runs_without_a_common_device_say_so() -> None:
    found = difference_heatmap(heatmap({("a", "gpu0"): [1]}), heatmap({("b", "gpu0"): [1]}), 0, VIEW)
    assert isinstance(found, EmptyView)
