"""Every trace and metrics file that others published, opened alone, with the facts that were counted independently."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.manifest import part_file
from data.queries import events as event_queries
from data.selection import Selection
from tests.conftest import REAL
from tests.stored import Stored, convert

FACTS: dict[str, Any] = json.loads((REAL / "FACTS.json").read_text()) if REAL.is_dir() else {}
TRACES = sorted(path for path, fact in FACTS.items() if fact["kind"] == "chrome trace")
METRICS = sorted(path for path, fact in FACTS.items() if fact["kind"] == "system metrics NDJSON")
RESOURCES = "awslabs-sagemaker-debugger/tests/profiler/resources"
HOROVOD = f"{RESOURCES}/horovod_timeline_traces/framework/pevents/2020070206/1593673051473228_88359-8c859046be41"

pytestmark = pytest.mark.skipif(not FACTS, reason=f"the published traces are not here: {REAL} is no folder")


def ns(us: Any) -> int:
    return int((Decimal(str(us)) * 1000).to_integral_value())


def events(found: Stored) -> pa.Table:
    paths = [found.folder / part_file("events", part.part) for part in found.manifest.event_parts]
    return pa.concat_tables([pq.read_table(path) for path in paths])


def raw_events(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    found: list[dict[str, Any]] = document if isinstance(document, list) else document["traceEvents"]
    return found


def pairs(path: Path) -> tuple[int, int]:
    """How many begin and end marks belong together, and how many ends close nothing, by a plain stack."""
    open_marks: Counter[tuple[Any, Any]] = Counter()
    closed = lone = 0
    for event in raw_events(path):
        lane = event.get("pid"), event.get("tid")
        if event.get("ph") == "B":
            open_marks[lane] += 1
        elif event.get("ph") == "E":
            closed += open_marks[lane] > 0
            lone += open_marks[lane] == 0
            open_marks[lane] -= open_marks[lane] > 0
    return closed, lone


@pytest.mark.parametrize("path", TRACES)
def test_a_published_trace_opens_with_its_counts_and_sums(path: str, tmp_path: Path) -> None:
    fact = FACTS[path]
    found = convert(REAL / path, tmp_path)
    manifest = found.manifest
    totals = found.store().fetch(event_queries.totals, Selection(found.job_id))
    closed, lone = pairs(REAL / path) if fact["by_ph"].get("B") or fact["by_ph"].get("E") else (0, 0)
    assert manifest.events == fact["complete_events"] + closed
    assert totals.invalid == lone
    assert totals.lost == manifest.lost_rows == 0
    assert manifest.kernels == fact.get("kernels", 0)
    assert totals.kernel_ns == ns(fact.get("kernel_dur_sum", 0))
    assert totals.busy_ns == ns(fact.get("kernel_busy_union", 0))
    kernels = [row for row in found.table("kernels") if row["communication"]]
    assert len(kernels) == fact.get("nccl_kernels", 0)
    assert sum(row["duration_ns"] for row in kernels) == ns(fact.get("nccl_kernel_dur_sum", 0))
    if manifest.events:
        check_times(found, fact)
        check_steps(found, fact)
        check_rank(found, fact)


def check_times(found: Stored, fact: dict[str, Any]) -> None:
    """Of complete events, also of those too long to be true."""
    table = events(found)
    base = fact.get("baseTimeNanoseconds") or 1000 * (fact.get("start_time_since_epoch_in_micros") or [0])[0]
    start, duration = (table.column(name).to_numpy() for name in ("start_ns", "duration_ns"))
    if not fact["by_ph"].get("B"):
        assert start.min() == base + ns(fact["min_ts"])
        assert (start + duration).max() == base + ns(fact["max_ts_plus_dur"])
    if "min_abs_us" in fact:
        assert start.min() == ns(fact["min_abs_us"])
    known = bool(base) or ns(fact["min_ts"]) > 10**18
    assert set(table.column("wall").to_pylist()) == {known}
    assert found.manifest.wall_clock == known


def check_steps(found: Stored, fact: dict[str, Any]) -> None:
    expected = sorted((one["name"], ns(one["dur"])) for one in fact.get("profiler_steps_cpu", []))
    mine = found.table("steps")
    if expected:
        assert sorted((f"ProfilerStep#{row['step']}", row["duration_ns"]) for row in mine) == expected
    elif "smdebug_steps" in fact:
        groups = Counter(found.manifest.step_groups[row["group"]][0] for row in mine)
        assert groups == fact["smdebug_steps"]
        assert sum(row["duration_ns"] for row in mine) == ns(sum(fact["smdebug_step_dur_sum_us"].values()))
    else:
        assert mine == []


def check_rank(found: Stored, fact: dict[str, Any]) -> None:
    rank = fact.get("distributedInfo", {}).get("rank")
    if rank is not None:
        assert found.manifest.event_processes == ((f"rank{rank}", str(rank)),)


def test_durations_that_cannot_be_true_are_suspicious(tmp_path: Path) -> None:
    """19 events of Horovod, measured against another clock: 9.4 days long."""
    (path,) = [path for path in TRACES if path.startswith(HOROVOD)]
    found = convert(REAL / path, tmp_path)
    long = [one for one in raw_events(REAL / path) if one["ph"] == "X" and one["dur"] > 86_400_000_000]
    assert FACTS[path]["complete_events"] == 19
    assert found.manifest.suspicious_events == len(long) > 0
    (told,) = [row for row in found.table("problems") if "cannot be right" in row["message"]]
    assert "9.4 days" in told["message"]
    assert (found.manifest.end_ns - found.manifest.start_ns) < 86_400 * 10**9


@pytest.mark.parametrize("path", METRICS)
def test_a_published_metrics_file_opens_by_its_name(path: str, tmp_path: Path) -> None:
    fact = FACTS[path]
    found = convert(REAL / path, tmp_path)
    assert found.manifest.system_rows == fact["rows"]
    assert found.manifest.lost_rows == len(fact["bad_lines"])
    assert [row["line"] for row in found.table("problems") if row["lost_rows"]] == fact["bad_lines"]
    series, sums = found.series(), dict[str, float]()
    for row in found.parts("raw"):
        sums[series[row["sid"]][3]] = sums.get(series[row["sid"]][3], 0) + row["value"]
    assert sums == pytest.approx({name: float(total) for name, total in fact["sum_by_dimension"].items()})
