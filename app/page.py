"""What a page is, and which job a path of the browser belongs to. The router puts the two together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dash import Dash
from dash.development.base_component import Component
from dash.exceptions import UnsupportedRelativePath

from app import urls
from app.urls import Address
from data.frames import JobHeader
from data.store import Fetch


@dataclass(frozen=True)
class Page:
    """A page that belongs to no job: `layout(address)`."""

    pattern: str
    title: str
    layout: Callable[[Address], Component]
    register: Callable[[Dash, Fetch], None]


@dataclass(frozen=True)
class JobPage:
    """A tab of a job: `layout(address, header)`; the router draws the job's header and tabs above it.

    It is drawn only for a job that is in the store, so `header` is always known.
    """

    pattern: str
    title: str
    tab: str
    layout: Callable[[Address, JobHeader], Component]
    register: Callable[[Dash, Fetch], None]
    first: tuple[tuple[str, Callable[..., Any]], ...] = field(default=())
    """Content panels that come with the page, drawn by `draw(fetch, request)`: what is cheap and looked at first."""
    without_data: bool = False
    """Whether it is drawn also for a stored job of which nothing could be read."""


AnyPage = Page | JobPage


def local_path(dash_app: Dash, pathname: object) -> str:
    """A path of the browser without the server's prefix; "" where it does not lie below the prefix."""
    try:
        stripped = dash_app.strip_relative_path(str(pathname or ""))
    except UnsupportedRelativePath:
        return ""
    return f"/{stripped or ''}"


def address_of(dash_app: Dash, path: str) -> str:
    """A path of ours with the server's prefix, as links need it."""
    prefix: str = dash_app.config.requests_pathname_prefix
    return prefix.rstrip("/") + path


def job_id_of(dash_app: Dash, pathname: object) -> str:
    """The job of a path of the browser, "" where it is no job's."""
    return urls.parse(local_path(dash_app, pathname), "").selection.job
