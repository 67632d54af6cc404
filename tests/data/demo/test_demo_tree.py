"""Trees of any size: counts, clocks and determinism."""

import hashlib
import pstats  # noqa: TID251 - another reader than ours, of files that the demo wrote
from collections import Counter
from pathlib import Path

import pytest

from data.demo import TreeSpec, write_tree
from tests.data.demo import recount


def digest(root: Path) -> str:
    sums = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        sums.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return sums.hexdigest()


@pytest.mark.parametrize("interval_ms", [100, 200, 500, 1000, 5000, 60_000])
@pytest.mark.parametrize(("cores", "gpus"), [(1, 0), (2, 1), (16, 4)])
def test_counts_of_records(tmp_path: Path, interval_ms: int, cores: int, gpus: int) -> None:
    spec = TreeSpec(nodes=2, cores=cores, gpus=gpus, seconds=60, interval_ms=interval_ms, step_ms=400)
    size = write_tree(tmp_path, spec)
    rows, bad = recount.records(tmp_path)
    first = 60_000 // interval_ms + 1
    assert bad == []
    assert len(rows) == size.records == (first + first - 1) * (2 * cores + 2 * gpus + 8)
    assert rows[-1].time_s - rows[0].time_s == pytest.approx(60, abs=1e-6)
    assert len(recount.steps(tmp_path)) == size.events > 100
    assert sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) == size.size_bytes


def test_same_spec_same_bytes_and_another_seed_other_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 7), ("two", 7), ("three", 8)):
        write_tree(tmp_path / name, TreeSpec(nodes=2, seconds=90, seed=seed))
    assert digest(tmp_path / "one") == digest(tmp_path / "two") != digest(tmp_path / "three")


def test_processes_and_their_names(tmp_path: Path) -> None:
    write_tree(tmp_path, TreeSpec(nodes=2, seconds=120, processes=2, first_worker=None, framework="pytorch"))
    found = recount.steps(tmp_path)
    assert {(step.node, step.worker) for step in found} == {(f"algo-{n}", w) for n in (1, 2) for w in ("151", "158")}
    trained = Counter(step.number for step in found if step.phase == "Step:ModeKeys.TRAIN")
    assert set(trained.values()) == {4}
    assert sorted(trained) == list(range(len(trained)))


def test_a_tree_without_steps(tmp_path: Path) -> None:
    assert write_tree(tmp_path, TreeSpec(seconds=30, processes=0)).events == 0
    assert recount.step_files(tmp_path) == []


def test_late_gpus_missing_ticks_and_a_cut_line(tmp_path: Path) -> None:
    spec = TreeSpec(
        nodes=2,
        cores=2,
        gpus=1,
        seconds=60,
        gpu_late_ticks=(3, 0),
        missing_ticks=((10, 11), ()),
        ended=False,
        cut_last_line=True,
    )
    size = write_tree(tmp_path, spec)
    rows, bad = recount.records(tmp_path)
    assert len(bad) == 1
    assert len(rows) == size.records
    assert {n: len(t) for n, t in recount.by_tick(rows, recount.CPU).items()} == {"algo-1": 119, "algo-2": 120}
    assert {n: len(t) for n, t in recount.by_tick(rows, recount.GPU).items()} == {"algo-1": 116, "algo-2": 120}
    assert not list(tmp_path.rglob("training_job_end.ts"))


def test_profiles_of_functions_add_up_to_their_intervals(tmp_path: Path) -> None:
    write_tree(tmp_path, TreeSpec(nodes=2, seconds=60, processes=2))
    files = sorted(tmp_path.rglob("cprofile/*/*/python_stats"))
    assert Counter(path.parts[-3] for path in files) == dict.fromkeys(
        (f"{pid}-algo-{node}" for pid in (151, 158) for node in (1, 2)), 5
    )
    for path in files:
        start, end = (float(edge.rpartition("-")[2]) for edge in path.parts[-2].split("_"))
        stats = pstats.Stats(str(path))
        seconds = (end - start) / 1e6
        assert stats.total_tt == pytest.approx(0.97 * seconds, abs=1e-4)  # type: ignore[attr-defined]
        for _, calls, own, cumulative, callers in stats.stats.values():  # type: ignore[attr-defined]
            assert 0 <= own <= cumulative <= seconds
            assert callers == {} or sum(one[1] for one in callers.values()) == calls
