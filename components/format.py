"""Values to text: durations, bytes, percentages, times, and the one door for text from files into charts.

Only wording lives here, no arithmetic beyond choosing a unit; a missing value is `n/a`, never 0.
"""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal

MISSING = "n/a"
NOT_APPLICABLE = "–"
MINUS = "−"

NS_PER_S = 1_000_000_000
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BREAKS = frozenset("\t\n\r\v\f\x85\u2028\u2029")
_CENT = Decimal("0.01")
_WIDE = Context(prec=60)  # for amounts of any size
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def plain(text: object, limit: int = 200) -> str:
    """Text from a file for a plain-text place: one line, no control or direction characters, at most `limit` long."""
    words = str(text)
    if len(words) <= limit and words.isprintable():
        return words.strip()
    kept: list[str] = []
    for character in words[: 4 * limit]:
        if character in _BREAKS:
            kept.append(" ")
        elif character not in _BIDI and unicodedata.category(character) not in _DROPPED:
            kept.append(character)
    clean = "".join(kept).strip()
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def label(text: object, limit: int = 200) -> str:
    """Text from a file for a chart: as `plain`, and nothing in it is read as markup, TeX or a hover placeholder.

    Plotly decodes these entities again after it has looked for markup, so that the reader sees what was written.
    """
    escaped = plain(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("$", "&#36;").replace("%{", "%&#123;")


def is_missing(value: float | int | None) -> bool:
    """None, NaN and pandas' NA are missing; zero is not."""
    if value is None:
        return True
    try:
        return not math.isfinite(value)
    except TypeError:
        return True


def number(value: float | None, digits: int = 1) -> str:
    """A number with thousands separators and a real minus: 2,129 or −3.5."""
    if value is None or is_missing(value):
        return MISSING
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0 and text.strip("0.,") != ""
    return f"{MINUS}{text}" if negative else text


def count(value: float | None) -> str:
    """A whole number with thousands separators."""
    return number(value, 0)


def counted(value: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 step, 188 steps."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def percent(value: float | None, digits: int = 1) -> str:
    """A percentage of 0 to 100: 13.5 %."""
    text = number(value, digits)
    return text if text == MISSING else f"{text} %"


def share(value: float | None) -> str:
    """A share of 0 to 1 as a percentage that never rounds a trace to nothing nor nearly all to everything."""
    if value is None or is_missing(value):
        return MISSING
    if 0 < value < 0.001:
        return "under 0.1 %"
    if 0.999 < value < 1:
        return "over 99.9 %"
    return percent(100 * value)


def money(usd: Decimal | None) -> str:
    """An amount in dollars to the cent, half a cent up; what costs something never shows as nothing: $6.16."""
    if usd is None or not usd.is_finite():
        return MISSING
    cents = usd.quantize(_CENT, ROUND_HALF_UP, context=_WIDE)
    if usd and not cents:
        return "under $0.01"
    return f"{MINUS if cents < 0 else ''}${cents.copy_abs():,f}"


def price(usd_per_hour: Decimal | None) -> str:
    """The price of an hour: to the cent, or with the digits below it that it has, four at most: $14.688."""
    if usd_per_hour is None or not usd_per_hour.is_finite():
        return MISSING
    exact = usd_per_hour.quantize(Decimal("0.0001"), ROUND_HALF_UP, context=_WIDE)
    if usd_per_hour and not exact:
        return "under $0.0001"
    whole, _, digits = f"{exact:,f}".partition(".")
    return f"${whole}.{digits[:2]}{digits[2:].rstrip('0')}"


def hours(value: Decimal | None) -> str:
    """A number of hours, to the hundredth where it is small; a little never shows as nothing: 1.68."""
    if value is None or not value.is_finite():
        return MISSING
    if 0 < value < _CENT / 2:
        return "under 0.01"
    return number(float(value), 2 if value < 100 else 0)


def seconds(duration_ns: float | None) -> str:
    """A duration in seconds to the millisecond: 459.500 s."""
    if duration_ns is None or is_missing(duration_ns):
        return MISSING
    return f"{number(duration_ns / NS_PER_S, 3)} s"


def duration(duration_ns: float | None) -> str:
    """A duration in the two units that fit it: 8m 23s, 1.55 s, 83 ms, 412 µs."""
    if duration_ns is None or is_missing(duration_ns):
        return MISSING
    sign = MINUS if duration_ns < 0 else ""
    return sign + _positive_duration(abs(duration_ns))


def _positive_duration(duration_ns: float) -> str:
    whole_s = round(duration_ns / NS_PER_S)
    if whole_s >= 86_400:
        return f"{whole_s // 86_400}d {whole_s % 86_400 // 3600:02d}h"
    if whole_s >= 3600:
        return f"{whole_s // 3600}h {whole_s % 3600 // 60:02d}m"
    if whole_s >= 60:
        return f"{whole_s // 60}m {whole_s % 60:02d}s"
    for unit_ns, unit in ((NS_PER_S, "s"), (1_000_000, "ms"), (1000, "µs")):
        if duration_ns >= unit_ns or (unit_ns > 1000 and round(duration_ns / unit_ns, 3) >= 1):
            return f"{_figures(duration_ns / unit_ns)} {unit}"
    return f"{_figures(duration_ns)} ns"


def _figures(value: float) -> str:
    digits = 2 if value < 99.995 else 0
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def duration_exact(duration_ns: float | None) -> str:
    """A duration to the millisecond, rounded down as a stopwatch would: 7m 39s 500ms."""
    if duration_ns is None or is_missing(duration_ns):
        return MISSING
    sign = MINUS if duration_ns < 0 else ""
    total_ms = abs(int(duration_ns)) // 1_000_000
    hours, rest = divmod(total_ms, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    whole_s, ms = divmod(rest, 1000)
    parts = [(hours, "h"), (minutes, "m"), (whole_s, "s"), (ms, "ms")]
    while len(parts) > 1 and parts[0][0] == 0:
        parts.pop(0)
    return sign + " ".join(
        f"{amount:03d}{unit}" if unit == "ms" and len(parts) > 1 else f"{amount}{unit}" for amount, unit in parts
    )


def bytes_scale(largest_bytes: float) -> tuple[float, str]:
    """The divisor and unit in which a chart up to this many bytes reads best: (1e6, 'MB')."""
    power = 0
    while power + 1 < len(_BYTE_UNITS) and largest_bytes >= 1000 ** (power + 1):
        power += 1
    return float(1000**power), _BYTE_UNITS[power]


def byte_size(size_bytes: float | None) -> str:
    """A size in decimal units: 10.5 GB."""
    if size_bytes is None or is_missing(size_bytes):
        return MISSING
    divisor, unit = bytes_scale(abs(size_bytes))
    text = str(round(abs(size_bytes))) if unit == "B" else _figures(abs(size_bytes) / divisor)
    return f"{MINUS if size_bytes < 0 else ''}{text} {unit}"


def binary_scale(largest_bytes: float) -> tuple[float, str]:
    """The divisor and unit in which a chart of memory up to this many bytes reads best: (2**30, 'GiB')."""
    power = 0
    while power + 1 < len(_BINARY_UNITS) and largest_bytes >= 1024 ** (power + 1):
        power += 1
    return float(1024**power), _BINARY_UNITS[power]


def binary_size(size_bytes: float | None) -> str:
    """A size of memory in binary units, as its sellers count: 79.2 GiB."""
    if size_bytes is None or is_missing(size_bytes):
        return MISSING
    divisor, unit = binary_scale(abs(size_bytes))
    text = str(round(abs(size_bytes))) if unit == "B" else _figures(abs(size_bytes) / divisor)
    return f"{MINUS if size_bytes < 0 else ''}{text} {unit}"


def byte_rate(rate: float | None) -> str:
    """A throughput in decimal units: 431 MB/s."""
    text = byte_size(rate)
    return text if text == MISSING else f"{text}/s"


def significant(value: float | None) -> str:
    """A number of any size with three figures, whole numbers in full: 0.0123, 13.5, 2,129."""
    if value is None or is_missing(value):
        return MISSING
    if float(value).is_integer() and abs(value) < 1e15:
        return number(value, 0)
    size = math.floor(math.log10(abs(value)))
    return number(value, min(max(2 - size, 0), 12))


def moment(time_ns: int, offset_minutes: int = 0) -> datetime:
    """A time as a datetime that shows the wall clock at this offset from UTC."""
    wall_ns = int(time_ns) + offset_minutes * 60 * NS_PER_S
    whole_s, rest_ns = divmod(wall_ns, NS_PER_S)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole_s, microseconds=rest_ns // 1000)


def timestamp(time_ns: int | None, offset_minutes: int = 0) -> str:
    """A date and time to the millisecond: 2020-12-04 22:39:20.122."""
    if time_ns is None or is_missing(time_ns):
        return MISSING
    return moment(time_ns, offset_minutes).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def clock(time_ns: int | None, offset_minutes: int = 0, span_ns: int = 3600 * NS_PER_S) -> str:
    """The time of day as exact as a span of this length deserves: 22:47:13, or 22:47:13.250 within a few seconds."""
    if time_ns is None or is_missing(time_ns):
        return MISSING
    wall = moment(time_ns, offset_minutes)
    if span_ns > 86_400 * NS_PER_S:
        return wall.strftime("%d %b %H:%M")
    return wall.strftime("%H:%M:%S.%f")[:-3] if span_ns < 10 * NS_PER_S else wall.strftime("%H:%M:%S")


def elapsed(duration_ns: int) -> str:
    """What has passed since a start: +1.25 s."""
    return f"{MINUS if duration_ns < 0 else '+'}{_positive_duration(abs(duration_ns))}"


def zone(offset_minutes: int) -> str:
    """The name of an offset: UTC, UTC+01:00, UTC−03:30."""
    if offset_minutes == 0:
        return "UTC"
    hours, minutes = divmod(abs(offset_minutes), 60)
    return f"UTC{'+' if offset_minutes > 0 else MINUS}{hours:02d}:{minutes:02d}"


def axis_time(time_ns: int, offset_minutes: int = 0) -> str:
    """A time as Plotly's date axes take it: wall clock without a zone, to the microsecond."""
    return moment(time_ns, offset_minutes).strftime("%Y-%m-%d %H:%M:%S.%f")
