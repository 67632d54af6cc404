"""From exceptions to words on the screen: what people can understand is said, the rest is logged.

No traceback, path or query ever reaches the page.
"""

from __future__ import annotations

import logging
from typing import Final

from dash import set_props

from components import notices
from data.errors import InsightsError

log = logging.getLogger(__name__)

INTERNAL: Final = (
    "Something went wrong inside the dashboard.",
    "The server's log has the details; trying again may help.",
)
NOTICE_ID: Final = "shell-notice"


def explain(error: BaseException) -> tuple[str, str]:
    """A sentence and a hint for an error."""
    if isinstance(error, InsightsError):
        return error.message, error.hint
    return INTERNAL


def on_error(error: Exception) -> None:
    """Dash's handler for what a callback raised: a notice above the page; the callback's outputs stay as they are."""
    if not isinstance(error, InsightsError):
        log.error("callback failed", exc_info=error)
    set_props(NOTICE_ID, {"children": notices.failed(*explain(error), dismissible=True)})
