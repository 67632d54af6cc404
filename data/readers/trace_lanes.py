"""The names of lanes: a trace names each process once, before its events, after them, or again in the middle."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.readers.events import NO_PHASE

_MOST_UNNAMED = 10_000
"""Lanes without a name that are remembered."""


class Lanes:
    """The lanes of one file, batch by batch."""

    def __init__(self) -> None:
        self.late = 0  # lanes that were named only when events of theirs had been given away
        self._names: dict[str, str] = {}
        self._named: list[tuple[int, str, str]] = []
        self._unnamed: set[str] = set()

    def take_names(self, table: pa.Table, described: NDArray[np.int64]) -> None:
        """Notes what a batch calls its lanes; `described` are its rows that describe something."""
        self._named = []
        for at, row in zip(
            described.tolist(),
            table.select(["name", "pid", "args.name"]).take(pa.array(described)).to_pylist(),
            strict=True,
        ):
            if row["name"] == "process_name" and row["args.name"] is not None and row["pid"] is not None:
                self._named.append((at, row["pid"], row["args.name"] or NO_PHASE))
                self.late += row["pid"] in self._unnamed
                self._unnamed.discard(row["pid"])

    def take_unnamed(self, pid: pa.Array) -> None:
        """Notes the lanes of events that are given away without the name of one."""
        found = set(pc.unique(pid.drop_null()).to_pylist()) - self._names.keys()
        self._unnamed.update(islice(found, _MOST_UNNAMED - len(self._unnamed)))

    def phases(self, pid: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
        """The lane of each of some rows of the batch: as it was last named before the row, else as it is named first.

        Asked for once a batch.
        """
        encoded = pc.dictionary_encode(pid)
        pids = {word: code for code, word in enumerate(encoded.dictionary.to_pylist())}
        place = {NO_PHASE: 0}
        of_pid = np.zeros(len(pids) + 1, np.int64)
        for lane, name in self._names.items():
            if lane in pids:
                of_pid[pids[lane]] = place.setdefault(name, len(place))
        renamed = self._renamed(pids, place)
        for code, changes in renamed.items():
            of_pid[code] = of_pid[code] or changes[0][1]
        codes = encoded.indices.fill_null(-1).to_numpy()
        result = of_pid[codes]
        for code, changes in renamed.items():
            if len(changes) > 1 or of_pid[code] != changes[0][1]:
                mine = codes == code
                at = np.searchsorted([one for one, _ in changes], rows[mine], side="right") - 1
                numbers = np.array([number for _, number in changes])
                result[mine] = np.where(at >= 0, numbers[np.maximum(at, 0)], of_pid[code])
        return pa.DictionaryArray.from_arrays(pa.array(result, pa.int32()), pa.array(list(place), pa.string()))

    def _renamed(self, pids: dict[str, int], place: dict[str, int]) -> dict[int, list[tuple[int, int]]]:
        """By lane: from which row on it has which name. New names get a place."""
        renamed: dict[int, list[tuple[int, int]]] = {}
        for at, lane, name in self._named:
            number = place.setdefault(name, len(place))
            if lane in pids:
                changes = renamed.setdefault(pids[lane], [])
                if not changes or changes[-1][1] != number:
                    changes.append((at, number))
            self._names[lane] = name
        return renamed
