"""The utilisation heatmap: when was which device of which node how busy?

A GPU's row is tall and a core's thin; a cell without a measurement is a hole, through which the page's hatching shows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, time_layout, words
from components.figures.rows import MARGIN_PX, TITLE_PX, RowPlan, blocks, centres, is_pool, row_plan
from components.panels import FigureView
from components.theme import heatmap_scale
from data.frames import NO_DATA, Heatmap

_LABEL_EVERY_PX = 12

WORDS = {
    "utilization": ("busy", "busiest"),
    "gpu_memory": ("GPU memory used", "fullest"),
    "io_wait": ("I/O wait", "longest waiting"),
}


def utilization_heatmap(frame: Heatmap, view: View) -> FigureView:
    """One row per device, one column per bin: the highest value of the bin, its mean on hover."""
    plan = row_plan(frame.rows)
    height = round(plan.height) + MARGIN_PX
    figure = chart(
        [*_cells(frame, plan, view), _label_axis(plan, view)],
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


def _cells(frame: Heatmap, plan: RowPlan, view: View) -> list[go.Heatmap]:
    """A trace for each block of rows of one height: evenly spaced cells are drawn as one picture, several times faster
    than cells between given edges.
    """
    highest = frame.maximum.astype(np.float32)
    highest[frame.maximum == NO_DATA] = np.nan
    half_ns = frame.bin_ns // 2
    template = (
        f"<b>%{{y}}</b><br>%{{x}} ± {text.duration(half_ns)}<br>"
        f"{WORDS[frame.metric][0]}: highest <b>%{{z:.0f}} %</b>, mean %{{customdata}} %<extra></extra>"
    )
    return [
        go.Heatmap(
            z=highest[block.first : block.last],
            customdata=frame.mean[block.first : block.last],
            x0=view.time(frame.start_ns + half_ns),
            dx=frame.bin_ns / 1e6,
            y0=block.top + block.row_px / 2,
            dy=block.row_px,
            zmin=0,
            zmax=100,
            zsmooth=False,
            colorscale=heatmap_scale(view.theme),
            showscale=False,
            hoverongaps=False,
            hovertemplate=template,
        )
        for block in blocks(plan)
    ]


def _row_axis(frame: Heatmap, plan: RowPlan) -> dict[str, Any]:
    """The axis the hover reads names from: a text for every row, none of them drawn."""
    middles = centres(plan)
    return {
        "type": "linear",
        "range": [plan.height, 0],
        "fixedrange": True,
        "showgrid": False,
        "showticklabels": False,
        "tickmode": "array",
        "tickvals": [middle for _, middle in middles],
        "ticktext": [
            f"{text.label(frame.rows[row].node, 60)} {text.label(frame.rows[row].device, 60)}" for row, _ in middles
        ],
    }


def _visible_labels(frame: Heatmap, plan: RowPlan, view: View) -> dict[str, Any]:
    """The axis that is drawn: as many device names as fit, always the first of each kind."""
    shown: list[tuple[str, float]] = []
    last = -float(_LABEL_EVERY_PX)
    for row, centre in centres(plan):
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
    if not device.startswith("cpu") or is_pool(device):
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
    parts = []
    if frame.peak is not None:
        where = f"{text.plain(frame.peak.node, 60)} {text.plain(frame.peak.device, 60)}"
        reached = f"{text.percent(frame.peak.value)}, first {where} at {view.clock(frame.peak.time_ns)}"
        parts.append(f"The {WORDS[frame.metric][1]} device reached {reached}.")
    if frame.clamped:
        parts.append(f"{text.counted(frame.clamped, 'cell')} outside 0 to 100 drawn at the edge of the scale.")
    return " ".join(parts)
