"""Whether two runs can be compared: what is alike, what differs, and what that makes unfair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from data.insights.comparison.parity import parity
from data.insights.comparison.run import Run
from tests import frames
from tests.data.insights.evidence import Given, S


def run(hyperparameters: tuple[tuple[str, str], ...] = (), image: str = "", **header: Any) -> Run:
    return Run(frames.job_header(**header), frames.job_times(), Given(), None, hyperparameters, image)


def test_a_run_is_like_itself() -> None:
    found = parity(run(), run())
    assert found.differing == ()
    assert found.warnings == ()


def test_other_machines_and_another_batch_are_named() -> None:
    a = run((("batch_size", "256"), ("lr", "0.1"), ("sagemaker_program", '"a.py"')))
    b = run(
        (("batch_size", '"512"'), ("lr", "0.2"), ("sagemaker_program", '"b.py"')), instances="2 × ml.p3.2xlarge", gpus=2
    )
    found = parity(a, b)
    assert [fact.name for fact in found.differing] == ["Instances", "GPUs", "Batch size", "lr"]
    assert [warning.split(":")[0] for warning in found.warnings] == ["Instances", "GPUs", "Batch size"]
    assert "256 in A, 512 in B" in found.warnings[2]


def test_unlike_intervals_and_what_only_one_recorded() -> None:
    found = parity(run(), run(intervals_ns=(S,), step_count=0))
    assert [fact.name for fact in found.differing] == ["Sampling interval", "Recorded"]


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    (warning,) = parity(run(instances=""), run()).warnings
    assert warning.startswith("Instances: unknown in A")


def test_a_run_that_goes_on_is_said_to() -> None:
    assert "B still in progress" in parity(run(), run(status="InProgress")).warnings[-1]


def test_runs_of_unlike_length() -> None:
    short = run()
    long = replace(short, times=replace(short.times, duration_ns=short.times.duration_ns * 2))
    assert [fact.name for fact in parity(short, long).differing] == ["Duration"]


def test_a_batch_size_that_is_no_number_is_unknown() -> None:
    assert run((("batch_size", "auto"),)).batch_size is None
    assert run((("train_batch_size", "8"), ("batch_size", "x"))).batch_size == ("train_batch_size", 8.0)
