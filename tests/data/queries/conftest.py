"""A job of three nodes for all query tests, with so few bins to a view that a few minutes reach the coarse levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pytest

from data import schema
from data.selection import Selection, Window
from data.store import Store
from tests import oracle, trees
from tests.stored import Stored, convert

FIRST_US = trees.START_US - 130_000_000
"""The job begins before the edge of a chunk and of a part, and ends after it."""


@dataclass(frozen=True)
class Fleet:
    """A stored job, its rows by the oracle, and a store to ask."""

    found: Stored
    rows: list[oracle.Row]
    store: Store

    @cached_property
    def ticks(self) -> dict[str, list[oracle.Tick]]:
        return oracle.ticks(self.rows)

    def select(self, window: tuple[int, int] | None = None, *nodes: str) -> Selection:
        """A selection; the window in microseconds since the job's first record."""
        if window is None:
            return Selection(self.found.job_id, None, nodes)
        start, end = (FIRST_US + one for one in window)
        return Selection(self.found.job_id, Window(start * 1000, end * 1000), nodes)


FEW_BINS = 60
"""So that a small job needs several levels of rollups."""


@pytest.fixture(autouse=True)
def few_bins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries of the fleet see the limit that it was converted with; other tests see the real one."""
    if "fleet" in request.fixturenames:
        monkeypatch.setattr(schema, "MAX_BINS", FEW_BINS)


@pytest.fixture(scope="package")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Node 1 has three cores and two GPUs, 2 no GPU and a gap, 10 starts late and ends early."""
    job = tmp_path_factory.mktemp("fleet") / "job"
    records = trees.machine("algo-1", start_us=FIRST_US, ticks=640, cores=3, gpus=2, skip=[77, 200, 201, 333])
    records += trees.machine("algo-2", start_us=FIRST_US + 166_000, ticks=640, cores=2, gpus=0, skip=range(300, 380))
    records += trees.machine("algo-10", start_us=FIRST_US + 40_333_000, ticks=420, cores=1, gpus=1)
    trees.write(job, trees.metrics_files(records))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MAX_BINS", FEW_BINS)
        found = convert(job, job.parent / "store")
    return Fleet(found, oracle.distinct(oracle.system_rows(job)), found.store())
