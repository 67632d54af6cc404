"""What pages may need beside `fetch`: the store, the conversions and the settings of the app they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from dash import Dash

from app.conversion import Conversions
from app.judgement import Judgement
from app.settings import Settings
from data.store import Store

_NAME = "insights"


@dataclass(frozen=True)
class Services:
    """The long-lived objects of one app."""

    settings: Settings
    store: Store
    conversions: Conversions
    judgement: Judgement


def attach(dash_app: Dash, services: Services) -> None:
    """Give an app its services; done once, before pages are registered."""
    dash_app.server.extensions[_NAME] = services


def services(dash_app: Dash) -> Services:
    """The services of an app."""
    return cast(Services, dash_app.server.extensions[_NAME])
