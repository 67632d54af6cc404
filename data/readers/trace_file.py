"""A trace file as plain bytes, and cut into pieces that can be parsed one at a time.

Whatever its name says, a file that begins like gzip is unpacked (several members, padding, and as far as it goes where
it breaks off). The list of events, bare or under `traceEvents`, is cut between two events, so that a file of any size
needs the memory of one piece. What stands before and behind the list is kept: it says rank and clock.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from data.readers.trace_repair import repaired
from data.readers.trace_scan import Damage

PIECE_BYTES = 4 << 20
MOST_BYTES = 16 << 30
MOST_TIMES = 200
"""Of unpacked text per file, and per packed byte: a small packed file cannot fill the disk. Traces take 10 to 50."""

_IN_MEMORY_BYTES = 16 << 20
_PLENTY_BYTES = 256 << 20  # whatever a file unpacks to, it may be that much
_HEAD_BYTES = 8 << 20  # what may stand before the list of events
_CHUNK_BYTES = 1 << 20
_CUT_BYTES = 1 << 16
_CUT = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|id|args|dur)")')
_ANY_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_MOST_CLOSERS = 512
_MOST_MENDED = 16


def plain(path: str, scratch: Path) -> tuple[IO[bytes], list[Damage]]:
    """A file's content, unpacked to `scratch` where it is packed and large. Raises OSError where it cannot be read."""
    raw = open(path, "rb")  # noqa: SIM115 - the caller closes it
    if raw.peek(2)[:2] != _GZIP_MAGIC:
        return raw, []
    with raw:
        return _unpacked(raw, scratch)


def _unpacked(raw: IO[bytes], scratch: Path) -> tuple[IO[bytes], list[Damage]]:
    target: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(scratch))  # noqa: SIM115
    damages: list[Damage] = []
    size, most = 0, min(MOST_BYTES, max(_PLENTY_BYTES, MOST_TIMES * os.fstat(raw.fileno()).st_size))
    with gzip.GzipFile(fileobj=raw) as packed:
        while True:
            try:
                data = packed.read1(_CHUNK_BYTES)  # not read(): before damage it would keep back what it has
            except EOFError:
                damages.append(Damage(None, "the compressed data breaks off; what follows is lost", "warning", 1))
                break
            except gzip.BadGzipFile as error:
                damages.append(_bad_gzip(error))
                break
            except (OSError, zlib.error) as error:
                text = f"the compressed data is damaged ({error}); what follows is lost"
                damages.append(Damage(None, text, "warning", 1))
                break
            size += len(data)
            if not data or size > most:
                break
            target.write(data)
    if size > most:
        text = f"its packed content is larger than any trace's: only the first {most >> 20} MiB were read"
        damages.append(Damage(None, text, "warning", 1))
    target.seek(0)
    return target, damages


def _bad_gzip(error: gzip.BadGzipFile) -> Damage:
    if str(error).startswith("Not a gzipped file"):
        return Damage(None, "there is something else behind the compressed data", "note")
    text = f"the compressed data does not match its checksum ({error}): some of what was read may be wrong"
    return Damage(None, text, "error")


@dataclass
class Facts:
    """What a trace says about itself, outside its events."""

    words: dict[str, Any] = field(default_factory=dict)
    is_list: bool = False  # a bare list of events
    has_events: bool = True  # a list of events was found, though it may be empty
    opened: bool = True  # that list has a beginning; else what the file holds was only taken for one
    is_object: bool = False  # the file begins like one

    def add(self, text: bytes) -> bool:
        """Takes in the keys of an object's text; False where it cannot be read."""
        found = _object(text, mend=True)
        if found is None:
            return False
        self.words |= {key: value for key, value in found.items() if key != "traceEvents"}
        return True


def _object(text: bytes, *, mend: bool) -> dict[str, Any] | None:
    """A text as the object it is, else None."""
    words = text.decode("utf-8", "replace")
    try:
        found = json.loads(repaired(words)[0] if mend else words, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Piece:
    """Some events with the commas between them, beginning in a line of the file."""

    text: bytes
    line: int
    between: bytes = b""  # what separates it from the next one
    last: bool = False
    closed: bool = True  # False where the file ends without closing the list


class Pieces:
    """The events of a file, piece by piece.

    `give_back` puts text back that a caller has not used after all; it is cut anew.
    """

    def __init__(self, stream: IO[bytes], piece_bytes: int | None = None) -> None:
        self.facts = Facts()
        self.damages: list[Damage] = []
        self.replaced_bytes = 0
        self.over = False  # a caller has read past the end of the list
        self._stream = stream
        self._piece_bytes = piece_bytes or PIECE_BYTES
        self._rest = b""
        self._line = 1
        self._ended = False

    def __iter__(self) -> Iterator[Piece]:
        if not self._begin():
            return
        while True:
            while not self._ended and len(self._rest) <= self._piece_bytes + _CUT_BYTES:
                self._read(self._piece_bytes)
            if self.over:
                return
            if self._ended and len(self._rest) <= self._piece_bytes + _CUT_BYTES:
                yield from self._last()
                if not self._rest:
                    return
                continue
            yield self._next()

    def give_back(self, text: bytes, line: int) -> None:
        """The rest of a piece, to be cut again together with what follows it."""
        self._rest = text + self._rest
        self._line = line

    def take(self, size: int) -> bytes:
        """More of the file, as it is, for a caller that reads past the end of its piece."""
        if not self._rest:
            self._read(size)
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def _read(self, size: int) -> None:
        data = self._stream.read(size)
        self._ended = not data
        self._rest += data

    def _begin(self) -> bool:
        """Moves to the first event; False where there is no list of events."""
        self._read(_CHUNK_BYTES)
        self._rest = self._rest.removeprefix(_BOM)
        while not self._ended and not self._rest.strip():
            self._skip(len(self._rest))
            self._read(_CHUNK_BYTES)
        start = len(self._rest) - len(self._rest.lstrip())
        if not self._rest.strip():
            self.facts.has_events = False
            self.damages.append(Damage(None, "the file is empty", "note"))
            return False
        if self._rest[start : start + 1] != b"{":
            self.facts.is_list = True
            self.facts.opened = self._rest[start : start + 1] == b"["
            self._skip(start + 1 if self.facts.opened else start)
            return True
        return self._begin_object()

    def _begin_object(self) -> bool:
        found = _LIST.search(self._rest)
        while found is None and not self._ended and len(self._rest) < _HEAD_BYTES:
            self._read(_CHUNK_BYTES)
            found = _LIST.search(self._rest, max(0, len(self._rest) - _CHUNK_BYTES - 64))
        self.facts.is_object = True
        if found is None:
            self.facts.opened = False
            if self._ended and self.facts.add(self._rest):
                self.facts.is_list = "ph" in self.facts.words
                self.facts.has_events = self.facts.is_list
            else:
                self.facts.is_list = True
            return self.facts.has_events
        self.facts.add(self._rest[: found.start()].rstrip().removesuffix(b",") + b"}")
        self._skip(found.end())
        return True

    def _skip(self, size: int) -> None:
        self._line += self._rest.count(b"\n", 0, size)
        self._rest = self._rest[size:]

    def _next(self) -> Piece:
        """The next piece, which ends behind an event as far as that can be told without parsing."""
        limit = self._piece_bytes
        cut = _last_cut(self._rest, limit) or _last_cut(self._rest, 2 * limit) or (limit, limit)
        return self._taken(*cut)

    def _taken(self, end: int, following: int, *, last: bool = False, closed: bool = True) -> Piece:
        piece = Piece(self._rest[:end], self._line, self._rest[end:following], last, closed)
        self._skip(following)
        return piece

    def _last(self) -> Iterator[Piece]:
        """What is left: the last events, the end of the list, and what stands behind it."""
        end = self._end_of_list()
        if end is not None:
            yield self._taken(end, len(self._rest), last=True)
            return
        text = self._rest.rstrip()
        while text.endswith(b","):
            text = text[:-1].rstrip()
        yield self._taken(len(text), len(self._rest), last=True, closed=False)

    def _end_of_list(self) -> int | None:
        """The place of the bracket that closes the list: what follows it is the rest of an object, or nothing.

        Lists may follow the events; the first bracket is meant behind which everything is the rest of one object.
        """
        if self.facts.is_list:
            at = len(self._rest.rstrip()) - 1
            return at if self._rest[at : at + 1] == b"]" else None
        for mend, most in ((False, _MOST_CLOSERS), (True, _MOST_MENDED)):
            found = None
            for at, rest in self._closers(most):
                if rest in (b"}", b"") or (rest.startswith(b",") and _object(b"{" + rest[1:], mend=mend) is not None):
                    found = at, rest
            if found is not None:
                self.facts.add(b"{" + found[1].removeprefix(b",") if found[1] not in (b"}", b"") else b"{}")
                return found[0]
        return None

    def _closers(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Brackets from the end of the text backwards, with what stands behind each."""
        at = len(self._rest)
        for _ in range(most):
            at = self._rest.rfind(b"]", 0, at)
            if at < 0 or len(self._rest) - at > _CHUNK_BYTES:
                return
            yield at, self._rest[at + 1 :].strip()


def _last_cut(text: bytes, limit: int) -> tuple[int, int] | None:
    """The last place before the limit where an event ends and another one surely, or perhaps, begins."""
    for pattern in (_CUT, _ANY_CUT):
        found = deque(pattern.finditer(text, max(0, limit - _CUT_BYTES), min(len(text), limit)), maxlen=1)
        if found:
            return found[0].start() + 1, found[0].end()
    return None


@dataclass(frozen=True, slots=True)
class Early:
    """What has to be known before the first event is used, although it may stand at the file's end."""

    base_ns: int | None = None  # what times count from, nanoseconds since 1970
    rank: int | None = None


_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*"?(-?\d{1,19})\b')
_RANK = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*"?(\d{1,9})\b')
_TAIL_BYTES = 1 << 18


def early(stream: IO[bytes]) -> Early:
    """Looks at both ends of a file and returns to its start."""
    head = stream.read(_CHUNK_BYTES)
    found = _LIST.search(head)
    head = head[: found.start()] if found else head
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - _TAIL_BYTES))
    tail = stream.read(_TAIL_BYTES)
    stream.seek(0)
    base = _BASE.search(head) or _BASE.search(tail)
    rank = _RANK.search(head) or _RANK.search(tail)
    return Early(int(base[1]) if base else None, int(rank[1]) if rank else None)
