"""Files that are exact copies of each other: the same recording, uploaded or downloaded twice.

Whose recording a file is, is a fact of its own, which often only its name gives: the same bytes under the names of two
writers are two recordings, however improbable.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Sequence

from data.readers.events import EventPaths
from data.sources import FileKind

_ALIKE = {FileKind.PERHAPS_TRACE: FileKind.TRACE}
"""A copy of a trace may have a name that does not tell."""


def find_copies(paths: EventPaths, named: Callable[[int], str] = lambda index: "") -> dict[int, int]:
    """Index of every copy, and of the file it repeats: the first one of the same node and kind with the same bytes.

    `named` says which writer the name of a file gives, "" where it gives none; it is asked only for files of the same
    bytes. One without a writer repeats one that has some. Only files of equal size are read. A file that cannot be read
    is nobody's copy.
    """
    same_size: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for index, (file, _) in enumerate(paths):
        if file.size:
            same_size[file.size, file.node, _ALIKE.get(file.kind, file.kind)].append(index)
    alike: dict[tuple[int, str, str, bytes], list[int]] = defaultdict(list)
    for key, indexes in same_size.items():
        for index in indexes if len(indexes) > 1 else ():
            alike[*key, _tail(paths[index][1])].append(index)
    copies: dict[int, int] = {}
    for indexes in alike.values():
        same: dict[bytes | None, list[int]] = defaultdict(list)
        for index in indexes if len(indexes) > 1 else ():
            same[_digest(paths[index][1])].append(index)
        same.pop(None, None)
        for repeated in same.values():
            copies |= _repeating(repeated, [named(index) for index in repeated] if len(repeated) > 1 else [""])
    return copies


def _repeating(indexes: Sequence[int], writers: Sequence[str]) -> dict[int, int]:
    """The copies among files of the same bytes, with the file that each repeats."""
    first_of: dict[str, int] = {}
    for index, writer in zip(indexes, writers, strict=True):
        first_of.setdefault(writer, index)
    first_of[""] = min((index for writer, index in first_of.items() if writer), default=indexes[0])
    repeated = {index: first_of[writer] for index, writer in zip(indexes, writers, strict=True)}
    return {index: first for index, first in repeated.items() if index != first}


def _tail(path: str) -> bytes:
    """The end of a file: files of one size seldom share it, so that few have to be read whole."""
    try:
        with open(path, "rb") as stream:
            stream.seek(-min(512, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return stream.read()
    except OSError:
        return b""


def _digest(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "blake2b").digest()
    except OSError:
        return None
