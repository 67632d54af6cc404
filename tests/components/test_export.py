"""Exports: what a chart draws and what a panel lists, with the kinds of values; nothing runs as a formula."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import numpy as np
import pytest
from dash import html

from components import operators as lists
from components.coverage_tables import node_grid
from components.export import Table, content_table, csv_of, figure_table
from components.figures import heatmap, lanes, phases, quality, steps, system
from components.figures.axes import View
from components.tables import usage_table
from data.selection import Window
from tests import frames
from tests import quality as built

VIEW = View(Window(frames.START_NS, frames.END_NS), "dark")


def test_lines_are_series_time_and_value() -> None:
    frame = frames.over_time("gpu", [("algo-1", ""), ("algo-2", "")], bins=10)
    found = figure_table(system.usage_over_time(frame, VIEW, devices="GPU").figure)
    assert found.columns == ("series", "time", "%")
    first = [row for row in found.rows if row[0] == "algo-1"]
    assert [row[2] for row in first] == pytest.approx([10.0] * 10)
    assert first[0][1] == datetime(2020, 12, 4, 22, 39, 21)  # noqa: DTZ001 - the middle of the first bin of 2 s, on the clock
    assert first[1][1] == datetime(2020, 12, 4, 22, 39, 23)  # noqa: DTZ001


def test_a_gap_is_missing_and_not_zero() -> None:
    frame = frames.over_time("gpu", [("algo-1", ""), ("algo-2", "")], bins=10, gap=(3, 5))
    found = figure_table(system.usage_over_time(frame, VIEW, devices="GPU").figure)
    assert [row[2] for row in found.rows if row[0] == "algo-1"][2:6] == pytest.approx(
        [10.0, None, None, 10.0], nan_ok=True
    )


def test_heatmap_has_a_row_for_every_device_and_column() -> None:
    frame = frames.heatmap(["algo-1"], gpus=1, cores=2, bins=4)
    found = figure_table(heatmap.utilization_heatmap(frame, VIEW).figure)
    assert found.columns == ("node", "device", "middle of column", "highest %", "mean %")
    assert len(found.rows) == 3 * 4
    assert [row[3] for row in found.rows] == frame.maximum.ravel().tolist()
    assert [row[4] for row in found.rows] == frame.mean.ravel().tolist()
    assert {row[1] for row in found.rows} == {"gpu0", "cpu0", "cpu1"}


def test_histogram_counts_are_the_frame_s() -> None:
    frame = frames.step_histogram()
    found = figure_table(steps.step_histogram(frame, VIEW).figure)
    assert sum(row[2] for row in found.rows if row[0] != "outliers") == sum(
        int(group.counts.sum()) for group in frame.groups
    )


def test_single_events_and_coverage() -> None:
    found = figure_table(lanes.framework_lanes(frames.lane_bars(), VIEW).figure)
    assert found.columns == ("lane", "event", "where", "start", "duration ms")
    assert {row[1] for row in found.rows} == {"a", "b"}
    covered = figure_table(quality.coverage_figure(built.coverage([(1, 10, 40, "gap")]), VIEW).figure)
    assert covered.columns == ("what", "node", "from", "to", "length")
    assert ("no record", "algo-2") in {row[:2] for row in covered.rows}


def test_names_with_markup_are_as_they_were() -> None:
    frame = frames.over_time("gpu", [("<b>&amp;", ""), ("algo-2", "")], bins=4)
    found = figure_table(system.usage_over_time(frame, VIEW, devices="GPU").figure)
    assert {row[0] for row in found.rows} == {"<b>&amp;", "algo-2"}


def test_the_donut_is_a_table_of_seconds() -> None:
    found = figure_table(phases.phase_donut(frames.job_times(), VIEW))
    assert [row[0] for row in found.rows] == ["Initialization", "Training loop", "Finalization"]
    assert sum(row[2] for row in found.rows) == pytest.approx(503, abs=1)


def test_the_usage_table_has_numbers() -> None:
    found = content_table(html.Div([usage_table(frames.usage_summary())]))
    assert found is not None
    assert found.columns[:4] == ("node", "metric", "unit", "max")
    assert (*found.rows[1][:3], found.rows[1][5]) == ("algo-1", "GPU", "%", 13.5)


def test_lists_keep_the_heading_above_them() -> None:
    found = content_table(lists.divided(frames.framework_shares(), ()))
    assert found is not None
    assert found.columns == ("table", "name", "share %", "time")
    assert ("CPU to GPU", "cpu_op", 75.0, "6 s") in found.rows
    assert ("Steps", "between steps", 10.0, "1 s") in found.rows


def test_a_grid_gives_what_it_sorts_by() -> None:
    found = content_table(node_grid("grid", built.coverage(), 0))
    assert found is not None
    covered = found.columns.index("Covered")
    assert [row[covered] for row in found.rows] == [100.0] * 3


def test_content_without_a_table_has_nothing_to_export() -> None:
    assert content_table(html.Div([html.P("words"), "more"])) is None


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_disarmed_and_numbers_stay_numbers(start: str) -> None:
    text = csv_of(Table(("name", "value", "time"), [(f"{start}cmd()", -1.5, None)]))
    (head, row) = list(csv.reader(io.StringIO(text)))
    assert head == ["name", "value", "time"]
    assert row[0][0] == "'" or row[0] == "cmd()"  # a tab or line end at the start does not survive at all
    assert row[1:] == ["-1.5", ""]


def test_times_are_written_to_the_microsecond() -> None:
    time = datetime(2020, 12, 4, 22, 39, 21, 250000)  # noqa: DTZ001
    assert "2020-12-04 22:39:21.250000" in csv_of(Table(("time",), [(time,)]))


def test_numpy_numbers_become_plain_ones() -> None:
    frame = frames.heatmap(["a"], gpus=1, cores=1, bins=2)
    found = figure_table(heatmap.utilization_heatmap(frame, VIEW).figure)
    assert not any(isinstance(cell, np.generic) for row in found.rows for cell in row)
