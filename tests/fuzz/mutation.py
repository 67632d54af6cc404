"""Damage to files, from a seed: the same number always gives the same mutant."""

from __future__ import annotations

import gzip
import random
import zlib

_JSON = """{ } [ ] , : " \\ \\u \\ud800 null true NaN -Infinity N/A 1e999 -1 9223372036854775808 18446744073709551616
0.1234567890123456789 1e-400 },{ "ph":"X" "traceEvents":[ "ts": "dur":-5 "args":{"step_num":" """
_BYTES = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r\n", b"\n\n", b"]\n[", b"},\n{", b"\x1f\x8b\x08"),
    *(b"[" * 3000, b'{"a":' * 3000, b"A" * 5000, b"\x00" * 512),
    *(b"\xe3\x01", b"(\xff\xff\xff\x7f", b"r\xff\xff\xff\xff", b")\x02", b"s\xff\xff\x00\x00", b"l\xff\xff\xff\x7f"),
)
_TOKENS = (*(word.encode() for word in _JSON.split()), *_BYTES)


def mutant(seed: bytes, key: str) -> bytes:
    """The seed with one to four faults; packed ones are damaged either packed or inside."""
    random_ = random.Random(key)
    inside = seed[:2] == b"\x1f\x8b" and random_.random() < 0.5
    content = gzip.decompress(seed) if inside else seed
    for _ in range(random_.choice((1, 1, 2, 4))):
        content = _fault(random_, content)
    return gzip.compress(content, 1, mtime=0) if inside else content


def _fault(random_: random.Random, content: bytes) -> bytes:
    size = len(content)
    at, other = sorted((random_.randrange(size + 1), random_.randrange(size + 1)))
    match random_.randrange(9):
        case 0:  # a flipped bit
            return _changed(content, at, lambda byte: byte ^ 1 << random_.randrange(8))
        case 1:  # another byte
            return _changed(content, at, lambda _: random_.randrange(256))
        case 2:  # cut
            return content[:other]
        case 3:  # without a beginning
            return content[at:] if random_.random() < 0.3 else content[:at] + content[at + random_.randrange(1, 9) :]
        case 4:  # a piece lost
            return content[:at] + content[min(other, at + random_.randrange(1, 400)) :]
        case 5:  # a piece twice
            return content[:other] + content[at:other][:2000] + content[other:]
        case 6:  # a token
            return content[:at] + random_.choice(_TOKENS) + content[at:]
        case 7:  # a token in place of bytes
            token = random_.choice(_TOKENS)
            return content[:at] + token + content[at + min(len(token), 20) :]
        case _:  # lines in another order, or the file twice
            lines = content.splitlines(keepends=True)
            if len(lines) < 3 or random_.random() < 0.2:
                return content + content
            first, second = random_.randrange(len(lines)), random_.randrange(len(lines))
            lines[first], lines[second] = lines[second], lines[first]
            return b"".join(lines)


def _changed(content: bytes, at: int, change: object) -> bytes:
    if not content:
        return content
    at %= len(content)
    assert callable(change)
    return content[:at] + bytes([change(content[at])]) + content[at + 1 :]


def digest(content: bytes) -> str:
    """A short name for a mutant."""
    return f"{zlib.crc32(content):08x}"
