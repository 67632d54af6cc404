"""Begin and end marks of a trace made into events.

An end closes the latest begin that is still open on the same lane, also where that stands in an earlier file of the
same writer. An end takes nothing from a begin but its name, category, lane and start; the arguments are the end's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.readers.events import EVENT_SCHEMA

_OF_BEGIN = ("node", "worker", "process", "thread", "phase", "category", "name", "start_ns", "step", "wall")


@dataclass(frozen=True)
class Marks:
    """Begin and end marks in the order of their writer: EVENT_SCHEMA with the time of the mark as its start."""

    events: pa.Table
    lane: pa.Array  # process and thread as they are written
    is_begin: NDArray[np.bool_]

    @classmethod
    def empty(cls) -> Marks:
        return cls(EVENT_SCHEMA.empty_table(), pa.array([], pa.string()), np.empty(0, bool))

    def of(self, keep: NDArray[np.int64]) -> Marks:
        at = pa.array(keep)
        return Marks(self.events.take(at), self.lane.take(at), self.is_begin[keep])

    def then(self, later: Marks) -> Marks:
        """Both, in this order."""
        if not len(self.is_begin):
            return later
        return Marks(
            pa.concat_tables([self.events, later.events]),
            pa.concat_arrays([self.lane, later.lane]),
            np.concatenate([self.is_begin, later.is_begin]),
        )


@dataclass(frozen=True)
class Paired:
    """What marks give: events, the begins that stay open and those that are closed, ends that close nothing."""

    events: pa.Table
    open: Marks
    closed: NDArray[np.int64]  # begins, by place
    lone_ends: NDArray[np.int64]
    backwards: NDArray[np.int64]  # ends before their begin, by place


def pair(marks: Marks) -> Paired:
    """Matches ends to begins."""
    lane = pc.dictionary_encode(marks.lane).indices.to_numpy().astype(np.int64)
    begin, end, open_, lone = _matched(lane, marks.is_begin)
    start_ns = marks.events.column("start_ns").to_numpy()
    duration = start_ns[end] - start_ns[begin]
    forward = duration >= 0
    closed, backwards, begin, end = begin, end[~forward], begin[forward], end[forward]
    of_begin, of_end = marks.events.take(pa.array(begin)), marks.events.take(pa.array(end))
    columns = {name: (of_begin if name in _OF_BEGIN else of_end).column(name) for name in EVENT_SCHEMA.names}
    columns["duration_ns"] = pa.array(duration[forward])
    events = pa.table([columns[name] for name in EVENT_SCHEMA.names], schema=EVENT_SCHEMA)
    return Paired(events, marks.of(open_), closed, lone, backwards)


def _matched(lane: NDArray[np.int64], is_begin: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """Places of begins and of the ends that close them, of begins left open, and of ends that close nothing.

    A mark's level is how deep its lane is nested inside it, counted from wherever the lane starts: on each level of a
    lane, begins and ends alternate, so that neighbours belong together.
    """
    order = np.argsort(lane, kind="stable")
    change = np.where(is_begin, 1, -1)[order]
    depth = np.cumsum(change)
    first = np.append(True, lane[order][1:] != lane[order][:-1])
    before_lane = (depth - change)[first]
    depth -= np.repeat(before_lane, np.diff(np.append(np.flatnonzero(first), len(order))))
    level = np.where(is_begin[order], depth, depth + 1)
    by_level = order[np.lexsort((np.arange(len(order)), level, lane[order]))]
    sorted_level = np.empty(len(order), np.int64)
    sorted_level[order] = level
    left, right = by_level[:-1], by_level[1:]
    together = is_begin[left] & ~is_begin[right] & (lane[left] == lane[right])
    together &= sorted_level[left] == sorted_level[right]
    begin, end = left[together], right[together]
    open_ = np.setdiff1d(np.flatnonzero(is_begin), begin)
    lone = np.setdiff1d(np.flatnonzero(~is_begin), end)
    return begin, end, open_, lone
