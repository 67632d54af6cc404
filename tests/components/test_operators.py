"""Lists and table of operators: what stands in a line, what is left out, names that look like something else, CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import dash_ag_grid as dag
import pytest
from dash import html

from components.operators import HEAVIEST, divided, heaviest
from components.operators_table import LISTED, csv_text, of_side, operators_controls, operators_table
from data.frames.operators import TimeShare
from data.insights.operators import Remark
from tests import frames
from tests.drawn import components, ids, words


def lines(root: Any) -> list[str]:
    return [words(part) for part in components(root) if isinstance(part, html.Li)]


def widths(root: Any) -> list[str]:
    return [part.style["width"] for part in components(root) if isinstance(part, html.I) and part.style]


def test_a_line_has_name_share_and_time() -> None:
    drawn = heaviest(frames.operators(), "gpu", [Remark("sgemm", "takes 75.0 %.")])
    assert lines(drawn) == ["sgemm 75.0 % 150 ms", "ncclAllReduce comm. 25.0 % 50 ms"]
    assert widths(drawn) == ["100.0%", "33.3%"]
    assert words(drawn).endswith("sgemm  takes 75.0\u00a0%.")


def test_what_is_not_listed_is_said_in_one_line_without_a_bar() -> None:
    rows = [("cpu", f"op{at}", False, 10, 1, 10, None, ("algo-1",), 1) for at in range(HEAVIEST + 3)]
    drawn = heaviest(frames.operators(rows), "cpu", ())
    assert len(lines(drawn)) == HEAVIEST + 1
    assert lines(drawn)[-1] == "3 more 27.3 % 30 ms"
    assert len(widths(drawn)) == HEAVIEST


def test_operators_that_took_no_time_have_no_share() -> None:
    drawn = heaviest(frames.operators([("cpu", "a", False, 0, 1, 0, 0, ("algo-1",), 1)]), "cpu", ())
    assert lines(drawn) == ["a n/a 0 ns"]
    assert widths(drawn) == []


def test_every_group_says_what_its_percentages_are_of() -> None:
    drawn = divided(frames.framework_shares(), ())
    heads = [words(part) for part in components(drawn) if isinstance(part, html.H4)]
    assert heads == [
        "CPU to GPU % of the time of all operators, by lane",
        "General % of the time of all other lanes but steps",
        "Forward and backward % of the time of both passes",
        "Communication % of the time of kernels by which GPUs talk to each other",
        "Steps % of the time from first to last step, by process",
    ]
    assert lines(drawn) == [
        "cpu_op 75.0 % 6 s",
        "kernel 25.0 % 2 s",
        "DataLoaderIter 100.0 % 1 s",
        "Forward pass 25.0 % 1 s",
        "Backward pass 75.0 % 3 s",
        "ncclAllReduce 100.0 % 500 ms",
        "Step:ModeKeys.TRAIN 90.0 % 9 s",
        "between steps 10.0 % 1 s",
    ]


def test_a_question_that_nothing_answers_is_not_asked() -> None:
    shares = frames.framework_shares(passes=(), communication=(), communication_percent=None, general=(), steps=())
    assert [words(part) for part in components(divided(shares, ())) if isinstance(part, html.H4)] == [
        "CPU to GPU % of the time of all operators, by lane"
    ]


def test_horovod_and_submodules_are_named() -> None:
    spoken = (TimeShare("ALLREDUCE", "communication", 5, 1, 100.0),)
    shares = frames.framework_shares(communication=spoken, communication_percent=None, inner_passes=True)
    said = words(divided(shares, ()))
    assert "of the time of all events of Horovod or SMDataParallel" in said
    assert "of the time of both passes, summed over submodules" in said


def test_a_lane_called_like_a_pass_keeps_its_name() -> None:
    general = (TimeShare("forward", "general", 5, 1, 100.0),)
    assert "forward 100.0 % 5 ns" in lines(divided(frames.framework_shares(general=general), ()))


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a\u202eb\x00", "$x^2$ %{y}", "=1+1", ""])
def test_names_are_text(hostile: str) -> None:
    operators = frames.operators([("cpu", hostile, False, 10, 1, 10, 10, (hostile,), 1)])
    for drawn in (heaviest(operators, "cpu", [Remark(hostile, "x")]), operators_table("p", operators)):
        assert not [part for part in components(drawn) if type(part).__name__ in ("Markdown", "Raw")]
        assert "\u202e" not in words(drawn)
    name = grid(operators).rowData[0]["name"]
    assert name == {"": "(no name)", "a\u202eb\x00": "ab"}.get(hostile, hostile)


def grid(operators: Any) -> Any:
    (found,) = (part for part in components(operators_table("p", operators)) if isinstance(part, dag.AgGrid))
    return found


def test_rows_have_numbers_to_sort_by_and_words_to_show() -> None:
    linear, *_, nccl = grid(frames.operators()).rowData
    assert linear == {
        "name": "aten::linear",
        "side": "CPU",
        "hue": "cpu",
        "percent": 60.0,
        "count": 30,
        "places": "algo-1, algo-2 · 4 processes",
        "total": 600e6,
        "total_words": "600 ms",
        "mean": 20e6,
        "mean_words": "20 ms",
        "longest": 40e6,
        "longest_words": "40 ms",
        "own": 100e6,
        "own_words": "100 ms",
    }
    assert (nccl["side"], nccl["hue"], nccl["places"], nccl["own"]) == ("GPU · comm.", "network", "algo-1", None)
    assert "own_words" not in nccl


def test_headers_and_the_sums_above() -> None:
    assert [column["headerName"] for column in grid(frames.operators()).columnDefs] == [
        "Operation",
        "Side",
        "Share of side (%)",
        "Cumulative",
        "Count",
        "Mean",
        "Longest",
        "Self",
        "Ran on",
    ]
    said = words(operators_table("p", frames.operators()))
    assert "CPU: 2 in 1 s, run 60 times · GPU: 2 in 200 ms, run 62 times" in said


def test_only_so_many_rows_go_to_the_browser_and_it_says_so() -> None:
    rows = [("cpu", f"op{at}", False, 1, 1, 1, None, ("algo-1",), 1) for at in range(LISTED + 1)]
    operators = frames.operators(rows)
    assert len(grid(operators).rowData) == LISTED
    assert "the 10,000 longest are listed" in words(operators_table("p", operators))
    assert csv_text(operators).count("\r\n") == LISTED + 2


def test_many_nodes_are_counted() -> None:
    nodes = tuple(f"rank{at}" for at in range(8))
    assert grid(frames.operators([("cpu", "a", False, 1, 1, 1, 1, nodes, 8)])).rowData[0]["places"] == "8 nodes"


def test_a_side_is_chosen_where_there_are_several() -> None:
    assert [words(part) for part in components(operators_controls("p", ("cpu", "gpu", "step"))) if _segment(part)] == [
        "All",
        "CPU",
        "GPU",
    ]
    assert not [part for part in components(operators_controls("p", ("cpu",))) if _segment(part)]
    assert set(of_side(frames.operators(), "gpu")["side"]) == {"gpu"}
    assert len(of_side(frames.operators(), "nonsense")) == 4
    assert {"p-search", "p-csv", "p-download"} <= set(ids(operators_controls("p", ("cpu",))))


def _segment(part: Any) -> bool:
    return getattr(part, "className", "") == "segment"


def test_csv_has_exact_times_and_no_formulas() -> None:
    rows = [("cpu", "=cmd()", False, 1, 3, 1, None, ("=n", "b"), 2), ("gpu", 'a,"b', True, 0, 1, 0, None, ("x",), 1)]
    head, first, second = csv.reader(io.StringIO(csv_text(frames.operators(rows))))
    assert dict(zip(head, first, strict=True)) == {
        "side": "cpu",
        "operation": "'=cmd()",
        "communication": "no",
        "share_percent": "100.000000",
        "cumulative_s": "0.001000000",
        "count": "3",
        "mean_s": "0.000333333",
        "longest_s": "0.001000000",
        "self_s": "",
        "nodes": "'=n b",
        "processes": "2",
    }
    assert second[1:5] == ['a,"b', "yes", "", "0.000000000"]
