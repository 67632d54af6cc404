"""Billing of stored jobs, and what the demo jobs cost: the figures of the reference, to the cent."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from data.frames.cost import BilledGroup, Billing
from data.insights.cost import job_cost
from data.prices import read_tables
from data.queries import cost
from data.selection import Selection
from data.sources import open_source
from data.store import Store
from tests import trees
from tests.conftest import Demo
from tests.stored import convert, write_job

RUN_A, RUN_B = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512"


def billing_of(demo: Demo, name: str) -> Billing:
    store = Store(demo.store, [open_source(str(demo.source))])
    return store.fetch(cost.billing, Selection(demo.job_ids[name]))


def cents(amount: Decimal | None) -> Decimal:
    assert amount is not None
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def test_the_demo_runs_cost_what_the_reference_says(demo: Demo) -> None:
    tables = read_tables()
    a, b = (job_cost(billing_of(demo, name), tables.prices, tables.instances) for name in (RUN_A, RUN_B))
    assert (cents(a.total_usd), cents(b.total_usd)) == (Decimal("6.16"), Decimal("1.07"))
    assert a.total_usd is not None
    assert b.total_usd is not None
    assert round(100 * (1 - b.total_usd / a.total_usd), 1) == Decimal("82.7")
    assert (a.gpus, b.gpus) == (12, 2)
    assert (a.unknown, b.unknown) == ((), ())


def test_the_billing_of_a_demo_run(demo: Demo) -> None:
    found = billing_of(demo, RUN_A)
    assert (found.described, found.ended, found.spot, found.region) == (True, True, False, "us-west-2")
    assert found.groups == (BilledGroup("ml.p3.8xlarge", 3),)
    assert (found.billed_s, found.training_s) == (503, 503)
    assert (found.gpus, found.nodes) == (12, 3)
    assert [stage.status for stage in found.stages] == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert found.covered_s == pytest.approx(503, abs=1)


def described(tmp_path: Path, answer: dict[str, Any] | str | None) -> Billing:
    job = tmp_path / "job"
    write_job(job, trees.machine("algo-1", ticks=5, cores=2, gpus=2))
    if answer is not None:
        (job / "training-job.json").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    stored = convert(job, tmp_path / "store")
    return stored.store().fetch(cost.billing, Selection(stored.job_id))


@pytest.mark.parametrize("answer", [None, "{broken"])
def test_without_a_description_only_the_measurements_are_known(tmp_path: Path, answer: str | None) -> None:
    found = described(tmp_path, answer)
    assert (found.described, found.ended, found.groups, found.billed_s, found.region) == (False, False, (), None, "")
    assert (found.gpus, found.nodes) == (2, 1)
    assert found.covered_s == pytest.approx(2, abs=0.01)  # five samples, half a second from one to the next


def test_a_job_that_runs_has_not_been_billed_yet(tmp_path: Path) -> None:
    found = described(
        tmp_path,
        {
            "TrainingJobStatus": "InProgress",
            "ResourceConfig": {"InstanceType": "ml.p3.2xlarge", "InstanceCount": 1},
            "WarmPoolStatus": {"Status": "Available"},
        },
    )
    assert (found.described, found.ended, found.billed_s) == (True, False, None)
    assert (found.pool_status, found.retained_s) == ("Available", None)
