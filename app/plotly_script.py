"""Serves the small bundle of plotly.js in place of the whole, where Dash's own components look for it."""

from __future__ import annotations

from typing import Any

from dash import Dash
from flask import send_file

from components.vendor import plotly_script


def serve(dash_app: Dash) -> None:
    """Answer requests for plotly.js with the small bundle, where there is one of the right version."""
    script = plotly_script()
    if script is None:
        return
    prefix = dash_app.config.routes_pathname_prefix
    endpoint = f"{prefix}_dash-component-suites/<string:package_name>/<path:fingerprinted_path>"
    usual = dash_app.server.view_functions[endpoint]

    def serve_suite(package_name: str, fingerprinted_path: str) -> Any:
        name = fingerprinted_path.rpartition("/")[2]
        if package_name == "plotly" and name.startswith("plotly.") and name.endswith("min.js"):
            return send_file(script, mimetype="application/javascript", conditional=True)
        return usual(package_name=package_name, fingerprinted_path=fingerprinted_path)

    dash_app.server.view_functions[endpoint] = serve_suite
