"""Panels answer every request: with a chart, or with the reason why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import pytest
from dash import Dash, html

from app.errors import INTERNAL
from app.panels import Request, read_request, register_content, register_figure
from components.panels import EmptyView, FigureView, content_panel, figure_panel
from data.errors import MissingTable, QueryTimeout
from data.selection import Selection, Window

TOKEN = {
    "path": "/jobs/run-a/nodes",
    "search": "?from=1&to=2&node=algo-1&metric=io_wait",
    "serial": 7,
    "width": 640,
    "theme": "light",
    "offset": 60,
}


def ask(draw: Callable[[Request], Any], token: dict[str, Any] | None, *, content: bool = False) -> dict[str, Any]:
    """What the browser gets for a request of a panel with this drawing function."""
    dash_app = Dash("app", suppress_callback_exceptions=True)
    panel = content_panel("p", "Panel", min_height=10) if content else figure_panel("p", "Panel", height=10)
    dash_app.layout = html.Div(panel)
    (register_content if content else register_figure)(dash_app, "p", draw)
    names = ["p-body.children"] if content else ["p.figure", "p.style", "p-note.children", "p-caption.children",
                                                 "p-empty.children"]  # fmt: skip
    outputs = [dict(zip(("id", "property"), name.split("."), strict=True)) for name in names]
    body = {
        "output": names[0] if content else f"..{'...'.join(names)}..",
        "outputs": outputs[0] if content else outputs,
        "inputs": [{"id": "p-request", "property": "data", "value": token}],
        "changedPropIds": ["p-request.data"],
    }
    response = dash_app.server.test_client().post("/_dash-update-component", json=body)
    if response.status_code == 204:
        return {}
    assert response.status_code == 200
    found: dict[str, Any] = response.json["response"]
    return found


def test_a_request_is_read_whole() -> None:
    request = read_request(Dash("app"), TOKEN)
    assert request is not None
    assert request.selection == Selection("run-a", Window(1_000_000, 2_000_000), ("algo-1",))
    assert (request.width, request.theme, request.offset_minutes) == (640, "light", 60)
    assert request.query["metric"] == "io_wait"


@pytest.mark.parametrize("width", [float("nan"), "wide", None, True, [], 10**12, -5])
def test_a_width_of_nonsense_is_bounded(width: object) -> None:
    request = read_request(Dash("app"), {**TOKEN, "width": width, "offset": width, "theme": width})
    assert request is not None
    assert 100 <= request.width <= 4096
    assert -1440 <= request.offset_minutes <= 1440
    assert request.theme == "dark"


@pytest.mark.parametrize("token", [None, {}, {"path": "/"}, {"path": 3}, {"path": "jobs/a"}, [1], "x"])
def test_no_job_is_no_request(token: Any) -> None:
    assert read_request(Dash("app"), token) is None


def test_a_figure_comes_with_note_caption_and_its_window_as_revision() -> None:
    found = ask(lambda request: FigureView(go.Figure(), f"{request.width} px", "A sentence.", 90), TOKEN)
    assert found["p"]["figure"]["layout"]["uirevision"] == TOKEN["search"]
    assert found["p"]["style"] == {"height": "90px"}
    assert found["p-note"]["children"] == "640 px"
    assert found["p-empty"]["children"] == []
    assert marks(found) == ["7"]


def test_an_empty_view_says_why() -> None:
    found = ask(lambda request: EmptyView("No steps were recorded.", "Switch the framework profiler on."), TOKEN)
    assert "p" not in found
    assert "No steps were recorded." in json.dumps(found["p-empty"])
    assert "Switch the framework profiler on." in json.dumps(found["p-empty"])
    assert marks(found) == ["7"]


def failing(error: Exception) -> Callable[[Request], Any]:
    def draw(request: Request) -> Any:
        raise error

    return draw


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize(
    ("error", "words", "kind"),
    [
        (MissingTable("This job has no GPU."), "This job has no GPU.", "notice-empty"),
        (QueryTimeout("The query took too long.", "Choose less."), "Choose less.", "notice-failed"),
        (ZeroDivisionError("secret of the server"), INTERNAL[0], "notice-failed"),
    ],
)
def test_what_goes_wrong_is_said_in_place(error: Exception, words: str, kind: str, content: bool) -> None:
    found = ask(failing(error), TOKEN, content=content)
    text = json.dumps(found)
    assert words in text
    assert kind in text
    assert "secret" not in text
    assert "Traceback" not in text
    assert marks(found) == ["7"]


def test_content_is_put_into_the_body() -> None:
    found = ask(lambda request: html.P("Hello"), TOKEN, content=True)
    assert found["p-body"]["children"][0]["props"]["children"] == "Hello"


def test_an_empty_store_changes_nothing() -> None:
    assert ask(lambda request: html.P("Hello"), None, content=True) == {}


def marks(found: Any) -> list[str]:
    """The serial numbers of the requests that an answer says it answers."""
    if isinstance(found, dict):
        own = [found["data-answer"]] if "data-answer" in found else []
        return own + [mark for value in found.values() for mark in marks(value)]
    if isinstance(found, list):
        return [mark for value in found for mark in marks(value)]
    return []
