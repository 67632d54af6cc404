"""Reads the tables of prices and of instance types: those that come with the program, and the prices that a user has.

Rows that cannot be used are named with file and line and left out; the rest is used.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeVar

from data.frames.cost import Instance, Price
from data.problem import Problem

TABLES: Final = Path(__file__).with_name("tables")
PRICE_COLUMNS: Final = ("type", "region", "usd_per_hour", "as_of", "source")
INSTANCE_COLUMNS: Final = (
    "type",
    "vcpus",
    "memory_gib",
    "gpus",
    "gpu_model",
    "gpu_memory_gib",
    "network_gbps",
)
LARGEST_BYTES: Final = 4 << 20
MOST_PROBLEMS: Final = 50
HIGHEST_USD: Final = 100_000
LONGEST_TEXT: Final = 200

_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_REGION = re.compile(r"[a-z0-9-]{0,32}", re.ASCII)
_DATE = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?", re.ASCII)

Row = Mapping[str, str]
T = TypeVar("T")


@dataclass(frozen=True)
class PriceTables:
    """Prices and instances by type, with at most one price for a type and region, and what could not be read."""

    prices: Mapping[str, tuple[Price, ...]] = field(default_factory=dict)
    instances: Mapping[str, Instance] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class PriceBook:
    """The tables of a running program: read when they are first asked for, and again when the user's file changes."""

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._kept: tuple[tuple[int, int] | None, PriceTables] | None = None

    def tables(self) -> PriceTables:
        """The tables as they are now."""
        state = _state(self._own)
        if self._kept is None or self._kept[0] != state:
            self._kept = (state, read_tables(self._own))
        return self._kept[1]


def _state(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size) if found else None


class _Unusable(ValueError):
    """What is wrong with a row, in words."""


def read_tables(own: Path | None = None) -> PriceTables:
    """The tables of the program and, where `own` names one, a table of prices whose rows win over ours."""
    problems: list[Problem] = []
    shipped = list(_read(TABLES / "prices.csv", PRICE_COLUMNS, PRICE_COLUMNS, _price, problems))
    mine = [] if own is None else list(_read(own, PRICE_COLUMNS, ("type", "usd_per_hour"), _own_price, problems))
    instances = _read(TABLES / "instances.csv", INSTANCE_COLUMNS, INSTANCE_COLUMNS, _instance, problems)
    return PriceTables(_merged(shipped, mine), {one.instance_type: one for one in instances}, tuple(problems))


def _merged(shipped: Iterable[Price], own: Iterable[Price]) -> dict[str, tuple[Price, ...]]:
    """One price for a type and region: the user's, else the latest. The user's price for all regions replaces ours."""
    ours, mine = (_latest(prices) for prices in (shipped, own))
    everywhere = {instance_type for instance_type, region in mine if not region}
    kept = {key: price for key, price in ours.items() if key[0] not in everywhere} | mine
    found: dict[str, tuple[Price, ...]] = {}
    for (instance_type, _), price in sorted(kept.items()):
        found[instance_type] = (*found.get(instance_type, ()), price)
    return found


def _latest(prices: Iterable[Price]) -> dict[tuple[str, str], Price]:
    found: dict[tuple[str, str], Price] = {}
    for price in prices:
        key = (price.instance_type, price.region)
        if key not in found or price.as_of >= found[key].as_of:
            found[key] = price
    return found


def _read(
    path: Path, known: tuple[str, ...], needed: tuple[str, ...], parse: Callable[[Row], T], problems: list[Problem]
) -> Iterator[T]:
    """The rows of a table that can be used."""
    text = _text(path, problems)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""))
    faults = 0

    def fault(line: int | None, message: str) -> None:
        nonlocal faults
        faults += 1
        if faults <= MOST_PROBLEMS:
            problems.append(Problem(str(path), line, message, "error"))

    try:
        names = [name.strip().lower() for name in next(reader, [])]
        missing = [name for name in needed if name not in names]
        if missing:
            return fault(1, f"the first line must name the columns; {', '.join(missing)} is not among them")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                try:
                    yield parse(_row(known, names, cells))
                except _Unusable as error:
                    fault(reader.line_num, str(error))
    except csv.Error as error:
        fault(reader.line_num, f"from here on it is no CSV: {error}")
    if faults > MOST_PROBLEMS:
        problems.append(Problem(str(path), None, f"{faults - MOST_PROBLEMS:,} more rows cannot be used", "error"))


def _text(path: Path, problems: list[Problem]) -> str | None:
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        problems.append(Problem(str(path), None, f"it cannot be read: {error.strerror or error}", "error"))
        return None
    if len(content) > LARGEST_BYTES:
        problems.append(Problem(str(path), None, f"it is larger than {LARGEST_BYTES >> 20} MiB", "error"))
        return None
    return content.decode("utf-8-sig", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _row(known: tuple[str, ...], names: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) > len(names):
        raise _Unusable(f"it has {len(cells)} cells, and there are {len(names)} columns")
    row = dict.fromkeys(known, "") | {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
    if not _TYPE.fullmatch(row["type"]):
        raise _Unusable("type is no instance type")
    return row


def _price(row: Row, own: bool = False) -> Price:
    usd = _decimal(row, "usd_per_hour")
    if usd is None or not 0 < usd <= HIGHEST_USD:
        raise _Unusable("usd_per_hour is no price: leave out the row of a type whose price is not known")
    if not _REGION.fullmatch(row["region"]):
        raise _Unusable("region is no region such as us-west-2; leave it empty for a price of all regions")
    if not _DATE.fullmatch(row["as_of"]):
        raise _Unusable("as_of is no date such as 2026-09-24 or 2020-12")
    return Price(row["type"], row["region"], usd, row["as_of"], row["source"][:LONGEST_TEXT], own)


def _own_price(row: Row) -> Price:
    return _price(row, own=True)


def _instance(row: Row) -> Instance:
    vcpus, gpus = (_decimal(row, name) for name in ("vcpus", "gpus"))
    sizes = (_decimal(row, name) for name in ("memory_gib", "gpu_memory_gib", "network_gbps"))
    memory, gpu_memory, network = (None if size is None else float(size) for size in sizes)
    return Instance(
        row["type"],
        None if vcpus is None else int(vcpus),
        memory,
        None if gpus is None else int(gpus),
        row["gpu_model"],
        gpu_memory,
        network,
    )


def _decimal(row: Row, name: str) -> Decimal | None:
    """A number that is not negative, None where the cell is empty."""
    if not row[name]:
        return None
    try:
        value = Decimal(row[name])
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0 or len(value.as_tuple().digits) > 20:
        raise _Unusable(f"{name} is no number")
    return value
