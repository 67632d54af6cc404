"""The small bundle of plotly.js stands in for the whole one, and is of its version."""

from __future__ import annotations

import pytest
from dash import Dash
from flask.testing import FlaskClient
from plotly.offline import get_plotlyjs_version

from app import plotly_script
from components import vendor

PLOTLY = "/_dash-component-suites/plotly/package_data/plotly.min.js"


def test_the_bundle_is_of_the_installed_version() -> None:
    script = vendor.plotly_script()
    assert script is not None
    head = script.read_text(encoding="utf-8")[:200]
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}" in head


def test_it_is_served_where_graphs_look_for_it(client: FlaskClient) -> None:
    answer = client.get(PLOTLY, buffered=True)
    assert answer.status_code == 200
    assert answer.mimetype in ("application/javascript", "text/javascript")
    assert b"(cartesian - minified)" in answer.data[:200]


def test_other_scripts_are_served_as_before(client: FlaskClient) -> None:
    assert client.get("/_dash-component-suites/dash/dcc/async-graph.js", buffered=True).status_code == 200
    assert client.get("/_dash-component-suites/plotly/package_data/other.js", buffered=True).status_code >= 400


def test_another_version_gets_its_own_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendor, "get_plotlyjs_version", lambda: "9.9.9")
    assert vendor.plotly_script() is None
    dash_app = Dash("app")
    before = dict(dash_app.server.view_functions)
    plotly_script.serve(dash_app)
    assert dash_app.server.view_functions == before
