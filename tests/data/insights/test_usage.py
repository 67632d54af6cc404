"""The sentences about usage, case by case, with the limits of the profiler's report."""

import pytest

from data.insights.usage import Verdict, usage_sentences
from tests import frames


def judge(gpu, cpu, gpu_p50=None):
    rows = frames.usage_rows("algo-1", gpu, cpu)
    for row in rows:
        if row["metric"] == "GPU" and gpu_p50 is not None:
            row["p50"] = gpu_p50
    (sentence,) = usage_sentences(frames.usage_summary(rows))
    return sentence


@pytest.mark.parametrize(
    ("gpu", "cpu", "gpu_p50", "verdict", "said"),
    [
        (13.5, 24.4, None, Verdict.UNDERUSED, ("13.5 %", "24.4 %")),
        (46.0, 95.2, None, Verdict.CPU_BOUND, ("46.0 %", "95.2 %")),
        (46.0, 70.0, None, Verdict.CPU_BOUND, ("46.0 %", "70.0 %")),
        (99.0, 30.0, 85.0, Verdict.WELL_USED, ("85.0 %",)),
        (99.0, 30.0, 12.0, Verdict.UNEVEN, ("99.0 %", "12.0 %", "12.0 %")),
        (70.0, 30.0, 70.0, Verdict.UNEVEN, ("70.0 %",)),
        (None, 12.0, None, Verdict.UNDERUSED, ("No GPU", "12.0 %")),
        (None, 91.0, None, Verdict.WELL_USED, ("No GPU", "91.0 %")),
        (13.5, None, None, Verdict.UNDERUSED, ("13.5 %", "no CPU")),
        (None, None, None, Verdict.UNKNOWN, ("Neither",)),
    ],
)
def test_each_case_says_its_numbers(gpu, cpu, gpu_p50, verdict, said):
    sentence = judge(gpu, cpu, gpu_p50)
    assert sentence.verdict is verdict
    for words in said:
        assert words in sentence.text


def test_missing_figures_are_not_zero():
    assert judge(float("nan"), 12.0).text.startswith("No GPU")


def test_one_sentence_a_node_in_the_order_of_the_table():
    rows = [row for node in ("1", "2", "10") for row in frames.usage_rows(node)]
    assert [sentence.node for sentence in usage_sentences(frames.usage_summary(rows))] == ["1", "2", "10"]


def test_nothing_to_judge():
    assert usage_sentences(frames.usage_summary([])) == ()
