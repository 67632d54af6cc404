"""Gathering a report: the pages' own queries over the whole job; what fails becomes a reason, what is gone does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app import report
from app.exports import download, shown
from app.pages import nodes, overview
from app.panels import Request, drawings
from components.export import Table
from components.report.render import render
from data.errors import MissingTable, QueryTimeout, UnknownJob
from data.frames.report import Absent
from data.queries import heatmap, jobs, operators, steps, system
from data.selection import Selection
from data.store import Store
from tests.conftest import Demo

A, CPU = "tf-hvd-resnet50-cifar10-256", "pt-tabular-cpu"


@pytest.fixture(scope="module")
def store(demo: Demo) -> Store:
    from data.sources import open_source

    return Store(demo.store, [open_source(str(demo.source))])


def test_figures_are_those_of_the_pages_queries(store: Store, demo: Demo) -> None:
    whole = Selection(demo.job_ids[A])
    found = report.gather(store.fetch, whole.job)
    assert found.times == store.fetch(jobs.times, whole)
    assert found.usage.equals(store.fetch(system.usage_summary, whole))  # type: ignore[union-attr]
    histogram = store.fetch(steps.histogram, whole, "log")
    assert (found.step_histogram.p95_ns, found.step_histogram.steps) == (histogram.p95_ns, histogram.steps)  # type: ignore[union-attr]
    document = json.loads(render(found, "json"))
    assert f"{document['cost']['usd']:.2f}" == "6.16"
    assert document["training_job_summary"]["loop_percent"] == pytest.approx(45.0)
    assert document["comparison_basis"]["hyperparameters"][0] == {"name": "batch_size", "value": "256"}


def test_a_job_without_gpus_says_so(store: Store, demo: Demo) -> None:
    found = report.gather(store.fetch, demo.job_ids[CPU])
    assert isinstance(found.gpu_memory, Absent)
    text = render(found, "md")
    assert "no GPU" in text or "0 GPUs" in text


def test_a_query_that_takes_too_long_costs_its_part_only(store: Store, demo: Demo) -> None:
    def fetch(query: Any, *args: Any, **more: Any) -> Any:
        if query is operators.by_name:
            raise QueryTimeout("It took too long.", "Wait.")
        if query is heatmap.device_heatmap:
            raise MissingTable("None.")
        return store.fetch(query, *args, **more)

    found = report.gather(fetch, demo.job_ids[A])
    assert found.operators == Absent("It took too long.", "Wait.")
    assert found.heatmap == Absent("None.")
    assert not isinstance(found.usage, Absent)


def test_a_job_that_is_not_there_is_no_report(store: Store) -> None:
    with pytest.raises(UnknownJob):
        report.gather(store.fetch, "nope")


def test_every_panel_of_a_job_can_be_asked_for_its_rows(dash_app: Any, demo: Demo) -> None:
    """Each gives a table, or has nothing to show of this job."""
    request = Request(Selection(demo.job_ids[A]), 1000)
    every = drawings(dash_app)
    ids = [
        *(one for one in overview.Id if one not in WITHOUT_ROWS),
        *(one for one in nodes.Id if one not in WITHOUT_ROWS),
    ]
    assert [one for one in ids if one not in every] == []
    tables = {one: shown(every[one], request) for one in ids}
    assert {one for one, table in tables.items() if table is None} <= NOT_OF_THIS_JOB
    for one, table in tables.items():
        if table is not None:
            assert table.rows, one
            assert {len(row) for row in table.rows} == {len(table.columns)}, one
            assert download(table, "A title", "parquet")["filename"] == "a-title.parquet"


WITHOUT_ROWS = {"overview-problems", "overview-kpis", "overview-insights", "nodes-minimap"}
NOT_OF_THIS_JOB = {
    "overview-cpu-operators", "overview-gpu-operators", "overview-operators", "nodes-activity", "nodes-loader",
    "nodes-events", "nodes-breakdown", "nodes-gpu-allocator", "nodes-cpu-allocator",
}  # fmt: skip


def test_the_browser_s_word_for_a_panel_is_not_trusted(call: Callable[..., Any], demo: Demo) -> None:
    job = {"path": f"/jobs/{demo.job_ids[A]}", "search": ""}
    for data in (None, {}, [], {"panel": "overview-usage"}, {**job, "panel": "nope"}, {**job, "panel": ["x"]}):
        assert call("shell-export-download.data", **{"shell-export.data": data}) == {}
    asked = {**job, "panel": "overview-usage", "format": "../x", "title": "../../etc"}
    found = call("shell-export-download.data", **{"shell-export.data": asked})
    saved = found["shell-export-download"]["data"]
    assert saved["filename"] == "etc.csv"
    assert saved["content"].startswith("\ufeffnode,metric,unit,max")


def test_formulas_in_names_are_disarmed_in_what_is_saved() -> None:
    assert "'=1+1" in download(Table(("a",), [("=1+1",)]), "x", "csv")["content"]


def downloaded(call: Callable[..., Any], as_format: str, **values: Any) -> dict[str, Any]:
    """What the menu gives for a click on a format."""
    clicked = {
        f"shell-report-{as_format}.n_clicks": 1,
        **{name.replace("__", "."): value for name, value in values.items()},
    }
    found: dict[str, Any] = call("shell-report-download.data", **clicked)
    saved: dict[str, Any] = found["shell-report-download"]["data"]
    return saved


def test_the_menu_judges_by_the_thresholds_of_the_address(call: Callable[..., Any], demo: Demo) -> None:
    path = f"/jobs/{demo.job_ids[A]}/nodes"
    asked = {"url__pathname": path, "url__search": "?LowGPUUtilization_threshold_p95=5&mode=fixed&from=1&to=2"}
    saved = downloaded(call, "json", **asked)
    assert (saved["filename"], saved["type"]) == (f"{A}-report.json", "application/json")
    rules = {one["rule"]: one for one in json.loads(saved["content"])["insights"]["findings"]}
    assert {one["name"]: one["value"] for one in rules["LowGPUUtilization"]["parameters"]}["threshold_p95"] == 5


def test_the_menu_leaves_names_out(call: Callable[..., Any], demo: Demo) -> None:
    path = f"/jobs/{demo.job_ids[A]}"
    saved = downloaded(call, "md", url__pathname=path, **{"shell-report-anonymous.value": ["anonymous"]})
    assert saved["filename"] == "report.md"
    assert "algo-1" not in saved["content"].replace("\\", "")
    assert call("shell-report-download.data", **{"shell-report-md.n_clicks": 1, "url.pathname": "/"}) == {}
