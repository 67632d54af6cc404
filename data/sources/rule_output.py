"""Where the original's rules left their reports: folders beside the profiler output, known by their names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from data.names import natural_key
from data.sources.layout import PROFILER_OUTPUT, REPORTS

RULE_OUTPUT = "rule-output"
_RULE = "ProfilerReport"
MOST_RULES = 100
"""Folders of rules that are looked into, the last ones by name: a rule has one for every time it was started."""


def report_folders(job: str, profiler_folder: str) -> Iterator[str]:
    """The folders of reports in a job's folder, relative to it; those inside the profiler output are left out.

    A report lies in `rule-output/ProfilerReport-<number>/profiler-output/profiler-reports`, or without some of these
    levels where it was copied by hand. Links are not followed.
    """
    for above in ("", RULE_OUTPUT):
        rules = [name for name in _folders(os.path.join(job, above)) if name.startswith(_RULE)]
        for rule in ("", *rules[-MOST_RULES:]):
            inside = os.path.join(above, rule)
            for path in (os.path.join(inside, PROFILER_OUTPUT, REPORTS), os.path.join(inside, REPORTS)):
                if not path.startswith(f"{profiler_folder}/") and _is_folder(job, path):
                    yield path.replace(os.sep, "/")


def _is_folder(job: str, path: str) -> bool:
    """Whether every level of a path is a folder and no link."""
    levels = Path(path).parts
    try:
        modes = [os.lstat(os.path.join(job, *levels[: at + 1])).st_mode for at in range(len(levels))]
    except OSError:
        return False
    return all(map(stat.S_ISDIR, modes))


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found, key=natural_key)
