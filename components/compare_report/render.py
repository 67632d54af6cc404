"""A comparison's document in the format asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from components import format as text
from components.compare_report.document import Document, Figure
from components.comparison import amount
from components.report.markdown import escaped
from data.frames.comparison import BudgetResult

Format = Literal["html", "json", "md", "junit"]
FORMATS: Final[tuple[Format, ...]] = ("html", "json", "md", "junit")

_FOLDER: Final = Path(__file__).parent
_HEADS: Final = ("Figure", "A", "B", "B − A", "%", "Verdict", "Note")


def render(document: Document, as_format: Format) -> str:
    """The comparison as a file of this format, with a line break at its end."""
    if as_format == "json":
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    if as_format == "junit":
        return junit(document)
    return markdown(document) if as_format == "md" else html(document)


def figure_words(figure: Figure) -> tuple[str, ...]:
    """A figure as a row of words: name, A, B, difference, percent, verdict, note."""
    name = f"{figure.name} ({figure.phase})" if figure.phase else figure.name
    a, b = (shown(value, figure.unit) for value in (figure.a, figure.b))
    percent = shown(figure.percent, "%", signed=True)
    bounds = ""
    if figure.low_95 is not None and figure.high_95 is not None:
        low, high = (shown(value, figure.unit, signed=True) for value in (figure.low_95, figure.high_95))
        bounds = f"95 %: {low} to {high}. "
    elif not figure.tested:
        bounds = "" if figure.key == "cost" else "One value each, not tested. "
    change = shown(figure.difference, figure.unit, signed=True)
    return name, a, b, change, percent, figure.verdict, f"{bounds}{figure.note}"


def shown(value: float | None, unit: str, *, signed: bool = False) -> str:
    """A value with its unit, as on the page."""
    return text.MISSING if value is None or math.isnan(value) else amount(value, unit, signed=signed)


def markdown(document: Document) -> str:
    """For a pull request: what differs, what became of findings, which budgets hold."""
    a, b = document.a, document.b
    parts = [f"## {escaped(b.name)} against {escaped(a.name)}"]
    if document.budgets:
        parts.append("\n".join(_budget(one) for one in document.budgets))
    if document.warnings:
        parts.append("\n".join(["**Not alike**", "", *(f"- {escaped(warning)}" for warning in document.warnings)]))
    parts.append(_table(_HEADS, [figure_words(figure) for figure in document.figures], numbers=range(1, 5)))
    found = [one for one in document.findings if one.change != "no issue"]
    if found:
        rows = [(one.change, one.rule, one.a or text.MISSING, one.b or text.MISSING) for one in found]
        parts.append(_table(("Finding", "Rule", "A", "B"), rows))
    parts.append(f"<sub>{escaped(document.software)}, {document.made}</sub>")
    return "\n\n".join(parts) + "\n"


def _budget(one: BudgetResult) -> str:
    return f"- {'✗ broken:' if one.broken else '✓'} {escaped(one.budget)}: {escaped(one.text)}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    marks = ["---:" if at in numbers else "---" for at in range(len(heads))]
    lines = [heads, marks, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def html(document: Document) -> str:
    """One file that asks nothing of any other place and runs no script."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rows = [figure_words(figure) for figure in document.figures]
    page: str = environment.get_template("comparison.html.jinja").render(doc=document, heads=_HEADS, rows=rows)
    return page


def junit(document: Document) -> str:
    """A test case for each budget, failed where it is broken."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"{document.b.name} against {document.a.name}",
        tests=str(len(document.budgets)),
        failures=str(len(document.broken)),
        errors="0",
        timestamp=document.made.removesuffix("Z"),
    )
    for one in document.budgets:
        case = ElementTree.SubElement(suite, "testcase", classname="budget", name=one.budget)
        if one.broken:
            ElementTree.SubElement(case, "failure", message=one.text)
        else:
            ElementTree.SubElement(case, "system-out").text = one.text
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"
