"""Colours and chart manners: the palettes of both themes, the heatmap scales, and the layout every figure starts from.

The style sheet holds the same colours as CSS variables; a test compares the two.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import plotly.graph_objects as go

Theme = Literal["dark", "light"]

FONT: Final = '"Inter Variable", Inter, system-ui, sans-serif'

TIME_MARGIN: Final = {"l": 52, "r": 14, "t": 8, "b": 26}
"""Margins of charts on the shared time axis; all alike, so that the common hover line is arithmetic."""
MARGIN: Final = {"l": 44, "r": 14, "t": 8, "b": 26}


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, under the names of the CSS variables."""

    bg: str
    card: str
    raised: str
    sunken: str
    line: str
    line_2: str
    grid: str
    text: str
    text_2: str
    text_3: str
    accent: str
    on_accent: str
    accent_bg: str
    bad: str
    bad_bg: str
    warn: str
    warn_fill: str
    warn_bg: str
    good: str
    good_bg: str
    gpu: str
    gpu_memory: str
    cpu: str
    memory: str
    network: str
    io: str
    steps: str
    initialization: str
    loop: str
    finalization: str


DARK: Final = Palette(
    bg="#141b23",
    card="#1b242e",
    raised="#23303c",
    sunken="#161e27",
    line="#2a3643",
    line_2="#3a4857",
    grid="#26313d",
    text="#e9eff5",
    text_2="#b3c0cd",
    text_3="#8a99a9",
    accent="#62b5e5",
    on_accent="#0d1a24",
    accent_bg="#1d3a4d",
    bad="#ff7b7b",
    bad_bg="#3d2329",
    warn="#f2b84b",
    warn_fill="#f2b84b",
    warn_bg="#3a2f1c",
    good="#5fd0a5",
    good_bg="#17352f",
    gpu="#35c9a9",
    gpu_memory="#ccb6ff",
    cpu="#4d94ee",
    memory="#8fe0f7",
    network="#dc5fa2",
    io="#c9dc66",
    steps="#a9b5c2",
    initialization="#7d8fa5",
    loop="#4f9fd0",
    finalization="#7ccf9b",
)

LIGHT: Final = Palette(
    bg="#f4f6f9",
    card="#ffffff",
    raised="#eef2f6",
    sunken="#f8fafc",
    line="#e1e7ed",
    line_2="#c9d3dd",
    grid="#e9eef3",
    text="#17212c",
    text_2="#465566",
    text_3="#5f6f82",
    accent="#14699a",
    on_accent="#ffffff",
    accent_bg="#e0eff8",
    bad="#c22f3a",
    bad_bg="#fdecec",
    warn="#8f5a00",
    warn_fill="#dd9200",
    warn_bg="#fdf3de",
    good="#0b7a5b",
    good_bg="#e2f5ee",
    gpu="#0a8f78",
    gpu_memory="#8a68e6",
    cpu="#1d5fc4",
    memory="#0a7fb0",
    network="#9a1c69",
    io="#7a8a10",
    steps="#5d6c7d",
    initialization="#93a4b8",
    loop="#3f8fc4",
    finalization="#4fae78",
)

HEATMAP_DARK: Final = (
    (0.0, "#1a2b44"),
    (0.25, "#1f5b87"),
    (0.5, "#2799ad"),
    (0.75, "#8ed2a6"),
    (1.0, "#fbf8c8"),
)
HEATMAP_LIGHT: Final = (
    (0.0, "#edf3f7"),
    (0.25, "#b5dbe0"),
    (0.5, "#55b0c0"),
    (0.75, "#2a72a8"),
    (1.0, "#15265d"),
)

DIFFERENCE_DARK: Final = (
    (0.0, "#6db3f8"),
    (0.25, "#2f6fb0"),
    (0.5, "#263340"),
    (0.75, "#b06a1f"),
    (1.0, "#ffb25e"),
)
DIFFERENCE_LIGHT: Final = (
    (0.0, "#0b4a8f"),
    (0.25, "#6aa5dd"),
    (0.5, "#f0f3f5"),
    (0.75, "#eba35a"),
    (1.0, "#a34a00"),
)

_HUES: Final = {
    "gpu": "gpu",
    "gpu_memory": "gpu_memory",
    "cpu": "cpu",
    "memory": "memory",
    "network": "network",
    "io_wait": "io",
    "iops": "io",
    "throughput": "io",
    "io": "io",
    "steps": "steps",
}


def palette(theme: Theme) -> Palette:
    """The colours of a theme."""
    return LIGHT if theme == "light" else DARK


def hue(theme: Theme, metric: str) -> str:
    """The colour of a metric: the same on every page."""
    colour: str = getattr(palette(theme), _HUES.get(metric, "steps"))
    return colour


def heatmap_scale(theme: Theme) -> list[list[float | str]]:
    """The colour scale of 0 to 100 percent as Plotly wants it: high always stands out from the page."""
    scale = HEATMAP_LIGHT if theme == "light" else HEATMAP_DARK
    return [[position, colour] for position, colour in scale]


def difference_scale(theme: Theme) -> list[list[float | str]]:
    """The colours of a difference from -100 to 100: blue is less, orange more, and nothing is nearly the page's own.

    Blue and orange are told apart with every common kind of colour blindness.
    """
    scale = DIFFERENCE_LIGHT if theme == "light" else DIFFERENCE_DARK
    return [[position, colour] for position, colour in scale]


def rgba(colour: str, alpha: float) -> str:
    """A `#rrggbb` colour with transparency; lines use this, because an opacity on a trace tints the whole plot."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def band_fill(theme: Theme, metric: str) -> str:
    """The fill under a line or between minimum and maximum."""
    return rgba(hue(theme, metric), 0.13 if theme == "light" else 0.2)


def swaps() -> dict[str, dict[str, str]]:
    """For each theme, the colours of the other one mapped to its own: charts are recoloured without asking the server.

    Where two share a colour, the one that charts draw with is kept: `warn_fill`, not `warn`; `card`, not `on_accent`.
    """
    dark, light = asdict(DARK), asdict(LIGHT)
    pairs = [(dark[name], light[name]) for name in dark if name not in ("warn", "on_accent")]
    for ours, others in ((HEATMAP_DARK, HEATMAP_LIGHT), (DIFFERENCE_DARK, DIFFERENCE_LIGHT)):
        pairs += [(one[1], other[1]) for one, other in zip(ours, others, strict=True)]
    return {"light": dict(pairs), "dark": {there: here for here, there in pairs}}


def template(theme: Theme) -> go.layout.Template:
    """The Plotly template: transparent paper, hairline grid, no zero line, no frame."""
    colours = palette(theme)
    axis: dict[str, Any] = {
        "automargin": False,
        "gridcolor": colours.grid,
        "linecolor": colours.line_2,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        # Plotly's default measures every label against the chart's edge at each drawing: most of the time of a zoom.
        "ticklabeloverflow": "allow",
        "tickfont": {"size": 11, "color": colours.text_3},
        "title": {"font": {"size": 11, "color": colours.text_3}},
    }
    layout = go.Layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 11, "color": colours.text_2},
        xaxis=axis,
        yaxis={**axis, "fixedrange": True},
        hoverlabel={
            "bgcolor": colours.raised,
            "bordercolor": colours.line_2,
            "font": {"family": FONT, "size": 11.5, "color": colours.text},
        },
        showlegend=False,
        dragmode="zoom",
        separators=". ",
    )
    return go.layout.Template(layout=layout)
