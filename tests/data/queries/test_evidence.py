"""Evidence for rules that no page shows: sums at exact times, and kinds of files."""

from __future__ import annotations

from collections import defaultdict

import pytest

from data.queries import evidence
from tests import oracle
from tests.data.queries.conftest import Fleet

DIMENSIONS = {"cpu": oracle.CPU, "io_wait": oracle.IO_WAIT, "gpu": oracle.GPU, "gpu_memory": oracle.GPU_MEMORY}


def test_sums_at_exact_times(fleet: Fleet) -> None:
    found = fleet.store.fetch(evidence.exact_usage, fleet.select())
    assert [node.node for node in found.nodes] == ["algo-1", "algo-2", "algo-10"]
    for node in found.nodes:
        for name, dimension in DIMENSIONS.items():
            sums: dict[int, float] = defaultdict(float)
            for row in fleet.rows:
                if row.node == node.node and row.dimension == dimension:
                    sums[row.time_us] += row.value
            assert getattr(node, name).tolist() == pytest.approx([sums[at] for at in sorted(sums)])
    assert (found.core_names, found.gpu_names) == (3, 2)


def test_kinds_of_files(fleet: Fleet) -> None:
    assert fleet.store.fetch(evidence.file_kinds, fleet.select()) == ("system",)
