"""The rows of a heatmap: where each lies, how high it is, and which space lies between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from data.frames import HeatmapRow

TITLE_PX = 20
GPU_PX = 12
SPACE_PX = 2
MARGIN_PX = 8 + 26
_CORE_PX = 3
_POOLED_CORE_PX = 6
_POOLED_ABOVE_ROWS = 300
"""With more devices than this the query pools the cores of a node into eight rows."""


@dataclass(frozen=True)
class RowPlan:
    """Where the rows lie, in pixels from the top."""

    edges: NDArray[np.float32]  # of every row and every space between, ascending
    row_of_band: tuple[int, ...]  # index into the rows, -1 for a space
    titles: tuple[tuple[str, float], ...]  # node and the top of its title line
    height: float


def row_plan(rows: tuple[HeatmapRow, ...]) -> RowPlan:
    """Place the rows: a title line per node, GPUs, a thin space, cores."""
    edges, bands, titles = [0.0], [], []
    for index, row in enumerate(rows):
        before = rows[index - 1] if index else None
        if before is None or before.node != row.node:
            titles.append((row.node, edges[-1]))
            edges.append(edges[-1] + TITLE_PX)
            bands.append(-1)
        elif is_gpu(before.device) and not is_gpu(row.device):
            edges.append(edges[-1] + SPACE_PX)
            bands.append(-1)
        edges.append(edges[-1] + _row_px(row))
        bands.append(index)
    return RowPlan(np.array(edges, np.float32), tuple(bands), tuple(titles), edges[-1])


@dataclass(frozen=True)
class Block:
    """Neighbouring rows of one height: `first` and `last` (exclusive) count rows."""

    first: int
    last: int
    top: float
    row_px: float


def blocks(plan: RowPlan) -> list[Block]:
    """The rows in runs of one height, without the spaces between."""
    found: list[Block] = []
    bands = zip(plan.row_of_band, pairwise(plan.edges.tolist()), strict=True)
    for row, (top, bottom) in bands:
        if row < 0:
            continue
        before = found[-1] if found else None
        if before and before.row_px == bottom - top and before.top + (row - before.first) * before.row_px == top:
            found[-1] = Block(before.first, row + 1, before.top, before.row_px)
        else:
            found.append(Block(row, row + 1, top, bottom - top))
    return found


def expected_height(nodes: int, gpus: int, cpus: int) -> int:
    """About how tall the chart becomes, so that its place can be kept before the data are there."""
    per_node = max(nodes, 1)
    cores = -(-cpus // per_node)
    pooled = gpus + cpus > _POOLED_ABOVE_ROWS
    core_px = min(cores, 8) * _POOLED_CORE_PX if pooled else cores * _CORE_PX
    return nodes * (TITLE_PX + -(-gpus // per_node) * GPU_PX + SPACE_PX + core_px) + MARGIN_PX


def is_gpu(device: str) -> bool:
    return device.startswith("gpu")


def is_pool(device: str) -> bool:
    return "–" in device or "-" in device


def _row_px(row: HeatmapRow) -> int:
    if is_gpu(row.device):
        return GPU_PX
    return _POOLED_CORE_PX if is_pool(row.device) else _CORE_PX


def centres(plan: RowPlan) -> list[tuple[int, float]]:
    """Row index and vertical middle of every row."""
    bands = zip(plan.row_of_band, pairwise(plan.edges.tolist()), strict=True)
    return [(row, (top + bottom) / 2) for row, (top, bottom) in bands if row >= 0]
