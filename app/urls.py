"""Addresses: path and query string to what a page looks at, both ways; `parse(*build(x)) == x`.

`from` and `to` are epoch milliseconds with up to six decimals, built from integer nanoseconds and read back as
integers, so a window survives the round trip exactly. What cannot be understood is ignored, never an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from data.selection import Selection, Window

OVERVIEW: Final = "overview"
NODES: Final = "nodes"
QUALITY: Final = "quality"
TABS: Final = (OVERVIEW, NODES, QUALITY)
COMPARE: Final = "compare"
"""Two runs: `/compare?a=<job>&b=<job>`. The job of its address is a, and the window is in a's time."""

_JOB_PATH: Final = re.compile(r"^/jobs/(?P<job>[^/]+)(?:/(?P<tab>[^/]+))?/?$")
_MILLISECONDS: Final = re.compile(r"^(?P<sign>-?)(?P<whole>\d{1,13})(?:\.(?P<part>\d{1,6}))?$", re.ASCII)
_NS_PER_MS: Final = 1_000_000
_INT64_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Address:
    """A page of one job with everything its screen depends on.

    `tab` is one of `TABS`; `query` are the other keys (metric, scale) in the order of the URL.
    """

    selection: Selection
    tab: str = OVERVIEW
    query: tuple[tuple[str, str], ...] = ()

    def get(self, key: str, default: str = "") -> str:
        """The value of a key besides window and nodes."""
        return dict(self.query).get(key, default)


def parse(pathname: str, search: str) -> Address:
    """The address behind a path without prefix and a query string; a path that is no job's has the job ""."""
    found = _JOB_PATH.match(pathname)
    job = unquote(found["job"]) if found else ""
    tab = (found["tab"] or OVERVIEW) if found else OVERVIEW
    pairs = parse_qsl(search.removeprefix("?"), keep_blank_values=True)
    if pathname.rstrip("/") == f"/{COMPARE}":
        job, tab = next((value for key, value in pairs if key == "a"), ""), COMPARE
        pairs = [(key, value) for key, value in pairs if key != "a"]
    nodes = tuple(dict.fromkeys(value for key, value in pairs if key == "node" and value))
    bounds = {key: value for key, value in pairs if key in ("from", "to")}
    rest = {key: value for key, value in pairs if key not in ("from", "to", "node")}
    window = _window(bounds.get("from", ""), bounds.get("to", ""))
    return Address(Selection(job, window, nodes), tab, tuple(rest.items()))


def build(address: Address) -> tuple[str, str]:
    """Path (without prefix) and query string ("" or "?...") of an address."""
    selection = address.selection
    pairs: list[tuple[str, str]] = [("a", selection.job)] if address.tab == COMPARE and selection.job else []
    if selection.window is not None:
        pairs.append(("from", milliseconds(selection.window.start_ns)))
        pairs.append(("to", milliseconds(selection.window.end_ns)))
    pairs.extend(("node", node) for node in selection.nodes)
    pairs.extend(address.query)
    path = job_path(selection.job, address.tab)
    return path, f"?{urlencode(pairs)}" if pairs else ""


def job_path(job_id: str, tab: str = OVERVIEW) -> str:
    """The path of a job's tab, without prefix."""
    if tab == COMPARE:
        return f"/{COMPARE}"
    if not job_id:
        return "/"
    path = f"/jobs/{quote(job_id, safe='')}"
    return path if tab == OVERVIEW else f"{path}/{quote(tab, safe='')}"


def milliseconds(time_ns: int) -> str:
    """Nanoseconds as milliseconds in decimal: 1607121560122500000 is "1607121560122.5"."""
    whole, part = divmod(abs(time_ns), _NS_PER_MS)
    digits = f"{whole}.{part:06d}".rstrip("0").rstrip(".")
    return f"-{digits}" if time_ns < 0 else digits


def nanoseconds(text: str) -> int | None:
    """The inverse of `milliseconds`; None where the text is not such a number or not an int64."""
    found = _MILLISECONDS.match(text)
    if found is None:
        return None
    time_ns = int(found["whole"]) * _NS_PER_MS + int((found["part"] or "").ljust(6, "0"))
    if time_ns > _INT64_MAX:
        return None
    return -time_ns if found["sign"] else time_ns


def _window(start: str, end: str) -> Window | None:
    start_ns, end_ns = nanoseconds(start), nanoseconds(end)
    if start_ns is None or end_ns is None or end_ns <= start_ns:
        return None
    return Window(start_ns, end_ns)


def read_lane(text: str) -> tuple[Window | None, str, str] | None:
    """What the key `events` asks for: a window (None is the one in view), node and phase; None where it is no lane.

    Written "<from>-<to>/<node>/<phase>" or "/<node>/<phase>", in milliseconds, node and phase percent-encoded.
    """
    span, _, lane = text.partition("/")
    node, _, phase = (unquote(part) for part in lane.partition("/"))
    if not node or not phase:
        return None
    start, _, end = span.partition("-")
    window = _window(start, end) if span else None
    return (window, node, phase) if window is not None or not span else None
