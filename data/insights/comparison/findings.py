"""What became of each finding: fixed, still there, new, or no longer to be judged."""

from __future__ import annotations

from data.frames.comparison import Change, FindingChange
from data.frames.findings import Finding, Findings

_ORDER: tuple[Change, ...] = (
    "new",
    "still there",
    "not judged in A",
    "cannot be judged in B",
    "without object in B",
    "fixed",
    "no issue",
)


def finding_changes(a: Findings, b: Findings) -> tuple[FindingChange, ...]:
    """Every rule that found something in one of the runs, what needs attention first; summaries are left out."""
    of_a = {one.rule: one for one in a.findings if one.outcome.state != "summary"}
    of_b = {one.rule: one for one in b.findings if one.outcome.state != "summary"}
    found = []
    for rule in dict.fromkeys([*of_a, *of_b]):
        one, other = of_a.get(rule), of_b.get(rule)
        title = (one or other).title  # type: ignore[union-attr]
        found.append(FindingChange(rule, title, _change(one, other), one, other))
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.change)))


def _change(a: Finding | None, b: Finding | None) -> Change:
    before, after = (one.outcome.state if one else "n/a" for one in (a, b))
    if after == "issue":
        return "still there" if before == "issue" else "new" if before == "no issue" else "not judged in A"
    if before != "issue":
        return "no issue"
    if after == "no issue":
        return "fixed"
    return "without object in B" if after == "n/a" else "cannot be judged in B"
