"""Liveness and readiness, under both addresses."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import health


def client(prefix: str, reasons: list[str]) -> FlaskClient:
    server = Flask("test")
    health.register(server, prefix, lambda: reasons)
    return server.test_client()


@pytest.mark.parametrize("prefix", ["/", "/insights/"])
def test_both_checks_answer_with_and_without_the_prefix(prefix: str) -> None:
    for base in ("/", prefix):
        assert client(prefix, []).get(f"{base}livez").json == {"alive": True}
        assert client(prefix, []).get(f"{base}readyz").json == {"ready": True, "reasons": []}
    assert health.paths(prefix) == {"/livez", "/readyz", f"{prefix}livez", f"{prefix}readyz"}


def test_not_ready_is_503_with_the_reasons_and_still_alive() -> None:
    server = client("/", ["The store cannot be read."])
    response = server.get("/readyz")
    assert response.status_code == 503
    assert response.json == {"ready": False, "reasons": ["The store cannot be read."]}
    assert server.get("/livez").status_code == 200
