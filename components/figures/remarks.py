"""What stands around a chart of lines: unit, resolution and legend beside its title, the number that matters below."""

from __future__ import annotations

import numpy as np
from dash import html
from dash.development.base_component import Component

from components import format as text
from components.figures.axes import View, words
from components.figures.lines import Scale, tops
from components.panels import LegendItem, legend_row
from data.frames import OverTime


def resolution(frame: OverTime) -> str:
    """How the drawing relates to the samples: said on every chart."""
    width = text.duration(frame.bin_ns)
    if frame.samples_per_bin <= 1:
        return f"every sample, {width} apart"
    if frame.unit != "%":
        return f"one point per {width}, mean rate"
    return f"one point per {width}, exact extremes"


def head(parts: list[str], legend: list[LegendItem]) -> list[str | Component]:
    """The words beside a title, and the legend at the right."""
    return [html.Span(words(parts)), *([legend_row(legend)] if legend else [])]


def lines_note(frame: OverTime, scale: Scale, devices: str, order: list[int]) -> list[str | Component]:
    """Unit, number of devices and resolution; and what each line is."""
    what = text.counted(frame.devices, devices) if frame.devices else ""
    unit = "% of CPU time" if frame.metric == "io_wait" else scale.unit
    drawn = f"the {len(order)} highest of {len(frame.groups)} lines" if len(order) < len(frame.groups) else ""
    parts = [", ".join(part for part in (unit, what) if part), drawn, resolution(frame)]
    return head(parts, _line_legend(frame, order))


def _line_legend(frame: OverTime, order: list[int]) -> list[LegendItem]:
    metric = frame.metric
    if len(order) == 1:
        if frame.devices <= 1 and frame.samples_per_bin <= 1:
            return []
        if metric in ("cpu", "io_wait"):
            return [LegendItem("mean", metric, "line"), LegendItem("highest core", metric, "dotted")]
        return [LegendItem("lowest to highest", metric, "band"), LegendItem("mean", metric, "line")]
    names = [plain_name(frame.groups[index]) for index in order]
    if len(names) > 2:
        return [LegendItem(f"{names[0]}, the highest", metric, "line"), LegendItem("others", metric, "band")]
    return [LegendItem(name, metric, "line" if rank == 0 else "dotted") for rank, name in enumerate(names)]


def directions_note(frame: OverTime, scale: Scale, nodes: int) -> list[str | Component]:
    """Unit, whose sum it is, and resolution; and which line is which direction."""
    whose = f"sum of {text.counted(nodes, 'node')}" if nodes > 1 else ""
    legend = [
        LegendItem(text.plain(direction, 20), frame.metric, "line" if rank == 0 else "dotted")
        for rank, (_, direction) in enumerate(frame.groups)
        if direction
    ]
    return head([scale.unit, whose, resolution(frame)], legend)


def plain_name(group: tuple[str, str]) -> str:
    """Node and device in words, as plain text."""
    return " ".join(text.plain(part, 60) for part in group if part)


def caption(frame: OverTime, view: View) -> str:
    """The highest value with its place and time."""
    if not np.isfinite(frame.mean).any():
        return "Nothing was measured in this window."
    if frame.peak is not None and frame.unit == "%":
        where = plain_name((frame.peak.node, frame.peak.device))
        return f"Highest {value_words(frame, frame.peak.value)} on {where} at {view.clock(frame.peak.time_ns)}."
    if frame.peak is not None:
        what = f"{value_words(frame, frame.peak.value)} {text.plain(frame.peak.device, 20)}".strip()
        where = text.plain(frame.peak.node, 60)
        return f"Highest sample of one node: {what} on {where} at {view.clock(frame.peak.time_ns)}."
    exact = frame.unit == "%" or frame.samples_per_bin <= 1
    values = frame.maximum if exact else frame.mean
    group, column = np.unravel_index(int(np.nanargmax(values)), values.shape)
    where = plain_name(frame.groups[int(group)])
    if frame.unit == "%" and where:
        where = f"on {where}"
    average = "" if exact else f", averaged over {text.duration(frame.bin_ns)}"
    time = view.clock(frame.start_ns + int(column) * frame.bin_ns)
    return " ".join(
        part
        for part in ("Highest", value_words(frame, float(values[group, column])), where, f"at {time}{average}.")
        if part
    )


def memory_caption(frame: OverTime, view: View) -> str:
    """The peak, and how many GPUs held next to nothing."""
    said = caption(frame, view)
    highest = tops(frame)
    unused = int(((highest >= 0) & (highest <= 2)).sum())
    if unused and frame.peak is not None and frame.peak.value > 2:
        said += f" {text.counted(unused, 'GPU')} of {frame.devices} never above 2 %."
    return said


def value_words(frame: OverTime, value: float) -> str:
    """A raw value of the frame with its unit."""
    if frame.unit == "%":
        return text.percent(value)
    return text.byte_rate(value) if frame.unit == "bytes/s" else f"{text.number(value, 0)} {frame.unit}"
