"""What people can understand is said; the rest is not."""

from __future__ import annotations

from app.errors import INTERNAL, explain
from data.errors import SourceError


def test_an_error_of_ours_says_sentence_and_hint() -> None:
    assert explain(SourceError("The folder is empty.", "Choose another.")) == (
        "The folder is empty.",
        "Choose another.",
    )


def test_anything_else_is_internal() -> None:
    assert explain(KeyError("/etc/secret")) == INTERNAL
    assert "secret" not in " ".join(INTERNAL)
