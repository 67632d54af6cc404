"""The Overview: key numbers, phases, the eleven rows, the usage table and its sentences."""

import json

import pytest
from dash import dcc, html

from app import pricing
from app.pages import overview
from app.urls import Address
from components.details import detail_rows
from components.panels import EmptyView
from data.errors import MissingTable
from data.problem import Problem
from data.selection import Selection, Window
from tests import frames
from tests.app.pages.looking import FakeFetch, request
from tests.drawn import components, ids, words


def fetch(**changes):
    answers = {
        "jobs_header": frames.job_header(),
        "jobs_times": frames.job_times(),
        "jobs_problems": frames.problems(),
        "system_usage_summary": frames.usage_summary(),
        "system_over_time": frames.over_time("gpu_memory", [("algo-3", "gpu2")]),
        "steps_histogram": frames.step_histogram(),
        "functions_listed": frames.function_totals(),
        "cost_billing": frames.billing(),
        "cost_tables": frames.price_tables(),
        **changes,
    }
    return FakeFetch(**answers)


def address(**changes):
    return Address(Selection("run-a-1a2b3c4d", **changes))


def kpis(root):
    cards = [part for part in components(root) if getattr(part, "className", "") == "kpi"]
    return {words(card.children[0]): (words(card.children[1]), words(card.children[2])) for card in cards}


def test_layout_asks_for_nothing_and_has_unique_ids():
    page = overview.layout(address(), frames.job_header())
    found = ids(page)
    assert len(found) == len(set(found))
    for panel in overview.Id:
        present = f"{panel}-request" in found
        assert present is (panel is not overview.Id.PROBLEMS)


def test_problems_have_a_place_only_where_there_are_any():
    page = overview.layout(address(), frames.job_header(problems=2))
    assert f"{overview.Id.PROBLEMS}-request" in ids(page)


def test_a_window_is_said_beside_the_usage_table():
    window = Window(frames.START_NS, frames.START_NS + 90 * frames.S)
    assert "window of 1m 30s" in words(overview.layout(address(window=window), frames.job_header()))
    assert "whole job" in words(overview.layout(address(), frames.job_header()))


def test_seven_key_numbers():
    assert kpis(overview.draw_kpis(fetch(), request())) == {
        "Duration": ("8m 23s", "503.000 s · 3 nodes"),
        "Cost": ("$6.16", "8m 23s billed"),
        "GPU utilization": ("13.5 % p95", "highest node · p50 5.4 %"),
        "CPU utilization": ("24.4 % p95", "highest node · p50 9.8 %"),
        "GPU memory": ("65.8 % peak", "algo-3 gpu2 · 22:46:01"),
        "Step time": ("1.55 s median", "p95 1.92 s · 188 steps"),
        "Disk use": ("4.2 MB", "from 93 MB of profiler files"),
    }


def test_the_highest_node_is_named_for_not_the_first():
    rows = [*frames.usage_rows("algo-1", 13.5), *frames.usage_rows("algo-2", 61.0)]
    found = kpis(overview.draw_kpis(fetch(system_usage_summary=frames.usage_summary(rows)), request()))
    assert found["GPU utilization"][0] == "61.0 % p95"


def test_what_was_not_measured_is_missing_not_zero():
    rows = frames.usage_rows("algo-1", gpu=None)
    missing = MissingTable("none")
    found = kpis(
        overview.draw_kpis(
            fetch(
                system_usage_summary=frames.usage_summary(rows),
                system_over_time=missing,
                steps_histogram=missing,
                cost_tables=frames.price_tables(prices={}),
            ),
            request(),
        )
    )
    for name in ("GPU utilization", "GPU memory", "Step time", "Cost"):
        assert found[name][0] == "n/a"
    assert found["CPU utilization"][0] == "24.4 % p95"
    assert kpis(overview.draw_kpis(fetch(system_usage_summary=missing), request()))["CPU utilization"][0] == "n/a"


def test_key_numbers_are_of_the_whole_job():
    asked = fetch()
    overview.draw_kpis(asked, request(Window(frames.START_NS, frames.START_NS + frames.S)))
    assert all(arguments[0].window is None for _, arguments in asked.asked if arguments)


def test_the_eleven_rows_in_order():
    assert detail_rows(frames.job_times()) == [
        ("Start time", "2020-12-04 22:39:20.000"),
        ("End time", "2020-12-04 22:47:43.000"),
        ("Job duration", "503.000 s"),
        ("Training loop start", "2020-12-04 22:42:40.000"),
        ("Training loop end", "2020-12-04 22:47:40.000"),
        ("Training loop duration", "300.000 s"),
        ("Initialization", "200.000 s"),
        ("Finalization", "3.000 s"),
        ("Initialization (%)", "39.76"),
        ("Training loop (%)", "59.64"),
        ("Finalization (%)", "0.60"),
    ]


def test_what_the_job_costs():
    root = pricing.draw_cost(fetch(), request(offset_minutes=60))
    said = words(root)
    assert "3 × ml.p3.8xlarge 503 s $14.688 us-west-2 · 2020-12 · a test $6.16" in said
    assert "Total $6.16 GPU-hours 1.68 Price of a GPU-hour $3.672 Price of a node-hour $14.688" in said
    assert "Starting 2020-12-04 23:36:29 2m 51s not billed" in said
    assert "Training 2020-12-04 23:39:20 8m 23s billed" in said
    assert "Completed 2020-12-04 23:47:43 – –" in said


def test_a_job_without_a_price_shows_gpu_hours_and_says_how_the_price_becomes_known():
    said = words(pricing.draw_cost(fetch(cost_tables=frames.price_tables(prices={})), request()))
    assert "$" not in said
    assert "GPU-hours 1.68" in said
    assert "No price of ml.p3.8xlarge is known.  Name a table with your prices in INSIGHTS_PRICES." in said


def test_rows_of_the_table_of_prices_that_cannot_be_used_are_named():
    tables = frames.price_tables(problems=(Problem("own.csv", 7, "usd_per_hour is no number", "error"),))
    assert "own.csv, line 7: usd_per_hour is no number" in words(
        pricing.draw_cost(fetch(cost_tables=tables), request())
    )


def test_the_cost_is_that_of_the_whole_job():
    asked = fetch()
    pricing.draw_cost(asked, request(Window(frames.START_NS, frames.START_NS + frames.S), ("algo-1",)))
    assert ("cost_billing", (Selection("run-a-1a2b3c4d"),)) in asked.asked


def test_billed_time_stands_in_a_column_of_its_own():
    root = overview.draw_details(fetch(), request(offset_minutes=60))
    lists = [part for part in components(root) if isinstance(part, html.Dl)]
    assert len(lists) == 2
    assert len(lists[0].children) == 2 * 11
    assert words(lists[1]) == "Billed time 1,509 s Training time 503 s"
    assert "UTC+01:00" in words(root)
    assert "2020-12-04 23:39:20.000" in words(root)


def test_details_without_steps_say_why():
    root = overview.draw_details(fetch(jobs_times=frames.job_times_without_steps()), request())
    assert words(root).count("n/a") == 8
    assert "no step was recorded" in words(root)


def test_phases_with_times_and_shares():
    root = overview.draw_phases(fetch(), request())
    assert [part.figure.data[0].type for part in components(root) if isinstance(part, dcc.Graph)] == ["pie"]
    said = words(root)
    assert "Initialization 3m 20s 000ms 39.76 %" in said
    assert "Training loop 5m 0s 000ms 59.64 %" in said
    assert "Spot interruption none –" in said


def test_phases_with_an_interruption():
    gap = (frames.START_NS + 250 * frames.S, frames.START_NS + 340 * frames.S)
    said = words(overview.draw_phases(fetch(jobs_times=frames.job_times(spot_gaps=(gap,))), request()))
    assert "Spot interruption 1m 30s 000ms 17.89 %" in said


def test_phases_need_steps():
    view = overview.draw_phases(fetch(jobs_times=frames.job_times_without_steps()), request())
    assert isinstance(view, EmptyView)
    assert "no step was recorded" in view.reason


def usage_rows(root):
    """What the browser builds the table from."""
    (table,) = (part for part in components(root) if getattr(part, "data-usage", None))
    return json.loads(getattr(table, "data-usage"))


def test_usage_table_numbers_units_and_bars():
    rows = usage_rows(overview.draw_usage(fetch(), request()))
    assert len(rows) == 18
    assert [row["name"] for row in rows[:6]] == ["Network", "GPU", "CPU", "CPU memory", "GPU memory", "I/O"]
    network, gpu = rows[:2]
    assert (network["node"], network["unit"], network["values"]) == (
        "algo-1",
        "MB/s",
        ["603", "517", "431", "172", "0.0"],
    )
    assert (gpu["node"], gpu["unit"], gpu["values"]) == ("algo-1", "%", ["18.9", "16.2", "13.5", "5.4", "0.0"])
    assert gpu["marks"] == {"max": 18.9, "p99": 16.2, "p95": 13.5, "p50": 5.4, "min": 0.0}  # percent of the scale


def test_a_missing_statistic_has_no_bar():
    given = frames.usage_rows("algo-1")
    given[1]["p99"] = float("nan")
    row = usage_rows(overview.draw_usage(fetch(system_usage_summary=frames.usage_summary(given)), request()))[1]
    assert row["values"] == ["18.9", "n/a", "13.5", "5.4", "0.0"]
    assert row["marks"] is None


def test_one_sentence_a_node():
    root = overview.draw_usage(fetch(), request())
    sentences = [part for part in components(root) if getattr(part, "className", "") == "sentence"]
    assert [words(part).split()[0] for part in sentences] == list(frames.NODES)
    assert all("13.5 %" in words(part) and "24.4 %" in words(part) for part in sentences)


def test_usage_follows_the_window():
    window = Window(frames.START_NS, frames.START_NS + frames.S)
    asked = fetch()
    overview.draw_usage(asked, request(window))
    assert asked.asked[0][1][0].window == window
    empty = overview.draw_usage(fetch(system_usage_summary=frames.usage_summary([])), request(window))
    assert isinstance(empty, EmptyView)


def test_problems_name_their_places():
    lost = frames.problems(
        [("a/system/x.json", 17, "not JSON", "error", 1), ("b/<b>y</b>.json", None, "unreadable", "error", 30)]
    )
    said = words(overview.draw_problems(fetch(jobs_problems=lost), request()))
    assert said.startswith("2 problems while reading, 31 records lost")
    assert "a/system/x.json, line 17  not JSON" in said
    assert "b/<b>y</b>.json  unreadable" in said
    assert words(overview.draw_problems(fetch(), request())) == ""


def test_progress_spans_the_job():
    view = overview.draw_progress(fetch(), request(Window(frames.START_NS, frames.START_NS + frames.S)))
    assert list(view.figure.layout.xaxis.range) == ["2020-12-04 22:39:20.000000", "2020-12-04 22:47:43.000000"]


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a\u202eb\x00"])
def test_text_from_files_is_plain_children(hostile):
    rows = frames.usage_rows(hostile)
    root = overview.draw_usage(fetch(system_usage_summary=frames.usage_summary(rows)), request())
    assert not [part for part in components(root) if type(part).__name__ in ("Markdown", "DangerouslySetInnerHTML")]
    assert "\u202e" not in words(root)
    assert "\x00" not in words(root)


def test_functions_of_the_phase_in_the_address_and_of_all_where_it_is_unknown():
    for query, phase in (({}, ""), ({"phase": "finalization"}, "finalization"), ({"phase": "x' or 1=1"}, "")):
        asked = fetch()
        drawn = overview.draw_functions(asked, request(query=query))
        assert [args[1:] for name, args in asked.asked if name == "functions_listed"] == [(phase,)]
        assert "3 functions in 2 profiles by cProfile" in words(drawn)


def test_without_python_profiles_the_page_says_how_to_get_them():
    page = overview.layout(address(), frames.job_header(function_count=0, function_phases=()))
    assert f"{overview.Id.FUNCTIONS}-request" not in ids(page)
    assert "No Python profile was recorded." in words(page)
    assert "Pyinstrument" in words(page)


def test_parts_of_the_training_are_offered_where_there_are_several():
    def offered(*phases):
        page = overview.layout(address(), frames.job_header(function_phases=phases))
        buttons = [one for one in components(page) if getattr(one, "data-query-key", None) == "phase"]
        return [getattr(one, "data-query-value") for one in buttons]

    assert offered("training_loop") == []
    assert offered("training_loop", "finalization") == ["", "training_loop", "finalization"]
