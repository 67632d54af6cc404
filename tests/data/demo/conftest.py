"""The demo jobs, written once for all tests of this folder."""

from pathlib import Path

import pytest

from data.demo import write_demo
from tests.data.demo import recount


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    write_demo(out, lambda line: None)
    return out


@pytest.fixture(scope="session")
def job_a(demo: Path) -> Path:
    return demo / "tf-hvd-resnet50-cifar10-256"


@pytest.fixture(scope="session")
def job_b(demo: Path) -> Path:
    return demo / "tf-hvd-resnet50-cifar10-512"


@pytest.fixture(scope="session")
def rows_a(job_a: Path) -> list[recount.Record]:
    return recount.records(job_a)[0]


@pytest.fixture(scope="session")
def rows_b(job_b: Path) -> list[recount.Record]:
    return recount.records(job_b)[0]
