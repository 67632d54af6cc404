"""The gate, alone and in front of the real app: only what is listed passes, and every answer carries the headers."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request, Response

from app import gate

POLICY = gate.content_security_policy(["'sha256-abc='"], "'none'")


@Request.application
def inner(request: Request) -> Response:
    """Answers everything with the path it was asked for."""
    if "boom" in request.path:
        return Response("broken", 500)
    return Response(request.path, headers={"X-Inner": "yes"})


def client(prefix: str = "/", **changes: Any) -> Client:
    values: dict[str, Any] = {
        "prefix": prefix,
        "known_hosts": frozenset({"localhost", "127.0.0.1", "::1", "insights.example"}),
        "allowed_hosts": frozenset({"insights.example"}),
        "health": frozenset({"/livez", f"{prefix}livez"}),
        "is_page": lambda path: path in (prefix, f"{prefix}jobs/known"),
        "content_security_policy": POLICY,
        "body_bytes": 1000,
    }
    return Client(gate.Gate(inner, gate.Policy(**{**values, **changes})))


def passes(response: TestResponse) -> bool:
    return response.headers.get("X-Inner") == "yes" and response.status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("HEAD", "/jobs/known"),
        ("GET", "/_dash-layout"),
        ("GET", "/_dash-dependencies"),
        ("POST", "/_dash-update-component"),
        ("GET", "/_dash-component-suites/dash/dcc/async-graph.js"),
        ("GET", "/_dash-component-suites/plotly/package_data/plotly.min.js"),
        ("GET", "/assets/app.css"),
        ("GET", "/assets/fonts/inter-latin-variable.woff2"),
        ("GET", "/livez"),
    ],
)
def test_what_is_listed_passes(method: str, path: str) -> None:
    assert passes(client().open(path, method=method))


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/_reload-hash",
        "/_alive_x",
        "/_mcp",
        "/healthz",
        "/admin",
        "/jobs/unknown",
        "/jobs/known/extra",
        "/assets/",
        "/assets/../app/settings.py",
        "/assets/.hidden",
        "/assets/a\\b",
        "/assets/a%00b",
        "/assets//etc/passwd",
        "/_dash-component-suites/dash",
        "/_dash-component-suites/dash/../../x.js",
        "/_dash-update-component/",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_what_is_not_listed_does_not_pass(method: str, path: str) -> None:
    response = client().open(path, method=method)
    assert response.status_code == 404
    assert "X-Inner" not in response.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"])
@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/assets/app.css", "/livez"])
def test_a_method_that_is_not_listed_does_not_pass(method: str, path: str) -> None:
    response = client().open(path, method=method)
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"


def test_an_unknown_page_is_a_404_that_shows_the_dashboard() -> None:
    response = client("/insights/").get("/insights/jobs/unknown", headers={"Accept": "text/html,*/*"})
    assert response.status_code == 404
    assert response.text == "/insights/"  # the browser's address stays, so the dashboard can say what is missing
    assert response.headers["Cache-Control"] == "private, no-store"


FOREIGN = [
    "evil.example",
    "evil.example:8050",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "[::2]",
    "",
    "0.0.0.0",
    "a@b",
]


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("POST", "/_dash-update-component"), ("GET", "/livez")])
def test_a_foreign_name_is_refused_on_every_road(host: str, method: str, path: str) -> None:
    response = client().open(path, method=method, headers={"Host": host})
    assert response.status_code == 400
    assert "X-Inner" not in response.headers


@pytest.mark.parametrize(
    "host", ["localhost:8050", "LOCALHOST", "127.0.0.1:1", "[::1]:8050", "insights.example", "insights.example."]
)
def test_a_known_name_passes_with_any_port(host: str) -> None:
    assert passes(client().get("/", headers={"Host": host}))


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": "http://localhost:8050"}, True),
        ({"Origin": "http://localhost:8050", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "https://insights.example"}, True),
        ({"Origin": "http://localhost:3000"}, False),
        ({"Origin": "http://127.0.0.1:8050"}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "https://insights.example.evil.example"}, False),
        ({"Origin": "https://insights.example@evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
    ],
)
def test_a_request_that_changes_something_must_come_from_the_dashboard(headers: dict[str, str], allowed: bool) -> None:
    response = client().post("/_dash-update-component", headers={"Host": "localhost:8050", **headers})
    assert response.status_code == (200 if allowed else 403)


def test_a_path_from_a_header_is_refused() -> None:
    assert client().get("/", environ_overrides={"SCRIPT_NAME": "/evil"}).status_code == 400


def test_a_large_body_is_refused_before_it_is_read() -> None:
    assert client().post("/_dash-update-component", data=b"x" * 1001).status_code == 413
    assert client().post("/_dash-update-component", data=b"x" * 1000).status_code == 200


@pytest.mark.parametrize("path", ["/", "/assets/app.css", "/nothing", "/_dash-layout", "/assets/boom.js", "/livez"])
def test_every_answer_carries_the_security_headers(path: str) -> None:
    headers = client().get(path).headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_only_fingerprinted_static_files_may_be_kept() -> None:
    kept = {path: client().get(path).headers["Cache-Control"] for path in ("/", "/_dash-layout", "/livez", "/nothing")}
    assert set(kept.values()) == {"private, no-store"}
    assert client().get("/assets/app.css").headers["Cache-Control"] == "no-cache"
    assert client().get("/assets/app.css?m=17.1").headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert client().get("/assets/boom.js?m=17.1").headers["Cache-Control"] == "private, no-store"


def test_the_policy_is_the_one_that_was_tried_in_a_browser() -> None:
    assert gate.content_security_policy(["'sha256-a='", "'sha256-b='"], "https://portal.example") == (
        "default-src 'none'; script-src 'self' 'sha256-a=' 'sha256-b='; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        "frame-ancestors https://portal.example; form-action 'none'"
    )


def test_pages_outside_the_prefix_do_not_exist() -> None:
    assert client("/insights/", is_page=lambda path: True).get("/jobs/known").status_code == 404
    assert passes(client("/insights/").get("/insights/jobs/known"))
    assert passes(client("/insights/").get("/livez"))
    assert passes(client("/insights/").get("/insights/livez"))
