"""Logs: lines for people on a terminal, one JSON object a line elsewhere. Text from files travels as values only."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
from gunicorn.glogging import Logger


def configure(level: str) -> None:
    """Send all logs, ours and the libraries', to stdout in one form."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_rendering()))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for chatty in ("werkzeug", "urllib3", "botocore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _rendering() -> list[Any]:
    clean = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if sys.stdout.isatty():
        return [clean, structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [clean, structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=True)]


class GunicornLogger(Logger):  # type: ignore[misc]
    """Gunicorn's messages through the same logs, in place of its own format."""

    def setup(self, cfg: Any) -> None:
        """Called by gunicorn with its configuration."""
        self.cfg = cfg
        self._access_log_enabled = False
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)
