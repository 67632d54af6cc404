"""Looking into figures: values as numbers whatever way they are sent."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.figures.axes import View
from data.selection import Window
from tests import frames

WHOLE = Window(frames.START_NS, frames.END_NS)
VIEW = View(WHOLE)


def numbers(values: Any) -> np.ndarray:
    """An array of floats, None as NaN."""
    return np.asarray([np.nan if value is None else value for value in np.asarray(values, object).ravel()], float)


def named(figure: go.Figure, name: str) -> Any:
    """The one trace of this name."""
    (trace,) = [trace for trace in figure.data if trace.name == name]
    return trace


def everything(figure: go.Figure) -> str:
    """All of a figure as the text that the browser gets."""
    return json.dumps(json.loads(figure.to_json()), ensure_ascii=False)


def assert_house_rules(figure: go.Figure, *, time: bool) -> None:
    """What holds for every figure."""
    go.Figure(figure.to_plotly_json())  # raises where an attribute or a value is not Plotly's
    assert figure.layout.meta["time"] is time
    assert figure.layout.paper_bgcolor is None or "0,0,0,0" in figure.layout.paper_bgcolor
    for trace in figure.data:
        assert trace.opacity is None
        assert getattr(trace, "connectgaps", None) in (None, False)
    if time:
        assert figure.layout.xaxis.type == "date"
        assert len(figure.layout.xaxis.range) == 2
    assert figure.layout.yaxis.fixedrange is not False
