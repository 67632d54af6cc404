"""The router: a path to a page. It listens to the path only, so a zoom, which changes the query, never rebuilds a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from dash import Dash
from dash.development.base_component import Component

from app.urls import Address
from data.frames import JobHeader
from data.store import Fetch

Register = Callable[[Dash, Fetch], None]


@dataclass(frozen=True)
class Page:
    """A page that belongs to no job: `layout(address)`."""

    pattern: str
    title: str
    layout: Callable[[Address], Component]
    register: Register


@dataclass(frozen=True)
class JobPage:
    """A tab of a job: `layout(address, header)`; the router draws the job's header and tabs above it.

    It is drawn only for a job that is in the store, so `header` is always known.
    """

    pattern: str
    title: str
    tab: str
    layout: Callable[[Address, JobHeader], Component]
    register: Register


AnyPage = Page | JobPage


def match(
    pages: Sequence[AnyPage], pathname: str
) -> tuple[AnyPage, dict[str, str]] | None:
    """The page of a path without prefix, and its path variables, decoded; None where there is no such page."""
    parts = _parts(pathname)
    for page in pages:
        wanted = _parts(page.pattern)
        if len(wanted) != len(parts):
            continue
        pairs = list(zip(wanted, parts, strict=True))
        if all(want == part or want.startswith("<") for want, part in pairs):
            return page, {
                want.strip("<>"): unquote(part)
                for want, part in pairs
                if want.startswith("<")
            }
    return None


def _parts(pathname: str) -> list[str]:
    return [part for part in pathname.split("/") if part]
