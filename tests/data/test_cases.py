"""Public bug reports about profiler data, as inputs with what a correct reader makes of them.

Every key of an `expect` is checked: from `inspect` where it has the word, else from the store or a query.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from data.frames import NO_DATA
from data.inspection import inspect, readable
from data.queries import heatmap, system
from data.selection import Selection, Window
from data.sources import open_source
from data.store import Store

CASES = sorted(Path(__file__).parents[1].joinpath("cases").iterdir())

FROM_FIGURES = {"figure"}
"""Keys about drawing: checked beside the figures, in tests/components."""

NOT_A_FACT = {"judgement", "wrong_if", "problems_allowed"}


def _one(case: Path, at: str, store: Path) -> dict[str, Any]:
    report = inspect(str(case / at), store)
    assert len(report["jobs"]) == 1
    job: dict[str, Any] = report["jobs"][0]
    return job | {"readable": readable(report), "store": store, "source": str(case / at)}


def _open(job: dict[str, Any]) -> Store:
    return Store(job["store"], [open_source(job["source"])])


def _stats(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    for one in expected:
        found = [
            row
            for row in job["stats"]
            if row["node"] == one["node"]
            and row["dimension"] == one["dimension"]
            and one["name"] in (None, row["name"])
        ]
        assert sum(row["count"] for row in found) == one["count"], one
        for key in {"mean", "min", "max"} & one.keys():
            assert found[0][key] == pytest.approx(one[key]), one


def _problems(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    found = list(job["problems"])
    for one in expected:
        match = next(p for p in found if p["file"] == one["file"] and p["line"] == one["line"])
        found.remove(match)
        assert all(text in match["message"] for text in one["must_mention"])
        for key in {"severity", "lost_rows"} & one.keys():
            assert match[key] == one[key]
    assert found == []


def _gaps(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert [{key: gap[key] for key in ("node", "from_s", "to_s")} for gap in job["gaps"]] == expected


def _must_not(job: dict[str, Any], expected: list[str]) -> None:
    assert set(expected) <= {"hang", "raise"}  # inspect has returned: neither happened


def _heatmap_rows(job: dict[str, Any], expected: dict[str, list[str]]) -> None:
    found = _open(job).fetch(heatmap.device_heatmap, Selection(job["job_id"]), "utilization", 900)
    for node, devices in expected.items():
        assert sorted(row.device for row in found.rows if row.node == node) == sorted(devices)


def _heatmap(job: dict[str, Any], expected: dict[str, Any]) -> None:
    """Minutes without data are empty, at the width of a minute: the window is the hour's nine minutes."""
    bin_ns = expected["bin_s"] * 10**9
    start = job["start_us"] * 1000 // bin_ns * bin_ns
    window = Window(start, start + expected["bins"] * bin_ns)
    found = _open(job).fetch(heatmap.device_heatmap, Selection(job["job_id"], window), "utilization", 900)
    filled = found.maximum[0] != NO_DATA
    at = (found.start_ns + found.bin_ns * np.arange(len(filled)) - start) // bin_ns
    empty = [one for one in range(expected["bins"]) if not filled[at == one].any()]
    assert empty == expected["empty_bins"]
    assert expected["empty_cell_value"] is None  # NO_DATA stands for it


def _node_mean_cpu(job: dict[str, Any], expected: dict[str, float]) -> None:
    found = _open(job).fetch(heatmap.device_heatmap, Selection(job["job_id"]), "utilization", 900)
    assert found.node_cpu_mean == pytest.approx(expected)


def _gpu_nodes(job: dict[str, Any], expected: list[str]) -> None:
    found = _open(job).fetch(system.over_time, Selection(job["job_id"]), "gpu", "device", 900)
    assert sorted({node for node, _ in found.groups}) == expected


def _raw(job: dict[str, Any]) -> Any:
    stored = _open(job).stored(job["job_id"])
    return np.concatenate([pq.read_table(path).column("value").to_numpy() for path in stored.part_files("raw")])


def _steps(job: dict[str, Any]) -> Any:
    return pq.read_table(_open(job).stored(job["job_id"]).folder / "steps.parquet")


def _value_sum(job: dict[str, Any], expected: float) -> None:
    assert _raw(job).sum() == expected


def _second_process(job: dict[str, Any], expected: int) -> None:
    table = _steps(job).to_pylist()
    assert min(row["start_ns"] for row in table if row["worker"] == "77") == expected * 1000


CHECKS: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "stats": _stats,
    "problems": _problems,
    "gaps": _gaps,
    "must_not": _must_not,
    "heatmap_rows": _heatmap_rows,
    "heatmap": _heatmap,
    "node_mean_cpu": _node_mean_cpu,
    "gpu_nodes": _gpu_nodes,
    "value_sum": _value_sum,
    "rows_with_name": lambda job, n: _equal(sum(s["count"] for s in job["stats"] if s["name"]), n),
    "duplicate_rows_dropped_max": lambda job, n: _equal(job["duplicate_rows_dropped"] <= n, True),
    "exit_nonzero": lambda job, yes: _equal(job["readable"], not yes),
    "step_instances": lambda job, n: _equal(_steps(job).num_rows, n),
    "distinct_steps": lambda job, steps: _equal(sorted(set(_steps(job).column("step").to_pylist())), steps),
    "step_duration_us": lambda job, some: _equal({key: job["step_duration_us"][key] for key in some}, some),
    "second_process_first_step_start_us": _second_process,
    "job_label": lambda job, label: _equal(job["job"], label),
}


def _equal(found: Any, expected: Any) -> None:
    assert found == expected


def _check(job: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        if key in FROM_FIGURES | NOT_A_FACT:
            continue
        if key in CHECKS:
            CHECKS[key](job, value)
        else:
            assert job[key] == value, key


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Path, tmp_path: Path) -> None:
    described = json.loads((case / "expected.json").read_text())
    given, expected = described["input"], described["expect"]
    if given["type"] == "job_tree":
        _check(_one(case, given["path"], tmp_path), expected)
    elif given["type"] == "job_trees":
        whole = {key: value for key, value in expected.items() if key != "per_tree"}
        for path in given["paths"]:
            job = _one(case, path, tmp_path)
            _check(job, whole | expected["per_tree"][path.split("/")[0]])
    else:
        _refreshed(case, given, expected, tmp_path)


def _refreshed(case: Path, given: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    """One tree is loaded, then replaced by another under the same path and loaded again."""
    assert given["type"] == "job_tree_snapshots"
    place = tmp_path / "source"
    for path in given["paths"]:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(case / path, place / "job")
        job = _one(tmp_path, "source/job", tmp_path / "store")
        _check(job, {"outcome": expected["outcome"]} | expected["after"][path.split("/")[0]])
