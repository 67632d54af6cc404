"""What a job costs: billed time x instances x price of an hour, in exact decimals. What is not known stays unknown.

The rules are those of the training service: billed is the time of one instance, as it is reported, times the number of
instances; what spot saves is already taken off; a warm pool is billed for the time for which it kept the instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from data.frames.cost import BilledGroup, Billing, Instance, Price, Stage

SECONDS_PER_HOUR: Final = Decimal(3600)

Prices = Mapping[str, Sequence[Price]]
"""By instance type, at most one for a region."""

Instances = Mapping[str, Instance]

_BILLED = frozenset({"Downloading", "DownloadingTrainingImage", "Training", "Uploading"})
_FREE = frozenset({"Starting", "LaunchingMLInstances", "PreparingTrainingStack", "Pending", "Interrupted"})


@dataclass(frozen=True)
class Unknown:
    """Something that cannot be said, and what would make it known."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class CostLine:
    """What the instances of one group cost, while they trained or while a warm pool kept them."""

    group: BilledGroup
    warm_pool: bool
    seconds: Decimal | None  # of one instance
    price: Price | None
    usd: Decimal | None


@dataclass(frozen=True)
class Cost:
    """The cost of a job, not rounded. None stands for what is not known, and `unknown` says why."""

    lines: tuple[CostLine, ...]
    total_usd: Decimal | None  # of all lines; None where one of them is not known
    spot_saving_percent: Decimal | None  # None where the job did not run on spot instances
    usd_per_gpu_hour: Decimal | None  # an hour of all instances divided by all GPUs; what spot saves is taken off
    usd_per_node_hour: Decimal | None
    gpus: int | None  # of all instances; None where not known
    gpu_hours: Decimal | None  # None where there is no GPU, too
    gpu_hours_from: Literal["billed", "covered", ""]  # billed time, or the time that the measurements cover
    notes: tuple[str, ...]  # what else to know about these numbers
    unknown: tuple[Unknown, ...]


def job_cost(billing: Billing, prices: Prices, instances: Instances) -> Cost:
    """The cost of a job by these tables."""
    notes: list[str] = []
    unknown = _gaps_of(billing)
    priced = [(group, _price_of(group, billing, prices, notes, unknown)) for group in billing.groups]
    lines = _lines(billing, priced)
    amounts = [line.usd for line in lines]
    gpus = _gpus(billing, instances, notes)
    hourly = _hourly(billing, priced)
    hours, hours_from = _gpu_hours(billing, gpus)
    if hours_from == "covered":
        notes.append("GPU-hours are those of the time that the measurements cover; billed time is not known.")
    return Cost(
        lines=lines,
        total_usd=_sum(amounts) if lines else None,
        spot_saving_percent=_spot_saving(billing),
        usd_per_gpu_hour=hourly / gpus if hourly is not None and gpus else None,
        usd_per_node_hour=hourly / _nodes(billing) if hourly is not None else None,
        gpus=gpus,
        gpu_hours=hours,
        gpu_hours_from=hours_from,
        notes=tuple(dict.fromkeys(notes)),
        unknown=tuple(dict.fromkeys(unknown)),
    )


def is_billed(stage: Stage, earlier: Sequence[Stage] = ()) -> bool | None:
    """Whether a stage is billed; None where that is not known, as for what is over in no time.

    After an interruption of a spot job the data are downloaded again, and that is not billed.
    """
    if stage.status == "Downloading" and any(one.status == "Interrupted" for one in earlier):
        return False
    return True if stage.status in _BILLED else False if stage.status in _FREE else None


def _gaps_of(billing: Billing) -> list[Unknown]:
    """What the description does not say."""
    if not billing.described:
        return [
            Unknown(
                "Nothing says which instances ran and for how long they were billed.",
                "Put the answer of DescribeTrainingJob into the job's folder as training-job.json, and convert again.",
            )
        ]
    found = []
    if not billing.groups:
        found.append(Unknown("training-job.json names no instance type."))
    if billing.billed_s is None and billing.ended:
        found.append(Unknown("training-job.json does not say for how long the instances were billed."))
    elif billing.billed_s is None:
        found.append(
            Unknown(
                "Billed time is not known: the job had not ended when training-job.json was written.",
                "Fetch training-job.json again once the job has ended.",
            )
        )
    if billing.pool_status and billing.retained_s is None:
        found.append(
            Unknown(
                "For how long the warm pool kept the instances is not known.",
                "Fetch training-job.json again once the pool has ended.",
            )
        )
    return found


def _price_of(
    group: BilledGroup, billing: Billing, prices: Prices, notes: list[str], unknown: list[Unknown]
) -> Price | None:
    """The price of a group's instances: that of the region, or the only one there is where the region is not known."""
    known = prices.get(group.instance_type, ())
    hint = "Name a table with your prices in INSIGHTS_PRICES."
    if not known:
        unknown.append(Unknown(f"No price of {group.instance_type} is known.", hint))
        return None
    by_region = {price.region: price for price in known}
    if billing.region:
        price = by_region.get(billing.region, by_region.get(""))
        if price is None:
            where = " and ".join(sorted(by_region))
            reason = f"No price of {group.instance_type} in {billing.region} is known, only in {where}."
            unknown.append(Unknown(reason, hint))
        return price
    if "" in by_region:
        return by_region[""]
    if len({price.usd_per_hour for price in known}) > 1:
        reason = f"The region is not known, and prices of {group.instance_type} differ between regions."
        unknown.append(Unknown(reason, f"{hint} A price without a region is for all of them."))
        return None
    where = " and ".join(sorted(by_region))
    notes.append(f"The region is not known; the price of {group.instance_type} in {where} is the only one known.")
    return known[0]


def _lines(billing: Billing, priced: Sequence[tuple[BilledGroup, Price | None]]) -> tuple[CostLine, ...]:
    lines = [_line(group, price, billing.billed_s, warm_pool=False) for group, price in priced]
    if billing.pool_status or billing.retained_s is not None:
        lines += [_line(group, price, billing.retained_s, warm_pool=True) for group, price in priced]
    return tuple(lines)


def _line(group: BilledGroup, price: Price | None, duration_s: float | None, *, warm_pool: bool) -> CostLine:
    seconds = _decimal(duration_s)
    usd = None
    if seconds is not None and price is not None:
        usd = seconds * group.count * price.usd_per_hour / SECONDS_PER_HOUR
    return CostLine(group, warm_pool, seconds, price, usd)


def _hourly(billing: Billing, priced: Sequence[tuple[BilledGroup, Price | None]]) -> Decimal | None:
    """What an hour of the whole job costs; of a spot job, an hour of training."""
    hourly = _sum([None if price is None else price.usd_per_hour * group.count for group, price in priced])
    saving = _spot_saving(billing)
    if not billing.groups or hourly is None:
        return None
    if billing.spot and saving is None:
        return None
    return hourly if saving is None else hourly * (1 - saving / 100)


def _spot_saving(billing: Billing) -> Decimal | None:
    billed, training = _decimal(billing.billed_s), _decimal(billing.training_s)
    if not billing.spot or billed is None or not training or billed > training:
        return None
    return (1 - billed / training) * 100


def _gpus(billing: Billing, instances: Instances, notes: list[str]) -> int | None:
    """The GPUs of all instances: of their types; as measured where a type is not in the table."""
    each = [(group.count, instances.get(group.instance_type)) for group in billing.groups]
    known = [count * one.gpus for count, one in each if one is not None and one.gpus is not None]
    if each and len(known) == len(each):
        total = sum(known)
        if billing.nodes and billing.gpus != total:
            notes.append(f"The instances have {total} GPUs, {billing.gpus or 'none'} of them were measured.")
        return total
    if not billing.nodes:
        return None
    if each:
        notes.append("GPUs are counted in the measurements: an instance type is not in the table of instances.")
        if billing.nodes != _nodes(billing):
            notes.append(f"Of {_nodes(billing)} instances {billing.nodes} were measured.")
    return billing.gpus


def _gpu_hours(billing: Billing, gpus: int | None) -> tuple[Decimal | None, Literal["billed", "covered", ""]]:
    if billing.billed_s is not None and billing.groups:
        billed = _decimal(billing.billed_s)
        return (billed * gpus / SECONDS_PER_HOUR, "billed") if billed is not None and gpus else (None, "")
    covered = _decimal(billing.covered_s)
    if covered is None or not billing.gpus:
        return None, ""
    return covered * billing.gpus / SECONDS_PER_HOUR, "covered"


def _nodes(billing: Billing) -> int:
    return sum(group.count for group in billing.groups)


def _sum(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if len(known) == len(amounts) else None


def _decimal(value: float | None) -> Decimal | None:
    """A number as it was written."""
    return None if value is None else Decimal(str(value))
