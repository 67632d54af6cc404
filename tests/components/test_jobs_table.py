"""The table of jobs: what a row holds, what is missing in it, and what the CSV says."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pandas as pd
import pytest

from components.jobs_table import csv_text, grid_rows, grid_style, jobs_grid, sources_line, totals_strip
from data.frames import JOB_LIST_COLUMNS
from tests.drawn import said
from tests.frames import job_list, job_totals


def row(**changes: Any) -> dict[str, Any]:
    return grid_rows(job_list([changes]), lambda job_id: f"/jobs/{job_id}")[0]


def test_a_stored_job() -> None:
    found = row()
    assert found["href"] == "/jobs/run-a-1a2b3c4d"
    assert (found["status"], found["status_sign"]) == ("Completed", "✓")
    assert found["duration"] == "8m 23s"
    assert found["billed"] == "25m 09s"
    assert (found["cost"], found["gpu_hours"]) == ("$6.16", "1.68")
    assert found["gpu_trend"] == [0.0, 5.0, None, 6.0]
    assert found["disk"] == "4.2 MB"


def test_what_is_missing_is_null_and_never_zero() -> None:
    unknown = dict.fromkeys(
        ("start_ns", "duration_ns", "billed_s", "cost_usd", "gpu_hours", "nodes", "gpus", "gpu_p95", "cpu_p95"), pd.NA
    )
    found = row(**unknown, gpu_trend=(), stored_bytes=0, state="not converted", instances="", status="Unknown")
    for key in (
        "start_ms",
        "duration",
        "billed",
        "cost",
        "gpu_hours",
        "nodes_text",
        "gpus_text",
        "gpus",
        "gpu_p95",
        "cpu_p95",
        "disk",
    ):
        assert found[key] is None, key
    assert found["status"] == "Unknown"
    assert found["instances"] is None


def test_lost_records_are_told_apart_from_other_problems() -> None:
    assert (row(problems=3)["problems"], row(problems=3)["lost_rows"]) == (3, 0)
    assert row(problems=3, lost_rows=281)["lost_rows"] == 281
    assert row(problems=pd.NA, lost_rows=pd.NA)["lost_rows"] is None


def test_a_measured_zero_stays() -> None:
    found = row(gpus=0, gpu_p95=0.0)
    assert found["gpus_text"] == "0"
    assert found["gpu_p95"] == 0.0


def test_hostile_names_stay_text() -> None:
    name = "<img src=x onerror=alert(1)>\u202e\x00"
    found = row(name=name, source="javascript:alert(1)")
    assert found["name"].startswith("<img")
    assert "\u202e" not in found["name"]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_csv_disarms_formulas_and_keeps_numbers(start: str) -> None:
    text = csv_text(job_list([{"name": f"{start}cmd|' /c calc'!A0", "gpu_p95": 13.5}]))
    lines = list(csv.DictReader(io.StringIO(text)))
    assert lines[0]["name"].startswith(f"'{start}cmd")
    assert lines[0]["gpu_p95"] == "13.5"
    assert lines[0]["duration_s"] == "503.000"
    assert lines[0]["start_utc"].startswith("2020-12-04 22:")
    assert set(lines[0]) == (set(JOB_LIST_COLUMNS) - {"gpu_trend", "start_ns", "duration_ns"}) | {
        "start_utc",
        "duration_s",
    }


def test_csv_leaves_missing_cells_empty() -> None:
    lines = list(csv.DictReader(io.StringIO(csv_text(job_list([{"gpu_p95": float("nan"), "nodes": pd.NA}])))))
    assert lines[0]["gpu_p95"] == ""
    assert lines[0]["nodes"] == ""


def test_the_grid_runs_no_text_as_code() -> None:
    props = jobs_grid("grid").to_plotly_json()["props"]
    assert "dangerously_allow_code" not in props
    assert props["rowModelType"] == "infinite"
    sortable = [column["field"] for column in props["columnDefs"] if column.get("sortable", True)]
    assert set(sortable) <= set(JOB_LIST_COLUMNS)


def test_figures_above_the_table() -> None:
    words = said(totals_strip(job_totals()))
    assert "1 not converted" in words
    assert "20 times smaller" in words


def test_few_jobs_make_a_low_table_and_sources_are_named() -> None:
    assert "178px" in grid_style(4)["height"]
    assert len(sources_line(["a", "b", "c", "d"])) == 3
    assert sources_line(["a", "b", "c", "d"])[2].children == "2 more sources"
    assert len(sources_line([])) == 1


def test_a_source_that_could_not_be_listed_is_said_beside_the_others() -> None:
    *named, wrong = sources_line(["a", "b"], ["There is no folder b."])
    assert [one.children for one in named] == ["a", "b"]
    assert wrong.children.children == "There is no folder b."
    assert wrong.role == "alert"


def test_what_is_noted_of_a_source_is_said_as_text() -> None:
    _, noted = sources_line(["a"], (), ["In a 1 folder is too large: <b>\u202e."])
    assert noted.children == "In a 1 folder is too large: <b>."


def test_issues_and_waste_stand_beside_each_other_and_a_job_not_judged_has_neither():
    found = row(issues=3, worst="high", wasted_gpu_hours=1.1203)
    assert (found["issues"], found["worst"], found["wasted"]) == (3, "high", "1.12")
    unknown = row(issues=pd.NA, worst="", wasted_gpu_hours=pd.NA)
    assert (unknown["issues"], unknown["wasted"]) == (None, None)
    assert row(issues=0, worst="", wasted_gpu_hours=0.0)["issues"] == 0
