"""Read a Chrome-style trace as far as it goes: event by event, past damage, in bounded memory.

The strict and fast road is DuckDB's; this one is for what it refuses. A trace is a list of objects, but the list may
not be closed (still being written), commas may be missing or doubled, a second list may follow the first, and any
object may be damaged. Whatever can be read is yielded; everything else becomes a `Damage`.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from data.problem import Severity
from data.readers.trace_repair import repaired

CHUNK_BYTES = 1 << 20
LONGEST_EVENT = 24 << 20  # characters; longer ones are given up
LONGEST_MENDED = 4 << 20  # characters; what is damaged and longer is not mended

_SEPARATORS = re.compile(r"[\s,\[\]]*")
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}]', re.DOTALL)  # possessive: no memory for each letter of a long text
_NEXT_EVENT = re.compile(r'\n\s*\{|\}\s*,\s*\{(?=\s*"(?:ph|name|cat|pid|tid|ts|id|args|dur)")')
_LONGEST_HEAD = 200
_HEADLESS = re.compile(r'[^{}\[\]\n]{0,99}"(?:ph|name|cat|pid|tid|ts|dur|args)"\s{0,9}:')
_CUT_MARGIN = 12  # an error this close to the end of the text may only mean that the text goes on
_LONGEST_END = 1 << 20
_TRIMMED = 1 << 17

_NOT_CLOSED = "the list of events is not closed: the file is still being written, or was cut"
_CUT = "the file ends inside an event"
_DAMAGED = "an event is damaged and was skipped"
_NOT_EVENTS = "there is text between the events that is no event"
_STRAY = "commas or brackets between the events are missing or doubled"


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in the file that is not a whole event."""

    line: int | None
    message: str
    severity: Severity
    lost_rows: int = 0


Found = tuple[int, dict[str, Any]] | Damage
"""An event with the line it begins in, or what is there instead."""


class Text:
    """A piece of the file as text, with a position in it; `read` gives more bytes, b"" at the end of the file."""

    def __init__(self, start: bytes, read: Callable[[int], bytes], line: int) -> None:
        self._read = read
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.position = 0
        self.line = line
        self.consumed = 0  # bytes up to the position
        self.ended = False
        self.replaced = 0
        self._add(start, "")

    def more(self) -> bool:
        """Reads on; False at the end of the file."""
        if self.ended:
            return False
        rest = self.text[self.position :]
        data = self._read(max(CHUNK_BYTES, len(rest)))
        self.ended = not data
        self._add(data, rest)
        return True

    def _add(self, data: bytes, rest: str) -> None:
        piece = self._decoder.decode(data, final=self.ended)
        self.replaced += max(0, piece.count("\ufffd") - data.count(b"\xef\xbf\xbd"))
        self.text, self.position = rest + piece, 0

    def move_to(self, position: int) -> None:
        passed = self.text[self.position : position]
        self.line += passed.count("\n")
        self.consumed += len(passed.encode("utf-8", "replace"))
        self.position = position
        if position > _TRIMMED:  # an error of Python's decoder counts all lines before it
            self.text, self.position = self.text[position:], 0

    def rest(self) -> bytes:
        """What was read and not used."""
        return self.text[self.position :].encode("utf-8", "replace") + self._decoder.getstate()[0]


def scan(
    window: Text, *, until: int | None = None, take_end: Callable[[bytes], bool] = lambda text: False
) -> Iterator[Found]:
    """All events from inside a list of them, and what else was found.

    Stops between two events once `until` bytes are used. `take_end` is given what stands behind the list, as an
    object's text; True where that was no event, but the rest of the object around the list.
    """
    decoder = json.JSONDecoder(parse_float=Decimal, strict=False)
    separators, stray_line, items, junk_before = "", None, 0, False
    while True:
        enough = until is not None and items > 0 and window.consumed >= until
        separators += _pass_separators(window)
        if window.position >= len(window.text):
            if window.more():
                continue
            break
        if enough and separators == ",":
            yield from _oddities(stray_line)
            return
        if "]" in separators and window.text[window.position] in '"}' and _is_end(window, take_end):
            break
        if stray_line is None and not junk_before and separators != ("," if items else ""):
            stray_line = window.line
        separators = ""
        if window.text[window.position] != "{" and not _is_headless(window):
            if not junk_before:
                yield Damage(window.line, _NOT_EVENTS, "warning")
            junk_before = True
            _pass_junk(window)
            continue
        headless = window.text[window.position] != "{"
        for one in _damaged(window, decoder, cut=False) if headless else _take(window, decoder):
            junk_before = isinstance(one, Damage) and one.lost_rows > 0
            yield one
        items += 1
    yield from _oddities(stray_line)
    if "]" not in separators:
        yield not_closed(window.line)


def _is_end(window: Text, take_end: Callable[[bytes], bool]) -> bool:
    """Whether nothing but the rest of an object follows, which is passed then."""
    while len(window.text) - window.position < _LONGEST_END and window.more():
        pass
    if len(window.text) - window.position >= _LONGEST_END:
        return False
    tail = window.text[window.position :].strip()
    if tail != "}" and not take_end(("{" + tail).encode("utf-8", "replace")):
        return False
    window.move_to(len(window.text))
    return True


def _oddities(stray_line: int | None) -> Iterator[Damage]:
    if stray_line is not None:
        yield Damage(stray_line, _STRAY, "warning")


def not_closed(line: int) -> Damage:
    """The list of events goes on to the end of the file."""
    return Damage(line, _NOT_CLOSED, "note")


def _pass_separators(window: Text) -> str:
    match = _SEPARATORS.match(window.text, window.position)
    if match is None:
        return ""
    window.move_to(match.end())
    return "".join(match[0].split())


def _is_headless(window: Text) -> bool:
    """Whether an event follows that has lost its brace."""
    while len(window.text) - window.position < _LONGEST_HEAD and window.more():
        pass
    return _HEADLESS.match(window.text, window.position) is not None


def _pass_junk(window: Text) -> None:
    """Moves to the next place where an event may begin."""
    found = window.text.find("{", window.position)
    window.move_to(found if found >= 0 else len(window.text))


def _take(window: Text, decoder: json.JSONDecoder) -> Iterator[Found]:
    """The event that begins at the window's position, which moves behind it."""
    while True:
        try:
            event, end = decoder.raw_decode(window.text, window.position)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated string") or error.pos >= len(window.text) - _CUT_MARGIN
        except (ValueError, ArithmeticError, RecursionError):  # numbers or nesting beyond all measure
            cut = False
        else:
            line = window.line
            window.move_to(end)
            yield from _unwrapped(line, event)
            return
        if cut and len(window.text) - window.position <= LONGEST_EVENT and window.more():
            continue
        yield from _damaged(window, decoder, cut)
        return


def _unwrapped(line: int, event: dict[str, Any]) -> Iterator[Found]:
    """A whole trace in place of an event holds its events in a list; anything else is an event itself."""
    inner = event.get("traceEvents")
    if not isinstance(inner, list):
        yield line, event
        return
    for one in inner:
        yield (line, one) if isinstance(one, dict) else Damage(line, _NOT_EVENTS, "warning")


def _damaged(window: Text, decoder: json.JSONDecoder, cut: bool) -> Iterator[Found]:
    """Moves behind a damaged event: to where its braces close, or to where another one begins, if earlier.

    An event with a well-known fault is mended.
    """
    line = window.line
    while True:
        following = _NEXT_EVENT.search(window.text, window.position + 1)
        limit = following.end() - 1 if following else len(window.text)
        end = None if cut and following is None else _closing_brace(window.text, window.position, limit)
        if end is None and following is None and len(window.text) - window.position <= LONGEST_EVENT and window.more():
            continue
        break
    text = window.text[window.position : end if end is not None else limit].rstrip().removesuffix(",")
    window.move_to(end if end is not None else limit)
    mended, faults = repaired(text) if len(text) <= LONGEST_MENDED else (text, [])
    if faults:
        try:
            event = decoder.decode(mended)
        except (ValueError, ArithmeticError, RecursionError):
            event = None
        if isinstance(event, dict):
            at, what = faults[0]
            yield Damage(line + text.count("\n", 0, at), f"{what}: 1 mended", "warning")
            yield from _unwrapped(line, event)
            return
    at_the_end = cut and window.ended and following is None
    yield Damage(line, _CUT if at_the_end else _DAMAGED, "warning", lost_rows=1)


def _closing_brace(text: str, start: int, limit: int) -> int | None:
    """Behind the brace that closes the one at `start`, or None."""
    depth = 0
    for token in _TOKENS.finditer(text, start, limit):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None
