"""What the cost of a job follows from: instances, billed time, region, and what was measured."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from data.errors import MissingTable
from data.facts import TrainingJob
from data.frames.cost import BilledGroup, Billing, Stage
from data.frames.evidence import Machines
from data.manifest import Manifest
from data.prices import PriceTables
from data.queries.description import MOST_KEPT, parsed
from data.selection import Selection
from data.store import Database

_NS_PER_S = 1_000_000_000


def billing(db: Database, selection: Selection) -> Billing:
    """The billing of the whole job, whatever window and nodes are selected."""
    return billing_of(db.job(selection.job).manifest)


def billing_of(manifest: Manifest) -> Billing:
    """The same, of a job's manifest."""
    measured = bool(manifest.system_rows)
    return replace(
        _told(manifest.training_job),
        gpus=sum(node.gpus for node in manifest.nodes),
        nodes=len(manifest.nodes),
        covered_s=(manifest.system_end_ns - manifest.system_start_ns) / _NS_PER_S if measured else None,
    )


@lru_cache(maxsize=MOST_KEPT)
def _told(content: str | None) -> Billing:
    """What the description alone says."""
    job = parsed(content)
    told = job or TrainingJob()
    pool = told.warm_pool
    return Billing(
        described=job is not None,
        ended=told.status in ("Completed", "Failed", "Stopped") or told.end_ns is not None,
        groups=tuple(BilledGroup(group.instance_type, group.count, group.name) for group in told.groups),
        billed_s=told.billable_s,
        training_s=told.training_s,
        spot=told.spot,
        region=told.region,
        region_from=told.region_from,
        pool_status=pool.status if pool else "",
        retained_s=pool.retained_billable_s if pool else None,
        stages=tuple(Stage(one.status, one.start_ns, one.end_ns, one.message) for one in told.transitions),
        gpus=0,
        nodes=0,
        covered_s=None,
    )


def tables(db: Database) -> PriceTables:
    """The tables of prices and instance types that are in force; for all jobs the same."""
    return db.store.price_book.tables()


def machines(db: Database, selection: Selection) -> Machines:
    """A job's instances, and the types of their families. Raises MissingTable where nothing says which they are."""
    groups = billing(db, selection).groups
    if not groups:
        raise MissingTable(
            "Nothing says which instances the job ran on.",
            "Put the answer of DescribeTrainingJob into the job's folder as training-job.json, and convert again.",
        )
    families = {_family(group.instance_type) for group in groups}
    known = tables(db).instances.values()
    return Machines(groups, tuple(one for one in known if _family(one.instance_type) in families))


def _family(instance_type: str) -> str:
    """What comes before the size: ml.p3 of ml.p3.8xlarge."""
    return instance_type.rpartition(".")[0]
