"""The tables of data quality: figures, rows, and text from files that stays text."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pandas as pd
import pytest

from components import quality_tables as tables
from data.frames.quality import FILE_ROWS_COLUMNS, PROBLEM_ROWS_COLUMNS, FileRows, ProblemRows
from data.insights.quality import verdict
from data.insights.statement import Level, Statement
from tests import quality as built
from tests.drawn import components, words
from tests.frames import START_NS, S

HOSTILE = "<img src=x onerror=alert(1)>\u202e\x00"


def problems(*rows: tuple[str, str, int | None, str, int]) -> ProblemRows:
    frame = pd.DataFrame(list(rows), columns=list(PROBLEM_ROWS_COLUMNS))
    return ProblemRows(frame.astype({"line": "Int64", "lost_rows": "Int64"}))


def files(*rows: tuple[str, str, int, int, int, int, str]) -> FileRows:
    return FileRows(pd.DataFrame(list(rows), columns=list(FILE_ROWS_COLUMNS)))


def figures(**changes: Any) -> dict[str, str]:
    """Name of a key figure -> all its words."""
    strip = tables.figures_strip(changes.pop("quality", built.quality()), changes.pop("coverage", built.coverage()))
    return {words(card.children[0]): words(card.children[1:]) for card in strip.children}


def test_key_figures_of_a_clean_job() -> None:
    assert figures() == {
        "Files read": "61 38.4 MB",
        "Records read": "236,214 5,036 events, 188 steps",
        "Records lost": "0 nothing was lost",
        "Events left out": "0 none",
        "Duplicates dropped": "0 no copies of files",
        "Time covered": "100.0 % all nodes",
        "In the store": "1.92 MB 20.0 times smaller",
    }


def test_key_figures_of_a_damaged_one() -> None:
    kinds = built.kind(lost_rows=281, damaged=11), built.kind("pythontimeline", left_out=4, copies=1)
    found = figures(quality=built.quality(*kinds, duplicates=1440), coverage=built.coverage([(1, 100, 100.2, "gap")]))
    assert found["Records lost"] == "281 in 11 files"
    assert found["Events left out"] == "4 no usable time or duration"
    assert found["Duplicates dropped"] == "1,440 1 copy of files left out"
    assert found["Time covered"] == "99.9 % lowest node, algo-2"  # 99.96: never rounded to a whole that it is not


def test_what_cannot_be_known_is_missing() -> None:
    assert figures(coverage=built.coverage(names=()))["Time covered"] == "n/a no system metrics"


def test_levels_are_told_by_sign_and_word() -> None:
    signs = {sign for sign, _ in tables.SIGNS.values()}
    assert len(signs) == len(tables.SIGNS) == len(Level)
    line = tables.verdict_line(verdict(built.quality(built.kind(lost_rows=3, damaged=1)), built.coverage()))
    assert words(line).startswith("◆ Warning 3 records of")


def test_statements_say_what_where_and_link_to_the_time() -> None:
    one = Statement(Level.WARNING, f"{HOSTILE} has no record", (("Nodes", ("Network",)),), "Means.", (1, 2), "algo-1")
    other = Statement(Level.NOTE, "Copies", (), "Nothing is lost.")
    table = tables.statement_table([one, other], lambda statement: f"/there?from={statement.window}")
    links = [part for part in components(table) if type(part).__name__ == "Link"]
    assert [link.href for link in links] == ["/there?from=(1, 2)"]
    text = words(table)
    assert "Nodes: Network" in text
    assert "no panel" in text
    assert "\u202e" not in text


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
    for grid in (tables.problem_grid("g"), tables.file_grid("g"), tables.node_grid("g", built.coverage(), 0)):
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
