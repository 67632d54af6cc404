"""The folders of Python profiles: from a path to node, steps and times.

New: `cprofile/<node id>/<mode>-<step>-<phase>-<time>_<mode>-<step>-<phase>-<time>/`, old: `cProfile/<start>_<end>_<node
id>_<step>/`. Times are microseconds since 1970 with decimals.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from data.readers.events import split_node_id
from data.readers.functions import LAST_STEP, NO_STEP, Interval

PROFILER_FOLDERS: Final = ("cprofile", "pyinstrument")
_EARLIEST_NS, _LATEST_NS = 946_684_800 * 10**9, 4_102_444_800 * 10**9  # 2000 and 2100
_TIME = r"(\d{1,16}(?:\.\d{1,9})?)"
_STEP = r"(\*|-?\d{1,18})"
_EDGE = rf"([a-z]{{1,32}})-{_STEP}-([a-z]{{1,32}})-{_TIME}"
_NEW = re.compile(f"{_EDGE}_{_EDGE}", re.ASCII | re.IGNORECASE)
_OLD = re.compile(rf"{_TIME}_{_TIME}_(.+)_{_STEP}", re.ASCII | re.DOTALL)


def interval_of(path: str) -> Interval:
    """The interval of a profile by the path of its file; one without times where the folder's name does not tell."""
    pieces = path.split("/")
    folder, above = (pieces[-2] if len(pieces) > 1 else ""), (pieces[-3] if len(pieces) > 2 else "")
    node, worker = ("", "") if above.casefold() in PROFILER_FOLDERS else split_node_id(above)
    if match := _NEW.fullmatch(folder):
        start_mode, start_step, start_phase, start, end_mode, end_step, end_phase, end = match.groups()
        start_ns, end_ns = _ns(start), _ns(end)
        if start_ns is not None and end_ns is not None:
            return Interval(
                folder,
                node,
                worker,
                start_mode.lower(),
                NO_STEP if start_step == "*" else int(start_step),
                start_phase.lower(),
                start_ns,
                end_mode.lower(),
                LAST_STEP if end_step == "*" else int(end_step),
                end_phase.lower(),
                end_ns,
            )
    if match := _OLD.fullmatch(folder):
        start_ns, end_ns = _ns(match[1]), _ns(match[2])
        if start_ns is not None and end_ns is not None:
            node, worker = split_node_id(match[3])
            first, last = (NO_STEP, LAST_STEP) if match[4] == "*" else (int(match[4]), int(match[4]))
            return Interval(folder, node, worker, "", first, "", start_ns, "", last, "", end_ns)
    return Interval(folder, node, worker)


def _ns(microseconds: str) -> int | None:
    """None for a time that is not of this century."""
    time_ns = int(Decimal(microseconds) * 1000)
    return time_ns if _EARLIEST_NS <= time_ns < _LATEST_NS else None
