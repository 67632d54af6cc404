"""Whether numbers can be trusted, case by case: the verdict, and what each loss touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from app.pages import nodes, overview
from app.urls import Address
from data.frames.quality import NodeLoss, OutOfRange
from data.insights.coverage import MIN_SHARED_STEPS
from data.insights.quality import statements, verdict
from data.insights.statement import (
    FILE_KINDS,
    METRICS,
    MOST_NAMED,
    Level,
    Statement,
    panels_of_kind,
    panels_of_metric,
    span,
)
from data.selection import Selection
from data.sources import FileKind
from tests import frames
from tests import quality as built
from tests.drawn import said
from tests.frames import START_NS, S


def told(*, quality: Any = None, coverage: Any = None, values: Any = None, clocks: Any = None) -> list[Statement]:
    return list(
        statements(
            quality or built.quality(), coverage or built.coverage(), values or built.values(), clocks or built.clocks()
        )
    )


def only(found: Sequence[Statement]) -> Statement:
    (one,) = found
    return one


# --- the verdict ---


def test_all_was_read() -> None:
    one = verdict(built.quality(), built.coverage())
    assert one.level is Level.GOOD
    assert one.text == "Everything was read: 236,214 records and 5,036 events from 61 files."


def test_a_job_of_profiles_alone_holds_data() -> None:
    quality = built.quality(built.kind("python_stats", files=4, rows=90), system_rows=0, events=0, functions=90)
    one = verdict(quality, built.coverage(names=()))
    assert one.text == "Everything was read: 90 rows of Python profiles from 4 files."
    every = verdict(built.quality(functions=90), built.coverage())
    assert "236,214 records, 5,036 events and 90 rows of Python profiles from 61 files" in every.text


def test_lost_records_are_counted_of_all_there_were() -> None:
    kind = built.kind(lost_rows=3, damaged=1, problems=3)
    one = verdict(built.quality(kind, duplicates=47), built.coverage())
    assert one.level is Level.WARNING
    # 236,214 + 5,036 + 47 + 3
    assert one.text.startswith("3 records of 241,300 (under 0.01 %) were lost in 1 file; everything else was read")


def test_a_file_that_could_not_be_read_is_an_error() -> None:
    one = verdict(built.quality(built.kind(damaged=2, problems=2), errors=2), built.coverage())
    assert one.level is Level.ERROR
    assert one.text.startswith("2 files could not be read")


def test_events_left_out_are_no_lost_records() -> None:
    one = verdict(built.quality(built.kind("pythontimeline", left_out=4, problems=1)), built.coverage())
    assert one.level is Level.WARNING
    assert one.text.startswith("No record was lost")
    assert "4 whole events made no sense" in one.text


def test_a_gap_alone_is_said() -> None:
    one = verdict(built.quality(), built.coverage([(1, 100, 350, "gap")]))
    assert one.level is Level.WARNING
    assert "not all of the job's time has records" in one.text


def test_nothing_usable_says_how_to_get_data() -> None:
    quality = built.quality(built.kind(rows=0, lost_rows=5), system_rows=0, events=0, steps=0)
    one = verdict(quality, built.coverage(names=()))
    assert one.level is Level.ERROR
    assert one.text.startswith("Nothing of this job could be read")
    assert "profiler-output/system" in one.advice
    assert told(quality=quality, coverage=built.coverage(names=()), values=built.values()) == []


# --- what each loss touches ---


def test_where_all_is_well_nothing_is_said() -> None:
    assert told() == []


def test_lost_records_name_node_and_panels() -> None:
    loss = NodeLoss("system", "algo-2", 1, 3)
    one = only(told(quality=built.quality(built.kind(lost_rows=3, damaged=1), losses=[loss])))
    assert one.level is Level.WARNING
    assert one.found == "3 records of system metrics of algo-2 were lost in 1 file"
    assert ("Overview", ("Resource utilization",)) in one.touches


def test_a_file_that_gave_nothing_is_an_error_and_comes_first() -> None:
    losses = [NodeLoss("system", "algo-2", 1, 3), NodeLoss("pythontimeline", "algo-1", 2, 0)]
    quality = built.quality(built.kind(lost_rows=3), built.kind("pythontimeline"), losses=losses, errors=2)
    first = told(quality=quality)[0]
    assert first.level is Level.ERROR
    assert first.found == "2 files of Python timelines of algo-1 could not be read"
    assert {"Step duration", "Step timeline", "Time spent in training"} <= set(dict(first.touches)["Nodes"])


def test_of_many_nodes_some_are_named_and_the_rest_counted() -> None:
    losses = [NodeLoss("system", f"algo-{at}", 1, 10) for at in range(MOST_NAMED + 3)]
    found = told(quality=built.quality(built.kind(), losses=losses))
    assert len(found) == MOST_NAMED + 1
    assert found[-1].found == "30 records of system metrics of 3 more nodes were lost in 3 files"


def test_a_stretch_without_a_record() -> None:
    one = only(told(coverage=built.coverage([(1, 100, 350, "gap")])))
    assert one.found == "algo-2 has no record for 4 min 10 s"
    assert dict(one.touches)["Nodes"][0] == "System utilization"
    assert dict(one.touches)["Overview"] == ("Resource utilization",)
    assert one.window == (START_NS + 100 * S, START_NS + 350 * S)
    assert one.node == "algo-2"


def test_several_stretches_give_the_sum_and_the_longest() -> None:
    one = only(told(coverage=built.coverage([(2, 10, 20, "gap"), (2, 440, 503, "after the last record")])))
    assert (
        one.found == "algo-3 has no record for 1 min 13 s in 2 stretches, the longest 1 min 3 s after the last record"
    )


def test_a_node_with_one_record_is_not_taken_for_covered() -> None:
    alone = built.node("algo-3", ticks=1, median_ns=0, p95_ns=built.NOT_KNOWN, covered_percent=built.NOT_KNOWN)
    coverage = built.coverage(nodes=[built.node("algo-1"), built.node("algo-2"), alone])
    assert only(told(coverage=coverage)).found == "algo-3 has a record at one time only"
    assert verdict(built.quality(), coverage).level is Level.WARNING


def test_an_interruption_is_said_once_for_all_nodes() -> None:
    common = [(at, 100 + at / 10, 190 + at / 10, "interruption") for at in range(3)]
    one = only(told(coverage=built.coverage(common)))
    assert one.found == "No node has a record for 1 min 30 s (1 interruption)"
    assert one.window == (START_NS + round(100.2 * S), START_NS + 190 * S)
    assert dict(one.touches)["Overview"] == ("Training progress over time", "Resource utilization")


def test_unlike_intervals_are_said() -> None:
    nodes = [built.node("algo-1"), built.node("algo-2", nominal_ns=S), built.node("algo-3", nominal_ns=S)]
    one = only(told(coverage=built.coverage(nodes=nodes)))
    assert one.found == "Nodes were sampled at unlike intervals: 500 ms (algo-1), 1 s (algo-2, algo-3)"


def test_metrics_that_some_nodes_lack_are_told_together() -> None:
    one = only(told(values=built.values({"algo-3": ("gpu", "gpu_memory")})))
    assert one.level is Level.WARNING
    assert one.found == "Not recorded on algo-3, but on other nodes: GPU utilization, GPU memory"


def test_metrics_that_all_nodes_lack_are_a_note() -> None:
    one = only(told(values=built.values(dict.fromkeys(frames.NODES, ("gpu", "gpu_memory")))))
    assert one.level is Level.NOTE
    assert one.found == "Not recorded on any node: GPU utilization, GPU memory"


def test_a_job_without_steps_or_without_metrics() -> None:
    assert only(told(quality=built.quality(steps=0))).found == "The framework recorded no steps"
    none = told(quality=built.quality(system_rows=0), coverage=built.coverage(names=()))
    assert only(none).found == "There are no system metrics"


def test_values_out_of_range_are_counted_and_named() -> None:
    odd = OutOfRange("cpu", 123, 3, -19.61, 100.5, "algo-1", "cpu0")
    one = only(told(values=built.values(odd=[odd])))
    assert one.found == (
        "123 values of CPU utilization lie outside 0 to 100 %, from -19.61 to 100.5 % (algo-1 cpu0 and 2 other devices)"
    )
    assert "only drawings cut them off" in one.means


@pytest.mark.parametrize(
    ("offset", "said"),
    [
        (("algo-2", MIN_SHARED_STEPS, 30, 38, 45), "algo-2 starts shared steps 38 ms later than algo-1"),
        (("algo-2", 188, -45, -38, -30), "algo-2 starts shared steps 38 ms earlier than algo-1"),
        (("algo-2", MIN_SHARED_STEPS - 1, 30, 38, 45), ""),
        (("algo-2", 188, -1, 3, 9), ""),
        (("algo-2", 188, 0, 3, 9), ""),
        (("algo-2", 0, built.NOT_KNOWN, built.NOT_KNOWN, built.NOT_KNOWN), ""),
    ],
)
def test_clocks_are_judged_only_where_the_steps_allow_it(offset: Any, said: str) -> None:
    found = told(clocks=built.clocks(offset))
    assert [one.found for one in found] == ([said] if said else [])
    assert all("or it is truly late" in one.means for one in found)


def test_what_was_dropped_is_a_note() -> None:
    found = told(quality=built.quality(built.kind(copies=2), duplicates=47))
    assert [one.found for one in found] == ["47 duplicate records were dropped", "2 files repeat others byte for byte"]
    assert {one.level for one in found} == {Level.NOTE}


def test_missing_end_marks_are_a_note() -> None:
    assert only(told(quality=built.quality(ended=False))).found.startswith("The profiler did not write both")


# --- the registry ---


def test_panels_that_are_named_are_on_the_pages() -> None:
    address, header = Address(Selection("a")), frames.job_header(function_count=3)
    shown = {
        "Overview": said(overview.layout(address, header)),
        "Nodes": said(nodes.layout(address, header)),
        "Jobs": "Status",
    }
    named = [panels for _, _, panels in (*FILE_KINDS, *METRICS)]
    missing = [
        (page, title) for panels in named for page, titles in panels for title in titles if title not in shown[page]
    ]
    assert missing == []


def test_every_kind_that_is_read_has_a_name() -> None:
    marks = {FileKind.OTHER, FileKind.SYSTEM_END, FileKind.FRAMEWORK_END}
    assert {kind for kind, _, _ in FILE_KINDS} == {str(kind) for kind in FileKind if kind not in marks}
    assert panels_of_kind("not yet known") == ()
    assert panels_of_metric("not yet known") == ()


@pytest.mark.parametrize(
    ("duration_ns", "words"),
    [(250 * S, "4 min 10 s"), (2.5 * S, "2.5 s"), (38e6, "38 ms"), (658_000, "658 µs"), (7_260 * S, "2 h 1 min")],
)
def test_lengths_of_time(duration_ns: float, words: str) -> None:
    assert span(duration_ns) == words
