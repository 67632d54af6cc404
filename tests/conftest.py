"""What many tests share: the demo jobs, their store, converted once a session, and an app on top of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from dash import Dash
    from flask.testing import FlaskClient

    from app.settings import Settings

ROOT = Path(__file__).resolve().parent.parent

REAL = Path(os.environ.get("REAL_TRACES") or ROOT.parent / "shared" / "real")
"""Profiler output that others published, with its facts; not part of the project."""

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see the defaults, whatever the machine's environment says."""
    for name in list(os.environ):
        if name.startswith("INSIGHTS_") or name == "PORT":
            monkeypatch.delenv(name)


@dataclass(frozen=True)
class Demo:
    """The demo jobs as raw trees, and their store. `job_ids` are by the jobs' names."""

    source: Path
    store: Path
    job_ids: dict[str, str]


@pytest.fixture(scope="session")
def demo_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo jobs."""
    from data.demo import write_demo

    folder = tmp_path_factory.mktemp("demo") / "jobs"
    write_demo(folder, lambda line: None)
    return folder


@pytest.fixture(scope="session")
def demo(demo_source: Path) -> Demo:
    """The demo jobs, converted by the command line. Tests must leave this store as it is."""
    from data.sources import open_source

    store = demo_source.with_name("store")
    command = [sys.executable, "-m", "app", "convert", str(demo_source), "--store", str(store)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    jobs = open_source(str(demo_source)).jobs()
    return Demo(demo_source, store, {job.name: job.job_id for job in jobs})


@pytest.fixture
def app_settings(demo: Demo, tmp_path: Path) -> Settings:
    """Settings of an app over the demo jobs, with a cache of its own."""
    from app.settings import load

    return load(source=(str(demo.source),), store=demo.store, cache=tmp_path / "cache")


@pytest.fixture
def dash_app(app_settings: Settings) -> Dash:
    """An app over the demo jobs."""
    from app.server import create_app

    return create_app(app_settings)


@pytest.fixture
def client(dash_app: Dash) -> FlaskClient:
    """A client of that app, warmed as `app.wsgi` warms it."""
    client = dash_app.server.test_client()
    client.get("/")
    return client


@pytest.fixture
def call(dash_app: Dash, client: FlaskClient) -> Callable[..., Any]:
    """Calls a callback by the way of the browser: `call(output, **{"id.property": value})` gives the changed values."""

    def run(output: str, *, prefix: str = "/", **values: Any) -> Any:
        callback = dash_app.callback_map[output]
        body = {
            "output": output,
            "outputs": _outputs(output),
            "changedPropIds": list(values)[:1],
            "inputs": [_filled(item, values) for item in callback["inputs"]],
            "state": [_filled(item, values) for item in callback["state"]],
        }
        response = client.post(f"{prefix}_dash-update-component", json=body)
        assert response.status_code in (200, 204), (response.status_code, response.text)
        return response.json["response"] if response.status_code == 200 and response.json else {}

    return run


def _filled(item: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    return {"id": item["id"], "property": item["property"], "value": values.get(f"{item['id']}.{item['property']}")}


def _outputs(output: str) -> Any:
    names = output.strip(".").split("...")
    outputs = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
    return outputs if output.startswith("..") else outputs[0]
