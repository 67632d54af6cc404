"""Names for people and for URLs: the natural order of node names, and slugs."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = re.compile("([0-9]+)")
_NOT_SLUG = re.compile("[^a-z0-9]+")


def natural_key(text: str) -> tuple[str | tuple[int, str], ...]:
    """A sort key under which numbers inside names count as numbers: algo-2 comes before algo-10.

    Names that differ only in leading zeros ("a1", "a01") keep a fixed order by their plain text.
    """
    key: list[str | tuple[int, str]] = []
    for position, part in enumerate(_DIGITS.split(text)):
        if position % 2 == 0:
            key.append(part)
        else:
            # Length and digits compare like the number itself, at any length.
            digits = part.lstrip("0")
            key.append((len(digits), digits))
    return (*key, (-1, ""), text)


def slug(text: str, longest: int = 40) -> str:
    """Lower-case ASCII letters, digits and single hyphens, `longest` at most; "job" where nothing is left."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode("ascii")
    return _NOT_SLUG.sub("-", plain).strip("-")[:longest].strip("-") or "job"
