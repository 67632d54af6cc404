"""Steps: their distribution and their timeline against the raw timelines."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from data.errors import MissingTable
from data.queries import steps
from data.selection import Selection, Window
from data.store import Store
from tests import oracle, trees
from tests.stored import convert

TRAIN, EVAL = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"
SECOND = 1_000_000
LONG_US = 4_000_000


def write_job(job: Path, many: Sequence[trees.StepRecord]) -> list[oracle.Step]:
    trees.write(job, trees.step_files(many))
    return oracle.steps(job)


def a_training() -> list[trees.StepRecord]:
    """Two nodes with two processes each, of different pace, with evaluation and some steps that stand out."""
    rng = np.random.default_rng(7)
    found = []
    for node, pace_us in (("algo-1", 400_000), ("algo-2", 700_000)):
        for worker in ("0", "1"):
            at = trees.START_US + int(worker) * 137 + (node == "algo-2") * 1_000_003
            for step in range(120):
                duration = pace_us + int(rng.integers(-20_000, 20_000))
                phase = EVAL if step % 10 == 9 else TRAIN
                if step in (40, 80) and worker == "0":
                    duration = LONG_US + step
                found.append(trees.StepRecord(step, at, duration, phase, node, worker))
                at += duration + 1_000
    return found


class Steps:
    """A stored job, its steps by the oracle, and a store to ask."""

    def __init__(self, tmp_path: Path, many: Sequence[trees.StepRecord]) -> None:
        self.steps = write_job(tmp_path / "job", many)
        found = convert(tmp_path / "job", tmp_path / "store")
        self.job_id, self.store = found.job_id, Store(found.root)

    def select(self, window: tuple[int, int] | None = None, *nodes: str) -> Selection:
        """A selection; the window in microseconds since the start."""
        if window is None:
            return Selection(self.job_id, None, nodes)
        start, end = (trees.START_US + one for one in window)
        return Selection(self.job_id, Window(start * 1000, end * 1000), nodes)

    def of(self, selection: Selection) -> list[oracle.Step]:
        window = selection.window or Window(0, 1 << 62)
        return [
            step
            for step in self.steps
            if window.start_ns <= step.start_us * 1000 < window.end_ns
            and (not selection.nodes or step.node in selection.nodes)
        ]


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Steps:
    return Steps(tmp_path_factory.mktemp("steps"), a_training())


WINDOWS = {
    "the whole job": (None,),
    "the middle": ((10 * SECOND, 40 * SECOND),),
    "anywhere": ((12_345_678, 23_456_789),),
    "one node": (None, "algo-2"),
    "one node in the middle": ((10 * SECOND, 40 * SECOND), "algo-1"),
}


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("window", WINDOWS)
def test_the_histogram(training: Steps, window: str, scale: str) -> None:
    assert_histogram(training, training.select(*WINDOWS[window]), scale)


@pytest.mark.parametrize("hours", [38, 40, 300])
def test_a_step_of_days_spoils_no_other(tmp_path: Path, hours: int) -> None:
    """In a job as long, it must neither be cut nor count for another group."""
    long = trees.StepRecord(120, trees.START_US + 99 * SECOND, hours * 3600 * SECOND + 1)
    after = trees.StepRecord(121, long.start_us + long.duration_us, SECOND)
    job = Steps(tmp_path, [*a_training(), long, after])
    assert_histogram(job, job.select(), "log")


def test_a_step_longer_than_twice_its_job_is_no_step(tmp_path: Path) -> None:
    """A clock that jumped, say: it is reported, and left out of every figure."""
    job = Steps(tmp_path, a_training())
    jumped = trees.StepRecord(120, trees.START_US + 99 * SECOND, 40 * 3600 * SECOND)
    other = Steps(tmp_path / "jumped", [*a_training(), jumped])
    found = [one.store.fetch(steps.histogram, one.select(), "log") for one in (job, other)]
    assert found[0].steps == found[1].steps
    assert found[0].p99_ns == found[1].p99_ns


def assert_histogram(job: Steps, selection: Selection, scale: str) -> None:
    expected = job.of(selection)
    found = job.store.fetch(steps.histogram, selection, scale)
    durations = [step.duration_us * 1000 for step in expected]
    assert found.steps == len(expected)
    assert (found.p50_ns, found.p95_ns, found.p99_ns) == pytest.approx(
        [oracle.quantile(durations, share) for share in (0.5, 0.95, 0.99)]
    )
    assert found.edges_ns[0] <= min(durations)
    assert found.edges_ns[-1] >= max(durations)
    widths = np.diff(np.log(found.edges_ns)) if scale == "log" else np.diff(found.edges_ns)
    assert widths == pytest.approx(np.full(len(widths), widths[0]), rel=1e-6)
    groups = sorted({(step.phase, step.node) for step in expected}, key=lambda pair: (pair[0] != TRAIN, pair[1]))
    assert [(one.phase, one.node) for one in found.groups] == groups
    for one in found.groups:
        mine = [step.duration_us * 1000 for step in expected if (step.phase, step.node) == (one.phase, one.node)]
        assert one.steps == len(mine)
        assert one.mean_ns == pytest.approx(math.fsum(mine) / len(mine))
        quantiles = [oracle.quantile(mine, share) for share in (0.5, 0.95, 0.99)]
        assert [one.p50_ns, one.p95_ns, one.p99_ns] == pytest.approx(quantiles)
        assert one.counts.tolist() == counted(mine, found.edges_ns.tolist())
        assert one.outliers == sum(
            (step.phase, step.node) == (one.phase, one.node) for step in oracle.outliers(expected)
        )


def counted(durations: list[int], edges: list[float]) -> list[int]:
    """How many lie in [left, right), the last bin closed."""
    bins = list(pairwise(edges))
    last = len(bins) - 1
    return [
        sum(left <= one < right or (at == last and one == right) for one in durations)
        for at, (left, right) in enumerate(bins)
    ]


@pytest.mark.parametrize("window", WINDOWS)
def test_outliers_are_named(training: Steps, window: str) -> None:
    selection = training.select(*WINDOWS[window])
    expected = oracle.outliers(training.of(selection))
    for found in (
        training.store.fetch(steps.histogram, selection, "linear"),
        training.store.fetch(steps.timeline, selection, 900),
    ):
        assert found.outlier_count == len(expected)
        assert [
            (one.phase, one.node, one.worker, one.step, one.start_ns, one.duration_ns) for one in found.outliers
        ] == [(*step[:4], step.start_us * 1000, step.duration_us * 1000) for step in expected]
    assert window != "the whole job" or len(expected) == 4


@pytest.mark.parametrize("window", WINDOWS)
def test_the_timeline_of_few_steps_shows_each(training: Steps, window: str) -> None:
    selection = training.select(*WINDOWS[window])
    expected = training.of(selection)
    found = training.store.fetch(steps.timeline, selection, 900)
    assert (found.steps, found.bin_ns) == (len(expected), 0)
    points = zip(
        (found.groups[at] for at in found.group.tolist()),
        found.step.tolist(),
        found.start_ns.tolist(),
        found.duration_ns.tolist(),
        strict=True,
    )
    assert sorted(points) == sorted(
        ((step.phase, step.node), step.step, step.start_us * 1000, step.duration_us * 1000) for step in expected
    )
    assert found.mean_ns.tolist() == found.duration_ns.tolist()
    assert found.start_ns.tolist() == sorted(found.start_ns.tolist())


@pytest.mark.parametrize("width_px", [10, 300, 900])
@pytest.mark.parametrize("window", ["the whole job", "the middle", "one node"])
def test_the_timeline_of_many_steps_keeps_the_longest(
    training: Steps, monkeypatch: pytest.MonkeyPatch, window: str, width_px: int
) -> None:
    monkeypatch.setattr(steps, "MAX_POINTS", 100)
    selection = training.select(*WINDOWS[window])
    expected = training.of(selection)
    found = training.store.fetch(steps.timeline, selection, width_px)
    assert found.steps == len(expected)
    assert found.bin_ns > 0
    cells: dict[tuple[tuple[str, str], int], list[oracle.Step]] = defaultdict(list)
    first = min(step.start_us for step in expected) * 1000
    for step in expected:
        cells[(step.phase, step.node), (step.start_us * 1000 - first) // found.bin_ns].append(step)
    assert len(found.group) == len(cells)
    points = zip(found.group, found.start_ns, found.step, found.duration_ns, found.mean_ns, strict=True)
    for group, start, number, longest, mean in points:
        mine = cells[found.groups[group], (start - first) // found.bin_ns]
        head = min(mine, key=lambda step: step.start_us)
        assert (start, number) == (head.start_us * 1000, head.step)
        assert longest == max(step.duration_us for step in mine) * 1000
        assert mean == pytest.approx(math.fsum(step.duration_us for step in mine) * 1000 / len(mine))


@pytest.mark.parametrize(
    ("nodes", "width_px", "most", "bin_ns"),
    [
        ((), 10, 400, 2_000_000_000),  # never less than 60 bins
        ((), 80, 400, 1_500_000_000),  # a bin a pixel
        ((), 900, 400, 1_200_000_000),  # 400 points for four groups
        ((), 900, 479, 1_008_403_361),
        ((), 900, 480, 0),  # as many as there are steps
        (("algo-2",), 900, 200, 1_200_000_000),  # for two groups
        (("algo-2",), 900, 100, 2_000_000_000),
        (("algo-2",), 900, 240, 0),
    ],
)
def test_the_bins_of_the_timeline_are_as_wide_as_width_and_points_allow(
    training: Steps, monkeypatch: pytest.MonkeyPatch, nodes: tuple[str, ...], width_px: int, most: int, bin_ns: int
) -> None:
    """120 s, of which the steps fill the most."""
    monkeypatch.setattr(steps, "MAX_POINTS", most)
    found = training.store.fetch(steps.timeline, training.select((0, 120 * SECOND), *nodes), width_px)
    assert found.steps == (240 if nodes else 480)
    assert found.bin_ns == bin_ns


def test_constant_steps(tmp_path: Path) -> None:
    job = Steps(tmp_path, [trees.StepRecord(at, trees.START_US + at * SECOND, 250_000) for at in range(30)])
    for scale in ("linear", "log"):
        found = job.store.fetch(steps.histogram, job.select(), scale)
        (group,) = found.groups
        assert group.counts.sum() == 30
        assert (np.diff(found.edges_ns) > 0).all()
        assert (group.p50_ns, group.p99_ns, group.mean_ns) == (250e6, 250e6, 250e6)
        assert (group.outliers, found.outlier_count, found.outliers) == (0, 0, ())


def test_a_single_step(tmp_path: Path) -> None:
    job = Steps(tmp_path, [trees.StepRecord(0, trees.START_US, 250_000)])
    for scale in ("linear", "log"):
        found = job.store.fetch(steps.histogram, job.select(), scale)
        assert (found.steps, found.p50_ns, found.outliers) == (1, 250e6, ())
        assert found.groups[0].counts.sum() == 1
    assert job.store.fetch(steps.timeline, job.select(), 900).duration_ns.tolist() == [250_000_000]


@pytest.mark.parametrize("durations", [[0], [0, 0, 0], [0, 1, 2], [0, 1, 10_000_000]])
def test_steps_that_take_no_time(tmp_path: Path, durations: list[int]) -> None:
    many = [trees.StepRecord(at, trees.START_US + at * SECOND, one) for at, one in enumerate(durations)]
    job = Steps(tmp_path, many)
    for scale in ("linear", "log"):
        found = job.store.fetch(steps.histogram, job.select(), scale)
        assert found.groups[0].counts.sum() == len(durations)
        assert np.isfinite(found.edges_ns).all()
        assert (np.diff(found.edges_ns) > 0).all()


def test_a_published_vector_of_outliers(tmp_path: Path) -> None:
    """195 steps of 1 s, 5 of 3 s and one of 10 s: beyond 3.202125 s is one."""
    durations = [1.0] * 195 + [3.0] * 5 + [10.0]
    many = [
        trees.StepRecord(at, trees.START_US + at * 10 * SECOND, round(one * SECOND)) for at, one in enumerate(durations)
    ]
    found = Steps(tmp_path, many)
    histogram = found.store.fetch(steps.histogram, found.select(), "linear")
    assert histogram.groups[0].mean_ns == pytest.approx(1.094527e9, rel=1e-6)
    assert [one.duration_ns for one in histogram.outliers] == [10 * 10**9]


def test_at_most_twenty_outliers_are_named_but_all_are_counted(tmp_path: Path) -> None:
    durations = [100_000 + at for at in range(2000)] + [50_000_000 + at for at in range(25)]
    many = [trees.StepRecord(at, trees.START_US + at * SECOND, one) for at, one in enumerate(durations)]
    job = Steps(tmp_path, many)
    found = job.store.fetch(steps.histogram, job.select(), "log")
    assert found.outlier_count == 25
    assert [one.duration_ns for one in found.outliers] == [(50_000_024 - at) * 1000 for at in range(20)]


def test_without_steps_the_reason_is_said(training: Steps, tmp_path: Path) -> None:
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine(ticks=4)))
    found = convert(tmp_path / "job", tmp_path / "store")
    for query, argument in ((steps.histogram, "linear"), (steps.timeline, 900)):
        with pytest.raises(MissingTable, match="recorded no steps"):
            found.store().fetch(query, Selection(found.job_id), argument)
        for selection in (training.select((900 * SECOND, 999 * SECOND)), training.select(None, "algo-9")):
            with pytest.raises(MissingTable, match="No step starts in this window"):
                training.store.fetch(query, selection, argument)
