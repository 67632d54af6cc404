"""What a memory allocator holds over time: records of its totals, pooled into stretches that keep their extremes.

A record says what was held after one allocation or free, and that holds until the next. Stretches are pooled in the
order of time, within groups; what is known of a group is as exact as if it had been made of its records at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Stretches = dict[str, NDArray[np.int64]]
"""Arrays of equal length, a place for each stretch of time, under the names of `KNOWN` and `COUNTED`."""

KNOWN = ("low", "high", "high_ns", "last", "rise", "reserved_high", "reserved_last")
"""Bytes allocated: least, most, when that was so first, at the end, and by how much they grew at most from a record to
a later one; bytes reserved: most, and at the end. `UNKNOWN` where no record of the stretch tells."""

COUNTED = ("largest", "allocations", "frees", "uncounted")
"""The largest allocation, how many allocations and frees there are, and how many records the totals leave out."""

UNKNOWN = -1
_NEVER = np.int64(1 << 62)


def counted(
    line: NDArray[np.int64],
    cpu: NDArray[np.bool_],
    size: NDArray[np.int64],
    allocated: NDArray[np.int64],
    before: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which records tell the total of their allocator; they come by line, then in time.

    PyTorch also writes records of memory that processes share, such as the batches of a data loader, into the line of
    the CPU, with 0 in place of a total. They are known by that: no total is below what was just allocated, and a free
    leaves 0 only where it takes all that was left. `before` is the total that each line was told of last, or `UNKNOWN`.
    """
    below = cpu & (size > 0) & (allocated < size)
    place = np.arange(len(line))
    told = np.maximum.accumulate(np.where((allocated > 0) & ~below, place, -1))
    told = np.append(-1, told[:-1])[: len(line)]
    same = (told >= 0) & (line[told] == line)
    held = np.where(same, allocated[told], before[line]) if len(line) else allocated
    empties = cpu & (size < 0) & (allocated == 0)
    all_of_it = empties & (held + size == 0)
    emptied = np.append(-1, np.maximum.accumulate(np.where(all_of_it, place, -1))[:-1])[: len(line)]
    again = (emptied > told) & (emptied >= 0) & (line[emptied] == line)  # nothing was left since the free before
    tells: NDArray[np.bool_] = ~below & ~(empties & (~all_of_it | again))
    return tells


def of_records(
    time_ns: NDArray[np.int64],
    size: NDArray[np.int64],
    allocated: NDArray[np.int64],
    reserved: NDArray[np.int64],
    tells: NDArray[np.bool_],
) -> Stretches:
    """Each record as a stretch of its own; `tells` are those that `counted` found."""
    total, held = np.where(tells, allocated, UNKNOWN), np.where(tells, reserved, UNKNOWN)
    return {
        "low": total,
        "high": total,
        "high_ns": np.where(tells, time_ns, UNKNOWN),
        "last": total,
        "rise": np.where(tells, 0, UNKNOWN),
        "reserved_high": held,
        "reserved_last": held,
        "largest": np.where(tells, np.maximum(size, 0), 0),
        "allocations": (tells & (size > 0)).astype(np.int64),
        "frees": (tells & (size < 0)).astype(np.int64),
        "uncounted": (~tells).astype(np.int64),
    }


def pooled(group: NDArray[np.int64], parts: Stretches) -> tuple[NDArray[np.int64], Stretches]:
    """The stretches of each group as one; groups are ascending, the parts of each in the order of time."""
    if not len(group):
        return group, parts
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    sizes = np.diff(np.append(first, len(group)))
    owner = np.repeat(np.arange(len(first)), sizes)
    place = np.arange(len(group))
    known = parts["high"] != UNKNOWN
    high = np.maximum.reduceat(parts["high"], first)
    at = np.minimum.reduceat(np.where(known & (parts["high"] == high[owner]), place, len(group) - 1), first)
    last = np.maximum.reduceat(np.where(known, place, -1), first)
    some = last >= 0
    low = np.where(known, parts["low"], _NEVER)
    found = {
        "low": np.minimum.reduceat(low, first),
        "high": high,
        "high_ns": parts["high_ns"][at],
        "last": parts["last"][last],
        "rise": np.maximum.reduceat(_rises(owner, known, low, parts), first),
        "reserved_high": np.maximum.reduceat(parts["reserved_high"], first),
        "reserved_last": parts["reserved_last"][last],
    }
    whole = {name: np.where(some, values, UNKNOWN) for name, values in found.items()}
    whole |= {"largest": np.maximum.reduceat(parts["largest"], first)}
    whole |= {name: np.add.reduceat(parts[name], first) for name in COUNTED if name != "largest"}
    return group[first], whole


def _rises(
    owner: NDArray[np.int64], known: NDArray[np.bool_], low: NDArray[np.int64], parts: Stretches
) -> NDArray[np.int64]:
    """For each stretch, how far its highest is above the lowest before it in its group; or its own rise, if greater.

    One running minimum goes over all groups: the values of each are moved below those of the groups before, as ranks,
    which are small.
    """
    values, rank = np.unique(low, return_inverse=True)
    moved = rank - owner * len(values)
    lowest = values[np.minimum.accumulate(moved) + owner * len(values)]
    before = np.append(_NEVER, lowest[:-1])
    before[np.append(True, owner[1:] != owner[:-1])] = _NEVER
    grown = np.where(known & (before != _NEVER), parts["high"] - before, 0)
    return np.where(known, np.maximum(grown, parts["rise"]), UNKNOWN)
