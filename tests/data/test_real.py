"""Profiler output that others published: opened whole, with the counts that were worked out independently.

The files stay outside the project, in ../shared/real or where REAL_TRACES says; where that folder is absent the tests
say so and are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.inspection import inspect
from tests.conftest import REAL

RESOURCES = "awslabs-sagemaker-debugger/tests/profiler/resources"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason=f"the published traces are not here: {REAL} is no folder")

TREES = ("test_traces", "merge_traces", "model_timeline_traces")


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REAL / "FACTS.json").read_text())
    return found


@pytest.mark.parametrize("tree", TREES)
def test_a_published_tree_opens_with_its_counts(tree: str, facts: dict[str, Any], tmp_path: Path) -> None:
    (job,) = inspect(str(REAL / RESOURCES / tree), tmp_path)["jobs"]
    mine = [fact for path, fact in facts.items() if path.startswith(f"{RESOURCES}/{tree}/")]
    system = [fact for fact in mine if fact["kind"] == "system metrics NDJSON"]
    traces = [fact for fact in mine if fact["kind"] == "chrome trace"]
    assert job["system_rows"] == sum(fact["rows"] for fact in system)
    assert job["events"] == sum(fact["complete_events"] for fact in traces)
    starts = [fact["min_abs_us"] for fact in traces] + [round(float(fact["min_ts_s"]) * 1e6) for fact in system]
    ends = [fact["max_abs_end_us"] for fact in traces] + [round(float(fact["max_ts_s"]) * 1e6) for fact in system]
    assert (job["start_us"], job["end_us"]) == (min(starts), max(ends))
    assert all(one["severity"] == "note" for one in job["problems"])


def test_the_metrics_add_up(facts: dict[str, Any], tmp_path: Path) -> None:
    (job,) = inspect(str(REAL / RESOURCES / "test_traces"), tmp_path)["jobs"]
    sums: dict[str, float] = {}
    for row in job["stats"]:
        sums[row["dimension"]] = sums.get(row["dimension"], 0) + row["mean"] * row["count"]
    expected: dict[str, float] = {}
    for path, fact in facts.items():
        if path.startswith(f"{RESOURCES}/test_traces/system/"):
            for dimension, total in fact["sum_by_dimension"].items():
                expected[dimension] = expected.get(dimension, 0) + float(total)
    assert sums == pytest.approx(expected)


def test_the_steps_add_up(facts: dict[str, Any], tmp_path: Path) -> None:
    (job,) = inspect(str(REAL / RESOURCES / "merge_traces"), tmp_path)["jobs"]
    fact = next(fact for path, fact in facts.items() if "merge_traces" in path and "pythontimeline" in path)
    count = sum(fact["smdebug_steps"].values())
    assert job["step_duration_us"]["count"] == count
    assert job["step_duration_us"]["mean"] * count == pytest.approx(sum(fact["smdebug_step_dur_sum_us"].values()))


def test_python_profiles_add_up(facts: dict[str, Any], tmp_path: Path) -> None:
    (job,) = inspect(str(REAL / RESOURCES / "tfprofiler_timeline_traces"), tmp_path)["jobs"]
    profiles = [fact for fact in facts.values() if fact["kind"] == "cProfile"]
    assert job["cprofile_files_ok"] == len(profiles) == 3
    assert job["total_calls"] == sum(fact["total_calls"] for fact in profiles)
    assert job["primitive_calls"] == sum(fact["primitive_calls"] for fact in profiles)
    assert job["total_tottime_s"] == pytest.approx(sum(fact["total_tt_s"] for fact in profiles), abs=1e-9)
    largest = max(profiles, key=lambda fact: fact["largest_tottime"]["tottime_s"])["largest_tottime"]
    assert job["top_by_tottime"] == largest["func"][2]
    assert job["functions"] >= max(fact["functions"] for fact in profiles)
    assert job["outcome"] == "ok"
