"""The figures of two runs: known answers, directions, and what only one of them has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from data.frames.comparison import Row
from data.insights.comparison.run import Run
from data.insights.comparison.verdict import cost_row, rows, step_series
from tests import frames
from tests.data.insights.evidence import START_NS, Given, S, node_ticks, step_records, ticks


def steps_of(durations_s: Sequence[float], every_s: float = 2.0, workers: int = 1, first: int = 0) -> Any:
    return step_records(
        [
            ("TRAIN", "algo-1", str(worker), first + number, START_NS + int(number * every_s * S), int(duration * S))
            for worker in range(workers)
            for number, duration in enumerate(durations_s)
        ]
    )


def run(parts: dict[str, Any] | None = None, **changes: Any) -> Run:
    times = frames.job_times(loop_start_ns=None, loop_end_ns=None, initialization_ns=None)
    options: dict[str, Any] = {"header": frames.job_header(), "times": times, "usage": None}
    return Run(**options | {"evidence": Given(**parts or {})} | changes)


def by_key(a: Run, b: Run) -> dict[str, Row]:
    return {row.key: row for row in rows(a, b)}


def noisy(seed: int, mean_s: float = 1.0, count: int = 500) -> list[float]:
    return (mean_s * (1 + 0.05 * np.random.default_rng(seed).normal(size=count))).tolist()


def test_steps_that_take_longer_are_worse_and_throughput_follows_the_time_between_starts() -> None:
    a = run({"steps": steps_of(noisy(1))})
    b = run({"steps": steps_of(noisy(2, 1.1), every_s=2.5)})
    found = by_key(a, b)
    assert found["step_time"].verdict == "worse"
    assert found["step_time"].percent == pytest.approx(10, abs=1)
    assert found["throughput"].verdict == "worse"
    assert (found["throughput"].a, found["throughput"].b) == pytest.approx((0.5, 0.4))


def test_noise_is_no_difference() -> None:
    found = by_key(run({"steps": steps_of(noisy(1))}), run({"steps": steps_of(noisy(2))}))
    assert found["step_time"].verdict == "no detectable difference"
    assert found["step_time"].low < 0 < found["step_time"].high


def test_samples_count_the_batch_of_every_process() -> None:
    a = run({"steps": steps_of(noisy(1), workers=3)}, hyperparameters=(("batch_size", "32"),))
    b = run({"steps": steps_of(noisy(2))}, hyperparameters=(("batch_size", "64"),))
    found = by_key(a, b)["samples"]
    assert (found.a, found.b) == pytest.approx((3 * 32 / 2, 64 / 2))
    assert found.verdict == "lower"  # whether that is worse depends on what the batch means


def test_the_first_step_is_never_counted_and_processes_are_averaged() -> None:
    records = step_records(
        [
            ("TRAIN", "algo-1", worker, number, START_NS + number * S, duration * S)
            for worker, durations in (("0", [9, 1, 1, 1]), ("1", [9, 3, 3, 3]))
            for number, duration in enumerate(durations)
        ]
    )
    series = step_series(records, "TRAIN")
    assert (series.left_out, series.processes) == (1, 2)
    assert series.duration_s.tolist() == [2, 2, 2]
    assert series.cycle_s.tolist() == [1, 1]


def test_one_step_is_all_there_is() -> None:
    series = step_series(steps_of([5.0]), "TRAIN")
    assert series.duration_s.tolist() == [5.0]
    found = by_key(run({"steps": steps_of([5.0])}), run({"steps": steps_of([6.0])}))["step_time"]
    assert (found.verdict, found.a, found.b) == ("cannot be judged", 5.0, 6.0)


def test_steps_of_zero_length_have_no_rate() -> None:
    found = by_key(run({"steps": steps_of([0.0] * 100, every_s=0)}), run({"steps": steps_of(noisy(1))}))
    assert math.isnan(found["throughput"].a)
    assert found["step_time"].verdict == "worse"


def test_what_only_one_run_has_is_shown_and_not_judged() -> None:
    found = by_key(run({"steps": steps_of(noisy(1))}), run())["step_time"]
    assert found.verdict == "cannot be judged"
    assert not math.isnan(found.a)
    assert math.isnan(found.b)


def test_runs_without_anything_have_times_only() -> None:
    assert set(by_key(run(), run())) == {"duration"}


def test_a_busier_gpu_is_better_and_means_are_over_devices_and_nodes() -> None:
    a = run({"ticks": ticks(node_ticks(gpu=[[10.0] * 400, [30.0] * 400]), node_ticks("algo-2", gpu=[[50.0] * 400]))})
    b = run({"ticks": ticks(node_ticks(gpu=[[60.0] * 400]))})
    found = by_key(a, b)["gpu_mean"]
    assert (found.a, found.b, found.verdict) == (35.0, 60.0, "better")


def test_only_the_training_loop_is_compared_where_it_is_known() -> None:
    column = [0.0] * 200 + [80.0] * 400
    loop = frames.job_times(loop_start_ns=START_NS + 100 * S, loop_end_ns=START_NS + 300 * S)
    a = run({"ticks": ticks(node_ticks(gpu=[column]))}, times=loop)
    found = by_key(a, a)["gpu_mean"]
    assert (found.a, found.verdict) == (80.0, "no detectable difference")
    assert "training loop" in found.note


def test_unlike_intervals_are_brought_to_the_longer_one() -> None:
    fine = ticks(node_ticks(gpu=[[0.0, 100.0] * 400]))
    coarse = ticks(node_ticks(gpu=[[50.0] * 400], interval_ns=S))
    a = run({"ticks": fine}, header=frames.job_header(intervals_ns=(S // 2,)))
    b = run({"ticks": coarse}, header=frames.job_header(intervals_ns=(S,)))
    found = by_key(a, b)["gpu_mean"]
    assert (found.a, found.b, found.verdict) == (50.0, 50.0, "no detectable difference")


def test_percentiles_are_of_the_highest_node_and_only_higher_or_lower() -> None:
    low = [*frames.usage_rows("algo-1", gpu=13.5), *frames.usage_rows("algo-2", gpu=12.0)]
    a = run(usage=frames.usage_summary(low))
    b = run(usage=frames.usage_summary(frames.usage_rows("algo-1", gpu=46.0)))
    found = by_key(a, b)["gpu_p95"]
    assert (found.a, found.b, found.verdict) == (13.5, 46.0, "higher")


def test_cost_has_its_difference_in_percent() -> None:
    found = cost_row(Decimal("6.15672"), Decimal("1.06675"))
    assert found.percent == pytest.approx(-82.67, abs=0.01)
    assert found.verdict == "better"
    assert "509.00 USD less for 100 such runs" in found.note


def test_an_unknown_cost_is_no_zero() -> None:
    found = cost_row(None, Decimal(1))
    assert math.isnan(found.a)
    assert found.verdict == "cannot be judged"
