"""Callback requests are checked against what was registered before Dash sees them: a malformed one is a 400, no error.

What goes wrong after that is ours: it is logged, and the browser hears no more than that it went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import structlog
from dash import Dash
from dash.exceptions import DependencyException, InvalidResourceError
from flask import Response, request
from werkzeug.exceptions import HTTPException


def guard(dash_app: Dash) -> None:
    """Put the check in front of Dash's callback endpoint. Call it after all callbacks are registered."""
    endpoint = f"{dash_app.config.routes_pathname_prefix}_dash-update-component"
    dispatch = dash_app.server.view_functions[endpoint]

    def checked_dispatch() -> Any:
        try:
            reason = malformed(dash_app.callback_map, request.get_json())
        except RecursionError:
            reason = "The request is nested too deeply."
        if reason:
            return Response(f"{reason}\n", 400, mimetype="text/plain")
        return dispatch()

    def internal_error(error: Exception) -> Any:
        if isinstance(error, HTTPException):
            return Response(f"{error.name}\n", error.code, mimetype="text/plain")
        structlog.get_logger("requests").error("request failed", path=request.path, exc_info=error)
        return Response("Internal error. The server's log has the details.\n", 500, mimetype="text/plain")

    def no_such_file(_error: Exception) -> Response:
        return Response("There is no such file.\n", 404, mimetype="text/plain")

    dash_app.server.view_functions[endpoint] = checked_dispatch
    dash_app.server.register_error_handler(DependencyException, no_such_file)
    dash_app.server.register_error_handler(InvalidResourceError, no_such_file)
    dash_app.server.register_error_handler(Exception, internal_error)


def malformed(callback_map: Mapping[str, Mapping[str, Any]], body: Any) -> str:
    """Why this body is no request for a registered callback; '' if it is one."""
    if not isinstance(body, dict):
        return "A callback request is an object."
    output = body.get("output")
    callback = callback_map.get(output) if isinstance(output, str) else None
    if callback is None:
        return "There is no such callback."
    for name, key in (("inputs", "inputs"), ("state", "state")):
        if not _matches(callback[key], body.get(name, [])):
            return f"The callback's {name} are not as registered."
    if not callback.get("no_output") and _output_key(body.get("outputs")) != _bare(str(output)):
        return "The callback's outputs are not as registered."
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(item, str) for item in changed):
        return "changedPropIds is a list of texts."
    return ""


def _matches(expected: list[dict[str, Any]], given: Any) -> bool:
    if not isinstance(given, list) or len(given) != len(expected):
        return False
    return all(_is_dependency(item, wanted) for item, wanted in zip(given, expected, strict=True))


def _is_dependency(item: Any, wanted: Mapping[str, Any]) -> bool:
    if str(wanted["id"]).startswith("{"):  # a pattern: the browser sends what matches it
        return isinstance(item, list | dict)
    return isinstance(item, dict) and item.get("id") == wanted["id"] and item.get("property") == wanted["property"]


def _output_key(outputs: Any) -> str | None:
    """The name that Dash gives to these outputs."""
    several = isinstance(outputs, list)
    names = []
    for item in outputs if several else [outputs]:
        if not isinstance(item, dict) or not isinstance(item.get("property"), str):
            return None
        names.append(f"{item.get('id')}.{_bare(item['property'])}")
    return f"..{'...'.join(names)}.." if several else names[0]


def _bare(name: str) -> str:
    # outputs that several callbacks write to carry a mark: "children@a1b2c3"
    return re.sub(r"@[0-9a-f]+(?=\.\.|$)", "", name)
