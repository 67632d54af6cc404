"""Paths lead to pages, pages to screens; what is unknown is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app import urls
from app.page import JobPage, Page, job_id_of, local_path
from app.pages import PAGES
from app.router import match
from tests.drawn import components, said

SHOW = "..main.children...shell-crumbs.children...shell-age.children...shell-watch.disabled.."


def test_every_pattern_finds_its_page_and_names_its_job() -> None:
    for page in PAGES:
        path = page.pattern.replace("<job>", "a%2Fb")
        assert match(PAGES, path) is page
        assert urls.parse(path, "").selection.job == ("a/b" if isinstance(page, JobPage) else "")


@pytest.mark.parametrize("path", ["/jobs", "/jobs/a/elsewhere", "/x", "/jobs/a/nodes/b", "/_dash", "/jobs/a/Nodes"])
def test_other_paths_find_none(path: str) -> None:
    assert match(PAGES, path) is None


def test_the_first_page_is_home() -> None:
    assert isinstance(PAGES[0], Page)
    assert PAGES[0].pattern == "/"


def test_paths_outside_the_prefix_are_nobodys(dash_app: Any) -> None:
    assert local_path(dash_app, "/jobs/a") == "/jobs/a"
    assert local_path(dash_app, None) == ""
    assert local_path(dash_app, "elsewhere") == ""
    assert job_id_of(dash_app, "no-slash") == ""


def test_the_list_and_a_job_are_drawn(call: Callable[..., Any], demo: Any) -> None:
    answer = call(SHOW, **{"url.pathname": "/", "url.search": ""})
    assert "Training jobs" in said(answer["main"])
    assert answer["shell-watch"]["disabled"] is True
    job_id = demo.job_ids["tf-hvd-resnet50-cifar10-256"]
    answer = call(SHOW, **{"url.pathname": f"/jobs/{job_id}", "url.search": ""})
    words = said(answer)
    assert "tf-hvd-resnet50-cifar10-256" in words
    assert "3 × ml.p3.8xlarge" in words
    assert f"/jobs/{job_id}/nodes" in words
    assert '"data-job-start-ns": "16071' in words


def test_unknown_paths_and_jobs_are_said(call: Callable[..., Any]) -> None:
    assert "No such page" in said(call(SHOW, **{"url.pathname": "/elsewhere", "url.search": ""}))
    words = said(call(SHOW, **{"url.pathname": "/jobs/..%2F..%2Fetc", "url.search": ""}))
    assert "No such job" in words
    assert "../../etc" in words


def test_no_layout_allows_markup(call: Callable[..., Any], demo: Any) -> None:
    job_id = demo.job_ids["tf-hvd-resnet50-cifar10-256"]
    for path in ("/", f"/jobs/{job_id}", f"/jobs/{job_id}/nodes", "/elsewhere"):
        words = said(call(SHOW, **{"url.pathname": path, "url.search": ""}))
        assert "dangerously" not in words
        assert '"type": "Markdown"' not in words


def test_the_shell_allows_no_markup(dash_app: Any) -> None:
    for component in components(dash_app.layout):
        assert type(component).__name__ != "Markdown"
        assert not [name for name in component.to_plotly_json()["props"] if name.startswith("dangerously")]
