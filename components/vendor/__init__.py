"""Scripts of others that are kept here: the cartesian bundle of plotly.js, a third of the whole in size.

It holds every kind of chart that is drawn here (bar, heatmap, pie, scatter) and must be of the version that the
installed plotly package draws for; with any other version the whole script of that package is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from plotly.offline import get_plotlyjs_version

PLOTLY_VERSION: Final = "4.1.1"
_SCRIPT: Final = Path(__file__).with_name("plotly-cartesian.min.js")


def plotly_script() -> Path | None:
    """The small bundle, or None where it is not of the installed version."""
    return _SCRIPT if get_plotlyjs_version() == PLOTLY_VERSION else None
