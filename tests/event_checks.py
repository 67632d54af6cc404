"""What the public cases expect of events, checked in the store, by queries and in figures, for `test_cases`.

Each check takes the job as `inspect` reports it, with where its store and its source lie, and what is expected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from components.figures import activity as activity_figure
from components.figures import lanes as lanes_figure
from components.figures import steps as steps_figure
from components.figures.axes import View
from components.format import label, plain
from data.errors import MissingTable
from data.manifest import part_file
from data.queries import activity, lanes, operators, steps
from data.selection import Selection, Window
from data.sources import open_source
from data.store import Store, StoredJob

COLUMNS = 400


def store_of(job: dict[str, Any]) -> Store:
    return Store(job["store"], [open_source(job["source"])])


def stored(job: dict[str, Any]) -> StoredJob:
    return store_of(job).stored(job["job_id"])


def table(job: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A table of the job, empty where there is none."""
    path = stored(job).folder / f"{name}.parquet"
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist() if path.exists() else []
    return found


def events(job: dict[str, Any]) -> list[dict[str, Any]]:
    """All events by start, with the path of their file and their arguments."""
    found = stored(job)
    paths = {row["file"]: row["path"] for row in table(job, "files")}
    rows = [
        row
        for part in found.manifest.event_parts
        for row in pq.read_table(found.folder / part_file("events", part.part)).to_pylist()
    ]
    for row in rows:
        row["path"] = paths[row["file"]]
        row["args"] = None if row["args"] is None else json.loads(row["args"])
    assert len(rows) == job["events"]
    return sorted(rows, key=lambda row: (row["start_ns"], row["name"]))


def raw_files(job: dict[str, Any]) -> list[Path]:
    source = Path(job["source"])
    return [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())


def same(found: Any, expected: Any) -> None:
    assert found == expected


def _sentence(job: dict[str, Any], expected: Any) -> None:
    """For people: what it says is checked by the other keys of its case."""
    assert expected


def _partly(key: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """The keys that are named, of each thing that is named."""

    def check(job: dict[str, Any], expected: dict[str, Any]) -> None:
        for name, values in expected.items():
            found = job[key][name]
            same({one: found[one] for one in values} if isinstance(values, dict) else found, values)

    return check


def _durations(job: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    """`pid` is a number of a lane, whose name the raw files give."""
    lanes_of = {
        (path.name, event["pid"]): event["args"]["name"]
        for path in raw_files(job)
        if path.suffix == ".json" and path.name != "expected.json"
        for event in json.loads(path.read_text())
        if event["name" if "name" in event else "ph"] == "process_name" and "name" in event["args"]
    }
    names = {(pid, name) for (_, pid), name in lanes_of.items()}
    found = [(row["name"], row["phase"], row["duration_ns"] / 1000) for row in events(job)]
    wanted = []
    for one in expected:
        assert one.keys() == {"name", "pid", "dur"}
        (phase,) = {name for pid, name in names if pid == one["pid"]}
        wanted.append((one["name"], phase, one["dur"]))
    same(sorted(found), sorted(wanted))
    same(job["duration_sum_us"], sum(one["dur"] for one in expected))


def _said(count: int, words: str) -> Callable[[dict[str, Any], Any], None]:
    def check(job: dict[str, Any], expected: Any) -> None:
        same(expected, count)
        assert any(one["message"].split(": ", 1)[1].startswith(f"{count} {words}") for one in job["problems"])

    return check


def _without_place(job: dict[str, Any], expected: str) -> None:
    """The events of some file are kept, but have no place in time: no view over time shows them."""
    same(expected, "unknown for this file")
    outside = [row for row in events(job) if not row["wall"]]
    assert len({row["path"] for row in outside}) == 1
    assert len(outside) == job["events"] > 0
    assert job["first_event_us"] is None


def _strict(job: dict[str, Any], expected: bool) -> None:
    """The report, and all that pages draw of the job, is JSON without NaN."""
    assert expected
    json.dumps({key: value for key, value in job.items() if key not in ("store", "source")}, allow_nan=False)
    drawn = figures(job)
    assert drawn
    for figure in drawn:
        json.loads(figure, parse_constant=lambda word: pytest.fail(f"{word} in a figure"))


def figures(job: dict[str, Any]) -> list[str]:
    """The figures of events that the job has, as they are sent to the browser."""
    fetch, selection = store_of(job).fetch, Selection(job["job_id"])
    view = View(Window(job["start_us"] * 1000, job["end_us"] * 1000 + 1))
    found = [lanes_figure.framework_lanes(fetch(lanes.over_time, selection, COLUMNS), view).figure]
    if job["kernels"]:
        found.append(activity_figure.gpu_activity(fetch(activity.gpu_activity, selection, COLUMNS), view).figure)
    if job["steps"]:
        found.append(steps_figure.step_histogram(fetch(steps.histogram, selection, "linear"), view).figure)
        found.append(steps_figure.step_timeline(fetch(steps.timeline, selection, COLUMNS), view).figure)
    return [figure.to_json() for figure in found]


def _views(job: dict[str, Any], expected: dict[str, str]) -> None:
    """A view without data says so in a sentence."""
    same(expected, {"steps": "message"})
    for query, more in ((steps.histogram, "linear"), (steps.timeline, COLUMNS)):
        with pytest.raises(MissingTable) as caught:
            store_of(job).fetch(query, Selection(job["job_id"]), more)  # type: ignore[arg-type]
        assert "step" in caught.value.message


def _files(job: dict[str, Any], expected: int) -> None:
    same(sum(row["rows"] > 0 for row in table(job, "files")), expected)
    same(len({row["file"] for row in events(job)}), expected)


def _ignored(job: dict[str, Any], expected: int) -> None:
    known = {row["path"] for row in table(job, "files") if row["rows"]}
    same(len(raw_files(job)) - len(known), expected)


def _names_contain(job: dict[str, Any], expected: list[str]) -> None:
    names = {row["name"] for row in events(job)}
    assert [one for one in expected if not any(one in name for name in names)] == []


def _self_time(job: dict[str, Any], expected: float) -> None:
    found = store_of(job).fetch(operators.by_name, Selection(job["job_id"]))
    own = found["self_ns"].dropna()
    assert len(own)
    assert own.min() >= expected * 1000
    assert own.sum() <= job["by_phase"]["cpu_op"]["sum_us"] * 1000


def _idle(job: dict[str, Any], expected: float) -> None:
    busy = table(job, "gpu_busy")
    assert len({(row["node"], row["device"]) for row in busy}) == 1
    gaps = [later["start_ns"] - before["end_ns"] for before, later in pairwise(busy)]
    assert all(gap > 0 for gap in gaps)
    same(sum(gaps) / 1000, expected)


def _first_start_ns(job: dict[str, Any]) -> dict[str, int]:
    rows = events(job)
    return {worker: min(r["start_ns"] for r in rows if r["worker"] == worker) for worker in {r["worker"] for r in rows}}


def _first_starts(job: dict[str, Any], expected: dict[str, float]) -> None:
    found = _first_start_ns(job)
    same(found.keys(), expected.keys())
    same({rank: start // 1000 for rank, start in found.items()}, {rank: int(us) for rank, us in expected.items()})


def _start_difference(job: dict[str, Any], expected: float) -> None:
    first, second = sorted(_first_start_ns(job).values())
    same((second - first) / 1000, expected)


def _gpu_use(job: dict[str, Any], expected: None) -> None:
    """Not 0: unknown, and the view says so."""
    assert expected is None
    assert job["kernel_busy_us"] is None
    with pytest.raises(MissingTable) as caught:
        store_of(job).fetch(activity.gpu_activity, Selection(job["job_id"]), COLUMNS)
    assert "kernel" in caught.value.message


def _kernel_times(communication: bool) -> Callable[[dict[str, Any], float], None]:
    def check(job: dict[str, Any], expected: float) -> None:
        mine = [row for row in table(job, "kernels") if row["communication"] == communication]
        same(sum(row["duration_ns"] for row in mine) / 1000, expected)
        found = store_of(job).fetch(operators.by_name, Selection(job["job_id"]))
        found = found[found["communication"] == communication]
        same(int(found["total_ns"].sum()) / 1000, expected)

    return check


def _correlations(job: dict[str, Any], expected: list[str]) -> None:
    """Numbers beyond 2^63 keep all their digits."""
    found = {str(row["args"]["correlation"]) for row in events(job) if row["args"] and "correlation" in row["args"]}
    assert set(expected) <= found


def _longest_argument(job: dict[str, Any], expected: int) -> None:
    values = [value for row in events(job) for value in (row["args"] or {}).values()]
    same(max(len(value) for value in values if isinstance(value, str)), expected)


def _strict_json(files: list[Path], expected: bool, *, constants: bool) -> None:
    """What the case says about its own files, so that nobody mends them by accident."""

    def strict(path: Path) -> bool:
        try:
            json.loads(path.read_bytes(), parse_constant=None if constants else _refused)
        except ValueError:
            return False
        return True

    same(all(strict(path) for path in files), expected)


def _refused(word: str) -> None:
    raise ValueError(word)


def _traces(job: dict[str, Any]) -> list[Path]:
    return [path for path in raw_files(job) if "timeline" in path.name or "trace" in path.name]


def _strict_json_of(job: dict[str, Any], expected: dict[str, bool]) -> None:
    for path, strict in expected.items():
        _strict_json([Path(job["source"]).parent / path], strict, constants=True)


def _plain_labels(job: dict[str, Any], expected: bool) -> None:
    """No name stands in a figure in a way that a chart would take for markup."""
    assert expected
    sent = [text for figure in figures(job) for text in _texts(json.loads(figure))]
    for row in events(job):
        assert label(row["name"], 90) in sent
        assert "<" not in row["name"] or not any(plain(row["name"]) in text for text in sent)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(one)


EVENT_CHECKS: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "by_phase": _partly("by_phase"),
    "events_of_rank": _partly("by_rank"),
    "step_order": lambda job, steps: same(
        [row["step"] for row in sorted(table(job, "steps"), key=lambda row: row["start_ns"])], steps
    ),
    "durations_us": _durations,
    "unmatched_begin": _said(1, "begin mark has no end"),
    "unmatched_end": _said(1, "event with an end mark that ends nothing"),
    "unmatched_not_counted_as_events": lambda job, yes: same((len(events(job)), job["invalid_events"]), (3, 1 * yes)),
    "true_pids": lambda job, pids: same({int(row["process"]) for row in events(job)}, set(pids)),
    "absolute_time": _without_place,
    "job_time_range_s": lambda job, span: same([job["start_us"] / 1e6, job["end_us"] / 1e6], span),
    "nodes_contain": lambda job, node: same(node in job["nodes"], True),
    "tf_event_start_us": lambda job, us: same(
        [row["start_ns"] / 1000 for row in events(job) if "tensorflow" in row["path"]], [us]
    ),
    "json_responses_strict": _strict,
    "views": _views,
    "normal_duration_sum_us": lambda job, us: same(job["duration_sum_us"], us),
    "job_end_not_after_s": lambda job, end: same(job["end_us"] <= end * 10**6, True),
    "note": lambda job, text: same({one["severity"] for one in job["problems"]} <= {"note"} and bool(text), True),
    "strict_json": lambda job, yes: _strict_json(_traces(job), yes, constants=True),
    "json_strict_rfc": lambda job, yes: _strict_json(_traces(job), yes, constants=False),
    "strict_utf8": lambda job, yes: same(
        all("\ufffd" not in path.read_bytes().decode("utf-8", "replace") for path in _traces(job)), yes
    ),
    "strict_json_of": _strict_json_of,
    "files": _files,
    "ignored_files": _ignored,
    "line_of_first_fault": lambda job, line: same(min(one["line"] for one in job["problems"]), line),
    "names": lambda job, names: same(sorted(row["name"] for row in events(job)), sorted(names)),
    "names_must_contain": _names_contain,
    "time_range_us": lambda job, span: same([job["first_event_us"], job["last_event_end_us"]], span),
    "min_reported_duration_us": lambda job, us: same(min(row["duration_ns"] for row in events(job)) >= us * 1000, True),
    "self_time_min_us": _self_time,
    "idle_us_between_kernels": _idle,
    "first_start_us": _first_starts,
    "start_difference_us": _start_difference,
    "reference": _sentence,
    "launches": lambda job, count: _said(count, "kernels were launched")(job, count),
    "gpu_utilisation": _gpu_use,
    "comm_kernels": lambda job, count: same(sum(row["communication"] for row in table(job, "kernels")), count),
    "comm_time_us": _kernel_times(True),
    "compute_time_us": _kernel_times(False),
    "pids": lambda job, pids: same({row["process"] for row in events(job)}, set(pids)),
    "cpu_ops": lambda job, count: same(sum(row["category"] == "cpu_op" for row in events(job)), count),
    "distinct_pid_tid_pairs": lambda job, count: same(
        len({(row["process"], row["thread"]) for row in events(job)}), count
    ),
    "correlations": _correlations,
    "longest_arg_chars": _longest_argument,
    "arg_may_be_shortened_in_view": _sentence,
    "ranks_with_events": lambda job, ranks: same(job["ranks"], ranks),
    "rank": lambda job, rank: same(job["ranks"], [rank]),
    "labels_are_plain_text": _plain_labels,
}
