"""A document and its charts as one HTML file that asks nothing of any other place and runs nothing but its own script.

Text from files is escaped by the template; the policy in the head lists the scripts by their hashes, so that nothing
else would run even if something slipped through. Without scripts everything but the charts is there.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from components import format as text
from components.details import detail_rows
from components.levels import SIGNS
from components.operators import SIDES
from components.report import document as doc
from components.report.charts import charts
from components.report.words import WORDS
from components.tables import usage_rows
from components.vendor import plotly_script
from data.frames.report import Absent
from data.insights.report import Report

_FOLDER: Final = Path(__file__).with_name("page")
_FONT: Final = Path(__file__).resolve().parents[2] / "assets" / "fonts" / "inter-latin-variable.woff2"


def html_page(report: Report, document: doc.Document) -> str:
    """The whole page."""
    drawn = charts(report)
    scripts = [_plotly(), _read("report.js")]
    usage = [] if isinstance(report.usage, Absent) else usage_rows(report.usage)
    origin_ns = None if report.header.wall_clock else report.header.start_ns
    page: str = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            doc=document,
            charts=drawn,
            figures={one.id: _ours(one.figure) for part in drawn.values() for one in part},
            details=detail_rows(report.times, 0, origin_ns),
            usage=usage,
            sides=dict(SIDES),
            signs=SIGNS,
            policy=_policy(scripts),
            style=_ours(_style()),
            scripts=[_ours(script) for script in scripts],
            zone="UTC" if origin_ns is None else "counted from the start of the recording",
            missing=text.MISSING,
        )
    )
    return page


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(WORDS)
    return environment


def _ours(words: str) -> Markup:
    """Text that is put in as it is: our own files, and JSON in which nothing can end its element."""
    return Markup(words)  # noqa: S704


def _policy(scripts: list[str]) -> str:
    """What the page may do: its own scripts, by hash; inline styles, which Plotly sets; pictures that charts draw."""
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _plotly() -> str:
    """The bundle of plotly.js. Nothing in it may end its element, and line ends are those that a browser hashes."""
    path = plotly_script()
    whole: Any = path.read_text(encoding="utf-8") if path is not None else get_plotlyjs()
    script: str = whole.replace("\r\n", "\n").replace("\r", "\n").replace("</script", "<\\/script")
    return script


def _style() -> str:
    font = base64.b64encode(_FONT.read_bytes()).decode() if _FONT.exists() else ""
    return _read("report.css").replace("FONT_DATA", font)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
