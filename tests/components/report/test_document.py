"""The document: the frames' figures with their units, strict JSON by the schema, reasons where a part is missing."""

from __future__ import annotations

import dataclasses
import inspect
import json
import typing
from typing import Any

import pytest
from pydantic import TypeAdapter

from components.report import conclusions, parts
from components.report import document as doc
from components.report.compose import compose
from components.report.render import json_text, render
from data.frames.report import Absent
from tests import frames, reports
from tests.conftest import ROOT

CLASSES = [
    value
    for module in (parts, conclusions, doc)
    for value in vars(module).values()
    if inspect.isclass(value) and value.__module__ == module.__name__
]
PARTS = (
    "system_usage",
    "framework",
    "operators",
    "python_functions",
    "insights",
    "cost",
    "steps",
    "utilization",
    "gpu_memory",
)


def as_json(report: Any) -> Any:
    """A report's JSON as another program reads it; NaN and infinity would be an error there."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(render(report, "json"), parse_constant=refuse)


def schema() -> str:
    """The schema of the document's classes."""
    made = TypeAdapter(doc.Document).json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}, indent=2) + "\n"


def test_the_schema_is_that_of_the_classes() -> None:
    """Written anew by `python -m tests.report_schema`."""
    assert (ROOT / "docs" / "report.schema.json").read_text() == schema()


@pytest.mark.parametrize("make", [reports.report, reports.bare_report, reports.hostile_report])
def test_json_fits_the_schema_and_nothing_else_is_in_it(make: Any) -> None:
    text = render(make(), "json")
    read = TypeAdapter(doc.Document).validate_json(text, strict=True)
    assert json.loads(json_text(read)) == json.loads(text)
    assert json.loads(text)["schema"] == "debugger-insights.report"
    assert json.loads(text)["version"] == 1


def test_times_are_iso_and_nanoseconds() -> None:
    found = as_json(reports.report())
    assert found["made"] == {"iso": "2026-11-30T00:53:20.123456789Z", "ns": 1_796_000_000_123_456_789}
    assert found["job"]["start"] == {"iso": "2020-12-04T22:39:20.000000000Z", "ns": 1_607_121_560_000_000_000}


def test_times_of_an_undated_job_count_from_its_start() -> None:
    found = as_json(reports.report(header=frames.job_header(wall_clock=False)))
    assert found["job"]["start"] == {"iso": None, "ns": 0}
    assert found["job"]["end"] == {"iso": None, "ns": 503_000_000_000}


def test_figures_are_those_of_the_frames_with_their_units() -> None:
    found = as_json(reports.report())
    times = frames.job_times()
    summary = found["training_job_summary"]
    assert summary["duration_s"] == times.duration_ns / 1e9
    assert summary["loop_percent"] == times.loop_percent
    gpu = next(row for row in found["system_usage"]["rows"] if row["metric"] == "GPU")
    assert (gpu["node"], gpu["unit"], gpu["p95"]) == ("algo-1", "%", 13.5)
    assert [side["side"] for side in found["operators"]["sides"]] == ["cpu", "gpu"]
    linear = found["operators"]["sides"][0]["listed"][0]
    assert (linear["name"], linear["percent"], linear["total_s"], linear["longest_ms"]) == (
        "aten::linear",
        60.0,
        0.6,
        40.0,
    )
    assert linear["self_s"] == 0.1
    assert found["gpu_memory"]["peak"]["percent"] == 65.8
    assert found["data_quality"]["problems"] == 30
    assert found["data_quality"]["more_problems"] == 29


def test_cost_and_what_is_wasted_are_the_exact_ones() -> None:
    """3 instances for 503 s at 14.688 dollars an hour; 1,800 s of one of their 12 GPUs."""
    found = as_json(reports.report())
    assert found["cost"]["usd"] == pytest.approx(3 * 503 * 14.688 / 3600, rel=1e-12)
    (issue,) = found["insights"]["findings"]
    assert issue["wasted_gpu_h"] == 0.5
    assert issue["wasted_usd"] == pytest.approx(0.5 * 3 * 14.688 / 12, rel=1e-12)
    assert issue["wasted_percent"] == 30.0
    moved = issue["parameters"][0]
    assert (moved["name"], moved["value"], moved["default"]) == ("threshold_p95", 60.0, 70.0)


def test_twenty_rows_are_listed_and_the_rest_counted() -> None:
    many = frames.operators([("cpu", f"op{at}", False, 100 - at, 1, 1, None, ("a",), 1) for at in range(30)])
    side = as_json(reports.report(operators=many))["operators"]["sides"][0]
    assert len(side["listed"]) == 20
    assert side["more"] == 10
    total = sum(range(71, 101))
    assert side["more_percent"] == pytest.approx(100 * sum(range(71, 81)) / total)


def test_a_missing_part_says_why_and_is_never_zero() -> None:
    found = as_json(reports.bare_report())
    for part in PARTS:
        assert found[part]["absent"] == {"reason": "It was not recorded.", "hint": "Record it."}, part
    assert found["training_job_summary"]["absent"]["reason"]
    assert found["training_job_summary"]["loop_s"] is None
    assert found["cost"]["usd"] is None
    assert found["steps"]["p50_ms"] is None


def test_missing_values_are_null() -> None:
    usage = frames.usage_summary()
    usage.loc[0, "p95"] = float("nan")
    assert as_json(reports.report(usage=usage))["system_usage"]["rows"][0]["p95"] is None


def test_every_part_of_the_document_is_a_frozen_class_with_units_in_its_names() -> None:
    """A number that is a time, a share or a size says its unit; counts and ids need none."""
    for one in CLASSES:
        assert dataclasses.is_dataclass(one), one
        assert one.__dataclass_params__.frozen, one  # type: ignore[attr-defined]
    plain = {"max", "p99", "p95", "p50", "min", "value", "default", "usd"}
    for one in CLASSES:
        for name, kind in typing.get_type_hints(one).items():
            if float in (kind, *typing.get_args(kind)) and name not in plain:
                ends = (
                    "_s",
                    "_ms",
                    "_h",
                    "_percent",
                    "_usd",
                    "percent",
                    "_per_hour",
                    "_per_gpu_hour",
                    "_per_node_hour",
                )
                assert name.endswith(ends), f"{one.__name__}.{name}"


def test_compose_changes_nothing_of_the_report() -> None:
    report = reports.report()
    before = render(report, "json")
    compose(report)
    assert render(report, "json") == before
    assert isinstance(reports.bare_report().usage, Absent)
