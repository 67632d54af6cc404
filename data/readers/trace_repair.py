"""Faults that writers of traces are known for, and that can be mended without a guess: the event stays as it was meant.

Windows paths with single backslashes, bare N/A as a value, control characters inside texts, half surrogate pairs.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r'"(?:[^"\\]++|\\.)*+"'  # a text, to look into
    r"|(?<=:)\s*N/A(?=\s*[,}\]])",  # a value that is no JSON
    re.DOTALL,
)
_ESCAPES = re.compile(r'\\(?:["\\/bfnrt]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|)')
_LETTER = re.compile(r'\\(?:["\\/]|u[0-9a-fA-F]{4}|([bfnrt]))')
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_CONTROL = re.compile(r"[\x00-\x1f]")


def repaired(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with what can be mended, and what that was, with its places in the text that was given."""
    found: list[tuple[int, str]] = []

    def mend(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] != '"':
            found.append((match.start(), "N/A in place of a value"))
            return token.replace("N/A", "null")
        if "\\" in token:
            changed = _escaped(token)
            if changed != token:
                found.append((match.start(), "backslashes that are not escaped"))
                token = changed
        if _CONTROL.search(token):
            found.append((match.start(), "control characters in a text"))
            token = _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", token)
        return token

    return _TOKENS.sub(mend, text), found


def _escaped(token: str) -> str:
    """A text with its backslashes escaped.

    Who leaves one of them bare escapes none: then those before a b, f, n, r or t are folders, too.
    """
    changed = _ESCAPES.sub(_escape, token)
    if any(match[0] == "\\" for match in _ESCAPES.finditer(token)):
        changed = _LETTER.sub(lambda match: f"\\\\{match[1]}" if match[1] else match[0], changed)
    return changed


def _escape(match: re.Match[str]) -> str:
    """An escape as it is where JSON knows it, with its backslash doubled where not."""
    if match[0] == "\\":
        return "\\\\"
    return "\\ufffd" if len(match[0]) == 6 and _HALF_PAIR.fullmatch(match[0]) else match[0]


_NOT_FINITE = re.compile(r'"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf(?:inity)?)\b', re.DOTALL | re.IGNORECASE)


def finite(text: str) -> str:
    """JSON without what only some take for numbers: NaN and infinity become null."""
    return _NOT_FINITE.sub(lambda match: match[0] if match[0][0] == '"' else "null", text)
