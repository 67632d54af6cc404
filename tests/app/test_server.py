"""The whole app without a browser: what it answers, to whom, and that what goes wrong stays inside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dash import Dash
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.requests import malformed
from app.server import ASSETS, create_app
from app.settings import Settings, load
from tests.conftest import Demo

CALLBACK = "/_dash-update-component"
PAGE = {"Accept": "text/html"}


def test_the_shell_is_html_of_ours_with_the_theme_set_before_anything_is_drawn(client: FlaskClient) -> None:
    html = client.get("/").text
    assert '<html lang="en"' in html
    first = re.search(r'<script src="([^"]+)">', html)
    assert first is not None
    assert first.group(1).startswith("/assets/first.js?m=")
    assert html.count("first.js") == 1
    assert client.get(first.group(1), buffered=True).status_code == 200


def test_nothing_in_the_shell_points_outside(client: FlaskClient) -> None:
    html = client.get("/").text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', html)


def test_every_script_and_style_of_the_shell_is_served_and_may_be_kept(client: FlaskClient) -> None:
    urls = re.findall(r'(?:src|href)="(/[^"]+)"', client.get("/").text)
    assert len(urls) > 8
    for url in urls:
        response = client.get(url, buffered=True)
        assert response.status_code == 200, url
        if "favicon" not in url:
            assert "max-age=31536000" in response.headers["Cache-Control"], url


def test_the_policy_lists_every_inline_script(dash_app: Dash, client: FlaskClient) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    hashes = dash_app.csp_hashes()
    assert hashes
    assert all(entry in policy for entry in hashes)
    assert "unsafe-eval" not in policy
    assert "frame-ancestors 'none'" in policy


def test_who_may_frame_it_is_a_setting(app_settings: Settings) -> None:
    allowed = app_settings.model_copy(update={"frame_ancestors": "https://portal.example"})
    response = create_app(allowed).server.test_client().get("/")
    assert "frame-ancestors https://portal.example;" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/nope", "/jobs", "/jobs/none-00000000", "/jobs/none-00000000/nodes", "/jobs/%2e%2e"])
def test_what_does_not_exist_is_a_404(client: FlaskClient, path: str) -> None:
    assert client.get(path, headers=PAGE).status_code == 404
    assert client.get(path).status_code == 404


def test_pages_of_jobs_exist(client: FlaskClient, demo: Demo) -> None:
    for job_id in demo.job_ids.values():
        for tab in ("", "/nodes"):
            assert client.get(f"/jobs/{job_id}{tab}", headers=PAGE).status_code == 200


def test_every_route_has_a_decision(dash_app: Dash, client: FlaskClient) -> None:
    """Flask knows more addresses than pass the gate; those that pass are these."""
    open_rules = set()
    for rule in dash_app.server.url_map.iter_rules():
        path = re.sub(r"<[^>]*>", "x", rule.rule)
        if client.get(path, buffered=True).status_code != 404 or client.post(path, json={}).status_code not in (
            404,
            405,
        ):
            open_rules.add(rule.rule)
    assert open_rules <= {
        "/",
        "/livez",
        "/readyz",
        "/_dash-layout",
        "/_dash-dependencies",
        "/_dash-update-component",
        "/_favicon.ico",
    }


@pytest.mark.parametrize(
    "name", ["dash/nothing.js", "dash/dash-renderer/../version.py", "os/path.py", "app/settings.py"]
)
def test_only_registered_files_of_packages_are_served(client: FlaskClient, name: str) -> None:
    response = client.get(f"/_dash-component-suites/{name}")
    assert response.status_code == 404
    assert response.headers["Cache-Control"] == "private, no-store"


def test_answers_are_compressed_for_those_who_ask(client: FlaskClient) -> None:
    response = client.get("/_dash-dependencies", headers={"Accept-Encoding": "zstd, br, gzip"})
    assert response.headers["Content-Encoding"] == "zstd"
    assert client.get("/_dash-dependencies", headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in client.get("/_dash-dependencies").headers


def test_a_server_that_can_serve_is_ready(client: FlaskClient) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (200, {"ready": True, "reasons": []})
    assert client.get("/livez").json == {"alive": True}


def test_a_store_that_is_gone_is_why_it_is_not_ready(app_settings: Settings, tmp_path: Path) -> None:
    own = app_settings.model_copy(update={"store": tmp_path / "store"})
    client = create_app(own).server.test_client()
    assert client.get("/readyz").status_code == 200
    (tmp_path / "store" / "jobs").rename(tmp_path / "elsewhere")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (503, {"ready": False, "reasons": ["The store cannot be read."]})
    assert client.get("/livez").status_code == 200


def test_a_disk_with_less_free_than_the_setting_is_why_it_is_not_ready(app_settings: Settings) -> None:
    greedy = app_settings.model_copy(update={"free_space_bytes": 10**18})
    answer = create_app(greedy).server.test_client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["ready"] is False
    (reason,) = answer.json["reasons"]
    assert re.fullmatch(r"Only \d+ MB are free where the store is: nothing is converted\.", reason)


def test_everything_lives_under_the_prefix(app_settings: Settings, demo: Demo) -> None:
    client = create_app(app_settings.model_copy(update={"prefix": "/insights/"})).server.test_client()
    html = client.get("/insights/").text
    urls = re.findall(r'(?:src|href)="(/[^"]+)"', html)
    assert urls
    assert all(url.startswith("/insights/") for url in urls)
    job_id = next(iter(demo.job_ids.values()))
    assert client.get(f"/insights/jobs/{job_id}/nodes", headers=PAGE).status_code == 200
    assert client.get(f"/jobs/{job_id}", headers=PAGE).status_code == 404
    assert client.get("/livez").status_code == client.get("/insights/livez").status_code == 200


def test_two_apps_in_one_process_are_both_complete(app_settings: Settings) -> None:
    first, second = create_app(app_settings), create_app(app_settings)
    assert first.callback_map.keys() == second.callback_map.keys()
    assert first.csp_hashes() == second.csp_hashes()


def test_a_source_that_cannot_be_opened_does_not_keep_the_server_from_starting(tmp_path: Path) -> None:
    settings = load(source=("s3://bucket/jobs", str(tmp_path / "missing")), store=tmp_path / "store")
    client = create_app(settings).server.test_client()
    assert client.get("/").status_code == 200
    assert client.get("/readyz").status_code == 200


def good_body(dash_app: Dash) -> dict[str, Any]:
    """A request as the browser sends it, for the first callback with one output and a plain input."""
    for output, callback in dash_app.callback_map.items():
        if not output.startswith("..") and callback["inputs"] and "callback" in callback:
            name, _, prop = output.rpartition(".")
            return {
                "output": output,
                "outputs": {"id": name, "property": prop},
                "inputs": [{**item, "value": None} for item in callback["inputs"]],
                "state": [{**item, "value": None} for item in callback["state"]],
                "changedPropIds": [],
            }
    raise AssertionError("no such callback")


def test_the_browser_s_own_request_is_well_formed(dash_app: Dash) -> None:
    assert malformed(dash_app.callback_map, good_body(dash_app)) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"output": "nothing.children"},
        {"output": None},
        {"output": ["a"]},
        {"outputs": None},
        {"outputs": {"id": "other", "property": "children"}},
        {"inputs": None},
        {"inputs": []},
        {"inputs": [1]},
        {"inputs": [{"id": {"a": 1}, "property": "x"}]},
        {"state": [{}] * 20},
        {"changedPropIds": 5},
        {"changedPropIds": [{}]},
    ],
)
def test_a_malformed_callback_is_a_400_without_a_trace(
    dash_app: Dash, client: FlaskClient, change: dict[str, Any]
) -> None:
    response = client.post(CALLBACK, json={**good_body(dash_app), **change})
    assert response.status_code == 400
    assert "Traceback" not in response.text
    assert "/" not in response.text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"5", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_request_is_a_400(client: FlaskClient, body: bytes) -> None:
    response = client.post(CALLBACK, data=body, content_type="application/json")
    assert response.status_code == 400
    assert "Traceback" not in response.text


def test_a_form_cannot_be_posted(client: FlaskClient) -> None:
    assert client.post(CALLBACK, data={"output": "x"}).status_code == 415


def test_a_body_over_the_limit_is_a_413(app_settings: Settings) -> None:
    small = app_settings.model_copy(update={"body_bytes": 2000})
    client = create_app(small).server.test_client()
    assert client.post(CALLBACK, data=b" " * 3000, content_type="application/json").status_code == 413


def test_a_bug_is_a_500_that_says_nothing(dash_app: Dash, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> str:
        raise RuntimeError("secret /path")

    monkeypatch.setitem(dash_app.server.view_functions, "/_dash-layout", broken)
    response = client.get("/_dash-layout")
    assert response.status_code == 500
    assert response.text == "Internal error. The server's log has the details.\n"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_value_in_a_request_makes_the_server_fail(dash_app: Dash, client: FlaskClient, data: st.DataObject) -> None:
    outputs = sorted(name for name, callback in dash_app.callback_map.items() if "callback" in callback)
    output = data.draw(st.sampled_from(outputs))
    callback = dash_app.callback_map[output]
    names = [name.rpartition(".") for name in output.strip(".").split("...")]
    given_outputs = [{"id": name, "property": prop} for name, _, prop in names]
    body = {
        "output": output,
        "outputs": given_outputs if output.startswith("..") else given_outputs[0],
        "inputs": [{**item, "value": data.draw(JSON)} for item in callback["inputs"]],
        "state": [{**item, "value": data.draw(JSON)} for item in callback["state"]],
        "changedPropIds": [f"{item['id']}.{item['property']}" for item in callback["inputs"][:1]],
    }
    response = client.post(CALLBACK, data=json.dumps(body), content_type="application/json")
    assert response.status_code in (200, 204, 400), response.text
    assert "Traceback" not in response.text


def test_assets_hold_nothing_but_what_is_served() -> None:
    kinds = {path.suffix for path in ASSETS.rglob("*") if path.is_file()}
    assert kinds <= {".css", ".js", ".svg", ".woff2", ".ico", ".png", ".txt"}
