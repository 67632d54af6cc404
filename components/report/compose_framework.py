"""What the framework did, as a report has it: operators, how its time divides up, Python functions."""

from __future__ import annotations

from typing import Any

from components import format as text
from components.operators import SIDES, share_groups
from components.report import document as doc
from components.report.values import absence, maybe_seconds, milliseconds, name, number, seconds
from data.frames.report import Absent
from data.insights.operators import Remark, operator_remarks, share_remarks
from data.insights.report import LISTED, Report


def operators(report: Report) -> doc.Operators:
    """The operators with the most time on each side."""
    found = report.operators
    if isinstance(found, Absent):
        return doc.Operators(absence(found), [], [])
    sides, remarks = [], []
    for side, _ in SIDES:
        mine = found[found["side"] == side]
        if mine.empty:
            continue
        rows: list[Any] = list(mine.head(LISTED).itertuples())
        sides.append(
            doc.OperatorSide(
                side=side,
                operators=len(mine),
                total_s=seconds(int(mine["total_ns"].sum())),
                listed=[_operator(row) for row in rows],
                more=len(mine) - len(rows),
                more_percent=float(mine["percent"].iloc[len(rows) :].sum()),
            )
        )
        if side != "communication":
            remarks += [_said(one) for one in operator_remarks(found, side)]
    return doc.Operators(None, sides, remarks)


def _operator(row: Any) -> doc.Operator:
    return doc.Operator(
        name=name(row.name),
        communication=bool(row.communication),
        percent=number(row.percent),
        total_s=seconds(row.total_ns),
        count=int(row.count),
        mean_ms=milliseconds(row.mean_ns),
        longest_ms=row.longest_ns / 1e6,
        self_s=None if text.is_missing(row.self_ns) else seconds(row.self_ns),
    )


def _said(remark: Remark) -> str:
    return f"{text.plain(remark.subject, 80)} {remark.text}".strip()


def framework(report: Report) -> doc.Framework:
    """How the time of framework events divides up."""
    found = report.shares
    if isinstance(found, Absent):
        return doc.Framework(absence(found), [], [])
    groups = [
        doc.ShareGroup(
            group=group.title,
            basis=group.basis,
            listed=[
                doc.Share(
                    group.words(one) or name(one.name) or "(no name)",
                    one.role,
                    one.percent,
                    seconds(one.total_ns),
                    one.count,
                )
                for one in group.shares[:LISTED]
            ],
            more=max(len(group.shares) - LISTED, 0),
            more_percent=sum((one.percent for one in group.shares[LISTED:]), 0.0),
        )
        for group in share_groups(found)
        if group.shares
    ]
    return doc.Framework(None, groups, [_said(one) for one in share_remarks(found)])


def functions(report: Report) -> doc.Functions:
    """The Python functions with the most own time."""
    found = report.functions
    if isinstance(found, Absent):
        return doc.Functions(absence(found), 0, 0, None, [], 0)
    rows: list[Any] = list(found.rows.head(LISTED).itertuples(index=False))
    return doc.Functions(
        absent=None,
        functions=found.functions,
        profiles=found.profiles,
        own_s=maybe_seconds(found.tottime_ns),
        listed=[
            doc.Function(
                function=name(row.function) or "(no name)",
                file="" if row.code_file == "~" else name(row.code_file),
                line=int(row.line),
                calls=None if text.is_missing(row.ncalls) else int(row.ncalls),
                own_s=seconds(row.tottime_ns),
                cumulative_s=seconds(row.cumtime_ns),
                profiler=str(row.profiler),
            )
            for row in rows
        ],
        more=found.functions - len(rows),
    )
