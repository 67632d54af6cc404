"""Reads the report that one rule of the original profiler left of a job: a small JSON object."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from data.problem import Problem
from data.sources import SourceFile

LARGEST_BYTES: Final = 4 << 20
LONGEST_DETAILS: Final = 2 << 20
LONGEST_PARAMETERS: Final = 4_096
_COUNTS: Final = {"RuleTriggered": "triggered", "Violations": "violations", "Datapoints": "datapoints"}
_DETAILS: Final = "Details"
_PARAMETERS: Final = "RuleParameters"
_LARGEST_COUNT: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class FileReport:
    """What one file says. None and "" stand for what it does not say."""

    rule: str  # as the file is called
    triggered: int | None
    violations: int | None
    datapoints: int | None
    parameters: str  # name:value, one a line
    details: str  # strict JSON, in ASCII; what is no number there is null


def read(file: SourceFile, stream: BinaryIO) -> tuple[FileReport | None, tuple[Problem, ...]]:
    """The report, None where the file is none, and what is wrong with it."""
    content = stream.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        return None, (damaged(file, f"is larger than {LARGEST_BYTES >> 20} MiB"),)
    try:
        # The original writes NaN and Infinity, which are no JSON.
        text = content.decode("utf-8-sig", "replace")
        found = json.loads(text, parse_float=_number, parse_constant=lambda _: None)
    except RecursionError:
        return None, (damaged(file, "is nested too deeply"),)
    except ValueError:
        return None, (damaged(file, "is not valid JSON" if content.strip() else "is empty"),)
    if not isinstance(found, dict) or not {*_COUNTS, _DETAILS, _PARAMETERS} & found.keys():
        return None, (damaged(file, "is no report of a rule"),)
    return _report(file, found)


def damaged(file: SourceFile, reason: str) -> Problem:
    """A whole report that is lost."""
    return Problem(file.path, None, f"{_name(file)} {reason}", "warning", lost_rows=1)


def _report(file: SourceFile, found: dict[str, Any]) -> tuple[FileReport, tuple[Problem, ...]]:
    odd: list[str] = []
    counts = {name: _count(found, key, odd) for key, name in _COUNTS.items()}
    details = _json(found.get(_DETAILS, {}))
    if details is None:
        details = ""
        odd.append(f"{_DETAILS} is larger than {LONGEST_DETAILS >> 20} MiB or nested too deeply")
    parameters = found.get(_PARAMETERS, "")
    if not isinstance(parameters, str):
        parameters = ""
        odd.append(f"{_PARAMETERS} is not text")
    parameters = parameters[:LONGEST_PARAMETERS].encode("utf-8", "replace").decode()
    problems = (Problem(file.path, None, f"{_name(file)}: {words}", "warning") for words in odd)
    return FileReport(_name(file).removesuffix(".json"), **counts, parameters=parameters, details=details), (*problems,)


def _count(found: dict[str, Any], key: str, odd: list[str]) -> int | None:
    value = found.get(key)
    if value is None:
        return None
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    if whole and 0 <= value <= _LARGEST_COUNT:
        return int(value)
    odd.append(f"{key} is no count")
    return None


def _json(value: object) -> str | None:
    """A value as strict JSON; None where that is too long."""
    try:
        text = json.dumps(value, allow_nan=False)
    except RecursionError:
        return None
    return text if len(text) <= LONGEST_DETAILS else None


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _name(file: SourceFile) -> str:
    return file.path.rpartition("/")[2]
