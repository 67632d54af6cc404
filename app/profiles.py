"""Profiles of thresholds: a TOML file with a mode, and a table of parameters for each rule. Read, and written.

mode = "fixed"

[LowGPUUtilization]
threshold_p95 = 60
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import tomli_w

from app.choices import MODE_KEY, Asked, of_values
from app.settings import SettingsError
from data.frames.findings import FIXED, Findings, Number
from data.insights.rule import Rule

FILE_NAME: Final = "insights-profile.toml"
LARGEST_BYTES: Final = 1 << 20


def read_profile(path: Path, rules: Sequence[Rule]) -> Asked:
    """The choice of a profile; rules and parameters that do not exist are among the refused.

    Raises SettingsError where the file cannot be read at all.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"The profile {path} cannot be read: {(error.strerror or str(error)).lower()}.",
            "Name another one with --profile or INSIGHTS_PROFILE.",
        ) from error
    if len(content) > LARGEST_BYTES:
        raise SettingsError(
            f"The profile {path} is larger than 1 MiB.", "It holds a few dozen numbers; is it the file?"
        )
    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"The profile {path} is no TOML: {error}.", "Write it as [Rule] and parameter = value."
        ) from error
    return _asked(tables, rules)


def _asked(tables: dict[str, Any], rules: Sequence[Rule]) -> Asked:
    values: list[tuple[str, str, object]] = []
    for name, table in tables.items():
        if isinstance(table, dict):
            values += [(name, parameter, value) for parameter, value in table.items()]
        elif name != MODE_KEY:
            values.append((name, "", table))
    return of_values(values, tables.get(MODE_KEY, FIXED), rules)


def profile_text(found: Findings) -> str:
    """The profile under which these findings came about: every parameter in force."""
    rules = sorted(found.findings, key=lambda one: one.rule)
    tables = {
        one.rule: {parameter.name: _written(parameter.value) for parameter in one.parameters}
        for one in rules
        if one.parameters
    }
    return tomli_w.dumps({MODE_KEY: found.mode, **tables})


def _written(value: Number) -> Number:
    """Whole numbers without a point, as people write them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
