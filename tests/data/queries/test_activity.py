"""GPU activity against plain Python over the kernels of a trace."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from data.errors import MissingTable
from data.queries import activity
from data.selection import Selection, Window
from tests import framework, trees
from tests.framework import Event
from tests.stored import Stored, convert

Kernel = tuple[int, int, int]  # device, start and length in microseconds
FIRST_US = trees.START_US


def some_kernels() -> list[Kernel]:
    dice = random.Random(2)
    return [(dice.choice((0, 2, 10)), dice.randrange(0, 900), dice.randrange(1, 40)) for _ in range(80)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("activity")
    rows = [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": FIRST_US + start, "dur": length}
        | {"args": {"device": device, "stream": 7}}
        for device, start, length in some_kernels()
    ]
    trees.write(folder / "job", {"a.pt.trace.json": json.dumps({"schemaVersion": 1, "traceEvents": rows}).encode()})
    return convert(folder / "job", folder / "store")


@pytest.mark.parametrize("window", [(0, 1000), (130, 333)])
def test_columns_hold_the_share_in_which_a_kernel_runs(stored: Stored, window: tuple[int, int]) -> None:
    span = Window(*((FIRST_US + one) * 1000 for one in window))
    found = stored.store().fetch(activity.gpu_activity, Selection(stored.job_id, span), 20)
    assert [device for _, device in found.groups] == ["gpu0", "gpu2", "gpu10"]
    width_us = found.column_ns // 1000
    for at, device in enumerate((0, 2, 10)):
        running = {
            moment
            for gpu, start, length in some_kernels()
            if gpu == device
            for moment in range(start, start + length)
            if window[0] <= moment < window[1]
        }
        assert found.busy_ns[at] == 1000 * len(running)
        if window == (0, 1000):
            columns = [sum(first <= one < first + width_us for one in running) for first in range(0, 1000, width_us)]
            assert found.share[at] * width_us == pytest.approx(columns, abs=1e-4)


def test_nodes_without_kernels_have_no_line(stored: Stored, tmp_path: Path) -> None:
    assert stored.store().fetch(activity.gpu_activity, Selection(stored.job_id, None, ("algo-7",)), 20).groups == ()
    framework.write(tmp_path / "job", [Event("forward", "Forward", "net", 5, 5)])
    bare = convert(tmp_path / "job", tmp_path / "store")
    with pytest.raises(MissingTable, match="No kernel"):
        bare.store().fetch(activity.gpu_activity, Selection(bare.job_id), 20)
