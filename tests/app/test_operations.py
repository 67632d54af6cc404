"""The sections of Overview that come from framework events: which panels there are, and what each asks for."""

from __future__ import annotations

from typing import Any

import pytest

from app import operations
from components.panels import EmptyView
from data.errors import MissingTable
from data.selection import Window
from tests import frames
from tests.app.pages.looking import FakeFetch, request
from tests.drawn import ids, words

PANELS = (operations.CPU, operations.GPU, operations.ALL, operations.SHARES)


def panels(*roles: str) -> list[str]:
    found = ids(operations.sections(frames.job_header(operator_roles=roles), "whole job"))
    return [panel for panel in PANELS if f"{panel}-request" in found]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("cpu", "gpu", "general"), list(PANELS)),
        (("cpu",), [operations.CPU, operations.ALL, operations.SHARES]),
        (("communication",), [operations.ALL, operations.SHARES]),
        (("step",), [operations.SHARES]),
        ((), []),
    ],
)
def test_panels_are_there_for_what_was_recorded(roles: tuple[str, ...], expected: list[str]) -> None:
    assert panels(*roles) == expected


def test_a_job_without_events_says_how_to_get_them_in_one_line_each() -> None:
    said = words(operations.sections(frames.job_header(operator_roles=()), "whole job"))
    assert said.count("n/a") == 2
    assert said.count("torch.profiler") == 2


def test_the_span_is_said() -> None:
    said = words(operations.sections(frames.job_header(), "window of 3 s"))
    assert said.count("window of 3 s") == 2


def fetch(**changes: Any) -> FakeFetch:
    answers = {"operators_by_name": frames.operators(), "shares_framework": frames.framework_shares(), **changes}
    return FakeFetch(**answers)


def test_panels_follow_window_and_nodes() -> None:
    window = Window(frames.START_NS, frames.START_NS + frames.S)
    asked = fetch()
    one = request(window, ("algo-1",))
    for draw in (operations.draw_all, operations.draw_shares):
        draw(asked, one)
    operations.draw_heaviest(asked, one, "cpu")
    assert {arguments[0] for _, arguments in asked.asked} == {one.selection}


def test_the_heaviest_of_a_side() -> None:
    said = words(operations.draw_heaviest(fetch(), request(), "gpu"))
    assert "sgemm" in said
    assert "aten::linear" not in said
    assert "Communication between GPUs takes 25.0\u00a0%" in said


def test_a_side_that_did_nothing_in_the_window() -> None:
    only_cpu = frames.operators([("cpu", "a", False, 1, 1, 1, 1, ("algo-1",), 1)])
    view = operations.draw_heaviest(fetch(operators_by_name=only_cpu), request(), "gpu")
    assert isinstance(view, EmptyView)
    assert "GPU" in view.reason


def test_the_table_of_a_side() -> None:
    drawn = operations.draw_all(fetch(), request(query={"side": "gpu"}))
    assert "GPU: 2" in words(drawn)
    assert "CPU: 2" not in words(drawn)
    assert "CPU: 2" in words(operations.draw_all(fetch(), request(query={"side": "<x>"})))


def test_what_is_missing_is_left_to_the_panel() -> None:
    with pytest.raises(MissingTable):
        operations.draw_shares(fetch(shares_framework=MissingTable("none")), request())
