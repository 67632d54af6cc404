"""How to judge, as people say it: in an address, a profile or a flag; checked against the rules there are.

In an address a threshold is `<Rule>_<parameter>=<value>`, as in the original's reports, and the way of counting is
`mode`. What cannot be used is left at its default and named, never an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.judgement import Choice
from components.format import plain
from data.frames.findings import COMPAT, FIXED, Mode, Number
from data.insights.rule import Rule, Setting

MODE_KEY: Final = "mode"
MODES: Final[tuple[Mode, ...]] = (FIXED, COMPAT)
LONGEST_TEXT: Final = 100


@dataclass(frozen=True)
class Refused:
    """A value that is not used: what was asked for, and why not, in words that follow its name."""

    name: str
    value: str
    reason: str

    @property
    def words(self) -> str:
        """As a sentence."""
        return f"{plain(self.name, 80)} = {plain(self.value, 40)} is not used: {self.reason}."


@dataclass(frozen=True)
class Asked:
    """A choice, and what of it was refused."""

    choice: Choice
    refused: tuple[Refused, ...] = ()


def threshold_key(rule: str, parameter: str) -> str:
    """The key of a threshold in an address."""
    return f"{rule}_{parameter}"


def of_query(query: Mapping[str, str], rules: Sequence[Rule], defaults: Choice) -> Asked:
    """What an address asks for, on top of the defaults. Keys that are no rule's are other pages' business."""
    names = {rule.name: rule for rule in rules}
    found, refused = [], []
    for key, text in query.items():
        rule_name, _, parameter = key.partition("_")
        if rule_name in names:
            found.append((rule_name, parameter, text))
    moved, wrong = _checked(found, names)
    refused += wrong
    mode = defaults.mode
    if MODE_KEY in query:
        mode, wrong = _mode(query[MODE_KEY], mode)
        refused += wrong
    return Asked(merged(defaults, mode, moved, rules), tuple(refused))


def of_assignments(texts: Iterable[str], mode: str, rules: Sequence[Rule], defaults: Choice) -> Asked:
    """What flags ask for: `Rule.parameter=value`, and a mode ("" for the defaults' own)."""
    found, refused = [], []
    for text in texts:
        name, equals, value = text.partition("=")
        rule, dot, parameter = name.strip().partition(".")
        if equals and dot:
            found.append((rule, parameter, value.strip()))
        else:
            refused.append(Refused(name, value, "it is to be written Rule.parameter=value"))
    moved, wrong = _checked(found, {rule.name: rule for rule in rules})
    chosen, wrong_mode = _mode(mode, defaults.mode) if mode else (defaults.mode, [])
    return Asked(merged(defaults, chosen, moved, rules), (*refused, *wrong, *wrong_mode))


def of_values(values: Iterable[tuple[str, str, object]], mode: object, rules: Sequence[Rule]) -> Asked:
    """What a profile asks for, as (rule, parameter, value)."""
    moved, refused = _checked(values, {rule.name: rule for rule in rules})
    chosen, wrong = _mode(mode, FIXED)
    return Asked(merged(Choice(), chosen, moved, rules), (*refused, *wrong))


def merged(defaults: Choice, mode: Mode, moved: Mapping[tuple[str, str], Number], rules: Sequence[Rule]) -> Choice:
    """The defaults with some thresholds moved; those at the rule's own value are left out, so that equals are equal."""
    own = {(rule.name, setting.name): setting.default for rule in rules for setting in rule.settings}
    every = {(rule, name): value for rule, name, value in defaults.thresholds} | dict(moved)
    thresholds = tuple(
        (rule, name, value) for (rule, name), value in sorted(every.items()) if own.get((rule, name)) != value
    )
    return Choice(mode, thresholds, defaults.edition)


def value_of(setting: Setting, given: object) -> Number:
    """A value for a parameter. Raises ValueError with the reason."""
    if isinstance(setting.default, str):
        text = str(given).strip()
        if not text or len(text) > LONGEST_TEXT or not text.isprintable():
            raise ValueError(f"it must be a text of 1 to {LONGEST_TEXT} characters")
        return text
    try:
        value = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("it is no number")
    if not setting.low <= value <= setting.high:
        raise ValueError(f"it must be from {setting.low:,.15g} to {setting.high:,.15g}")
    return value


def _checked(
    values: Iterable[tuple[str, str, object]], rules: Mapping[str, Rule]
) -> tuple[dict[tuple[str, str], Number], list[Refused]]:
    moved: dict[tuple[str, str], Number] = {}
    refused = []
    for name, parameter, given in values:
        shown = f"{name}.{parameter}".rstrip(".")
        if name not in rules:
            refused.append(Refused(shown, str(given), f"there is no rule {plain(name, 60)}"))
            continue
        setting = next((one for one in rules[name].settings if one.name == parameter), None)
        if setting is None:
            known = ", ".join(one.name for one in rules[name].settings) or "none"
            refused.append(Refused(shown, str(given), f"{name} has no such parameter (it has: {known})"))
            continue
        try:
            moved[name, parameter] = value_of(setting, given)
        except ValueError as error:
            refused.append(Refused(shown, str(given), str(error)))
    return moved, refused


def _mode(given: object, otherwise: Mode) -> tuple[Mode, list[Refused]]:
    found = next((mode for mode in MODES if mode == given), None)
    if found is None:
        return otherwise, [Refused(MODE_KEY, str(given), "it must be fixed or compat")]
    return found, []
