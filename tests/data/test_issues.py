"""The summary beside a stored job: written in one step, and only believed for the version it was made of."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from data.issues import ISSUES, IssueSummary, read_issues, write_issues

ONE = IssueSummary("v1-a", "edition", 3, "high", 4033.5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "job"
    (folder / "v1-a").mkdir(parents=True)
    (folder / "current").write_text("v1-a")
    return tmp_path


def test_what_was_written_is_read_again(root: Path) -> None:
    write_issues(root, "job", ONE)
    assert read_issues(root, "job", "v1-a") == ONE
    assert [path.name for path in (root / "jobs" / "job").glob("issues*")] == [ISSUES]


def test_another_version_has_none(root: Path) -> None:
    write_issues(root, "job", ONE)
    assert read_issues(root, "job", "v2-b") is None
    assert read_issues(root, "other", "v1-a") is None


def test_a_job_that_was_converted_meanwhile_keeps_its_own(root: Path) -> None:
    write_issues(root, "job", msgspec.structs.replace(ONE, version="v0-z"))
    assert read_issues(root, "job", "v0-z") is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": "v1-a"}', b'{"version":"v1-a","edition":"","issues":"3"}']
)
def test_a_damaged_file_counts_as_none(root: Path, content: bytes) -> None:
    (root / "jobs" / "job" / ISSUES).write_bytes(content)
    assert read_issues(root, "job", "v1-a") is None
