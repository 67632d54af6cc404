"""The only module that builds an app when imported: `server` is what gunicorn serves."""

from __future__ import annotations

import sys
from contextlib import suppress

import structlog

from app import logs
from app.server import create_app
from app.services import services
from app.settings import load
from data.errors import InsightsError
from data.queries import jobs

APP_LOAD_ERROR = 4
"""The exit status by which gunicorn knows that starting the worker again is of no use."""

try:
    settings = load()
    logs.configure(settings.log_level)
    dash_app = create_app(settings)
except InsightsError as error:
    structlog.get_logger("server").critical("cannot start", reason=error.message, hint=error.hint)
    sys.exit(APP_LOAD_ERROR)
server = dash_app.server
# Dash sets itself up in its first request and is not ready for a second one meanwhile: so make it here, alone.
server.test_client().get(settings.prefix, headers={"Host": "localhost"})
with suppress(InsightsError):
    services(dash_app).store.fetch(jobs.totals)  # opens the database and the manifests before someone waits for them
