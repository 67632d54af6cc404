"""Python functions over several profiles: sums by hand, choices of window, nodes, phase and mode."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from data import codec
from data.errors import MissingTable
from data.frames import FunctionTotals
from data.queries import functions
from data.selection import Selection, Window
from tests import trees
from tests.stored import Stored, convert

US = trees.START_US
SECOND = 1_000_000


def stats(seed: int) -> trees.FunctionStats:
    """Functions whose numbers tell the profiles apart; each is called once more with every seed."""
    return {
        ("train.py", 10, "step"): (1, 1 + seed, 0.25 * seed, 1.0 * seed, {}),
        ("train.py", 10, "other"): (seed, seed, 0.125, 0.125, {}),
        ("~", 0, "<built-in method time.sleep>"): (2**50, 2**53, 0.5 * seed, 0.5 * seed, {}),
        (f"only_{seed}.py", 1, "once"): (1, 1, 0.0, 0.0, {}),
    }


PROFILES: tuple[tuple[str, str, int, int, str, int], ...] = (
    ("prestepzero-*-start", "train-0-stepstart", 0, 10, "81-algo-1", 1),
    ("train-9-stepstart", "train-9-stepend", 20, 25, "81-algo-1", 2),
    ("train-9-stepstart", "train-9-stepend", 21, 26, "82-algo-2", 3),
    ("eval-0-stepstart", "eval-0-stepend", 30, 31, "81-algo-1", 4),
    ("train-99-stepend", "posthookclose-*-end", 40, 60, "82-algo-2", 5),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    job = tmp_path_factory.mktemp("functions") / "job"
    files = {
        trees.profile_path(start, US + a * SECOND, end, US + b * SECOND, node): trees.profile_file(stats(seed))
        for start, end, a, b, node, seed in PROFILES
    }
    trees.write(job, files)
    return convert(job, job.with_name("store"))


def ask(
    found: Stored, *more: Any, window: tuple[int, int] | None = None, nodes: tuple[str, ...] = ()
) -> FunctionTotals:
    span = Window(*((US + one * SECOND) * 1000 for one in window)) if window else None
    answer = found.store().fetch(functions.listed, Selection(found.job_id, span, nodes), *more)
    assert codec.decode(codec.encode(answer)).rows.equals(answer.rows)
    return answer


def by_hand(*seeds: int) -> dict[Any, list[Any]]:
    sums: dict[Any, list[Any]] = defaultdict(lambda: [0, 0, 0, 0])
    for seed in seeds:
        for key, (primitive, calls, own, cumulative, _) in stats(seed).items():
            for at, value in enumerate((calls, primitive, round(own * 1e9), round(cumulative * 1e9))):
                sums[key][at] += value
    return dict(sums)


def assert_seeds(answer: FunctionTotals, *seeds: int) -> None:
    expected = by_hand(*seeds)
    columns = ["ncalls", "pcalls", "tottime_ns", "cumtime_ns"]
    rows = answer.rows.to_dict("records")
    assert {(r["code_file"], r["line"], r["function"]): [r[name] for name in columns] for r in rows} == expected
    assert (answer.profiles, answer.functions, answer.profilers) == (len(seeds), len(expected), ("cprofile",))
    totals = [sum(values) for values in zip(*expected.values(), strict=True)]
    assert (answer.ncalls, answer.pcalls, answer.tottime_ns) == tuple(totals[:3])
    assert answer.rows["tottime_ns"].is_monotonic_decreasing


def test_all_profiles_add_up_to_the_last_call(found: Stored) -> None:
    answer = ask(found)
    assert_seeds(answer, 1, 2, 3, 4, 5)
    assert answer.rows["function"].iloc[0] == "<built-in method time.sleep>"
    assert (answer.start_ns, answer.end_ns) == (US * 1000, (US + 60 * SECOND) * 1000)


@pytest.mark.parametrize(
    ("phase", "seeds"), [("initialization", (1,)), ("training_loop", (2, 3, 4)), ("finalization", (5,))]
)
def test_parts_of_the_training(found: Stored, phase: str, seeds: tuple[int, ...]) -> None:
    assert_seeds(ask(found, phase), *seeds)


@pytest.mark.parametrize(("mode", "seeds"), [("train", (2, 3)), ("eval", (4,))])
def test_a_mode_begins_and_ends_the_profile(found: Stored, mode: str, seeds: tuple[int, ...]) -> None:
    assert_seeds(ask(found, "", mode), *seeds)


def test_nodes(found: Stored) -> None:
    assert_seeds(ask(found, nodes=("algo-2",)), 3, 5)
    assert_seeds(ask(found, "training_loop", nodes=("algo-2", "no such node")), 3)


@pytest.mark.parametrize(
    ("window", "seeds"),
    [
        ((22, 23), (2, 3)),  # inside of two profiles
        ((0, 21), (1, 2)),  # the end does not belong to a window
        ((25, 30), (2, 3)),
        ((26, 31), (3, 4)),
        ((-100, 100), (1, 2, 3, 4, 5)),
    ],
)
def test_a_window_takes_the_profiles_that_overlap_it(found: Stored, window: Any, seeds: tuple[int, ...]) -> None:
    assert_seeds(ask(found, window=window), *seeds)


def test_where_no_profile_fits_it_is_said(found: Stored) -> None:
    with pytest.raises(MissingTable, match="No Python profile was taken here"):
        ask(found, window=(11, 19))
    with pytest.raises(MissingTable):
        ask(found, "", "predict")


def test_a_job_without_profiles(tmp_path: Path) -> None:
    trees.write(tmp_path / "job", trees.metrics_files(trees.machine(ticks=4)))
    with pytest.raises(MissingTable, match="no Python profile"):
        ask(convert(tmp_path / "job", tmp_path / "store"))


def test_totals_count_rows_that_are_left_out(found: Stored) -> None:
    answer = ask(found, "", "", "", 2)
    assert len(answer.rows) == 2
    assert (answer.functions, answer.ncalls) == (8, 5 * 2**53 + 5 * 1 + 15 + 15 + 5)


def test_samples_have_no_calls_and_no_known_time(tmp_path: Path) -> None:
    root = {"function": "step", "file_path": "train.py", "line_no": 10, "time": 2.0, "children": []}
    folder = "profiler-output/framework/x/pyinstrument/algo-1/who knows"
    files = {f"{folder}/python_stats.json": json.dumps({"root_frame": root}).encode()}
    trees.write(tmp_path / "job", files)
    answer = ask(convert(tmp_path / "job", tmp_path / "store"))
    assert answer.rows["ncalls"].isna().all()
    assert (answer.ncalls, answer.pcalls, answer.start_ns, answer.end_ns) == (None, None, None, None)
    assert (answer.profilers, answer.tottime_ns) == (("pyinstrument",), 2 * 10**9)


def test_sums_that_do_not_fit_are_the_largest_number(tmp_path: Path) -> None:
    big = {("a.py", line, "f"): (2**53, 2**53, 1e8, 1e8, {}) for line in range(1100)}
    files = {trees.profile_path("train-1-stepstart", US, "train-1-stepend", US + 1): trees.profile_file(big)}
    trees.write(tmp_path / "job", files)
    answer = ask(convert(tmp_path / "job", tmp_path / "store"))
    assert (answer.tottime_ns, answer.ncalls) == (2**63 - 1, 2**63 - 1)
