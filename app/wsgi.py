"""The only module that builds an app when imported: `server` is what gunicorn serves."""

from __future__ import annotations

from app import logs
from app.server import create_app
from app.settings import load

settings = load()
logs.configure(settings.log_level)
dash_app = create_app(settings)
server = dash_app.server
# Dash sets itself up in its first request and is not ready for a second one meanwhile: so make it here, alone.
server.test_client().get(settings.prefix, headers={"Host": "localhost"})
