"""What is said of a job's data, as a table."""

from __future__ import annotations

from components.statements_table import statement_table
from data.insights.statement import Level, Statement
from tests.drawn import components, words
from tests.quality import HOSTILE


def test_statements_say_what_where_and_link_to_the_time() -> None:
    one = Statement(Level.WARNING, f"{HOSTILE} has no record", (("Nodes", ("Network",)),), "Means.", (1, 2), "algo-1")
    other = Statement(Level.NOTE, "Copies", (), "Nothing is lost.")
    table = statement_table([one, other], lambda statement: f"/there?from={statement.window}")
    links = [part for part in components(table) if type(part).__name__ == "Link"]
    assert [link.href for link in links] == ["/there?from=(1, 2)"]
    text = words(table)
    assert "Nodes: Network" in text
    assert "no panel" in text
    assert "\u202e" not in text
