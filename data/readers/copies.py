"""Files that are exact copies of each other: the same recording, uploaded or downloaded twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict

from data.readers.events import EventPaths


def find_copies(paths: EventPaths) -> dict[int, int]:
    """Index of every copy, and of the file it repeats: the first one of the same node and kind with the same bytes.

    Only files of equal size are read. A file that cannot be read is nobody's copy.
    """
    alike: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for index, (file, _) in enumerate(paths):
        if file.size:
            alike[file.size, file.node, file.kind].append(index)
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


def _digest(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "blake2b").digest()
    except OSError:
        return None
