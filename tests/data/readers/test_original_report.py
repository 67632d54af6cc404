"""Reports of the original's rules: what they say, what they leave open, and damage of every kind."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.problem import Problem
from data.readers import original_report
from data.readers.original_report import FileReport, read
from data.sources import FileKind, SourceFile

PATH = "rule-output/ProfilerReport-1/profiler-output/profiler-reports/CPUBottleneck.json"
GOOD: dict[str, Any] = {
    "RuleTriggered": 4,
    "Violations": 2129,
    "Details": {"low_gpu_utilization": 3000},
    "Datapoints": 3019,
    "RuleParameters": "threshold:50\ncpu_threshold:90",
}


def read_bytes(content: bytes) -> tuple[FileReport | None, tuple[Problem, ...]]:
    return read(SourceFile(PATH, len(content), 1, FileKind.ORIGINAL_REPORT, "", 0), io.BytesIO(content))


def report(content: object) -> tuple[FileReport, list[str]]:
    found, problems = read_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    assert found is not None
    assert all((one.severity, one.lost_rows) == ("warning", 0) for one in problems)
    return found, [one.message for one in problems]


def test_a_whole_report() -> None:
    found, problems = report(GOOD)
    assert problems == []
    assert (found.rule, found.triggered, found.violations, found.datapoints) == ("CPUBottleneck", 4, 2129, 3019)
    assert found.parameters == "threshold:50\ncpu_threshold:90"
    assert json.loads(found.details) == {"low_gpu_utilization": 3000}


def test_what_is_missing_is_unknown_and_zero_is_zero() -> None:
    found, problems = report({"RuleTriggered": 0, "Violations": None})
    assert (found.triggered, found.violations, found.datapoints, found.parameters) == (0, None, None, "")
    assert problems == []


def test_numbers_that_json_does_not_have_become_null() -> None:
    text = '{"RuleTriggered": 1, "Violations": NaN, "Details": {"p95": NaN, "max": [Infinity, -Infinity, 1e999, 1.5]}}'
    found, problems = report(text.encode())
    assert (found.triggered, found.violations) == (1, None)
    assert found.details == '{"p95": null, "max": [null, null, null, 1.5]}'
    assert problems == []


@pytest.mark.parametrize("value", [True, "4", -1, 1.5, 10**30, [4], {"a": 4}])
def test_a_count_of_another_type_is_unknown_and_the_rest_counts(value: object) -> None:
    found, problems = report(GOOD | {"RuleTriggered": value})
    assert (found.triggered, found.violations) == (None, 2129)
    assert problems == ["CPUBottleneck.json: RuleTriggered is no count"]


def test_a_count_may_be_written_with_a_point() -> None:
    assert report(GOOD | {"Violations": 7.0})[0].violations == 7


def test_parameters_of_another_type_are_left_out() -> None:
    found, problems = report(GOOD | {"RuleParameters": {"threshold": 50}})
    assert found.parameters == ""
    assert problems == ["CPUBottleneck.json: RuleParameters is not text"]


def test_hostile_text_can_be_stored() -> None:
    details = {"<script>": "\ud800", "\u202e": ["\x00", "'; drop table"]}
    found, _ = report(GOOD | {"Details": details, "RuleParameters": "a:\ud800" + "x" * 10_000})
    assert found.details.isascii()
    assert json.loads(found.details) == details
    assert len(found.parameters.encode()) == original_report.LONGEST_PARAMETERS


def test_details_that_are_too_large_are_left_out() -> None:
    found, problems = report(GOOD | {"Details": {"a": "x" * original_report.LONGEST_DETAILS}})
    assert (found.details, found.violations) == ("", 2129)
    assert "Details is larger" in problems[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (json.dumps(GOOD).encode()[:-5], "is not valid JSON"),
        (b"<html></html>", "is not valid JSON"),
        (b"\x00\xff\xfe", "is not valid JSON"),
        (b"[]", "is no report of a rule"),
        (b"{}", "is no report of a rule"),
        (b'{"traceEvents": []}', "is no report of a rule"),
        (b'{"Details": ' + b"[" * 200_000, "is nested too deeply"),
        (b'{"Violations": ' + b"9" * 5_000 + b"}", "is not valid JSON"),
        (b" " * (original_report.LARGEST_BYTES + 1), "is larger than 4 MiB"),
    ],
)
def test_a_file_that_is_no_report_is_one_lost_record(content: bytes, said: str) -> None:
    found, (problem,) = read_bytes(content)
    assert found is None
    assert (problem.file, problem.line, problem.severity, problem.lost_rows) == (PATH, None, "warning", 1)
    assert problem.message == f"CPUBottleneck.json {said}"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*GOOD, "x"]), VALUES))
def test_any_object_is_a_report_or_a_problem(content: dict[str, Any]) -> None:
    found, problems = read_bytes(json.dumps(content).encode())
    assert found is not None or problems
    if found is not None and found.details:
        json.loads(found.details, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        found.parameters.encode()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_a_problem(content: bytes) -> None:
    found, problems = read_bytes(content)
    assert found is not None or problems
