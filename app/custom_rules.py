"""Rules of one's own: each Python file of a folder gives one, `RULE`. Read when an app or a command starts.

A file that cannot be used takes part as a rule that fails and says why; nothing that is wrong with it stops the rest.
The code is the operator's own and is trusted as such: it runs with the rights of the server.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec
import numpy as np

from components.format import plain
from data.errors import InsightsError, MissingTable
from data.frames.findings import Outcome
from data.insights.evidence import Evidence
from data.insights.rule import CUSTOM, Judge, Rule, Setting, Values

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,59}")
PARTS: Final = tuple(name for name, value in vars(Evidence).items() if isinstance(value, property))
"""The parts of evidence that a rule may look at."""


class OnlyEvidence:
    """The parts of some evidence and nothing else of the object that has them."""

    def __init__(self, evidence: Evidence) -> None:
        def part(name: str) -> Any:
            return getattr(evidence, name)

        self._part = part

    def __getattr__(self, name: str) -> Any:
        if name not in PARTS:
            raise AttributeError(f"evidence has no {name}; its parts are {', '.join(PARTS)}")
        return self._part(name)


def custom_rules(folder: Path, taken: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of a folder in the order of its files' names; `taken` are names that they may not have."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".py")
    except OSError as error:
        reason = f"The folder of rules {folder} cannot be read: {(error.strerror or str(error)).lower()}."
        return (_broken("CustomRules", "Rules of your own", reason),)
    rules: list[Rule] = []
    for path in paths:
        names = {*taken, *(rule.name for rule in rules)}
        try:
            rules.append(_usable(_loaded(path), names))
        except InsightsError as error:
            name = _free(re.sub(r"[^A-Za-z0-9]", "", path.stem.title()) or "Rule", names)
            rules.append(_broken(name, f"{path.name} is no rule", error.message))
    return tuple(rules)


def fingerprint(folder: Path) -> str:
    """Changes with every file of a folder of rules: path, time of the last change, size."""
    try:
        files = [(str(path), path.stat()) for path in sorted(folder.iterdir()) if path.suffix == ".py"]
    except OSError:
        return "unreadable"
    text = repr([(path, stat.st_mtime_ns, stat.st_size) for path, stat in files])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _loaded(path: Path) -> object:
    """What a file defines as RULE. Raises InsightsError."""
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    module = ModuleType(f"insights_rule_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - the operator's own code
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise InsightsError(f"It could not be loaded: {_said(error, path)}.") from error
    if not hasattr(module, "RULE"):
        raise InsightsError("It defines no RULE.")
    return module.RULE


def _usable(rule: object, taken: set[str]) -> Rule:
    """The rule with our own guard around it. Raises InsightsError."""
    if not isinstance(rule, Rule):
        raise InsightsError(f"Its RULE is no Rule but a {type(rule).__name__}.")
    if not isinstance(rule.name, str) or not _NAME.fullmatch(rule.name):
        raise InsightsError("The name of its RULE must be letters and digits, a letter first, 60 at most.")
    if rule.name in taken:
        raise InsightsError(f"Another rule has the name {rule.name} already.")
    texts = (rule.title, rule.claim, *rule.advice) if isinstance(rule.advice, tuple | list) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise InsightsError("Title, claim and each advice of its RULE must be texts.")
    if not all(isinstance(one, Setting) for one in rule.settings) or not callable(rule.judge):
        raise InsightsError("Its RULE must have settings of Setting, and judge must be a function.")
    return replace(rule, advice=tuple(rule.advice), settings=tuple(rule.settings),
                   judge=_guarded(rule.name, rule.judge), compat=None, origin=CUSTOM)  # fmt: skip


def _guarded(name: str, judge: Judge) -> Judge:
    """A judge that sees evidence only, and whose failures say what they are."""

    def guarded(evidence: Evidence, values: Values) -> Outcome:
        try:
            outcome = judge(OnlyEvidence(evidence), values)
        except MissingTable:
            raise
        except Exception as error:
            log.warning("custom rule failed", extra={"rule": name}, exc_info=True)
            raise InsightsError(f"This rule broke while it looked at the job: {_said(error)}.") from error
        if not isinstance(outcome, Outcome):
            raise InsightsError(f"This rule did not return an Outcome but a {type(outcome).__name__}.")
        try:
            return msgspec.convert(msgspec.to_builtins(outcome, enc_hook=_plain_number), Outcome)
        except (msgspec.ValidationError, TypeError) as error:
            raise InsightsError(f"This rule returned an Outcome that cannot be used: {plain(error, 200)}.") from error

    return guarded


def _plain_number(value: object) -> object:
    """Python's own number for one of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"it holds a {type(value).__name__}")


def _broken(name: str, title: str, reason: str) -> Rule:
    def judge(evidence: Evidence, values: Values) -> Outcome:
        raise InsightsError(reason)

    advice = ("Mend the file, then start the server or the command again.",)
    return Rule(name, plain(title, 80), "A rule of your own that could not be loaded.", advice, (), judge, None, CUSTOM)


def _free(name: str, taken: set[str]) -> str:
    return next(one for at in range(len(taken) + 1) if (one := f"{name}{at or ''}") not in taken)


def _said(error: BaseException, path: Path | None = None) -> str:
    """What an error says, with the line of the file where it came about."""
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == str(path)
    ]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {plain(error, 200)}{where}"
