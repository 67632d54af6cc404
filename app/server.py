"""`create_app`: one place where store, cache, pages and gate are put together. Nothing here happens at import."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dash import Dash
from flask_compress import Compress

from app import callbacks, exports, gate, health, plotly_script, report_download, requests, router, urls
from app.cache import cached_fetch
from app.conversion import Conversions
from app.errors import on_error
from app.judgement import Judgement
from app.pages import PAGES
from app.rulebook import judgement_of
from app.services import Services, attach
from app.settings import Settings
from components import shell
from data.errors import SourceError
from data.sources import JobListing, Source, SourceJob, open_source
from data.store import Store

log = logging.getLogger(__name__)

ASSETS = Path(__file__).resolve().parent.parent / "assets"
FIRST_SCRIPT = "first.js"


def create_app(settings: Settings) -> Dash:
    """A complete app for these settings. Two can live in one process."""
    store = Store(
        settings.store,
        [opened(uri) for uri in settings.source],
        time_limit_s=settings.query_seconds,
        row_cap=settings.row_cap,
        prices=settings.prices,
    )
    dash_app = _dash(settings)
    conversions = Conversions(settings.store, settings.source)
    attach(dash_app, Services(settings, store, conversions, _judgement(settings)))
    fetch = cached_fetch(store, dash_app.server, settings.cache_folder)
    dash_app.layout = shell.frame(settings.prefix)
    router.register(dash_app, PAGES, fetch)
    callbacks.register(dash_app)
    report_download.register(dash_app, fetch)
    exports.register(dash_app)
    for page in PAGES:
        page.register(dash_app, fetch)
    health.register(dash_app.server, settings.prefix, partial(store.ready, settings.free_space_bytes))
    requests.guard(dash_app)
    plotly_script.serve(dash_app)
    _compress(dash_app)
    _protect(dash_app, settings, store)
    return dash_app


def _judgement(settings: Settings) -> Judgement:
    """The rules and their defaults; what of the profile cannot be used is logged."""
    judgement, refused = judgement_of(settings.rules, settings.profile)
    for one in refused:
        log.warning("profile: %s", one.words)
    return judgement


@dataclass(frozen=True)
class Unopened:
    """A source that could not be opened: it says so whenever it is listed, as one that became unreachable would."""

    uri: str
    error: SourceError

    def listing(self) -> JobListing:
        """Raises the reason."""
        raise self.error

    def jobs(self) -> tuple[SourceJob, ...]:
        """Raises the reason."""
        raise self.error


def opened(uri: str) -> Source:
    """The source of this name, even where it cannot be opened: the first screen then says why."""
    try:
        return open_source(uri)
    except SourceError as error:
        return Unopened(uri, error)


def _dash(settings: Settings) -> Dash:
    first = ASSETS / FIRST_SCRIPT
    version = int(first.stat().st_mtime) if first.exists() else 0
    return Dash(
        "app",
        assets_folder=str(ASSETS),
        assets_ignore=rf"^{FIRST_SCRIPT}$",
        title=shell.PRODUCT,
        update_title="",
        index_string=shell.index_string(f"{settings.prefix}assets/{FIRST_SCRIPT}?m={version}"),
        url_base_pathname=settings.prefix,
        serve_locally=True,
        suppress_callback_exceptions=True,
        add_log_handler=False,
        health_endpoint=None,
        on_error=on_error,
    )


def _compress(dash_app: Dash) -> None:
    dash_app.server.config.update(
        COMPRESS_ALGORITHM=["zstd", "br", "gzip"],
        COMPRESS_BR_LEVEL=4,
        COMPRESS_LEVEL=4,
        COMPRESS_MIMETYPES=["text/html", "text/css", "text/javascript", "application/javascript", "application/json"],
    )
    Compress(dash_app.server)


def _protect(dash_app: Dash, settings: Settings, store: Store) -> None:
    """Put the gate in front. Last, because the policy holds the hashes of all inline callbacks."""
    server = dash_app.server
    server.config["MAX_CONTENT_LENGTH"] = settings.body_bytes

    def is_page(path: str) -> bool:
        local = "/" + path.removeprefix(settings.prefix)
        if router.match(PAGES, local) is None:
            return False
        job_id = urls.parse(local, "").selection.job
        return not job_id or store.job(job_id) is not None or store.version(job_id) != ""

    policy = gate.Policy(
        prefix=settings.prefix,
        known_hosts=settings.known_hosts,
        allowed_hosts=frozenset(settings.allowed_host),
        health=health.paths(settings.prefix),
        is_page=is_page,
        content_security_policy=gate.content_security_policy(dash_app.csp_hashes(), settings.frame_ancestors),
        body_bytes=settings.body_bytes,
    )
    server.wsgi_app = gate.Gate(server.wsgi_app, policy)
