"""Public bug reports about profiler data, as inputs with what a correct reader makes of them.

Every key of an `expect` is checked: from `inspect` where it has the word, else from the store, a query or a figure.
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

from components.figures import distribution as distribution_figure
from components.figures import heatmap as heatmap_figure
from components.figures.axes import View
from data.frames import NO_DATA
from data.inspection import inspect, readable
from data.queries import distribution, heatmap, system
from data.selection import Selection, Window
from tests.event_checks import EVENT_CHECKS, store_of

CASES = sorted(Path(__file__).parents[1].joinpath("cases").iterdir())

BEYOND: dict[str, dict[str, Any]] = {
    "10-sys-local-mode-node-suffix": {"duplicate_rows_dropped": 0},
    "13-sys-duplicate-upload": {"duplicate_rows_dropped": 10, "problems": []},
    "14-sys-duplicate-json-keys": {"duplicate_rows_dropped": 0, "problems": []},
}
"""Where an `expect` leaves room: what this reader makes of the case."""


def _one(case: Path, at: str, store: Path) -> dict[str, Any]:
    report = inspect(str(case / at), store)
    assert len(report["jobs"]) == 1
    job: dict[str, Any] = report["jobs"][0]
    return job | {"readable": readable(report), "store": store, "source": str(case / at)}


def _known(one: dict[str, Any], *keys: str) -> None:
    assert one.keys() <= set(keys), "a key that no check reads"


def _stats(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    for one in expected:
        _known(one, "node", "name", "dimension", "count", "mean", "min", "max")
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
    """Each one of them, at its line if that is stated; a file with one may have more. No other file has any."""
    found = list(job["problems"])
    for one in expected:
        _known(one, "file", "line", "must_mention", "severity", "lost_rows")
        match = next(
            p
            for p in found
            if p["file"] == one["file"]
            and one["line"] in (None, p["line"])
            and all(text in p["message"] for text in one["must_mention"])
        )
        found.remove(match)
        for key in {"severity", "lost_rows"} & one.keys():
            assert match[key] == one[key]
    named = {one["file"] for one in expected}
    assert [one for one in found if one["file"] not in named] == []


def _gaps(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert [{key: gap[key] for key in ("node", "from_s", "to_s")} for gap in job["gaps"]] == expected


def _problems_allowed(job: dict[str, Any], expected: bool) -> None:
    assert expected
    assert all(one["severity"] != "error" and not one["lost_rows"] for one in job["problems"])


def _wrong_if(job: dict[str, Any], expected: dict[str, float]) -> None:
    """Means that come of a known mistake; the keys say whose they would be."""
    means = [stat["mean"] for stat in job["stats"]]
    means += (
        store_of(job).fetch(heatmap.device_heatmap, Selection(job["job_id"]), "utilization", 900).node_cpu_mean.values()
    )
    for wrong in expected.values():
        assert not [mean for mean in means if mean == pytest.approx(wrong)]


def _judgement(job: dict[str, Any], expected: str) -> None:
    assert expected  # a sentence for people: the other keys hold what was judged


def _figure(job: dict[str, Any], expected: dict[str, Any]) -> None:
    """The strips of the distribution are the rows that stand on their nodes' names."""
    _known(expected, "category_axis_type", "labels_in_order")
    found = store_of(job).fetch(distribution.metric_histogram, Selection(job["job_id"]), "cpu")
    figure = distribution_figure.metric_histogram(found, View(_whole(job))).figure
    axis = figure.layout.yaxis2
    assert axis.type == expected["category_axis_type"]
    assert list(figure.data[-1].y) == list(axis.categoryarray) == list(axis.ticktext) == expected["labels_in_order"]


def _whole(job: dict[str, Any]) -> Window:
    return Window(job["start_us"] * 1000, job["end_us"] * 1000 + 1)


def _must_not(job: dict[str, Any], expected: list[str]) -> None:
    assert set(expected) <= {"hang", "raise", "execute content", "round ids"}  # inspect has returned: neither happened


def _heatmap_rows(job: dict[str, Any], expected: dict[str, list[str]]) -> None:
    found = store_of(job).fetch(heatmap.device_heatmap, Selection(job["job_id"]), "utilization", 900)
    for node, devices in expected.items():
        assert sorted(row.device for row in found.rows if row.node == node) == sorted(devices)


def _heatmap(job: dict[str, Any], expected: dict[str, Any]) -> None:
    """Minutes without data are empty, at the width of a minute: the window is the hour's nine minutes."""
    _known(expected, "bin_s", "bins", "empty_bins", "empty_cell_value")
    bin_ns = expected["bin_s"] * 10**9
    start = job["start_us"] * 1000 // bin_ns * bin_ns
    window = Window(start, start + expected["bins"] * bin_ns)
    found = store_of(job).fetch(heatmap.device_heatmap, Selection(job["job_id"], window), "utilization", 900)
    filled = found.maximum[0] != NO_DATA
    at = (found.start_ns + found.bin_ns * np.arange(len(filled)) - start) // bin_ns
    empty = [one for one in range(expected["bins"]) if not filled[at == one].any()]
    assert empty == expected["empty_bins"]
    (cells,) = (t for t in heatmap_figure.utilization_heatmap(found, View(window)).figure.data if t.type == "heatmap")
    holes = np.asarray(cells.z)[:, np.isin(at, empty)]
    assert holes.size
    assert {None if np.isnan(value) else value for value in holes.ravel()} == {expected["empty_cell_value"]}


def _node_mean_cpu(job: dict[str, Any], expected: dict[str, float]) -> None:
    found = store_of(job).fetch(heatmap.device_heatmap, Selection(job["job_id"]), "utilization", 900)
    assert found.node_cpu_mean == pytest.approx(expected)


def _gpu_nodes(job: dict[str, Any], expected: list[str]) -> None:
    found = store_of(job).fetch(system.over_time, Selection(job["job_id"]), "gpu", "device", 900)
    assert sorted({node for node, _ in found.groups}) == expected


def _raw(job: dict[str, Any]) -> Any:
    stored = store_of(job).stored(job["job_id"])
    return np.concatenate([pq.read_table(path).column("value").to_numpy() for path in stored.part_files("raw")])


def _steps(job: dict[str, Any]) -> Any:
    return pq.read_table(store_of(job).stored(job["job_id"]).folder / "steps.parquet")


def _value_sum(job: dict[str, Any], expected: float) -> None:
    assert _raw(job).sum() == expected


def _second_process(job: dict[str, Any], expected: int) -> None:
    table = _steps(job).to_pylist()
    assert min(row["start_ns"] for row in table if row["worker"] == "77") == expected * 1000


CHECKS: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "stats": _stats,
    "problems": _problems,
    "problems_allowed": _problems_allowed,
    "wrong_if": _wrong_if,
    "judgement": _judgement,
    "figure": _figure,
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
    **EVENT_CHECKS,
    "job_label": lambda job, label: _equal(job["job"], label),
}


def _equal(found: Any, expected: Any) -> None:
    assert found == expected


def _check(job: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        if key in CHECKS:
            CHECKS[key](job, value)
        else:
            assert key in job, "a key that no check reads"
            assert job[key] == value, key


def _run(case: Path, given: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    if given["type"] in ("job_tree", "trace_file", "trace_dir"):
        _check(_one(case, given["path"], tmp_path), expected)
        return
    trees, place = {"job_trees": ("per_tree", _one), "job_tree_snapshots": ("after", _snapshot)}[given["type"]]
    whole = {key: value for key, value in expected.items() if key != trees}
    assert expected[trees].keys() == {path.split("/")[0] for path in given["paths"]}
    for path in given["paths"]:
        _check(place(case, path, tmp_path), whole | expected[trees][path.split("/")[0]])


def _snapshot(case: Path, path: str, tmp_path: Path) -> dict[str, Any]:
    """One tree is loaded, then replaced by another under the same path and loaded again."""
    source = tmp_path / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(case / path, source / "job")
    return _one(tmp_path, "source/job", tmp_path / "store")


def _read(case: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    described = json.loads((case / "expected.json").read_text())
    return described["input"], described["expect"]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Path, tmp_path: Path) -> None:
    given, expected = _read(case)
    _run(case, given, expected, tmp_path)


@pytest.mark.parametrize("name", BEYOND)
def test_what_a_case_leaves_open(name: str, tmp_path: Path) -> None:
    case = CASES[0].with_name(name)
    given, _ = _read(case)
    _run(case, given, BEYOND[name], tmp_path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("10-sys-local-mode-node-suffix", []),
        ("01-sys-truncated-last-line", ["problems", 0]),
        ("01-sys-truncated-last-line", ["stats", 0]),
        ("17-sys-gap-not-filled", ["heatmap"]),
        ("17-sys-gap-not-filled", ["gaps", 0]),
        ("23-sys-spot-restart", ["step_duration_us"]),
        ("88-dash-labels-that-look-like-numbers", ["figure"]),
        ("20-sys-end-marker-states", []),
        ("20-sys-end-marker-states", ["per_tree"]),
        ("20-sys-end-marker-states", ["per_tree", "half"]),
        ("32-pev-train-and-eval-steps", ["by_phase", "Step:ModeKeys.TRAIN"]),
        ("34-pev-begin-end-across-files", ["durations_us", 0]),
        ("41-pev-no-steps", ["views"]),
        ("53-tf-metadata-file-missing", ["problems", 0]),
        ("55-tf-extension-lies", ["by_rank"]),
        ("70-kineto-base-time-nanoseconds", ["first_start_us"]),
        ("77-kineto-nccl-kernel-names", []),
        ("86-kineto-two-writers-one-file", ["events_of_rank"]),
        ("19-sys-late-arriving-file", []),
        ("19-sys-late-arriving-file", ["after", "t1"]),
    ],
)
def test_a_key_that_no_check_reads_fails(name: str, path: list[str | int], tmp_path: Path) -> None:
    case = CASES[0].with_name(name)
    given, expected = _read(case)
    place: Any = expected
    for step in path:
        place = place[step]
    place["colour"] = "red"
    with pytest.raises((AssertionError, KeyError)):
        _run(case, given, expected, tmp_path)
