"""What the profiler's names mean (the meaning of Name and Dimension swaps between types), and the order of series."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from data.series import UNITS, Metric, Series, sorted_series

KINDS = [
    # Type, Name, Dimension -> metric, device, qualifier, unit, code
    (("cpu", "cpu0", "CPUUtilization"), ("CPUUtilization", "cpu0", "", "%", Metric.CPU)),
    (("cpu", "cpu3", "I/OWaitPercentage"), ("I/OWaitPercentage", "cpu3", "", "%", Metric.IO_WAIT)),
    (("gpu", "gpu0", "GPUUtilization"), ("GPUUtilization", "gpu0", "", "%", Metric.GPU)),
    (("gpu", "gpu1", "GPUMemoryUtilization"), ("GPUMemoryUtilization", "gpu1", "", "%", Metric.GPU_MEMORY)),
    (("memory", "MemoryUsedPercent", ""), ("MemoryUsedPercent", "", "", "%", Metric.MEMORY)),
    (("i/o", "IOPS", ""), ("IOPS", "", "", "operations/s", None)),
    (
        ("i/o", "ReadThroughputInBytesPerSecond", ""),
        ("ReadThroughputInBytesPerSecond", "", "", "bytes/s", None),
    ),
    (
        ("i/o", "WriteThroughputInBytesPerSecond", ""),
        ("WriteThroughputInBytesPerSecond", "", "", "bytes/s", None),
    ),
    (
        ("network", "ReceiveBytesPerSecond", "Algorithm"),
        ("ReceiveBytesPerSecond", "", "Algorithm", "bytes/s", Metric.NETWORK),
    ),
    (
        ("network", "TransmitBytesPerSecond", "Algorithm"),
        ("TransmitBytesPerSecond", "", "Algorithm", "bytes/s", Metric.NETWORK),
    ),
    (
        ("network", "ReceiveBytesPerSecond", "Platform"),
        ("ReceiveBytesPerSecond", "", "Platform", "bytes/s", None),
    ),
    (
        ("network", "TransmitBytesPerSecond", "Platform"),
        ("TransmitBytesPerSecond", "", "Platform", "bytes/s", None),
    ),
]


@pytest.mark.parametrize(("words", "meaning"), KINDS, ids=[f"{words[1]} {words[2]}" for words, _ in KINDS])
def test_every_documented_metric(words: tuple[str, str, str], meaning: tuple[object, ...]) -> None:
    series = Series("algo-1", *words)
    assert (series.metric, series.device, series.qualifier, series.unit, series.code) == meaning


def test_every_unit_belongs_to_a_documented_metric() -> None:
    assert {meaning[0] for _, meaning in KINDS} == set(UNITS)


def test_the_device_is_told_by_its_name_where_the_type_is_missing() -> None:
    assert Series("algo-1", "", "cpu12", "CPUUtilization").device == "cpu12"
    assert Series("algo-1", "", "gpu0", "GPUUtilization").code is Metric.GPU
    assert Series("algo-1", "other", "cpuset", "x").device == ""


def test_other_metrics_keep_their_names() -> None:
    unknown = Series("algo-1", "fan", "FanSpeed", "Front")
    assert (unknown.metric, unknown.device, unknown.qualifier, unknown.unit, unknown.code) == (
        "FanSpeed",
        "",
        "Front",
        "",
        None,
    )
    assert Series("algo-1", "fan", "", "Front").metric == "Front"
    assert Series("algo-1", "fan", "", "").metric == "fan"
    assert Series("algo-1", "cpu", "cpu0", "").metric == "cpu"


def test_numbers_count_as_numbers_in_the_order_of_series() -> None:
    nodes, cores = ["algo-1", "algo-2", "algo-10"], ["cpu0", "cpu2", "cpu11"]
    series = [Series(node, "cpu", core, "CPUUtilization") for node in nodes for core in cores]
    shuffled = random.Random(3).sample(series, len(series))
    assert sorted_series(shuffled) == series


def test_series_of_one_metric_lie_together() -> None:
    series = [Series(f"algo-{n}", *words) for n in range(1, 12) for words, _ in KINDS]
    order = [(one.metric, one.qualifier) for one in sorted_series(series)]
    changes = sum(a != b for a, b in pairwise(order))
    assert changes == len(KINDS) - 1


def test_the_order_is_total() -> None:
    """Series that differ in anything have a fixed order, so that ids do not depend on the order of files."""
    series = [
        Series(node, kind, name, dimension)
        for node in ("a1", "a01")
        for kind in ("cpu", "CPU", "")
        for name in ("cpu0", "cpu00", "")
        for dimension in ("CPUUtilization", "")
    ]
    expected = sorted_series(series)
    for seed in range(5):
        assert sorted_series(random.Random(seed).sample(series, len(series))) == expected
