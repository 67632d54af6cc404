"""Attributes of HTML elements whose names Python cannot write."""

from __future__ import annotations

from typing import Any


def attributes(**values: str) -> dict[str, Any]:
    """Attributes whose names hold a hyphen: `aria_label` is `aria-label`, `data_panel` is `data-panel`."""
    return {name.replace("_", "-"): value for name, value in values.items()}
