"""How gunicorn serves the app: threads in few processes, and no more than needed from what it would trust or open."""

from __future__ import annotations

import sys
from typing import Any

import structlog

from app.logs import GunicornLogger, configure
from app.settings import SettingsError, load

try:
    _settings = load()
except SettingsError as _error:
    sys.exit(f"Error: {_error.message} {_error.hint}")
configure(_settings.log_level)

bind = f"[{_settings.host}]:{_settings.port}" if ":" in _settings.host else f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = _settings.workers
threads = _settings.threads
timeout = 120
graceful_timeout = 10
keepalive = 5
logger_class = GunicornLogger
# no path of ours comes from a header, whoever sends it
forwarder_headers = ""
forwarded_allow_ips = ""
control_socket_disable = True


def post_worker_init(worker: Any) -> None:
    """Called when a worker has loaded the app; the first one says where it is."""
    if worker.age == 1:
        if sys.stdout.isatty():
            sys.stdout.write(f"Debugger Insights is ready: {_settings.url}  (Ctrl+C stops it)\n")
            sys.stdout.flush()
        else:
            structlog.get_logger("server").info("ready", url=_settings.url)
