"""The gate: every request passes here before it is routed, and what is not listed does not pass.

It checks the name the server was called by, where a changing request comes from, method and path; and it puts the
security headers on every answer, also on its own. It knows nothing of users: the server has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog
from werkzeug.datastructures import Headers
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

READ = frozenset({"GET", "HEAD"})
LONG_S = 365 * 24 * 3600
_FILE = r"[A-Za-z0-9_@-][A-Za-z0-9_.@+-]*"


class Kind(Enum):
    """What a path leads to; it decides how the answer may be cached."""

    PAGE = auto()
    DATA = auto()
    STATIC = auto()
    HEALTH = auto()


@dataclass(frozen=True)
class Route:
    """One line of the table of what passes: a pattern of the whole path, and the methods it takes."""

    pattern: re.Pattern[str]
    methods: frozenset[str]
    kind: Kind


@dataclass(frozen=True)
class Refusal:
    """Why a request does not pass."""

    status: int
    message: str
    allow: str = ""


@dataclass(frozen=True)
class Policy:
    """What the gate goes by. `is_page` tells whether a path, prefix included, is a page that exists."""

    prefix: str
    known_hosts: frozenset[str]
    allowed_hosts: frozenset[str]
    health: frozenset[str]
    is_page: Callable[[str], bool]
    content_security_policy: str
    body_bytes: int


def routes(prefix: str) -> tuple[Route, ...]:
    """All that passes besides pages and health checks. A new endpoint needs a line here, or it answers 404."""
    base = re.escape(prefix)
    table = (
        (r"_dash-layout", READ, Kind.DATA),
        (r"_dash-dependencies", READ, Kind.DATA),
        (r"_dash-update-component", frozenset({"POST"}), Kind.DATA),
        (rf"_dash-component-suites/{_FILE}(/{_FILE})+", READ, Kind.STATIC),
        (rf"assets(/{_FILE})+", READ, Kind.STATIC),
        (r"_favicon\.ico", READ, Kind.STATIC),
    )
    return tuple(Route(re.compile(base + pattern), methods, kind) for pattern, methods, kind in table)


def content_security_policy(script_hashes: Sequence[str], frame_ancestors: str) -> str:
    """The policy: scripts of our own and the hashed inline ones; nothing from outside."""
    scripts = " ".join(["'self'", *script_hashes])
    # Dash, its grid and Plotly set inline styles, so those must stay allowed
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        f"frame-ancestors {frame_ancestors}; form-action 'none'"
    )


class Gate:
    """A WSGI application around another one."""

    def __init__(self, application: WSGIApplication, policy: Policy) -> None:
        self._application = application
        self._policy = policy
        self._routes = routes(policy.prefix)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        kind, refusal = self._judge(request)
        headers = self._headers(kind, "m" in request.args)
        if refusal is None:
            return self._application(environ, _adding(start_response, headers, kind))
        if refusal.status == 404 and self._wants_page(request):
            # the page that says "not found" is drawn by the browser; only the status is ours
            environ["PATH_INFO"] = self._policy.prefix
            return self._application(environ, _adding(start_response, headers, kind, status="404 NOT FOUND"))
        structlog.get_logger("gate").warning(
            "refused", method=request.method, path=request.path, status=refusal.status, reason=refusal.message
        )
        response = Response(refusal.message + "\n", refusal.status, {**headers, "Allow": refusal.allow}, "text/plain")
        if not refusal.allow:
            del response.headers["Allow"]
        return response(environ, start_response)

    def _judge(self, request: Request) -> tuple[Kind, Refusal | None]:
        if request.environ.get("SCRIPT_NAME") or host_name(request.host) not in self._policy.known_hosts:
            return Kind.DATA, Refusal(400, "This server does not answer to that name. See --allowed-host.")
        if request.method not in READ and not self._same_origin(request):
            return Kind.DATA, Refusal(403, "Requests that change something must come from the dashboard itself.")
        if (request.content_length or 0) > self._policy.body_bytes:
            return Kind.DATA, Refusal(413, "The request is too large.")
        kind, methods = self._find(request.path)
        if kind is None:
            return Kind.DATA, Refusal(404, "There is no such page.")
        if request.method not in methods:
            return kind, Refusal(405, "This address does not take that method.", ", ".join(sorted(methods)))
        return kind, None

    def _find(self, path: str) -> tuple[Kind | None, frozenset[str]]:
        if path in self._policy.health:
            return Kind.HEALTH, READ
        for route in self._routes:
            if route.pattern.fullmatch(path):
                return route.kind, route.methods
        if path.startswith(self._policy.prefix) and self._policy.is_page(path):
            return Kind.PAGE, READ
        return None, frozenset()

    def _same_origin(self, request: Request) -> bool:
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = request.headers.get("Origin")
        if origin is None:
            return True
        parts = urlsplit(origin)
        # a proxy may pass its own name as Host; then the public name must be among the allowed ones
        return parts.netloc == request.host or host_name(parts.netloc) in self._policy.allowed_hosts

    def _wants_page(self, request: Request) -> bool:
        return (
            request.method in READ
            and request.path.startswith(self._policy.prefix)
            and "text/html" in request.headers.get("Accept", "")
        )

    def _headers(self, kind: Kind, fingerprinted: bool) -> dict[str, str]:
        if kind is not Kind.STATIC:
            caching = "private, no-store"
        else:
            caching = f"public, max-age={LONG_S}, immutable" if fingerprinted else ""
        return {
            "Content-Security-Policy": self._policy.content_security_policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            **({"Cache-Control": caching} if caching else {}),
        }


def host_name(host: str) -> str:
    """The name in a Host header or network location: lower case, without port, brackets and trailing dot."""
    name = host.rpartition("@")[2].lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    return name.rstrip(".")


def _adding(
    start_response: StartResponse, headers: dict[str, str], kind: Kind, status: str | None = None
) -> StartResponse:
    """A `start_response` that puts our headers in place of the application's."""

    def start(real_status: str, real_headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        merged = Headers(real_headers)
        for name, value in headers.items():
            merged[name] = value
        if real_status[:1] in "45":
            merged["Cache-Control"] = "private, no-store"
        elif kind is Kind.STATIC and "Cache-Control" not in merged:
            merged["Cache-Control"] = "no-cache"
        return start_response(status or real_status, merged.to_wsgi_list(), *exc_info)

    return start
