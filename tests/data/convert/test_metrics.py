"""System metrics in the store: every record once, and every bin and count as plain arithmetic has it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from data import schema
from tests import oracle, trees
from tests.stored import Stored, convert, write_job

NODES = ("algo-1", "algo-2", "algo-10")
OFFSETS_US = (0, 166_000, 333_000)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stored, list[oracle.Row]]:
    """Three nodes over twelve minutes, across two edges of chunks, each with other devices."""
    job = tmp_path_factory.mktemp("three") / "job"
    records = []
    for at, (node, offset) in enumerate(zip(NODES, OFFSETS_US, strict=True)):
        start = trees.START_US + offset - 61_000_000
        records += trees.machine(node, start_us=start, ticks=360, interval_us=2_000_000, cores=1 + at, gpus=2 - at)
    rows = write_job(job, records)
    return convert(job, job.parent / "store"), rows


def assert_bins(found: Stored, rows: list[oracle.Row], interval_us: dict[str, int]) -> None:
    """Every level of the store against sums of plain numbers."""
    for factor in found.manifest.levels:
        expected = oracle.bins(rows, {node: one * factor for node, one in interval_us.items()}.__getitem__)
        stored = found.bins(factor)
        assert stored.keys() == expected.keys(), factor
        for key, (low, high, total, count) in expected.items():
            assert stored[key][:2] == (low, high)
            assert stored[key][2] == pytest.approx(total, rel=1e-12)
            assert stored[key][3] == count


def test_every_record_is_stored_once_with_its_exact_value(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    assert found.rows() == sorted(rows)
    assert found.manifest.system_rows == len(rows)
    assert (found.manifest.duplicates, found.manifest.problems, found.manifest.lost_rows) == (0, 0, 0)


def test_every_row_names_its_file(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, _ = three
    paths = {row["file"]: row["path"] for row in found.table("files")}
    series = found.series()
    for row in found.parts("raw"):
        minute_us = row["time_ns"] // 1000 // trees.MINUTE_US * trees.MINUTE_US
        assert paths[row["file"]] == trees.metrics_path(minute_us, series[row["sid"]][0])


def test_files_count_their_rows(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, _ = three
    content = {row["path"]: (found.source / row["path"]).read_bytes() for row in found.table("files")}
    assert {row["path"]: (row["rows"], row["size"]) for row in found.table("files")} == {
        path: (text.count(b"\n"), len(text)) for path, text in content.items()
    }


def test_raw_rows_lie_by_chunk_series_and_time(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, _ = three
    order = [(row["time_ns"] // schema.CHUNK_NS, row["sid"], row["time_ns"]) for row in found.parts("raw")]
    assert order == sorted(order)
    assert len({chunk for chunk, _, _ in order}) == 4


def test_bins_of_every_level(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    # 2 s is offered by nobody; the nearest interval on offer, by ratio, is 1 s.
    assert [node.nominal_ns for node in found.manifest.nodes] == [10**9] * 3
    assert_bins(found, rows, dict.fromkeys(NODES, 1_000_000))


@pytest.mark.parametrize(
    ("most", "levels"),
    [
        (1500, (8, 32, 128)),
        (4, (8, 32, 128)),
        (3, (8, 32, 128, 512)),
        (2, (8, 32, 128, 512)),
        (1, (8, 32, 128, 512, 2048)),
    ],
)
def test_levels_reach_until_the_job_fits_a_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, levels: tuple[int, ...]
) -> None:
    """400 s of samples a second touch 4 bins of 128 s, since the first one began 64 s before, 2 of 512 s, 1 of 2048."""
    monkeypatch.setattr(schema, "MAX_BINS", most)
    rows = write_job(tmp_path / "job", trees.machine(ticks=400, interval_us=1_000_000, cores=1, gpus=0))
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.manifest.levels == levels
    assert_bins(found, rows, {"algo-1": 1_000_000})


PERCENT_CODES = {
    "CPUUtilization": 0,
    "I/OWaitPercentage": 1,
    "GPUUtilization": 2,
    "GPUMemoryUtilization": 3,
    "MemoryUsedPercent": 4,
}


def test_counts_of_exact_values(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    expected: Counter[tuple[str, int, float]] = Counter()
    by_chunk: Counter[tuple[str, int, int, float]] = Counter()
    for row in rows:
        code = PERCENT_CODES.get(row.dimension or row.name)
        if code is not None:
            expected[row.node, code, row.value] += 1
            by_chunk[row.node, code, row.time_us // 300_000_000, row.value] += 1
    assert found.value_counts() == expected
    assert {code for _, code, _ in expected} == {0, 1, 2, 3, 4}
    assert any(value < 0 for _, _, value in expected)
    assert any(value > 100 for _, _, value in expected)
    assert any(round(value, 2) != value for _, _, value in expected)
    stored = {
        (found.nodes[r["node"]], r["metric"], r["chunk"], r["value"]): r["count"] for r in found.parts("histogram")
    }
    assert stored == by_chunk


def test_statistics_of_every_series(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, rows = three
    for row in found.table("series"):
        values = [r.value for r in rows if r.series == (row["node"], row["type"], row["name"], row["dimension"])]
        assert (row["count"], row["min"], row["max"]) == (len(values), min(values), max(values))
        assert row["sum"] == pytest.approx(sum(values), rel=1e-12)


def test_series_are_numbered_by_their_sorted_names(tmp_path: Path) -> None:
    """The same numbers in whatever order series turn up: here the second minute brings new ones of every kind."""
    late = trees.machine("algo-2", start_us=trees.START_US + 60_000_000, ticks=6, cores=11, gpus=2)
    first = trees.machine("algo-3", ticks=6, cores=2, gpus=0) + trees.machine("algo-10", ticks=6)
    write_job(tmp_path / "a/job", first + late)
    found = convert(tmp_path / "a/job", tmp_path / "a/store")
    early = [trees.Record(r.node, r.type, r.name, r.dimension, r.time_us - 60_000_000, r.value) for r in late]
    write_job(tmp_path / "b/job", first + early)
    assert convert(tmp_path / "b/job", tmp_path / "b/store").series() == found.series()
    assert found.nodes == ["algo-2", "algo-3", "algo-10"]
    cores = [name for node, _, name, dimension in found.series() if (node, dimension) == ("algo-2", "CPUUtilization")]
    assert cores == [f"cpu{core}" for core in range(11)]


def test_a_late_series_has_its_rows_and_bins(tmp_path: Path) -> None:
    records = trees.machine("algo-2", ticks=400)
    records = [r for r in records if r.type != "gpu" or r.time_us > trees.START_US + 130_000_000]
    records += trees.machine("algo-1", start_us=trees.START_US + 150_000_000, ticks=50, cores=3)
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.rows() == sorted(rows)
    assert_bins(found, rows, {"algo-1": 500_000, "algo-2": 500_000})
    assert [(node.name, node.cpus, node.gpus) for node in found.manifest.nodes] == [("algo-1", 3, 1), ("algo-2", 2, 1)]


def test_a_job_of_many_parts(tmp_path: Path) -> None:
    """An hour at one sample a minute and a half: parts are a quarter of an hour, bins cross none of their edges."""
    records = trees.machine(ticks=40, interval_us=90_000_000, gpus=0, cores=1)
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert len(found.manifest.parts) > 1
    assert found.rows() == sorted(rows)
    assert_bins(found, rows, {"algo-1": 60_000_000})
    assert [part.rows for part in found.manifest.parts] == [
        sum(part.part == row.time_us * 1000 // found.manifest.span_ns for row in rows) for part in found.manifest.parts
    ]


@pytest.mark.parametrize("interval_ms", [100, 200, 500, 1000, 5000, 60_000])
def test_every_sampling_interval_on_offer(tmp_path: Path, interval_ms: int) -> None:
    """With the jitter of real clocks the nominal interval is found, and bins are built on it."""
    records = trees.machine(ticks=40, interval_us=interval_ms * 1000, cores=1, gpus=0)
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    (node,) = found.manifest.nodes
    assert node.nominal_ns == interval_ms * 10**6
    assert node.interval_ns == pytest.approx(oracle.interval_us(oracle.ticks(rows)["algo-1"]) * 1000, abs=1000)
    assert_bins(found, rows, {"algo-1": interval_ms * 1000})


def test_nodes_of_different_intervals(tmp_path: Path) -> None:
    intervals = {"algo-1": 100_000, "algo-2": 5_000_000, "algo-3": 60_000_000}
    records = [
        record
        for node, interval in intervals.items()
        for record in trees.machine(node, ticks=360_000_000 // interval // 3, interval_us=interval, cores=1, gpus=0)
    ]
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert {node.name: node.nominal_ns // 1000 for node in found.manifest.nodes} == intervals
    assert_bins(found, rows, intervals)


def test_a_node_that_starts_slower_than_it_goes_on(tmp_path: Path) -> None:
    """Only the first minute is looked at before; if that was no good guess, bins are built again."""
    records = trees.machine(ticks=10, interval_us=5_000_000, cores=1, gpus=0)
    records += trees.machine(start_us=trees.START_US + 60_000_000, ticks=300, interval_us=200_000, cores=1, gpus=0)
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.manifest.nodes[0].nominal_ns == 200 * 10**6
    assert_bins(found, rows, {"algo-1": 200_000})


def test_a_single_record_is_a_job(tmp_path: Path) -> None:
    rows = write_job(tmp_path / "job", [trees.Record("algo-1", *trees.cpu(0), trees.START_US + 5, 42.5)])
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.rows() == rows
    (node,) = found.manifest.nodes
    assert (node.ticks, node.interval_ns, node.cpus, node.gpus) == (1, 0, 1, 0)
    assert_bins(found, rows, {"algo-1": node.nominal_ns // 1000})


def test_times_are_those_of_the_first_and_last_record(tmp_path: Path) -> None:
    rows = write_job(tmp_path / "job", trees.machine(ticks=9) + trees.machine("algo-2", ticks=12))
    manifest = convert(tmp_path / "job", tmp_path / "store").manifest
    assert (manifest.system_start_ns, manifest.system_end_ns) == (rows[0].time_us * 1000, rows[-1].time_us * 1000)
    for node in manifest.nodes:
        mine = [row.time_us * 1000 for row in rows if row.node == node.name]
        assert (node.start_ns, node.end_ns) == (mine[0], mine[-1])


def test_duplicates_within_a_file_across_files_and_across_parts(tmp_path: Path) -> None:
    job = tmp_path / "job"
    records = trees.machine(ticks=36, interval_us=60_000_000, cores=1)
    files = trees.metrics_files(records)
    names = sorted(files)
    files[names[0]] += files[names[0]]  # every line twice
    for at in (3, 20):  # the same minute uploaded again, in different parts
        files[names[at].replace(".json", " (1).json")] = files[names[at]]
    strays = b"".join(files[names[at]].splitlines(keepends=True)[0] for at in (1, 30))
    files[names[5]] += strays  # lines of other minutes in the wrong file
    trees.write(job, files)
    found = convert(job, tmp_path / "store")
    rows = oracle.system_rows(job)
    assert len(found.manifest.parts) >= 2
    assert found.rows() == sorted(set(rows))
    assert found.manifest.duplicates == len(rows) - len(set(rows))
    assert_bins(found, oracle.distinct(rows), {"algo-1": 60_000_000})


def test_conflicting_values_at_one_stamp_are_both_kept(tmp_path: Path) -> None:
    at = trees.START_US + 1_000_000
    records = [
        *trees.machine(ticks=8),
        trees.Record("algo-1", *trees.MEMORY, at + 10, 10.0),
        trees.Record("algo-1", *trees.MEMORY, at + 10, 20.0),
        trees.Record("algo-1", *trees.cpu(0), at + 10, 1.0),
        trees.Record("algo-1", *trees.cpu(0), at + 10, 2.0),
        trees.Record("algo-1", *trees.cpu(0), at + 10, 2.0),
    ]
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.manifest.duplicates == 1
    assert found.rows() == sorted(rows)
    assert_bins(found, rows, {"algo-1": 500_000})


def test_no_number_in_the_store_is_nan(three: tuple[Stored, list[oracle.Row]]) -> None:
    found, _ = three
    for path in found.folder.glob("*.parquet"):
        name = path.stem
        for row in found.table(name):
            for value in row.values():
                numbers = value if isinstance(value, list) else [value]
                assert not any(isinstance(one, float) and not np.isfinite(one) for one in numbers), name


def test_hostile_values_stay_apart(tmp_path: Path) -> None:
    """The largest values that are taken for values are kept, and spoil nothing."""
    records = [r for r in trees.machine(ticks=20, cores=1, gpus=0) if r.type != "i/o"]
    records += [trees.Record("algo-1", *trees.IOPS, trees.START_US + at, 1e30) for at in (1, 2)]
    rows = write_job(tmp_path / "job", records)
    found = convert(tmp_path / "job", tmp_path / "store")
    assert found.rows() == sorted(rows)
