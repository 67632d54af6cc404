"""The difference of two heatmaps: where is which device busier or less busy in the other run?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from components import format as text
from components.figures.axes import View, chart, time_layout, words
from components.panels import EmptyView, FigureView
from components.theme import difference_scale
from data.frames import NO_DATA, Heatmap

_ROW_PX: Final = 14
_THIN_ROW_PX: Final = 6
_MANY_ROWS: Final = 40
_LABELS: Final = 12
_POINTS: Final = 10
"""A cell is said to be busier or less busy from this many percentage points on."""

Percents = NDArray[np.float32]


def difference_heatmap(a: Heatmap, b: Heatmap, shift_ns: int, view: View) -> FigureView | EmptyView:
    """B minus A for every device that both have, mean by mean; B's columns are taken where A's middles fall."""
    of_b = {(row.node, row.device): at for at, row in enumerate(b.rows)}
    shared = [(at, of_b[row.node, row.device]) for at, row in enumerate(a.rows) if (row.node, row.device) in of_b]
    if not shared:
        return EmptyView("The runs have no device of the same node and name.", "Compare the means over time above.")
    left = _percent(a.mean)[[at for at, _ in shared]]
    right = _beside(a, b, shift_ns)[[at for _, at in shared]]
    names = [f"{text.label(a.rows[at].node, 40)} {text.label(a.rows[at].device, 20)}" for at, _ in shared]
    height = len(shared) * (_THIN_ROW_PX if len(shared) > _MANY_ROWS else _ROW_PX) + 40
    y_axis = _row_axis(names)
    figure = chart(
        [_cells(a, left, right, view)],
        time_layout(view, height=height, unit="%", y_axis=y_axis, hovermode="closest"),
    )
    figure.update_xaxes(showgrid=False)
    left_out = len(a.rows) + len(b.rows) - 2 * len(shared)
    absent = f"{text.counted(left_out, 'row')} of only one run left out" if left_out else ""
    note = words(["B − A", f"one column = {text.duration(a.bin_ns)}", absent])
    return FigureView(figure, note=note, caption=_caption(right - left), height=height)


def _beside(a: Heatmap, b: Heatmap, shift_ns: int) -> Percents:
    """The means of B in the columns of A, NaN where B has none."""
    mean = _percent(b.mean)
    middle = a.start_ns + a.bin_ns // 2 + np.arange(a.mean.shape[1], dtype=np.int64) * a.bin_ns - shift_ns
    column = (middle - b.start_ns) // b.bin_ns
    inside = (column >= 0) & (column < mean.shape[1])
    found = np.full((mean.shape[0], len(column)), np.nan, np.float32)
    found[:, inside] = mean[:, column[inside]]
    return found


def _cells(a: Heatmap, left: Percents, right: Percents, view: View) -> go.Heatmap:
    return go.Heatmap(
        z=right - left,
        customdata=np.stack([left, right], axis=-1),
        x0=view.time(a.start_ns + a.bin_ns // 2),
        dx=a.bin_ns / 1e6,
        zmin=-100,
        zmax=100,
        zsmooth=False,
        colorscale=difference_scale(view.theme),
        showscale=False,
        hoverongaps=False,
        hovertemplate="<b>%{y}</b><br>%{x}<br>B − A <b>%{z:+.0f}</b>: "
        "A %{customdata[0]:.0f} %, B %{customdata[1]:.0f} %<extra></extra>",
    )


def _row_axis(names: list[str]) -> dict[str, Any]:
    """A number for each row, its name where there is room; the hover reads the names of all."""
    every = max(len(names) // _LABELS, 1)
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [name.rpartition(" ")[2] if at % every == 0 else "" for at, name in enumerate(names)],
        "tickfont": {"size": 9.5},
        "range": [len(names) - 0.5, -0.5],
        "fixedrange": True,
        "showgrid": False,
    }


def _percent(codes: NDArray[np.uint8]) -> Percents:
    values = codes.astype(np.float32)
    values[codes == NO_DATA] = np.nan
    return values


def _caption(difference: Percents) -> str:
    known = difference[np.isfinite(difference)]
    if not len(known):
        return "Nothing was measured in both runs at the same place."
    more, less = (text.percent(100 * float(part.mean())) for part in (known > _POINTS, known < -_POINTS))
    return (
        f"Where both were measured, B is more than {_POINTS} points busier in {more} of the cells, and less busy by as"
        f" much in {less}."
    )
