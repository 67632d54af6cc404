"""The phases of a training job: how its time divides into initialization, training loop and finalization."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from components import format as text
from components.figures.axes import View, chart, interrupted, layout, time_layout
from components.panels import FigureView
from data.frames import JobTimes

DONUT_PX = 156
PROGRESS_HEIGHT = 78


@dataclass(frozen=True)
class Phase:
    """One part of a job's time."""

    key: str  # initialization | loop | finalization
    name: str
    start_ns: int
    duration_ns: int
    percent: float | None


def phases(times: JobTimes) -> tuple[Phase, ...]:
    """The phases in order; empty where no step is known."""
    if times.loop_start_ns is None or times.loop_end_ns is None or times.loop_duration_ns is None:
        return ()
    final_start_ns = min(times.loop_end_ns, times.end_ns)
    return (
        Phase(
            "initialization",
            "Initialization",
            times.start_ns,
            times.initialization_ns or 0,
            times.initialization_percent,
        ),
        Phase("loop", "Training loop", times.loop_start_ns, times.loop_duration_ns, times.loop_percent),
        Phase("finalization", "Finalization", final_start_ns, times.finalization_ns or 0, times.finalization_percent),
    )


def phase_donut(times: JobTimes, view: View) -> go.Figure:
    """Time spent in phases of training; the whole duration stands in the middle."""
    parts = phases(times)
    pie = go.Pie(
        labels=[part.name for part in parts],
        values=[max(part.duration_ns, 0) / 1e9 for part in parts],
        customdata=[text.duration_exact(part.duration_ns) for part in parts],
        marker={
            "colors": [getattr(view.colours, part.key) for part in parts],
            "line": {"color": view.colours.card, "width": 2},
        },
        hole=0.7,
        sort=False,
        direction="clockwise",
        textinfo="none",
        hovertemplate="<b>%{label}</b><br>%{customdata}, %{percent:.2%}<extra></extra>",
    )
    middle = {"x": 0.5, "xref": "paper", "yref": "paper", "showarrow": False, "xanchor": "center", "yanchor": "middle"}
    annotations = [
        middle
        | {
            "y": 0.54,
            "text": f"<b>{text.duration(times.duration_ns)}</b>",
            "font": {"size": 19, "color": view.colours.text},
        },
        middle | {"y": 0.38, "text": "total", "font": {"size": 11, "color": view.colours.text_3}},
    ]
    return chart(
        [pie], layout(view, height=DONUT_PX, unit="s", annotations=annotations, margin={"l": 4, "r": 4, "t": 4, "b": 4})
    )


def training_progress(times: JobTimes, view: View) -> FigureView:
    """One bar from start to end, its phases in order, with spot interruptions hatched over them."""
    parts = phases(times) or (Phase("steps", "Recorded", times.start_ns, times.duration_ns, None),)
    traces = [_segment(part, view) for part in parts if part.duration_ns > 0]
    traces += [_interruption(start_ns, end_ns, view) for start_ns, end_ns in times.spot_gaps]
    axis = {
        "range": [-0.5, 0.5],
        "autorange": False,
        "fixedrange": True,
        "showticklabels": False,
        "showgrid": False,
        "ticks": "",
    }
    figure = chart(
        traces,
        time_layout(
            view,
            height=PROGRESS_HEIGHT,
            unit="",
            y_axis=axis,
            barmode="overlay",
            hovermode="closest",
            bargap=0,
            margin={"l": 16, "r": 16, "t": 20, "b": 22},
            annotations=_segment_names(parts, times, view),
            meta={"time": False},
        ),
    )
    figure.update_xaxes(showgrid=False, showline=False, ticks="", fixedrange=True, ticklabeloverflow="hide past div")
    return FigureView(figure, note=view.zone, caption=_progress_caption(times))


def _segment(part: Phase, view: View) -> go.Bar:
    return go.Bar(
        base=[view.time(part.start_ns)],
        x=[part.duration_ns / 1e6],
        y=[0],
        width=0.86,
        orientation="h",
        name=part.name,
        marker={"color": getattr(view.colours, part.key), "line": {"width": 0}},
        customdata=[
            [
                text.duration_exact(part.duration_ns),
                view.clock(part.start_ns),
                view.clock(part.start_ns + part.duration_ns),
            ]
        ],
        hovertemplate="<b>%{fullData.name}</b> %{customdata[0]}<br>%{customdata[1]} – %{customdata[2]}<extra></extra>",
    )


def _interruption(start_ns: int, end_ns: int, view: View) -> go.Bar:
    return go.Bar(
        base=[view.time(start_ns)],
        x=[(end_ns - start_ns) / 1e6],
        y=[0],
        width=0.86,
        orientation="h",
        name="Spot interruption",
        marker=interrupted(view),
        customdata=[[text.duration(end_ns - start_ns), view.clock(start_ns), view.clock(end_ns)]],
        hovertemplate="<b>%{fullData.name}</b> %{customdata[0]}<br>%{customdata[1]} – %{customdata[2]}<extra></extra>",
    )


def _segment_names(parts: tuple[Phase, ...], times: JobTimes, view: View) -> list[dict[str, object]]:
    """Names above the segments wide enough for them; the last one ends at the right edge."""
    names: list[dict[str, object]] = []
    for part in parts:
        share = part.duration_ns / times.duration_ns if times.duration_ns else 0
        last = part.key == "finalization"
        if share < (0 if last else 0.18):
            continue
        words = f"{part.name} {text.duration(part.duration_ns)}"
        names.append(
            {
                "x": view.time(times.end_ns if last else part.start_ns),
                "xref": "x",
                "y": 1.02,
                "yref": "paper",
                "xanchor": "right" if last else "left",
                "yanchor": "bottom",
                "showarrow": False,
                "text": words,
                "font": {"size": 11, "color": view.colours.text_2},
            }
        )
    return names


def _progress_caption(times: JobTimes) -> str:
    if times.spot_gaps:
        lost_ns = sum(end_ns - start_ns for start_ns, end_ns in times.spot_gaps)
        return (
            f"{text.counted(len(times.spot_gaps), 'spot interruption')}, {text.duration(lost_ns)} in all: "
            "no node reported anything."
        )
    if times.steps_reason:
        return f"Phases are unknown: {text.plain(times.steps_reason)}"
    if times.first_step:
        return (
            f"The first recorded step is {times.first_step}, not 0: the loop began earlier, so initialization is "
            "an upper bound."
        )
    return ""
