"""The one road from a report to a file: its document, and that in the format asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import orjson

from components.report.anonymous import anonymous
from components.report.compose import compose
from components.report.document import Document
from components.report.html import html_page
from components.report.markdown import markdown
from data.insights.report import Report

Format = Literal["html", "json", "md"]
FORMATS: Final[dict[Format, tuple[str, str]]] = {
    "html": ("HTML", "text/html"),
    "json": ("JSON", "application/json"),
    "md": ("Markdown", "text/markdown"),
}
"""Formats with their names in words and their types."""


def render(report: Report, as_format: Format, *, nameless: bool = False) -> str:
    """The report as a file of this format; `nameless` leaves out who and where it was."""
    shown = anonymous(report) if nameless else replace(report, anonymous=False)
    document = compose(shown)
    if as_format == "html":
        return html_page(shown, document)
    return json_text(document) if as_format == "json" else markdown(document)


def json_text(document: Document) -> str:
    """The document as strict JSON: no NaN and no infinity, null for what is missing."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
