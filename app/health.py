"""Liveness and readiness, for whatever watches the server: JSON, with the reasons where it is not ready."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, Response, jsonify

PATHS = ("livez", "readyz")


def paths(prefix: str) -> frozenset[str]:
    """The paths of both checks: the same with and without the prefix, for probes that know nothing of it."""
    return frozenset({f"/{name}" for name in PATHS} | {f"{prefix}{name}" for name in PATHS})


def register(server: Flask, prefix: str, reasons: Callable[[], list[str]]) -> None:
    """Add both checks. `reasons` says why the server is not ready; nothing means that it is."""

    def livez() -> Response:
        return jsonify(alive=True)

    def readyz() -> tuple[Response, int]:
        why_not = reasons()
        return jsonify(ready=not why_not, reasons=why_not), 503 if why_not else 200

    for number, base in enumerate(dict.fromkeys(("/", prefix))):
        server.add_url_rule(f"{base}livez", f"livez-{number}", livez)
        server.add_url_rule(f"{base}readyz", f"readyz-{number}", readyz)
