"""The palettes are one in Python and in CSS, legible, and can be swapped without loss."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from components import theme

CSS = (Path(__file__).resolve().parents[2] / "assets" / "app.css").read_text(encoding="utf-8")


def css_variables(selector: str) -> dict[str, str]:
    block = re.search(rf'html\[data-theme="{selector}"\] \{{(.*?)\}}', CSS, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--([a-z0-9-]+): ([^;]+);", block[1]))


@pytest.mark.parametrize(("name", "palette"), [("dark", theme.DARK), ("light", theme.LIGHT)])
def test_css_has_the_same_colours(name: str, palette: theme.Palette) -> None:
    css = css_variables(name)
    assert {key.replace("_", "-"): value for key, value in asdict(palette).items()} == {
        key: value for key, value in css.items() if key != "heat"
    }
    scale = theme.HEATMAP_LIGHT if name == "light" else theme.HEATMAP_DARK
    assert re.findall(r"#[0-9a-f]{6}", css["heat"]) == [colour for _, colour in scale]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT])
def test_text_can_be_read_on_cards(palette: theme.Palette) -> None:
    for colour in (palette.text, palette.text_2, palette.text_3, palette.accent, palette.bad, palette.warn):
        assert contrast(colour, palette.card) >= 4.5
    assert contrast(palette.on_accent, palette.accent) >= 4.5
    for hue in (palette.gpu, palette.cpu, palette.memory, palette.network, palette.io, palette.gpu_memory):
        assert contrast(hue, palette.card) >= 3


@pytest.mark.parametrize("scale", [theme.HEATMAP_DARK, theme.HEATMAP_LIGHT])
def test_heatmap_scales_change_lightness_in_one_direction(scale: tuple[tuple[float, str], ...]) -> None:
    steps = [luminance(colour) for _, colour in scale]
    assert steps == sorted(steps) or steps == sorted(steps, reverse=True)
    assert [position for position, _ in scale] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_swapping_twice_gives_the_colour_back() -> None:
    swaps = theme.swaps()
    assert set(swaps) == {"dark", "light"}
    for dark, light in swaps["light"].items():
        assert swaps["dark"][light] == dark
    assert swaps["light"][theme.DARK.gpu] == theme.LIGHT.gpu
    assert swaps["light"]["#fbf8c8"] == "#15265d"


def test_a_layout_is_transparent_and_zooms_only_along_time() -> None:
    layout = theme.template("dark").layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.yaxis.fixedrange is True
    assert layout.xaxis.fixedrange is None


def test_colours_with_alpha() -> None:
    assert theme.rgba("#35c9a9", 0.2) == "rgba(53,201,169,0.2)"
    assert theme.hue("light", "io_wait") == theme.LIGHT.io
    assert theme.hue("dark", "something new") == theme.DARK.steps
