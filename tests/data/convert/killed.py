"""Conversions killed after their first change of the file system, after the second, and so on, until one ends well.

`python -m tests.data.convert.killed <store> <folder>` reads the order of a converting child; `<folder>/<n>` is what was
left of a copy of the store where `n` changes were made before the last one.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import pyarrow.dataset

from data.convert import child, job

PRELOADED = (pyarrow.dataset, job)
"""What each conversion would load anew."""

CHANGES = (io.open, os.link, os.mkdir, os.rename, os.replace, os.rmdir)


def die_after(changes: int) -> None:
    """Kills this process as soon as one more than so many changes were made."""
    left = itertools.count(changes, -1)

    def count(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_return" and called in CHANGES and next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def dies(order: dict[str, Any], changes: int) -> bool:
    """Converts in a process of its own; whether that was killed."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            sys.stdin = io.StringIO(json.dumps(order))
            with mock.patch("os.fsync"):  # what is killed is a process, not the machine
                die_after(changes)
                status = child.main()
        finally:
            os._exit(status)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return True
    if status:
        raise SystemExit(f"after {changes} changes the conversion failed instead of being killed")
    return False


def main(store: Path, folder: Path) -> None:
    order = json.load(sys.stdin)
    for changes in itertools.count():
        copy = shutil.copytree(store, folder / str(changes))
        if not dies(order | {"store": str(copy)}, changes):
            return


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
