"""Pyinstrument's tree of samples as rows of functions. The page that it writes beside the tree is never read."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

import msgspec

from data.readers.functions import FunctionRow
from data.readers.marshal_values import MAX_TEXT

MAX_FUNCTIONS: Final = 100_000
MAX_SECONDS: Final = 1e8
SELF: Final = "[self]"
"""The frame that stands for a function's own time."""

Key = tuple[str, int, str]


class TreeError(ValueError):
    """What is wrong with the data, in words that follow "it"."""


class _Frame(msgspec.Struct):
    time: float
    function: str | None = None
    file_path: str | None = None
    file_path_short: str | None = None
    line_no: int | None = None
    children: list[_Frame] = []


class _Session(msgspec.Struct):
    root_frame: _Frame | None  # None where no sample was taken


def read_tree(content: bytes) -> tuple[FunctionRow, ...]:
    """Own and cumulative time of each function; recursion counts once. Raises TreeError."""
    if not content:
        raise TreeError("is empty")
    try:
        root = msgspec.json.decode(content, type=_Session).root_frame
    except RecursionError as error:
        raise TreeError("is nested too deeply") from error
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeError) as error:
        raise TreeError(f"is no tree of Pyinstrument ({error})") from error
    own, cumulative = Counter[Key](), Counter[Key]()
    active = Counter[Key]()
    waiting: list[tuple[_Frame, bool]] = [(root, False)] if root else []
    while waiting:
        frame, done = waiting.pop()
        key = _key(frame)
        if done:
            active[key] -= 1
            continue
        children = [child for child in frame.children if child.function != SELF]
        total_ns, inside_ns = _ns(frame.time), sum(_ns(child.time) for child in children)
        own[key] += max(total_ns - inside_ns, 0)  # the times are rounded each for itself
        cumulative[key] += 0 if active[key] else total_ns
        active[key] += 1
        waiting.append((frame, True))
        waiting += [(child, False) for child in reversed(children)]
    if len(own) > MAX_FUNCTIONS:
        raise TreeError(f"holds more than {MAX_FUNCTIONS:,} functions")
    return tuple(FunctionRow(*key, None, None, own[key], cumulative[key]) for key in own)


def _key(frame: _Frame) -> Key:
    line = frame.line_no or 0
    if abs(line) >= 1 << 31:
        raise TreeError("holds a line number that makes no sense")
    return _text(frame.file_path or frame.file_path_short), line, _text(frame.function)


def _text(text: str | None) -> str:
    return (text or "")[:MAX_TEXT].encode("utf-8", "replace").decode()


def _ns(seconds: float) -> int:
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        raise TreeError("holds a time that makes no sense")
    return round(seconds * 1e9)
