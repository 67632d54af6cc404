"""Writes system metrics as the monitor does: one JSON object a line, one file a node and minute, in folders by hour."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data.demo.calibrate import calibrate
from data.demo.clock import Ticks, node_ticks
from data.demo.schedule import Schedule
from data.demo.signals import Columns, phase_of, values
from data.demo.spec import US_PER_S, TreeSpec

Ints = NDArray[np.int64]

MINUTE_US = 60 * US_PER_S
LAST_PERCENT = 100_00
PERCENT_TEXT = tuple(repr(hundredths / 100).encode() for hundredths in range(LAST_PERCENT + 1))


def write_system(profiler: Path, spec: TreeSpec, plan: Schedule) -> tuple[int, int]:
    """Writes all files below `profiler/system`; returns the number of records and of bytes."""
    records = size = 0
    newest: Path | None = None
    for node in range(spec.nodes):
        columns = Columns(spec.cores, spec.gpus)
        order = _record_order(spec)
        ticks_template = _Template(columns, order, f"algo-{node + 1}", with_gpu=True)
        early_template = _Template(columns, order, f"algo-{node + 1}", with_gpu=False)
        for minute, ticks, block in _minutes(spec, plan, node):
            lines = []
            ordered = block[:, order]
            for row in range(len(ticks)):
                late = ticks.number[row] < spec.late_ticks(node)
                template = early_template if late or not spec.gpus else ticks_template
                lines.append(template.tick(ordered[row].tolist(), ticks, row))
                records += template.records
            newest = _minute_file(profiler, minute, node)
            newest.parent.mkdir(parents=True, exist_ok=True)
            size += newest.write_bytes(b"".join(lines))
    if spec.cut_last_line and newest is not None:
        whole = newest.read_bytes()
        size += newest.write_bytes(whole[:-40]) - len(whole)
        records -= 1
    return records, size


def _minutes(spec: TreeSpec, plan: Schedule, node: int) -> Iterator[tuple[int, Ticks, Ints]]:
    """The node's ticks with their values, minute by minute; all at once where figures must be met over the whole."""
    ticks = node_ticks(spec, node)
    minute = ticks.cpu_us // MINUTE_US
    edges = np.flatnonzero(np.diff(minute, prepend=-1, append=-1))
    parts = [slice(int(first), int(last)) for first, last in pairwise(edges)]

    def block(part: slice) -> Ints:
        return values(spec, plan, node, int(minute[part.start]), ticks.number[part])

    if spec.targets is None:
        for part in parts:
            yield int(minute[part.start]) * 60, ticks.part(part), block(part)
        return
    phase = phase_of(plan, ticks.number * spec.interval_us + spec.node_offset_us(node))
    whole = calibrate(spec, node, phase, np.concatenate([block(part) for part in parts]))
    for part in parts:
        yield int(minute[part.start]) * 60, ticks.part(part), whole[part]


def _minute_file(profiler: Path, minute_s: int, node: int) -> Path:
    hour = datetime.fromtimestamp(minute_s, UTC).strftime("%Y%m%d%H")
    return profiler / "system" / "incremental" / hour / f"{minute_s}.algo-{node + 1}.json"


def _record_order(spec: TreeSpec) -> Ints:
    """Columns in the order of the lines: the monitor lists cores in no particular order."""
    core = np.random.default_rng((spec.seed, 23)).permutation(spec.cores)
    rest = np.arange(2 * spec.cores, Columns(spec.cores, spec.gpus).percent_end + 8)
    return np.concatenate([core, spec.cores + core, rest])


class _Template:
    """Renders one tick of a node: all its lines as one format string, filled with values and stamps."""

    def __init__(self, columns: Columns, order: Ints, node: str, *, with_gpu: bool) -> None:
        series = columns.series()
        chosen = [(place, series[column]) for place, column in enumerate(order.tolist())]
        chosen = [(place, one) for place, one in chosen if with_gpu or one.type != "gpu"]
        line = '{"Type":"%s","Name":"%s","Dimension":"%s","Value":%%b,"NodeId":"%s","Timestamp":%%b}\n'
        self.records = len(chosen)
        self._format = "".join(line % (*one, node) for _, one in chosen).encode()
        self._percents = slice(0, columns.percent_end if with_gpu else 2 * columns.cores)
        self._others = slice(columns.percent_end, None)
        self._core_records = 2 * columns.cores
        self._gpu_records = 2 * columns.gpus if with_gpu else 0

    def tick(self, hundredths: list[int], ticks: Ticks, row: int) -> bytes:
        """The lines of one tick, from its values in line order."""
        fields: list[bytes] = [b""] * (2 * self.records)
        fields[0::2] = [PERCENT_TEXT[one] for one in hundredths[self._percents]] + [
            repr(one / 100).encode() for one in hundredths[self._others]
        ]
        fields[1::2] = (
            [_stamp(ticks.cpu_us, row)] * self._core_records
            + [_stamp(ticks.gpu_us, row)] * self._gpu_records
            + [_stamp(ticks.memory_us, row)]
            + [_stamp(ticks.disk_us, row)] * 3
            + [_stamp(ticks.network_us, row)] * 4
        )
        return self._format % tuple(fields)


def _stamp(stamps_us: Ints, row: int) -> bytes:
    return b"%d.%06d" % divmod(int(stamps_us[row]), US_PER_S)
