"""Which folders hold traces: looked for by the names of files, and in a few of those whose name does not tell.

Listing is repeated, and a folder beside the jobs may hold anything. So every folder is given a short look first, and
what longer looks may take is shared by all folders of a listing: many large ones neither delay it nor hide the others.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final

from data.sources.layout import is_trace, may_be_trace

FIRST_LOOK: Final = 100
"""Entries of each folder that are looked at in any case."""
LONG_LOOK: Final = 5_000
"""Entries of one folder that are looked at in a longer look."""
SHARED: Final = 100_000
"""Entries that the longer looks of a listing may take together."""
OPENED: Final = 10_000
"""Files that a listing opens, at most."""
_OPENED_IN_ONE: Final = 10
_SNIFFED_BYTES: Final = 1 << 16


class Held(Enum):
    """What a folder was found to hold."""

    TRACES = "traces"
    NO_TRACE = "no trace"
    NOT_KNOWN = "not known"  # no trace as far as it was looked at


@dataclass(slots=True)
class _Left:
    """What is left of what a listing may look at."""

    entries: int
    files: int


def holds_traces(folder: str) -> bool:
    """Whether a folder itself holds a trace, without the folders inside it."""
    try:
        with os.scandir(folder) as entries:
            perhaps = [entry for entry in entries if _may_be_trace(entry)]
    except OSError:
        return False
    return any(is_trace(entry.name) for entry in perhaps) or _any_begins_like_trace([entry.path for entry in perhaps])


def look_through(folders: Sequence[str]) -> list[Held]:
    """What each of these folders holds, at any depth."""
    left = _Left(SHARED, OPENED)
    held = [_look(folder, FIRST_LOOK, left)[0] for folder in folders]
    for index, folder in enumerate(folders):
        if held[index] is Held.NOT_KNOWN and left.entries > 0:
            held[index], seen = _look(folder, min(LONG_LOOK, left.entries), left)
            left.entries -= seen
    return held


def _look(folder: str, most: int, left: _Left) -> tuple[Held, int]:
    """What a folder holds as far as its first `most` entries tell, the upper folders first; and how many were seen."""
    pending, perhaps, seen = deque([folder]), list[str](), 0
    while pending and seen < most:
        try:
            with os.scandir(pending.popleft()) as entries:
                found = list(islice(entries, most - seen))
        except OSError:
            continue
        seen += len(found)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif _may_be_trace(entry):
                if is_trace(entry.name):
                    return Held.TRACES, seen
                perhaps.append(entry.path)
    opened = sorted(perhaps)[: min(_OPENED_IN_ONE, left.files)]
    left.files -= len(opened)
    if _any_begins_like_trace(opened):
        return Held.TRACES, seen
    in_part = seen >= most or len(opened) < min(len(perhaps), _OPENED_IN_ONE)
    return (Held.NOT_KNOWN if in_part else Held.NO_TRACE), seen


def _may_be_trace(entry: os.DirEntry[str]) -> bool:
    return may_be_trace(entry.name) and entry.is_file(follow_symlinks=False)


def _any_begins_like_trace(paths: Sequence[str]) -> bool:
    return any(_begins_like_trace(path) for path in sorted(paths)[:_OPENED_IN_ONE])


def _begins_like_trace(path: str) -> bool:
    try:
        with open(path, "rb") as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            head = gzip.GzipFile(fileobj=raw).read1(_SNIFFED_BYTES) if packed else raw.read(_SNIFFED_BYTES)
    except (OSError, EOFError, zlib.error):
        return False
    return b'"traceEvents"' in head or (head.lstrip()[:1] in (b"[", b"{") and b'"ph"' in head)
