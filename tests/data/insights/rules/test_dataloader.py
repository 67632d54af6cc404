"""Dataloader: too few, too many, and the whole medians over all nodes that the original took."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from data.errors import MissingTable
from data.insights.rules.dataloader import RULE, compat, judge, processes_by_second
from tests.data.insights.evidence import START_NS, Given, S, loader_events, node_ticks, ticks, values

FOUR_CORES = ticks(node_ticks(gpu=[[25.0] * 240]))
"""A node of four cores and one GPU for two minutes."""


def fetches(
    workers: int, seconds: int = 60, took_ns: int = S, node: str = "algo-1", first: int = 0
) -> list[tuple[str, str, str, int, int]]:
    """Workers that fetch one batch after the other."""
    return [
        (node, f"{worker}", "worker", START_NS + at * took_ns, took_ns)
        for worker in range(first, first + workers)
        for at in range(seconds * S // took_ns)
    ]


def waits(node: str = "algo-1", seconds: int = 60, took_ns: int = S // 2) -> list[tuple[str, str, str, int, int]]:
    return [(node, "main", "wait", START_NS + at * S, took_ns) for at in range(seconds)]


def given(events: list[Any], nodes: Any = FOUR_CORES, **options: Any) -> Given:
    return Given(loader=loader_events(events, **options), ticks=nodes)


# 70 % of four cores are 2.8, 200 % are 8.
@pytest.mark.parametrize(
    ("workers", "state"),
    [(1, "issue"), (2, "issue"), (3, "no issue"), (4, "no issue"), (8, "no issue"), (9, "issue")],
)
def test_workers_against_cores(workers: int, state: str) -> None:
    found = judge(given(fetches(workers)), values(RULE))
    assert (found.state, found.points) == (state, workers * 60)
    assert found.figures[0].value == workers


def test_a_limit_itself_is_neither_below_nor_above() -> None:
    for limits in ({"min_threshold": 50}, {"min_threshold": 0, "max_threshold": 50}):
        assert judge(given(fetches(2)), values(RULE, **limits)).state == "no issue"


def test_a_worker_counts_in_every_second_it_works() -> None:
    assert judge(given(fetches(4, took_ns=6 * S)), values(RULE)).figures[0].value == 4


def test_gpus_are_wasted_while_training_waits_for_too_few_workers() -> None:
    found = judge(given(fetches(1) + waits()), values(RULE))
    assert "wait 50 % of their time" in found.text
    assert found.wasted_gpu_s == pytest.approx(60 * 0.5 * 0.75)
    assert judge(given(fetches(1)), values(RULE)).wasted_gpu_s is None
    assert judge(given(fetches(9) + waits()), values(RULE)).wasted_gpu_s is None


def test_short_waits_make_it_uncertain() -> None:
    assert "hardly waits" in judge(given(fetches(1) + waits(took_ns=S // 100)), values(RULE)).confidence


def test_a_loader_without_workers_is_one_process() -> None:
    found = judge(given(waits(), alone=True), values(RULE))
    assert (found.state, found.figures[0].value) == ("issue", 1)


@pytest.mark.parametrize(("seconds", "state"), [(1, "not enough data"), (10, "not enough data"), (11, "no issue")])
def test_a_few_seconds_are_not_enough(seconds: int, state: str) -> None:
    assert judge(given(fetches(4, seconds)), values(RULE)).state == state


def test_what_is_not_recorded_is_not_judged() -> None:
    for lacking in (
        Given(ticks=FOUR_CORES),
        Given(loader=loader_events(fetches(4))),
        given(waits()),
        given(fetches(4, node="algo-9")),
    ):
        with pytest.raises(MissingTable):
            judge(lacking, values(RULE))


def test_each_node_against_its_own_cores() -> None:
    both = ticks(node_ticks("algo-1", length=9), node_ticks("algo-2", length=9))
    found = judge(given(fetches(4) + fetches(1, node="algo-2"), both), values(RULE))
    assert [place.node for place in found.places] == ["algo-2"]
    assert (found.violations, found.wasted_node_s) == (1, None)


def test_unpinned_memory_is_worth_a_word_where_there_is_a_gpu() -> None:
    pinned = (("2", "false"),)
    assert "pin_memory" in judge(given(fetches(1), settings=pinned), values(RULE)).advice[0]
    assert judge(given(fetches(1), ticks(node_ticks(length=9)), settings=pinned), values(RULE)).advice == ()


def test_compat_takes_the_integer_part_over_all_nodes() -> None:
    # On odd seconds three processes begin something, on even ones two: a median of 2.5 becomes 2, below 2.8.
    events = fetches(2) + [one for one in fetches(1, first=7) if one[3] // S % 2]
    found = compat(given(events), values(RULE, min_threshold=60))
    assert judge(given(events), values(RULE, min_threshold=60)).state == "no issue"
    # The job has two minutes: both scans see more than ten seconds.
    assert (found.violations, found.triggered, found.points) == (2, 1, 150)
    assert {one.name: one.value for one in found.figures} == {"dataloaders": 2, "cores": 4}


def test_compat_without_events_of_the_profiler_has_no_points() -> None:
    for evidence in (Given(ticks=FOUR_CORES), given(fetches(1), of_profiler=False)):
        found = compat(evidence, values(RULE))
        assert (found.state, found.points, found.triggered, found.violations) == ("no issue", 0, 0, 0)


def test_compat_forgets_after_a_thousand_seconds() -> None:
    # 17 scans of one process a second make 1,020: forgotten, then 20 scans of 4. Without it the median would stay 1.
    hour = ticks(node_ticks(length=2 * 37 * 60))
    events = fetches(1, 17 * 60)
    events += [(n, p, k, at + 17 * 60 * S, took) for n, p, k, at, took in fetches(4, 20 * 60)]
    assert compat(given(events, hour), values(RULE)).violations == 17


def test_processes_by_second_counted_one_by_one() -> None:
    dice = random.Random(3)
    events = [(dice.randrange(40 * S), dice.randrange(5 * S), dice.randrange(6)) for _ in range(300)]
    at_work: dict[int, set[int]] = {}
    for start, took, process in events:
        for second in range(start // S, max(start + took - 1, start) // S + 1):
            at_work.setdefault(second, set()).add(process)
    start_ns, took_ns, owner = (np.array(column, np.int64) for column in zip(*events, strict=True))
    found = processes_by_second(start_ns, start_ns + took_ns, owner.astype(np.int32))
    assert found.tolist() == [len(at_work[second]) for second in sorted(at_work)]


def test_the_place_is_where_the_events_are() -> None:
    (place,) = judge(given(fetches(1)), values(RULE)).places
    assert place.window == (START_NS, START_NS + 60 * S)
