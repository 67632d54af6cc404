"""The manifest is read whole or refused with a sentence; a stored version is whole or not."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import StoreError
from data.manifest import MANIFEST, Manifest, is_complete, level_file, part_file, read_manifest
from data.schema import Table
from tests import traces, trees
from tests.stored import Stored, convert


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    job = tmp_path_factory.mktemp("manifest") / "job"
    first = trees.machine(ticks=4)
    later = trees.machine(ticks=4, start_us=trees.START_US + 20 * trees.MINUTE_US)
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}}
    timeline = {
        "profiler-output/framework/1_0-algo-1_merged_timeline.json": json.dumps(
            [traces.start(), kernel, traces.memory(1, 512, 512)]
        ).encode()
    }
    profile = {
        trees.profile_path("train-1-stepstart", trees.START_US, "train-2-stepstart", trees.START_US + 9): (
            trees.profile_file({("main.py", 1, "f"): (1, 1, 0.5, 0.5, {})})
        )
    }
    report = {"rule-output/profiler-reports/BatchSize.json": b'{"RuleTriggered": 1}'}
    steps = trees.step_files([trees.StepRecord(0, 10**15, 5)])
    trees.write(job, trees.metrics_files(first + later) | steps | timeline | profile | report)
    return convert(job, job.parent / "store")


def refused(folder: Path, content: bytes) -> StoreError:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(StoreError) as caught:
        read_manifest(folder)
    assert caught.value.hint == "Convert the job again."
    return caught.value


BY_PART = (Table.RAW, Table.ROLLUP, Table.COARSE, Table.HISTOGRAM, Table.STAMPS)
WHOLE_JOB = set(Table) - {Table.RAW, Table.ROLLUP, Table.COARSE, Table.STAMPS, Table.EVENTS, Table.MEMORY}


def test_every_file_of_a_version_is_named_by_the_manifest_or_fixed(stored: Stored) -> None:
    manifest = stored.manifest
    assert len(manifest.parts) == 2
    named = {MANIFEST} | {f"{table}.parquet" for table in WHOLE_JOB}
    named |= {part_file(table, part.part) for part in manifest.parts for table in BY_PART}
    assert len(manifest.event_parts) == 1
    named |= {part_file(Table.EVENTS, part.part) for part in manifest.event_parts}
    assert len(manifest.memory_parts) == 1
    named |= {part_file(Table.MEMORY, part.part) for part in manifest.memory_parts}
    named |= {level_file(factor) for factor in manifest.levels[1:]}
    assert {path.name for path in stored.folder.iterdir()} == named


def test_names_of_files_are_part_of_the_store_s_layout() -> None:
    assert part_file("raw", 7) == "raw-7.parquet"
    assert level_file(32) == "level-32.parquet"


def test_without_a_manifest(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no manifest"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff", b'{"name": "\xff"}', b"{" * 10_000])
def test_a_damaged_manifest(tmp_path: Path, content: bytes) -> None:
    assert "damaged" in refused(tmp_path, content).message


@pytest.mark.parametrize("change", ["missing", "unknown", "mistyped"])
def test_a_manifest_of_another_program(stored: Stored, tmp_path: Path, change: str) -> None:
    content = json.loads((stored.folder / MANIFEST).read_bytes())
    if change == "missing":
        del content["levels"]
    elif change == "unknown":
        content["colour"] = "red"
    else:
        content["system_rows"] = "many"
    assert "another version" in refused(tmp_path, json.dumps(content).encode()).message


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_any_flipped_byte_is_a_manifest_or_a_sentence(stored: Stored, tmp_path: Path, at: int, byte: int) -> None:
    content = bytearray((stored.folder / MANIFEST).read_bytes())
    content[at % len(content)] = byte
    (tmp_path / MANIFEST).write_bytes(bytes(content))
    with suppress(StoreError):
        assert isinstance(read_manifest(tmp_path), Manifest)


def test_a_version_is_complete_until_a_table_is_gone_or_cut(tmp_path: Path) -> None:
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine(ticks=4)))
    found = convert(tmp_path / "job", tmp_path / "store")
    assert is_complete(found.folder, found.manifest)
    table = found.folder / "series.parquet"
    content = table.read_bytes()
    table.write_bytes(content[:-1])
    assert not is_complete(found.folder, found.manifest)
    table.unlink()
    assert not is_complete(found.folder, found.manifest)
    table.write_bytes(content)
    assert is_complete(found.folder, found.manifest)
