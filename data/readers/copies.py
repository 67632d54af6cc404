"""Files that are exact copies of each other: the same recording, uploaded or downloaded twice."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict

from data.readers.events import EventPaths


def find_copies(paths: EventPaths) -> dict[int, int]:
    """Index of every copy, and of the file it repeats: the first one of the same node and kind with the same bytes.

    Only files of equal size are read. A file that cannot be read is nobody's copy.
    """
    same_size: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for index, (file, _) in enumerate(paths):
        if file.size:
            same_size[file.size, file.node, file.kind].append(index)
    alike: dict[tuple[int, str, str, bytes], list[int]] = defaultdict(list)
    for key, indexes in same_size.items():
        for index in indexes if len(indexes) > 1 else ():
            alike[*key, _tail(paths[index][1])].append(index)
    copies: dict[int, int] = {}
    for indexes in alike.values():
        if len(indexes) < 2:
            continue
        first_of: dict[bytes, int] = {}
        for index in indexes:
            digest = _digest(paths[index][1])
            if digest is not None and (first := first_of.setdefault(digest, index)) != index:
                copies[index] = first
    return copies


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
