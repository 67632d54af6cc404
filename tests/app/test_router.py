"""Paths lead to pages, pages to screens; what is unknown is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from dash.development.base_component import Component

from app import urls
from app.page import JobPage, Page, job_id_of, local_path
from app.pages import PAGES
from app.router import match

SHOW = "..main.children...shell-crumbs.children...shell-age.children...shell-watch.disabled.."


def test_every_pattern_finds_its_page_and_names_its_job() -> None:
    for page in PAGES:
        path = page.pattern.replace("<job>", "a%2Fb")
        assert match(PAGES, path) is page
        assert urls.parse(path, "").selection.job == ("a/b" if isinstance(page, JobPage) else "")


@pytest.mark.parametrize("path", ["/jobs", "/jobs/a/elsewhere", "/x", "/jobs/a/nodes/b", "/_dash", "/jobs/a/Nodes"])
def test_other_paths_find_none(path: str) -> None:
    assert match(PAGES, path) is None


def test_pages_have_unique_patterns_and_the_first_is_home() -> None:
    assert len({page.pattern for page in PAGES}) == len(PAGES)
    assert isinstance(PAGES[0], Page)
    assert PAGES[0].pattern == "/"


def test_every_module_of_pages_is_registered_or_a_screen() -> None:
    from pathlib import Path

    import app.pages as package

    modules = {path.stem for path in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    registered = {page.layout.__module__.rpartition(".")[2] for page in PAGES}
    assert modules - registered == {"converting", "first_run", "not_found"}


def test_paths_outside_the_prefix_are_nobodys(dash_app: Any) -> None:
    assert local_path(dash_app, "/jobs/a") == "/jobs/a"
    assert local_path(dash_app, None) == ""
    assert local_path(dash_app, "elsewhere") == ""
    assert job_id_of(dash_app, "no-slash") == ""


def texts(component: Any) -> str:
    """All that is said in an answer."""
    return json.dumps(component, ensure_ascii=False)


def test_the_list_and_a_job_are_drawn(call: Callable[..., Any], demo: Any) -> None:
    answer = call(SHOW, **{"url.pathname": "/", "url.search": ""})
    assert "Training jobs" in texts(answer["main"])
    assert answer["shell-watch"]["disabled"] is True
    job_id = demo.job_ids["tf-hvd-resnet50-cifar10-256"]
    answer = call(SHOW, **{"url.pathname": f"/jobs/{job_id}", "url.search": ""})
    said = texts(answer)
    assert "tf-hvd-resnet50-cifar10-256" in said
    assert "3 × ml.p3.8xlarge" in said
    assert f"/jobs/{job_id}/nodes" in said
    assert '"data-job-start-ns": "16071' in said


def test_unknown_paths_and_jobs_are_said(call: Callable[..., Any]) -> None:
    assert "No such page" in texts(call(SHOW, **{"url.pathname": "/elsewhere", "url.search": ""}))
    said = texts(call(SHOW, **{"url.pathname": "/jobs/..%2F..%2Fetc", "url.search": ""}))
    assert "No such job" in said
    assert "../../etc" in said


def test_no_layout_allows_markup(call: Callable[..., Any], demo: Any) -> None:
    job_id = demo.job_ids["tf-hvd-resnet50-cifar10-256"]
    for path in ("/", f"/jobs/{job_id}", f"/jobs/{job_id}/nodes", "/elsewhere"):
        said = texts(call(SHOW, **{"url.pathname": path, "url.search": ""}))
        assert "dangerously" not in said
        assert '"type": "Markdown"' not in said


def test_the_shell_allows_no_markup(dash_app: Any) -> None:
    def walk(component: Any) -> list[Component]:
        children = getattr(component, "children", None)
        below = children if isinstance(children, list) else [children]
        return [component, *(found for child in below if isinstance(child, Component) for found in walk(child))]

    for component in walk(dash_app.layout):
        assert type(component).__name__ != "Markdown"
        assert not [name for name in component.to_plotly_json()["props"] if name.startswith("dangerously")]
