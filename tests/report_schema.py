"""Writes docs/report.schema.json anew: `python -m tests.report_schema`, after a change of the report's document."""

from __future__ import annotations

from tests.components.report.test_document import schema
from tests.conftest import ROOT

if __name__ == "__main__":
    (ROOT / "docs" / "report.schema.json").write_text(schema())
