"""The table of Python functions: what its rows, headers and CSV say, and that names stay text."""

from __future__ import annotations

import csv
import io
from typing import Any

import dash_ag_grid as dag
import pytest

from components.functions_table import csv_text, functions_table
from tests import frames
from tests.drawn import components, words
from tests.frames import S


def grid(totals: Any) -> Any:
    (found,) = [part for part in components(functions_table("f", totals)) if isinstance(part, dag.AgGrid)]
    return found


def headers(totals: Any) -> list[str]:
    return [column["headerName"] for column in grid(totals).columnDefs]


def test_rows_in_the_unit_of_the_header() -> None:
    totals = frames.function_totals()
    assert headers(totals) == [
        "Function",
        "File and line",
        "Calls",
        "Own time (ms)",
        "Own time (%)",
        "Cumulative (ms)",
    ]
    sleep, step, _ = grid(totals).rowData
    assert sleep == {
        "function": "<built-in method time.sleep>",
        "place": "built in",
        "path": "built in",
        "calls": 54,
        "primitive": None,
        "own": 2000.0,
        "share": pytest.approx(200 / 3),
        "cumulative": 2000.0,
        "profiler": "cProfile",
    }
    assert (step["calls"], step["primitive"], step["own"], step["cumulative"]) == (31, 5, 1000.0, 5000.0)
    assert (step["place"], step["path"]) == ("…/very/deep/train.py:10", "/opt/ml/code/very/deep/train.py:10")


@pytest.mark.parametrize(
    ("longest", "unit"), [(99 * S, "ms"), (100 * S, "s"), (10**6, "ms"), (999_000, "µs"), (0, "µs")]
)
def test_the_unit_follows_the_longest_time(longest: int, unit: str) -> None:
    totals = frames.function_totals([("cprofile", "a.py", 1, "f", 1, 1, 0, longest)])
    assert f"Cumulative ({unit})" in headers(totals)


def test_names_are_text_without_control_characters_and_in_cells_that_show_text() -> None:
    totals = frames.function_totals([("cprofile", "a\u202eb\n.py", 1, "<b>x</b>\0", 1, 1, 1, 1)])
    (row,) = grid(totals).rowData
    assert (row["function"], row["path"]) == ("<b>x</b>", "ab .py:1")
    names = [column for column in grid(totals).columnDefs if column["field"] in ("function", "place")]
    assert {column["cellRenderer"] for column in names} == {"FunctionText"}


def test_samples_have_no_calls_and_shares_are_of_one_profiler() -> None:
    rows = [("pyinstrument", "a.py", 1, "f", None, None, 3 * S, 3 * S), frames.FUNCTION_ROWS[0]]
    totals = frames.function_totals(rows)
    assert headers(totals)[-1] == "Profiler"
    sampled, counted = grid(totals).rowData
    assert (sampled["calls"], sampled["primitive"], sampled["profiler"]) == (None, None, "Pyinstrument")
    assert (sampled["share"], counted["share"]) == (100, 100)


def test_the_words_above_say_what_is_summed_and_what_is_left_out() -> None:
    said = words(functions_table("f", frames.function_totals(functions=4000)))
    assert "4,000 functions in 2 profiles by cProfile" in said
    assert "86 calls (60 without recursion)" in said
    assert "3 s of own time" in said
    assert "the 3 with the most own time are listed" in said


def test_without_own_time_there_is_no_share() -> None:
    (row,) = grid(frames.function_totals([("cprofile", "a.py", 1, "f", 1, 1, 0, 0)])).rowData
    assert row["share"] is None


def test_csv_is_in_seconds_and_runs_nothing() -> None:
    lines = list(csv.reader(io.StringIO(csv_text(frames.function_totals()))))
    assert lines[0] == ["profiler", "file", "line", "function", "calls", "primitive_calls", "own_s", "cumulative_s"]
    assert lines[2] == [
        "cprofile",
        "/opt/ml/code/very/deep/train.py",
        "10",
        "step",
        "31",
        "5",
        "1.000000000",
        "5.000000000",
    ]
    assert lines[3][1] == "'=cmd()"
    sampled = frames.function_totals([("pyinstrument", "a.py", 1, "f", None, None, 1, 1)])
    assert csv_text(sampled).splitlines()[1] == "pyinstrument,a.py,1,f,,,0.000000001,0.000000001"
