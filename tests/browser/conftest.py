"""A server over the demo jobs in a thread, and pages that watch what the browser complains about and asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.driving import is_local, serving

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.conftest import Demo

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 20_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            # the compression of answers leaves closing files to the garbage collector
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The Chromium that is there; else the one Playwright brings."""
    arguments = {**browser_type_launch_args, "args": list(CHROMIUM_FLAGS)}
    chromium = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
    if Path(chromium).exists():
        arguments["executable_path"] = chromium
    return arguments


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A common screen, in a zone that is not UTC."""
    return {**browser_context_args, "viewport": {"width": 1440, "height": 900}, "timezone_id": "Europe/Berlin"}


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    """What is expected may take as long as what is done: how fast the machine is, is no test."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def site(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over the converted demo jobs; tests leave its store as it is."""
    cache = tmp_path_factory.mktemp("cache")
    with serving(source=(str(demo.source),), store=demo.store, cache=cache) as address:
        yield address


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which nothing may go wrong: no console error, no failed answer, no request to another host."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("response", lambda answer: faults.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    page.on("request", lambda request: None if is_local(request.url) else faults.append(f"asked {request.url}"))
    yield page
    assert faults == []


@pytest.fixture
def job_url(site: str, demo: Demo) -> Callable[..., str]:
    """The address of a demo job's tab."""

    def address(name: str = "tf-hvd-resnet50-cifar10-256", tab: str = "", query: str = "") -> str:
        return f"{site}jobs/{demo.job_ids[name]}{'/' + tab if tab else ''}{query}"

    return address
