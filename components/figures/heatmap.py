"""The utilisation heatmap: when was which device of which node how busy?

Rows are given by their edges, so that a GPU is tall and a core thin; a cell without a measurement is a hole,
through which the page's hatching shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, time_layout, words
from components.panels import FigureView
from components.theme import heatmap_scale
from data.frames import NO_DATA, Heatmap, HeatmapRow

TITLE_PX = 20
GPU_PX = 12
SPACE_PX = 2
_CORE_PX = 3
_POOLED_CORE_PX = 6
_MARGIN_PX = 8 + 26
_LABEL_EVERY_PX = 12
POOLED_FROM_NODES = 8
"""From this many nodes on the query pools cores, as a screen has not enough rows for them."""

WORDS = {
    "utilization": ("busy", "busiest"),
    "gpu_memory": ("GPU memory used", "fullest"),
    "io_wait": ("I/O wait", "longest waiting"),
}


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
        elif _is_gpu(before.device) and not _is_gpu(row.device):
            edges.append(edges[-1] + SPACE_PX)
            bands.append(-1)
        edges.append(edges[-1] + _row_px(row))
        bands.append(index)
    return RowPlan(np.array(edges, np.float32), tuple(bands), tuple(titles), edges[-1])


def expected_height(nodes: int, gpus: int, cpus: int) -> int:
    """About how tall the chart becomes, so that its place can be kept before the data are there."""
    per_node = max(nodes, 1)
    cores = -(-cpus // per_node)
    core_px = cores * _CORE_PX if nodes < POOLED_FROM_NODES else min(cores, 8) * _POOLED_CORE_PX
    return nodes * (TITLE_PX + -(-gpus // per_node) * GPU_PX + SPACE_PX + core_px) + _MARGIN_PX


def utilization_heatmap(frame: Heatmap, view: View) -> FigureView:
    """One row per device, one column per bin: the highest value of the bin, its mean on hover."""
    plan = row_plan(frame.rows)
    height = round(plan.height) + _MARGIN_PX
    figure = go.Figure(
        [_cells(frame, plan, view), _label_axis(plan, view)],
        time_layout(
            view,
            height=height,
            unit="%",
            y_axis=_row_axis(frame, plan),
            yaxis2=_visible_labels(frame, plan, view),
            hovermode="closest",
            shapes=_masks(plan, view),
            annotations=_titles(frame, plan, view),
            meta={"rows": [[text.plain(row.node), text.plain(row.device)] for row in frame.rows]},
        ),
    )
    figure.update_xaxes(showgrid=False)
    return FigureView(figure, note=_note(frame), caption=_caption(frame, view), height=height)


def _is_gpu(device: str) -> bool:
    return device.startswith("gpu")


def _is_pool(device: str) -> bool:
    return "–" in device or "-" in device


def _row_px(row: HeatmapRow) -> int:
    if _is_gpu(row.device):
        return GPU_PX
    return _POOLED_CORE_PX if _is_pool(row.device) else _CORE_PX


def _banded(values: NDArray[np.uint8], plan: RowPlan) -> NDArray[np.uint8]:
    """The rows with empty ones where a space lies."""
    banded = np.full((len(plan.row_of_band), values.shape[1]), NO_DATA, np.uint8)
    places = [band for band, row in enumerate(plan.row_of_band) if row >= 0]
    banded[places] = values
    return banded


def _cells(frame: Heatmap, plan: RowPlan, view: View) -> go.Heatmap:
    highest = _banded(frame.maximum, plan).astype(np.float32)
    highest[highest == NO_DATA] = np.nan
    half_ns = frame.bin_ns // 2
    what = WORDS[frame.metric][0]
    return go.Heatmap(
        z=highest,
        customdata=_banded(frame.mean, plan),
        x0=view.time(frame.start_ns + half_ns),
        dx=frame.bin_ns / 1e6,
        y=plan.edges,
        zmin=0,
        zmax=100,
        zsmooth=False,
        colorscale=heatmap_scale(view.theme),
        showscale=False,
        hoverongaps=False,
        hovertemplate=(
            f"<b>%{{y}}</b><br>%{{x}} ± {text.duration(half_ns)}<br>"
            f"{what}: highest <b>%{{z:.0f}} %</b>, mean %{{customdata}} %<extra></extra>"
        ),
    )


def _centres(plan: RowPlan) -> list[tuple[int, float]]:
    """Row index and vertical middle of every row."""
    bands = zip(plan.row_of_band, pairwise(plan.edges.tolist()), strict=True)
    return [(row, (top + bottom) / 2) for row, (top, bottom) in bands if row >= 0]


def _row_axis(frame: Heatmap, plan: RowPlan) -> dict[str, Any]:
    """The axis the hover reads names from: a text for every row, none of them drawn."""
    centres = _centres(plan)
    return {
        "type": "linear",
        "range": [plan.height, 0],
        "fixedrange": True,
        "showgrid": False,
        "showticklabels": False,
        "tickmode": "array",
        "tickvals": [centre for _, centre in centres],
        "ticktext": [
            f"{text.label(frame.rows[row].node, 60)} {text.label(frame.rows[row].device, 60)}" for row, _ in centres
        ],
    }


def _visible_labels(frame: Heatmap, plan: RowPlan, view: View) -> dict[str, Any]:
    """The axis that is drawn: as many device names as fit, always the first of each kind."""
    shown: list[tuple[str, float]] = []
    last = -float(_LABEL_EVERY_PX)
    for row, centre in _centres(plan):
        device = frame.rows[row].device
        if _worth_a_label(device) and centre - last >= _LABEL_EVERY_PX - 0.5:
            shown.append((text.label(device, 9), centre))
            last = centre
    return {
        "type": "linear",
        "overlaying": "y",
        "side": "left",
        "range": [plan.height, 0],
        "fixedrange": True,
        "showgrid": False,
        "tickmode": "array",
        "tickvals": [centre for _, centre in shown],
        "ticktext": [name for name, _ in shown],
        "tickfont": {"size": 9.5, "color": view.colours.text_3},
    }


def _worth_a_label(device: str) -> bool:
    """Every GPU and pool, of single cores every eighth: cpu0 stays silent beside the GPUs' names."""
    if not device.startswith("cpu") or _is_pool(device):
        return True
    number = device.removeprefix("cpu")
    return not number.isdigit() or (int(number) % 8 == 0)


def _label_axis(plan: RowPlan, view: View) -> go.Scatter:
    """An empty trace: without one the second axis would not be drawn."""
    return go.Scatter(
        x=[view.time(view.window.start_ns)],
        y=[-plan.height],
        yaxis="y2",
        hoverinfo="skip",
        mode="markers",
        marker={"size": 1},
    )


def _masks(plan: RowPlan, view: View) -> list[dict[str, Any]]:
    """What lies between the rows is page, not missing data: covered below the cells, above the hatching."""
    bands = zip(plan.row_of_band, pairwise(plan.edges.tolist()), strict=True)
    return [
        {
            "type": "rect",
            "xref": "paper",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": top,
            "y1": bottom,
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": view.colours.card,
        }
        for row, (top, bottom) in bands
        if row < 0
    ]


def _titles(frame: Heatmap, plan: RowPlan, view: View) -> list[dict[str, Any]]:
    colours = view.colours
    place = {"xref": "paper", "yref": "y", "showarrow": False, "yanchor": "middle"}
    titles: list[dict[str, Any]] = []
    for node, top in plan.titles:
        middle = top + TITLE_PX / 2 + 2
        titles.append(
            place
            | {
                "x": 0,
                "y": middle,
                "xanchor": "left",
                "text": f"<b>{text.label(node, 60)}</b>",
                "font": {"size": 12, "color": colours.text},
            }
        )
        if frame.metric != "utilization":
            continue
        means = [
            f"{kind} mean {text.percent(mean)}"
            for kind, mean in (("GPU", frame.node_gpu_mean.get(node)), ("CPU", frame.node_cpu_mean.get(node)))
            if not text.is_missing(mean)
        ]
        titles.append(
            place
            | {
                "x": 1,
                "y": middle,
                "xanchor": "right",
                "text": "  ·  ".join(means),
                "font": {"size": 11, "color": colours.text_3},
            }
        )
    return [title for title in titles if title["text"]]


def _note(frame: Heatmap) -> str:
    column = f"one column = {text.duration(frame.bin_ns)}"
    what = {"gpu_memory": "GPU memory in use", "io_wait": "I/O wait of each core"}.get(frame.metric, "")
    samples = round(frame.samples_per_bin)
    if frame.samples_per_bin <= 1:
        return words([what, column, "every sample"])
    return words([what, f"{column}, highest of {samples} samples", "mean on hover"])


def _caption(frame: Heatmap, view: View) -> str:
    measured = frame.maximum != NO_DATA
    if not measured.any():
        return "Nothing was measured in this window."
    values = np.where(measured, frame.maximum, 0)
    row, column = np.unravel_index(int(values.argmax()), values.shape)
    where = frame.rows[int(row)]
    parts = [
        f"The {WORDS[frame.metric][1]} device reached {int(values[row, column])} %, first "
        f"{text.plain(where.node, 60)} {text.plain(where.device, 60)} at "
        f"{view.clock(frame.start_ns + int(column) * frame.bin_ns)}."
    ]
    if frame.clamped:
        parts.append(f"{text.counted(frame.clamped, 'cell')} outside 0 to 100 drawn at the edge of the scale.")
    return " ".join(parts)
