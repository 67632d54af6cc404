"""Two of the demo jobs and their records, counted once for all tests of this folder."""

from pathlib import Path

import pytest

from tests.data.demo import recount


@pytest.fixture(scope="session")
def job_a(demo_source: Path) -> Path:
    return demo_source / "tf-hvd-resnet50-cifar10-256"


@pytest.fixture(scope="session")
def job_b(demo_source: Path) -> Path:
    return demo_source / "tf-hvd-resnet50-cifar10-512"


@pytest.fixture(scope="session")
def rows_a(job_a: Path) -> list[recount.Record]:
    return recount.records(job_a)[0]


@pytest.fixture(scope="session")
def rows_b(job_b: Path) -> list[recount.Record]:
    return recount.records(job_b)[0]
