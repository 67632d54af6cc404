"""Results survive the cache's bytes exactly, and bytes that are no result are refused without running anything."""

from __future__ import annotations

import contextlib
import importlib
import math
import struct
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import codec, frames
from data.errors import FormatError
from data.frames import cost
from tests import frames as built
from tests.conftest import ROOT


def alike(left: Any, right: Any) -> bool:
    """Equality that goes into arrays and frames, tells 1 from 1.0 and takes NaN for NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right)
        return True
    if is_dataclass(left):
        return all(alike(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


STEP = frames.Step("algo-1", "0-main", "Step:ModeKeys.TRAIN", 7, 1_607_121_600_000_000_001, 58_000_000)
PEAK = frames.Peak("algo-2", "gpu1", 1_607_121_600_500_000_000, 99.5)
JOBS = pd.DataFrame(
    {
        "job_id": ["a-00000001", "b-00000002"],
        "name": ["<b>&\u202e", None],
        "start_ns": pd.array([2**62 + 1, None], dtype="Int64"),
        "billed_s": pd.array([0.1, None], dtype="Float64"),
        "gpu_trend": [(1.5, math.nan), ()],
        "problems": pd.array([0, 3], dtype="Int64"),
    }
)
RESULTS = {
    "usage": pd.DataFrame({"node": ["algo-1"], "max": [math.nan], "ticks": [3]}),
    "gaps": pd.DataFrame({"node": ["algo-1"], "start_ns": [2**62 + 1], "spot": [True]}),
    "no gaps": pd.DataFrame({"node": pd.Series([], dtype="str"), "start_ns": pd.Series([], dtype="int64")}),
    "job list": frames.JobListPage(frames.JobList(JOBS), 2),
    "totals": frames.JobTotals(1, 2, 3, 4, 5, 6, 7, 8),
    "times": frames.JobTimes(
        *(1, 2, 3, None, None, None, 4, 5, math.nan, 0.1, math.inf, 1, None, 1), ((1, 2), (3, 4)), "no steps"
    ),
    "heatmap": frames.Heatmap(
        "utilization",
        (frames.HeatmapRow("algo-1", "gpu0"), frames.HeatmapRow("algo-1", "cpu0")),
        1,
        500_000_000,
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.full((2, 3), frames.NO_DATA, dtype=np.uint8),
        0.5,
        {"algo-1": math.nan},
        {"algo-1": 12.25},
        3,
        PEAK,
    ),
    "over time": frames.OverTime(
        "cpu", "%", (("algo-1", ""),), 1, 2, *(np.array([[1, np.nan]], dtype=np.float32),) * 3, 1.0, 32, PEAK
    ),
    "histogram": frames.MetricHistogram(
        "cpu", (frames.NodeHistogram("algo-1", np.arange(50), 0, 1, 2, 3, 4, 5.5, math.nan),), 1.0, 2.0
    ),
    "steps": frames.StepHistogram(
        np.array([1.0, 2.0]), "log", (frames.StepGroup("p", "n", np.array([2]), 2, 1.0, 1.0, 2.0, 3.0, 0),), 2,
        *(1.0, 2.0, 3.0), (STEP,), 1,
    ),
    "timeline": frames.StepTimeline(
        (("p", "n"),), np.zeros(1, np.int16), np.array([2**62 + 1]), np.array([-1]), np.array([5]), np.array([5.0]), 1,
        0, (), 0,
    ),
    "operators": built.operators(),
    "shares": built.framework_shares(),
    "findings": built.findings(),
    "price": cost.Price("ml.p3.8xlarge", "us-west-2", Decimal("14.6880"), "2020-12", "a test"),
    "nothing": None,
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_comes_back_as_it_was(name: str) -> None:
    assert alike(codec.decode(codec.encode(RESULTS[name])), RESULTS[name])


NEVER_KEPT = {"evidence"}
"""Modules whose results are as large as the job, and are read anew."""


def test_every_dataclass_of_the_frames_can_be_kept() -> None:
    names = {path.stem for path in (ROOT / "data" / "frames").glob("*.py")} - {"__init__"} - NEVER_KEPT
    modules = [frames, *(importlib.import_module(f"data.frames.{name}") for name in names)]
    declared = {name for module in modules for name, value in vars(module).items() if is_dataclass(value)}
    assert set(codec.CLASSES) == declared


def test_arrays_come_back_writable_and_their_own() -> None:
    heatmap = codec.decode(codec.encode(RESULTS["heatmap"]))
    heatmap.mean[0, 0] = 1
    assert heatmap.mean[0, 0] == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_any_nesting_of_plain_values_comes_back(value: Any) -> None:
    assert alike(codec.decode(codec.encode(value)), value)


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), pd.DataFrame({"a": [object()]}), b"bytes"])
def test_what_is_no_result_is_not_kept(value: Any) -> None:
    with pytest.raises(TypeError):
        codec.encode(value)


@given(st.data())
def test_damaged_bytes_are_an_error_or_a_result_and_nothing_else(data: st.DataObject) -> None:
    payload = bytearray(codec.encode(RESULTS["heatmap"]))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(FormatError):
        codec.decode(bytes(payload[: data.draw(st.integers(0, len(payload)))]))


def test_bytes_cannot_name_a_class_or_a_type_of_their_own() -> None:
    for head in ({"c": "Popen", "v": [["true"]]}, {"a": ["|O", [1], 0]}, {"a": ["V8", [1], 0]}):
        body = orjson.dumps(head)
        payload = codec.MAGIC + struct.pack("<I2Q", 2, len(body), 8) + body + bytes(-len(body) % 8) + bytes(8)
        with pytest.raises(FormatError):
            codec.decode(payload)
