"""The data quality tab: its panels from built frames, and its grids over a damaged job by the way of the browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.pages import quality
from app.panels import Request
from app.settings import load
from app.urls import Address
from components.panels import EmptyView, FigureView
from data.selection import Selection, Window
from tests import frames, trees
from tests import quality as built
from tests.app.pages.looking import FakeFetch, request
from tests.drawn import components, ids, said, words
from tests.frames import END_NS, START_NS, S
from tests.stored import convert

PROBLEM_ROWS = "..quality-problem-grid.getRowsResponse...quality-problem-grid.style...quality-problems-note.children.."
FILE_ROWS = "..quality-file-grid.getRowsResponse...quality-file-grid.style...quality-files-note.children.."
SHOW = "..main.children...shell-crumbs.children...shell-age.children...shell-watch.disabled.."


def fetch(**changes: Any) -> FakeFetch:
    answers = {
        "jobs_header": frames.job_header(),
        "quality_summary": built.quality(),
        "quality_coverage": built.coverage(),
        "quality_values": built.values(),
        "quality_clocks": built.clocks(("algo-2", 188, 30, 38, 45)),
        **changes,
    }
    return FakeFetch(**answers)


def test_layout_asks_for_nothing_and_has_unique_ids() -> None:
    page = quality.layout(Address(Selection("a"), query=(("q", "cut"),)), frames.job_header())
    found = ids(page)
    assert len(found) == len(set(found))
    for panel in quality.Id:
        assert f"{panel}-request" in found
    assert [part.value for part in components(page) if getattr(part, "id", "") == quality.Part.SEARCH] == ["cut"]


def test_a_job_without_data_has_no_panels_of_time() -> None:
    found = ids(quality.layout(Address(Selection("a")), frames.job_header(nodes=(), start_ns=0, end_ns=0)))
    assert "quality-coverage" not in found
    assert "quality-problems-request" in found


def test_the_verdict_comes_with_its_figures() -> None:
    drawn = words(quality.draw_verdict(fetch(), request()))
    assert drawn.startswith("✓ All read Everything was read: 236,214 records")
    assert "Records lost" in drawn


def test_statements_link_to_the_time_they_speak_of() -> None:
    asked = fetch(quality_coverage=built.coverage([(1, 100, 350, "gap")]))
    table = quality.draw_statements(asked, request(), lambda job_id: f"/jobs/{job_id}/nodes")
    links = [part.href for part in components(table) if type(part).__name__ == "Link"]
    start, end = (START_NS + 0 * S) // 10**6, (START_NS + 475 * S) // 10**6  # half of its length on either side
    assert links == [f"/jobs/run-a-1a2b3c4d/nodes?from={start}&to={end}"]


def test_a_short_stretch_is_shown_with_time_around_it() -> None:
    covered = built.coverage()
    window = (START_NS + 100 * S, START_NS + 102 * S)
    assert quality.shown_window(window, covered) == Window(START_NS + 90 * S, START_NS + 112 * S)
    assert quality.shown_window((END_NS - S, END_NS), covered) == Window(END_NS - 11 * S, END_NS)
    assert quality.shown_window(None, covered) is None


def test_where_nothing_is_to_be_said_that_is_said() -> None:
    asked = fetch(quality_clocks=built.clocks())
    assert "Nothing to know" in words(quality.draw_statements(asked, request(), str))
    nothing = built.quality(system_rows=0, events=0, steps=0)
    asked = fetch(quality_summary=nothing, quality_clocks=built.clocks(), quality_coverage=built.coverage(names=()))
    assert "no number to trust" in words(quality.draw_statements(asked, request(), str))


def test_the_chart_follows_the_window_and_its_figures_do_not() -> None:
    window = Window(START_NS + 10 * S, START_NS + 20 * S)
    asked = fetch()
    view = quality.draw_coverage(asked, request(window, ("algo-2",)))
    assert isinstance(view, FigureView)
    assert view.figure.layout.xaxis.range == ("2020-12-04 22:39:30.000000", "2020-12-04 22:39:40.000000")
    quality.draw_nodes(asked, request(window))
    assert {arguments for _, arguments in asked.asked} == {(Selection("run-a-1a2b3c4d"),)}


def test_a_job_of_profiles_alone_has_no_time_to_cover() -> None:
    view = quality.draw_coverage(fetch(quality_coverage=built.coverage(names=())), request())
    assert isinstance(view, EmptyView)


def test_clocks_say_what_they_mean_or_that_nothing_can_be_told() -> None:
    drawn = words(quality.draw_clocks(fetch(), request()))
    assert "true lateness" in drawn
    assert "algo-1" in drawn
    assert isinstance(quality.draw_clocks(fetch(quality_clocks=built.clocks()), request()), EmptyView)


# --- over a damaged job ---


@pytest.fixture
def job_id(tmp_path: Path) -> str:
    job = tmp_path / "job"
    metrics = trees.metrics_files(trees.machine(ticks=300))
    broken = trees.metrics_path(trees.START_US, "algo-1")
    trees.write(job, metrics | {broken: metrics[broken] + b'{"broken\n' * 7})
    return convert(job, tmp_path / "store").job_id


@pytest.fixture
def app_settings(tmp_path: Path, job_id: str) -> Any:
    return load(source=(str(tmp_path / "job"),), store=tmp_path / "store", cache=tmp_path / "cache")


def rows(answer: Any, grid: str) -> Any:
    return answer[grid]["getRowsResponse"]


def asked_files(job_id: str, search: str) -> dict[str, Any]:
    return {"quality-files-request.data": {"path": f"/jobs/{job_id}/quality", "search": search}}


def test_blocks_of_problems(call: Callable[..., Any], job_id: str) -> None:
    path = {"url.pathname": f"/jobs/{job_id}/quality"}
    answer = call(PROBLEM_ROWS, **{"quality-problem-grid.getRowsRequest": {"startRow": 0, "endRow": 3}}, **path)
    found = rows(answer, "quality-problem-grid")
    assert found["rowCount"] == 7
    assert [row["severity"] for row in found["rowData"]] == ["Warning"] * 3
    assert answer["quality-problems-note"]["children"] == "7 problems and notes · errors first"


def test_files_of_note_or_all(call: Callable[..., Any], job_id: str) -> None:
    block = {"quality-file-grid.getRowsRequest": {"startRow": 0, "endRow": 100}}
    path = {"url.pathname": f"/jobs/{job_id}/quality"}
    some = call(FILE_ROWS, **block, **path, **asked_files(job_id, ""))
    assert rows(some, "quality-file-grid")["rowCount"] == 1
    every = call(FILE_ROWS, **block, **path, **asked_files(job_id, "?files=all"))
    assert rows(every, "quality-file-grid")["rowCount"] == 3
    none = call(FILE_ROWS, **block, **path, **asked_files(job_id, "?files=all"), **{"quality-search.value": "zz"})
    assert rows(none, "quality-file-grid")["rowCount"] == 0


def test_problems_and_files_as_csv(call: Callable[..., Any], job_id: str) -> None:
    path = {"url.pathname": f"/jobs/{job_id}/quality"}
    answer = call("quality-download.data", **{"quality-problem-csv.n_clicks": 1}, **path)
    content = answer["quality-download"]["data"]["content"]
    assert len(list(csv.DictReader(io.StringIO(content)))) == 7


def test_an_address_of_no_job_asks_for_nothing(call: Callable[..., Any]) -> None:
    block = {"quality-problem-grid.getRowsRequest": {"startRow": 0, "endRow": 3}}
    assert call(PROBLEM_ROWS, **block, **{"url.pathname": "/"}) == {}


def test_the_tab_is_drawn_with_the_others(call: Callable[..., Any], job_id: str) -> None:
    answer = said(call(SHOW, **{"url.pathname": f"/jobs/{job_id}/quality", "url.search": ""})["main"])
    assert "Data quality" in answer
    assert "7 problems" in answer
    overview = said(call(SHOW, **{"url.pathname": f"/jobs/{job_id}", "url.search": ""})["main"])
    assert "7 records lost" in overview


def test_a_job_with_nothing_usable_still_has_the_tab(tmp_path: Path, dash_app: Any) -> None:
    trees.write(tmp_path / "none", {trees.metrics_path(trees.START_US, "algo-1"): b'{"x": 1}\n'})
    stored = convert(tmp_path / "none", tmp_path / "none-store")
    store = stored.store()
    drawn = words(quality.draw_verdict(store.fetch, Request(Selection(stored.job_id), 1000)))
    assert "Nothing of this job could be read" in drawn
    assert "Check that it was on" in drawn
    assert isinstance(quality.draw_clocks(store.fetch, Request(Selection(stored.job_id), 1000)), EmptyView)
