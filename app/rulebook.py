"""By which rules and thresholds an app or a command judges: built-in rules, those of a folder, and a profile."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import data.insights
import data.queries.evidence
from app.choices import Refused
from app.custom_rules import custom_rules, fingerprint
from app.judgement import Choice, Judgement
from app.profiles import read_profile
from data.insights.rules import RULES


def judgement_of(rules: Path | None, profile: Path | None) -> tuple[Judgement, tuple[Refused, ...]]:
    """The judgement, and what of the profile was refused. Raises SettingsError where the profile cannot be read."""
    every = RULES
    edition = _built_in_edition()
    if rules is not None:
        every += custom_rules(rules, [rule.name for rule in RULES])
        edition += fingerprint(rules)
    if profile is None:
        return Judgement(every, Choice(edition=edition)), ()
    asked = read_profile(profile, every)
    return Judgement(every, replace(asked.choice, edition=edition)), asked.refused


def _built_in_edition() -> str:
    """Changes with the code of the rules and of what they read."""
    folders = [Path(folder) for folder in data.insights.__path__]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    digest = hashlib.sha256()
    for path in [*paths, Path(str(data.queries.evidence.__file__))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
