"""Read a Chrome-style trace as far as it goes: event by event, past damage, in bounded memory.

The strict and fast road is DuckDB's; this one is for files it refuses. A trace is an array of objects, but the array
may not be closed (still being written), commas may be missing or doubled, a second array may follow the first, and
any object may be damaged. Whatever can be read is yielded; everything else becomes a `Damage`.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from data.problem import Severity

CHUNK_BYTES = 1 << 20
LONGEST_EVENT = 32 << 20  # characters; longer ones are given up
MOST_BYTES = 2 << 30  # of text per file, so that a small compressed file cannot keep us busy for hours

_SEPARATORS = re.compile(r"[\s,\[\]]*")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_NEXT_LINE = re.compile(r"\n\s*\{")
_CUT_MARGIN = 12  # an error this close to the end of the text may only mean that the text goes on

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


class _Window:
    """A piece of the file as text, with a position in it."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._bytes_read = 0
        self.text = ""
        self.position = 0
        self.line = 1
        self.ended = False
        self.trouble: Damage | None = None
        self.replaced = 0

    def more(self) -> bool:
        """Read on; False at the end of the file."""
        if self.ended:
            return False
        rest = self.text[self.position :]
        data = self._read(max(CHUNK_BYTES, len(rest)))
        self._bytes_read += len(data)
        self.ended = not data or self._bytes_read > MOST_BYTES
        if self._bytes_read > MOST_BYTES:
            self.trouble = Damage(None, f"only the first {MOST_BYTES >> 30} GiB of this file were read", "warning")
        piece = self._decoder.decode(data, final=self.ended)
        self.replaced += max(0, piece.count("\ufffd") - data.count(b"\xef\xbf\xbd"))
        if self._bytes_read == len(data):
            piece = piece.removeprefix("\ufeff")
        self.text, self.position = rest + piece, 0
        return True

    def move_to(self, position: int) -> None:
        self.line += self.text.count("\n", self.position, position)
        self.position = position

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read1(size)  # not read(): before damage it would keep back what it has
        except (OSError, EOFError, zlib.error) as error:
            self.trouble = Damage(None, f"the file could not be read to its end: {error}", "warning")
            return b""


def scan(stream: io.BufferedIOBase) -> Iterator[tuple[int, dict[str, Any]] | Damage]:
    """All events of a trace with the lines they begin in, in order, and what else was found."""
    window = _Window(stream)
    decoder = json.JSONDecoder(parse_float=Decimal, strict=False)
    separators, stray_line, items, junk_before = "", None, 0, False
    while True:
        separators += _pass_separators(window)
        if window.position >= len(window.text):
            if window.more():
                continue
            break
        if stray_line is None and not junk_before and separators != ("," if items else "["):
            stray_line = window.line
        separators = ""
        if window.text[window.position] != "{":
            if not junk_before:
                yield Damage(window.line, _NOT_EVENTS, "warning")
            junk_before = True
            _pass_junk(window)
            continue
        found = _take(window, decoder)
        items += 1
        junk_before = isinstance(found, Damage)
        yield from _unwrapped(found)
    yield from _ending(window, items, separators, stray_line, junk_before)


def _unwrapped(found: tuple[int, dict[str, Any]] | Damage) -> Iterator[tuple[int, dict[str, Any]] | Damage]:
    """The object form of a trace holds its events in a list; anything else is an event itself."""
    if isinstance(found, Damage) or not isinstance(found[1].get("traceEvents"), list):
        yield found
        return
    line, document = found
    for event in document["traceEvents"]:
        yield (line, event) if isinstance(event, dict) else Damage(line, _NOT_EVENTS, "warning")


def _ending(window: _Window, items: int, separators: str, stray_line: int | None, junk: bool) -> Iterator[Damage]:
    if window.trouble is not None:
        yield window.trouble
    if window.replaced:
        yield Damage(None, f"{window.replaced} bytes are not valid UTF-8 text and were replaced", "warning")
    if stray_line is not None:
        yield Damage(stray_line, _STRAY, "warning")
    if not items and not separators and not junk:
        yield Damage(None, "the file is empty", "note")
    elif "]" not in separators and window.trouble is None:
        yield Damage(window.line, _NOT_CLOSED, "note")


def _pass_separators(window: _Window) -> str:
    match = _SEPARATORS.match(window.text, window.position)
    if match is None:
        return ""
    window.move_to(match.end())
    return "".join(match[0].split())


def _pass_junk(window: _Window) -> None:
    """Move to the next place where an event may begin."""
    found = window.text.find("{", window.position)
    window.move_to(found if found >= 0 else len(window.text))


def _take(window: _Window, decoder: json.JSONDecoder) -> tuple[int, dict[str, Any]] | Damage:
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
            return line, event
        if cut and len(window.text) - window.position <= LONGEST_EVENT and window.more():
            continue
        return _skip_damaged(window, cut)


def _skip_damaged(window: _Window, cut: bool) -> Damage:
    """Move behind a damaged event: to where its braces close, or to a line that begins a new object, if earlier."""
    line = window.line
    while True:
        next_line = _NEXT_LINE.search(window.text, window.position)
        limit = next_line.end() - 1 if next_line else len(window.text)
        end = None if cut else _closing_brace(window.text, window.position, limit)
        if end is None and next_line is None and len(window.text) - window.position <= LONGEST_EVENT and window.more():
            continue
        window.move_to(end if end is not None else limit)
        at_the_end = cut and window.ended and next_line is None
        return Damage(line, _CUT if at_the_end else _DAMAGED, "warning", lost_rows=1)


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
