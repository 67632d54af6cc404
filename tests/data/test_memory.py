"""Totals of allocators pooled into stretches, against plain Python that walks through the records."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
import pytest

from data.memory import UNKNOWN, counted, of_records, pooled

Row = tuple[int, int, int, int, int, bool]
"""Group, time, bytes, allocated, reserved, and whether the record tells the total."""


def walked(rows: list[Row]) -> list[dict[str, int]]:
    """What each group comes to, record by record."""
    found = []
    for group, some in groupby(rows, key=lambda row: row[0]):
        mine = list(some)
        known = [row for row in mine if row[5]]
        one = {"group": group, "uncounted": len(mine) - len(known)}
        one |= {"allocations": sum(row[2] > 0 for row in known), "frees": sum(row[2] < 0 for row in known)}
        one |= {"largest": max((row[2] for row in known if row[2] > 0), default=0)}
        totals = [row[3] for row in known]
        names = ("low", "high", "high_ns", "last", "rise", "reserved_high", "reserved_last")
        values = [UNKNOWN] * 7
        if known:
            grown = [totals[b] - totals[a] for b in range(len(totals)) for a in range(b)]
            high_ns = min(row[1] for row in known if row[3] == max(totals))
            values = [min(totals), max(totals), high_ns, totals[-1], max([0, *grown])]
            values += [max(row[4] for row in known), known[-1][4]]
        found.append(one | dict(zip(names, values, strict=True)))
    return found


def arrays(rows: list[Row]) -> list[np.ndarray]:
    return [np.array([row[at] for row in rows], bool if at == 5 else np.int64) for at in range(6)]


def some_rows(seed: int) -> list[Row]:
    rng = random.Random(seed)
    sizes = rng.choice([[-1, 0, 1], [-(1 << 40), 512, 1 << 40]])
    return [
        (group, time, rng.choice(sizes), rng.randrange(rng.choice([2, 1 << 45])), rng.randrange(9), rng.random() < 0.8)
        for group in sorted(rng.sample(range(50), rng.randrange(1, 8)))
        for time in sorted(rng.choices(range(1, 40), k=rng.randrange(1, 9)))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_records_pooled_are_what_walking_through_them_gives(seed: int) -> None:
    rows = some_rows(seed)
    group, time, size, allocated, reserved, tells = arrays(rows)
    groups, whole = pooled(group, of_records(time, size, allocated, reserved, tells))
    found = [{"group": g} | {name: int(whole[name][at]) for name in whole} for at, g in enumerate(groups.tolist())]
    assert found == walked(rows)


@pytest.mark.parametrize("seed", range(60))
def test_stretches_can_be_pooled_again_in_any_steps(seed: int) -> None:
    rows = some_rows(seed)
    group, time, size, allocated, reserved, tells = arrays(rows)
    fine = of_records(time, size, allocated, reserved, tells)
    step = np.cumsum(np.random.default_rng(seed).random(len(rows)) < 0.5)
    inner = np.append(True, (group[1:] != group[:-1]) | (step[1:] != step[:-1]))
    _, halfway = pooled(np.cumsum(inner), fine)
    again, at_once = pooled(group[inner], halfway), pooled(group, fine)
    assert again[0].tolist() == at_once[0].tolist()
    assert {name: one.tolist() for name, one in again[1].items()} == {
        name: one.tolist() for name, one in at_once[1].items()
    }


def test_nothing_pools_to_nothing() -> None:
    empty = np.empty(0, np.int64)
    groups, whole = pooled(empty, of_records(empty, empty, empty, empty, np.empty(0, bool)))
    assert len(groups) == len(whole["high"]) == 0


def tells(rows: list[tuple[int, bool, int, int]], before: list[int]) -> list[bool]:
    """Whether records (line, on the CPU, bytes, allocated) tell a total."""
    columns = [np.array([row[at] for row in rows], bool if at == 1 else np.int64) for at in range(4)]
    return counted(*columns, np.array(before)).tolist()


def test_a_batch_of_shared_memory_tells_no_total() -> None:
    batch = [(0, True, 100, 0), (0, True, -100, 0)]
    assert tells([(0, True, 64, 64), *batch, (0, True, 8, 72)], [UNKNOWN]) == [True, False, False, True]
    assert tells(batch, [UNKNOWN]) == [False, False]


def test_a_free_of_all_that_is_left_does_tell_one() -> None:
    assert tells([(0, True, 64, 64), (0, True, 99, 0), (0, True, -64, 0)], [UNKNOWN]) == [True, False, True]
    assert tells([(0, True, -64, 0)], [64]) == [True]
    assert tells([(0, True, -64, 0)], [65]) == [False]


def test_nothing_is_left_to_free_after_that() -> None:
    emptied = [(0, True, 64, 64), (0, True, -64, 0)]
    assert tells([*emptied, (0, True, -64, 0), *emptied], [UNKNOWN]) == [True, True, False, True, True]
    assert tells([(0, True, -64, 0), (0, True, -64, 0)], [64]) == [True, False]
    assert tells([(0, True, -64, 0)], [0]) == [False]
    assert tells([(0, True, 64, 64), (0, True, -64, 0), (1, True, -64, 0)], [UNKNOWN, 64]) == [True, True, True]


def test_what_other_lines_hold_does_not_matter() -> None:
    assert tells([(0, True, 64, 64), (1, True, -64, 0)], [UNKNOWN, UNKNOWN]) == [True, False]
    assert tells([(0, True, 64, 64), (1, True, -32, 0)], [UNKNOWN, 32]) == [True, True]


def test_totals_of_a_gpu_are_taken_as_they_are() -> None:
    assert tells([(0, False, 64, 0), (0, False, -32, 0)], [UNKNOWN]) == [True, True]
