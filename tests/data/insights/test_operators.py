"""The sentences about operators and framework time: what they say, when they say nothing, and the edges."""

from __future__ import annotations

import pytest

from data.frames.operators import TimeShare
from data.insights.operators import Remark, operator_remarks, share_remarks
from tests import frames
from tests.frames import S


def texts(remarks: tuple[Remark, ...]) -> list[str]:
    return [f"{remark.subject} {remark.text}".strip() for remark in remarks]


def test_the_heaviest_and_the_one_with_the_most_time_for_itself() -> None:
    assert texts(operator_remarks(frames.operators(), "cpu")) == [
        "aten::linear takes 60.0 % of the time of all CPU operators.",
        "aten::addmm takes the most time itself, without operators inside it: 80.0 % of all self time.",
    ]


def test_communication_between_gpus() -> None:
    assert texts(operator_remarks(frames.operators(), "gpu")) == [
        "sgemm takes 75.0 % of the time of all GPU operators.",
        "Communication between GPUs takes 25.0 % of the time of all GPU operators.",
    ]


def test_many_operators_are_taken_together() -> None:
    rows = [("cpu", f"op{at}", False, 10, 1, 10, None, ("algo-1",), 1) for at in range(6)]
    assert texts(operator_remarks(frames.operators(rows), "cpu")) == [
        "op0 takes 16.7 % of the time of all CPU operators; the 5 heaviest of 6 take 83.3 %."
    ]
    assert "heaviest of" not in texts(operator_remarks(frames.operators(rows[:5]), "cpu"))[0]


def test_one_that_is_both_is_said_once() -> None:
    rows = [("cpu", "a", False, 10, 1, 10, 10, ("algo-1",), 1), ("cpu", "b", False, 5, 1, 5, 5, ("algo-1",), 1)]
    assert len(operator_remarks(frames.operators(rows), "cpu")) == 1


def test_a_side_without_operators_or_without_time_says_nothing() -> None:
    assert operator_remarks(frames.operators(), "communication") == ()
    assert operator_remarks(frames.operators([("cpu", "a", False, 0, 1, 0, 0, ("algo-1",), 1)]), "cpu") == ()


def test_how_the_parts_compare() -> None:
    assert texts(share_remarks(frames.framework_shares())) == [
        "CPU operators take 3.0 times as long as GPU operators, all added up.",
        "The backward pass takes 3.0 times as long as the forward pass.",
        "Of the time from first to last step, 10.0 % lies between steps.",
    ]


@pytest.mark.parametrize(
    ("cpu", "gpu", "expected"),
    [
        (100, 100, ["CPU and GPU operators take about the same time."]),
        (104, 100, ["CPU and GPU operators take about the same time."]),
        (105, 100, ["CPU operators take 1.1 times as long as GPU operators, all added up."]),
        (100, 250, ["GPU operators take 2.5 times as long as CPU operators, all added up."]),
        (100, 0, []),
        (0, 100, []),
    ],
)
def test_cpu_to_gpu(cpu: int, gpu: int, expected: list[str]) -> None:
    sides = (TimeShare("a", "cpu", cpu, 1, 0.0), TimeShare("b", "gpu", gpu, 1, 0.0))
    assert texts(share_remarks(frames.framework_shares(sides=sides, passes=(), steps=()))) == expected


@pytest.mark.parametrize(
    ("forward", "backward", "inner", "expected"),
    [
        (S, S, False, ["Forward and backward passes take about the same time."]),
        (3 * S, S, False, ["The forward pass takes 3.0 times as long as the backward pass."]),
        (S, 2 * S, True, ["The backward pass takes 2.0 times as long as the forward pass, summed over submodules."]),
        (S, 0, False, []),
    ],
)
def test_passes(forward: int, backward: int, inner: bool, expected: list[str]) -> None:
    passes = (TimeShare("forward", "forward", forward, 1, 0.0), TimeShare("backward", "backward", backward, 1, 0.0))
    shares = frames.framework_shares(sides=(), passes=passes, inner_passes=inner, steps=())
    assert texts(share_remarks(shares)) == expected


def test_no_time_between_steps_is_no_sentence_and_a_trace_of_it_no_zero() -> None:
    def said(total_ns: int, percent: float) -> list[str]:
        steps = (TimeShare("", "others", total_ns, 0, percent),)
        return texts(share_remarks(frames.framework_shares(sides=(), passes=(), steps=steps)))

    assert said(0, 0.0) == []
    assert said(1, 0.01) == ["Of the time from first to last step, under 0.1 % lies between steps."]
