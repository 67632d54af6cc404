"""Files and problems as rows and as CSV, and text from files that stays text."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest

from components import file_tables as tables
from data.frames.quality import FILE_ROWS_COLUMNS, PROBLEM_ROWS_COLUMNS, FileRows, ProblemRows
from tests import quality as built
from tests.drawn import words
from tests.quality import HOSTILE


def problems(*rows: tuple[str, str, int | None, str, int]) -> ProblemRows:
    frame = pd.DataFrame(list(rows), columns=list(PROBLEM_ROWS_COLUMNS))
    return ProblemRows(frame.astype({"line": "Int64", "lost_rows": "Int64"}))


def files(*rows: tuple[str, str, int, int, int, int, str]) -> FileRows:
    return FileRows(pd.DataFrame(list(rows), columns=list(FILE_ROWS_COLUMNS)))


def test_a_problem_says_what_is_wrong_without_what_stands_beside_it() -> None:
    path = "profiler-output/system/incremental/2020120422/1607121600.algo-1.json"
    name = path.rsplit("/", 1)[-1]
    message = f"line 1801 of {name} is cut off in the middle of a record"
    rows = tables.problem_rows(
        problems(
            ("warning", path, 1801, message, 1),
            ("error", path, None, f"{name}: 39 more lines could not be used", 39),
            ("note", "a", None, "this file is a copy", 0),
        )
    )
    assert [row["message"] for row in rows] == [
        "is cut off in the middle of a record",
        "39 more lines could not be used",
        "this file is a copy",
    ]
    assert rows[0]["whole_message"] == message
    assert [(row["sign"], row["severity"]) for row in rows] == [("◆", "Warning"), ("▲", "Error"), ("○", "Note")]
    assert [row["line"] for row in rows] == ["1,801", None, None]
    assert [row["lost_rows"] for row in rows] == ["1", "39", None]


def test_files_as_rows() -> None:
    first, second = tables.file_rows(
        files(("a/b.json", "system", 4_900_000, 30_096, 3, 2, ""), ("c", "training_job", 7, 0, 0, 0, "a/b.json"))
    )
    assert first == {
        "file": "a/b.json",
        "kind": "system metrics",
        "size_bytes": "4.9 MB",
        "rows": "30,096",
        "lost_rows": "3",
        "problems": "2",
        "copy_of": None,
    }
    assert second["copy_of"] == "a/b.json"
    assert second["lost_rows"] is None


def test_text_from_files_stays_text() -> None:
    rows = tables.problem_rows(problems(("warning", HOSTILE, 1, HOSTILE, 0)))
    rows += tables.file_rows(files((HOSTILE, "system", 1, 1, 0, 0, HOSTILE)))
    assert "\u202e" not in json.dumps(rows, ensure_ascii=False)
    assert rows[0]["file"].startswith("<img")
    for grid in (tables.problem_grid("g"), tables.file_grid("g")):
        assert "dangerously_allow_code" not in grid.to_plotly_json()["props"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_csv_disarms_formulas(start: str) -> None:
    text = tables.problem_csv(problems(("error", f"{start}cmd", None, "is, cut", 3)))
    (line,) = csv.DictReader(io.StringIO(text))
    assert line == {"severity": "error", "file": f"'{start}cmd", "line": "", "message": "is, cut", "lost_rows": "3"}
    (line,) = csv.DictReader(io.StringIO(tables.file_csv(files((f"{start}x", "system", 5, 1, 0, 0, "")))))
    assert line["file"] == f"'{start}x"
    assert line["size_bytes"] == "5"


def test_files_by_kind() -> None:
    kinds = [built.kind(lost_rows=3), built.kind("system_end", files=1, rows=0), built.kind("new_kind", files=2)]
    text = words(tables.kinds_table(kinds))
    assert "system metrics 61 38.4 MB 236,214 3 – – –" in text
    assert "end mark of the metrics 1" in text
    assert "new kind 2" in text


def test_grids_grow_with_their_rows_up_to_a_limit() -> None:
    assert tables.grid_style(3)["height"] < tables.grid_style(9)["height"]
    assert tables.grid_style(50_000) == tables.grid_style(tables.MOST_SHOWN)
