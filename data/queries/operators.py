"""Operators: which took how much time.

Over the whole job everything comes from the totals that the conversion counted. With a window it comes from the events,
and each counts with the part that lies inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import OperatorTotal
from data.frames.operators import OPERATORS_COLUMNS, Operators
from data.names import natural_key
from data.nesting import self_times
from data.operators import COMMUNICATION_KINDS, EVENTS, LANE, NAMED_ROLES
from data.queries.events import part_files
from data.selection import Selection, Window
from data.store import Database, StoredJob

MOST_NESTED = 1 << 20
"""CPU operators of a window whose self times are still taken: beyond that they would take too long."""

NO_EVENTS = "This job's framework recorded no events."
NO_OPERATORS = "This job's framework recorded no operators."

_WHOLE = """
(select role, node, worker, phase, name, communication, count, total_ns, total_ns as full_ns, longest_ns,
        self_ns, self_ns is not null as nested
 from read_parquet($files) where {nodes})
"""
_WINDOW = f"""
(select role, node, worker, phase, name, communication, 1 as count, duration_ns as full_ns, duration_ns as longest_ns,
        least(end_ns, $to_ns) - greatest(start_ns, $from_ns) as total_ns, null as self_ns, thread <> '' as nested
 from {EVENTS}
 where role <> '' and wall = $wall and start_ns < $to_ns and (end_ns > $from_ns or start_ns >= $from_ns) and {{nodes}})
"""
_TABLE = f"""
select role as side, name, bool_or(communication) as communication, sum(total_ns)::bigint as total_ns,
       sum(count)::bigint as count, sum(full_ns) / sum(count) as mean_ns, max(longest_ns) as longest_ns,
       sum(self_ns)::bigint as self_ns, bool_and(nested) as nested, hash(name) as key,
       list_sort(list(distinct node)) as nodes, count(distinct (node, worker)) as processes
from {{rows}} where role in {NAMED_ROLES} group by role, name
order by list_position({list(NAMED_ROLES)}, role), total_ns desc, name
"""
_NESTED = f"""
select {LANE} as lane, hash(name) as key, start_ns, end_ns from {EVENTS}
where role = 'cpu' and thread <> '' and wall = $wall and start_ns < $to_ns and end_ns > $from_ns and {{nodes}}
"""


_TOTALS = """
select role, phase, name, sum(total_ns)::bigint as total_ns from read_parquet($files)
group by all order by role, phase, total_ns desc, name
"""


def totals(db: Database, selection: Selection) -> tuple[OperatorTotal, ...]:
    """The time of all framework events of the job by role, phase and name. Raises MissingTable without any."""
    stored = db.job(selection.job)
    found = db.columns(_TOTALS, files=[stored.file("operators.parquet", NO_EVENTS)])
    columns = [found[name].tolist() for name in ("role", "phase", "name", "total_ns")]
    return tuple(OperatorTotal(*row) for row in zip(*columns, strict=True))


def by_name(db: Database, selection: Selection) -> Operators:
    """Every operator of the window with its times. Raises MissingTable where there is none."""
    stored = db.job(selection.job)
    rows, parameters = rows_of(db, stored, selection)
    found = db.columns(_TABLE.format(rows=rows), **parameters)
    if not len(found["side"]):
        raise MissingTable(NO_OPERATORS if selection.window is None else "No operator ran in this window.")
    own_ns = np.ma.getdata(found["self_ns"]).astype(np.int64)
    known = found["nested"] & (found["side"] == "cpu")
    if selection.window is not None:
        own_ns, known = _own_in_window(db, stored, selection, found, known)
    side_total = pd.Series(found["total_ns"]).groupby(found["side"]).transform("sum").to_numpy()
    places: dict[tuple[str, ...], tuple[str, ...]] = {}
    columns: dict[str, Any] = {name: found[name] for name in OPERATORS_COLUMNS if name in found}
    columns["percent"] = np.divide(
        100.0 * found["total_ns"], side_total, out=np.full(len(side_total), np.nan), where=side_total > 0
    )
    columns["self_ns"] = pd.array(own_ns, dtype="Int64")
    columns["self_ns"][~known] = pd.NA
    columns["nodes"] = pd.Series([_natural(tuple(nodes), places) for nodes in found["nodes"]], dtype=object)
    return Operators(pd.DataFrame({name: columns[name] for name in OPERATORS_COLUMNS}))


def _natural(nodes: tuple[str, ...], places: dict[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...]:
    if nodes not in places:
        places[nodes] = tuple(sorted(nodes, key=natural_key))
    return places[nodes]


def rows_of(db: Database, stored: StoredJob, selection: Selection) -> tuple[str, dict[str, Any]]:
    """The rows to add up, and their parameters: counted ones of the whole job, or the events of a window."""
    whole = stored.file("operators.parquet", NO_EVENTS)
    nodes, parameters = chosen(selection)
    if selection.window is None:
        return _WHOLE.format(nodes=nodes), {"files": [whole], **parameters}
    return _WINDOW.format(nodes=nodes), _window(db, stored, selection.window) | parameters


def chosen(selection: Selection) -> tuple[str, dict[str, Any]]:
    """The condition on nodes, and its parameters."""
    return ("list_contains($nodes, node)", {"nodes": list(selection.nodes)}) if selection.nodes else ("true", {})


def _window(db: Database, stored: StoredJob, window: Window) -> dict[str, Any]:
    manifest = stored.manifest
    return {
        "files": part_files(stored),
        "longest_ns": manifest.longest_ns,
        "communication": _communication_files(db, stored),
        "wall": manifest.wall_clock,
        "from_ns": window.start_ns,
        "to_ns": window.end_ns,
    }


def _communication_files(db: Database, stored: StoredJob) -> list[int]:
    """The ids of files whose events are all communication; one that no file has where there is none."""
    if "communication" not in stored.manifest.operator_roles:
        return [-1]
    found = db.columns(
        "select file from read_parquet($files) where list_contains($kinds, kind)",
        files=[str(stored.folder / "files.parquet")],
        kinds=list(COMMUNICATION_KINDS),
    )
    return [int(one) for one in found["file"]]


def _own_in_window(
    db: Database, stored: StoredJob, selection: Selection, found: dict[str, NDArray[Any]], known: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The self times of the operators inside the window, and which of them are known."""
    nothing = np.zeros(len(known), np.int64)
    if selection.window is None or int(found["count"][known].sum()) > MOST_NESTED:
        return nothing, np.zeros(len(known), np.bool_)
    nodes, parameters = chosen(selection)
    events = db.columns(_NESTED.format(nodes=nodes), **_window(db, stored, selection.window), **parameters)
    within = (selection.window.start_ns, selection.window.end_ns)
    own_ns = self_times(events["lane"], events["start_ns"], events["end_ns"], events["key"], within)
    keys, place = np.unique(events["key"], return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, place, own_ns)
    at = np.minimum(np.searchsorted(keys, found["key"]), max(len(keys) - 1, 0))
    return np.where(keys[at] == found["key"], total[at], 0) if len(keys) else nothing, known
