"""What jobs cost, worked out by hand and by the reference's vectors; what is not known is never 0."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.frames.cost import BilledGroup, Billing, Instance, Price, Stage
from data.insights.cost import is_billed, job_cost

P3_8, P3_2, C5 = "ml.p3.8xlarge", "ml.p3.2xlarge", "ml.c5.xlarge"


def price(instance_type: str, usd: str, region: str = "us-west-2") -> Price:
    return Price(instance_type, region, Decimal(usd), "2020-12", "a test")


def instance(instance_type: str, gpus: int | None) -> Instance:
    return Instance(instance_type, 8, 61.0, gpus, "V100" if gpus else "", None, None)


PRICES = {P3_8: (price(P3_8, "14.688"),), P3_2: (price(P3_2, "3.825"),), C5: (price(C5, "0.204"),)}
INSTANCES = {one: instance(one, gpus) for one, gpus in ((P3_8, 4), (P3_2, 1), (C5, 0))}


def billing(*groups: tuple[str, int], **changed: Any) -> Billing:
    return replace(
        Billing(
            described=True,
            ended=True,
            groups=tuple(BilledGroup(*group) for group in groups),
            billed_s=503.0,
            training_s=503.0,
            spot=False,
            region="us-west-2",
            region_from="TrainingJobArn",
            pool_status="",
            retained_s=None,
            stages=(),
            gpus=12,
            nodes=3,
            covered_s=459.5,
        ),
        **changed,
    )


A = billing((P3_8, 3))


def reasons(found: Any) -> str:
    return " ".join(f"{one.reason} {one.hint}" for one in found.unknown)


def test_the_reference_s_vectors() -> None:
    first = job_cost(A, PRICES, INSTANCES)
    second = job_cost(billing((P3_2, 2), billed_s=502.0, gpus=2, nodes=2), PRICES, INSTANCES)
    assert first.total_usd == Decimal("6.15672")
    assert second.total_usd == Decimal("1.06675")
    assert 1 - second.total_usd / first.total_usd == pytest.approx(Decimal("0.826734"), abs=Decimal("0.0000005"))
    assert (first.unknown, first.notes, second.unknown, second.notes) == ((), (), (), ())


def test_prices_and_gpu_hours_of_a_job() -> None:
    found = job_cost(A, PRICES, INSTANCES)
    assert found.usd_per_gpu_hour == Decimal("3.672")  # 14.688 / 4
    assert found.usd_per_node_hour == Decimal("14.688")
    assert found.gpus == 12
    assert found.gpu_hours == pytest.approx(Decimal(503 * 12) / 3600)
    assert found.gpu_hours_from == "billed"
    (line,) = found.lines
    assert (line.group, line.seconds, line.price, line.warm_pool) == (A.groups[0], 503, PRICES[P3_8][0], False)


@given(st.decimals(0, 10_000, places=1), st.integers(1, 64), st.decimals("0.001", 100, places=4), st.integers(1, 10**6))
def test_money_is_exact(seconds: Decimal, count: int, usd: Decimal, unit: int) -> None:
    """A whole number of hours gives no rest to round: the sum is exactly that of fractions."""
    job = billing((P3_8, count), billed_s=float(unit * 3600))
    total = job_cost(job, {P3_8: (replace(PRICES[P3_8][0], usd_per_hour=usd),)}, INSTANCES).total_usd
    assert total is not None
    assert Fraction(total) == Fraction(usd) * count * unit
    near = job_cost(billing((P3_8, count), billed_s=float(seconds)), {P3_8: (price(P3_8, "1.5"),)}, INSTANCES).total_usd
    assert near is not None
    assert abs(Fraction(near) - Fraction(seconds) * count * Fraction(3, 2) / 3600) < Fraction(1, 10**20)


def test_spot_is_billed_as_reported_and_saves_what_is_missing_from_training_time() -> None:
    """34 s of training, billed as 7 s: the sample of the service's documents, 79.4 %."""
    found = job_cost(billing((P3_2, 1), billed_s=7.0, training_s=34.0, spot=True, gpus=1, nodes=1), PRICES, INSTANCES)
    assert found.spot_saving_percent == pytest.approx(Decimal("79.4"), abs=Decimal("0.05"))
    assert found.total_usd == Decimal(7) * Decimal("3.825") / 3600
    hour = Decimal("3.825") * 7 / 34  # what an hour of training costs
    assert found.usd_per_gpu_hour == pytest.approx(hour)
    assert found.usd_per_node_hour == pytest.approx(hour)


@pytest.mark.parametrize(
    "changed", [{"training_s": None}, {"billed_s": None}, {"training_s": 0.0}, {"billed_s": 900.0}]
)
def test_a_spot_job_whose_saving_is_not_known_has_no_price_of_an_hour(changed: dict[str, Any]) -> None:
    found = job_cost(replace(A, spot=True, **changed), PRICES, INSTANCES)
    assert (found.spot_saving_percent, found.usd_per_gpu_hour, found.usd_per_node_hour) == (None, None, None)


@pytest.mark.parametrize("spot", [False, None])
def test_no_spot_no_saving(spot: bool | None) -> None:
    found = job_cost(replace(A, spot=spot, billed_s=100.0), PRICES, INSTANCES)
    assert found.spot_saving_percent is None
    assert found.usd_per_node_hour == Decimal("14.688")


def test_groups_are_added_up() -> None:
    found = job_cost(billing((P3_8, 1), (C5, 2), billed_s=3600.0, gpus=4), PRICES, INSTANCES)
    assert [line.usd for line in found.lines] == [Decimal("14.688"), Decimal("0.408")]
    assert found.total_usd == Decimal("15.096")
    assert (found.usd_per_gpu_hour, found.usd_per_node_hour) == (Decimal("3.774"), Decimal("5.032"))


def test_a_warm_pool_is_billed_for_the_time_it_kept_the_instances() -> None:
    found = job_cost(replace(A, pool_status="Terminated", retained_s=60.0), PRICES, INSTANCES)
    assert [(line.warm_pool, line.seconds) for line in found.lines] == [(False, 503), (True, 60)]
    assert found.lines[1].usd == pytest.approx(Decimal("0.7344"))  # 3 x 14.688 / 60
    assert found.total_usd == pytest.approx(Decimal("6.15672") + Decimal("0.7344"))
    assert found.gpu_hours == pytest.approx(Decimal(503 * 12) / 3600)  # of the training alone


def test_a_warm_pool_of_unknown_length_leaves_the_total_open() -> None:
    found = job_cost(replace(A, pool_status="Available"), PRICES, INSTANCES)
    assert found.total_usd is None
    assert found.lines[0].usd == Decimal("6.15672")
    assert "warm pool" in reasons(found)


def test_without_a_price_there_are_gpu_hours_only() -> None:
    found = job_cost(A, {}, INSTANCES)
    assert (found.total_usd, found.usd_per_gpu_hour, found.usd_per_node_hour) == (None, None, None)
    assert found.gpu_hours == pytest.approx(Decimal(503 * 12) / 3600)
    assert "No price of ml.p3.8xlarge is known." in reasons(found)
    assert "INSIGHTS_PRICES" in reasons(found)


def test_one_group_without_a_price_leaves_the_total_open() -> None:
    found = job_cost(billing((P3_8, 1), (C5, 2)), {P3_8: PRICES[P3_8]}, INSTANCES)
    assert found.lines[0].usd is not None
    assert (found.lines[1].usd, found.total_usd, found.usd_per_gpu_hour) == (None, None, None)


def test_a_price_of_another_region_is_none() -> None:
    found = job_cost(replace(A, region="eu-west-1"), PRICES, INSTANCES)
    assert found.total_usd is None
    assert "No price of ml.p3.8xlarge in eu-west-1 is known, only in us-west-2." in reasons(found)


def test_a_price_of_all_regions_holds_in_each_but_one_of_the_region_itself_is_better() -> None:
    general, own = price(P3_8, "10", ""), price(P3_8, "14.688")
    assert job_cost(A, {P3_8: (general, own)}, INSTANCES).lines[0].price == own
    assert job_cost(replace(A, region="eu-west-1"), {P3_8: (general, own)}, INSTANCES).lines[0].price == general
    assert job_cost(replace(A, region=""), {P3_8: (general, own)}, INSTANCES).lines[0].price == general


def test_without_a_region_a_price_counts_only_where_no_other_contradicts_it() -> None:
    nowhere = replace(A, region="", region_from="")
    only = job_cost(nowhere, PRICES, INSTANCES)
    assert only.total_usd == Decimal("6.15672")
    assert only.notes == ("The region is not known; the price of ml.p3.8xlarge in us-west-2 is the only one known.",)
    same = {P3_8: (price(P3_8, "14.688"), price(P3_8, "14.6880", "us-east-1"))}
    assert job_cost(nowhere, same, INSTANCES).total_usd == Decimal("6.15672")
    unlike = {P3_8: (price(P3_8, "14.688"), price(P3_8, "15", "us-east-1"))}
    assert job_cost(nowhere, unlike, INSTANCES).total_usd is None
    assert "differ between regions" in reasons(job_cost(nowhere, unlike, INSTANCES))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"billed_s": None, "ended": False}, "had not ended"),
        ({"billed_s": None}, "does not say for how long"),
        ({"groups": ()}, "names no instance type"),
        ({"described": False, "groups": (), "billed_s": None, "training_s": None}, "DescribeTrainingJob"),
    ],
)
def test_what_is_missing_is_said_and_gpu_hours_are_those_measured(changed: dict[str, Any], said: str) -> None:
    found = job_cost(replace(A, **changed), PRICES, INSTANCES)
    assert found.total_usd is None
    assert said in reasons(found)
    assert found.gpu_hours == pytest.approx(Decimal("459.5") * 12 / 3600)
    assert found.gpu_hours_from == "covered"
    assert any("GPU-hours" in note for note in found.notes)


def test_types_that_no_table_has_count_the_gpus_that_were_measured() -> None:
    found = job_cost(A, PRICES, {})
    assert (found.gpus, found.usd_per_gpu_hour) == (12, Decimal("3.672"))
    assert any("counted in the measurements" in note for note in found.notes)
    unmeasured = job_cost(replace(A, gpus=0, nodes=0, covered_s=None), PRICES, {})
    assert (unmeasured.gpus, unmeasured.usd_per_gpu_hour, unmeasured.gpu_hours) == (None, None, None)
    assert unmeasured.total_usd == Decimal("6.15672")


def test_gpus_that_were_not_measured_are_paid_for_all_the_same() -> None:
    found = job_cost(replace(A, gpus=9), PRICES, INSTANCES)
    assert found.gpus == 12
    assert "The instances have 12 GPUs, 9 of them were measured." in found.notes


def test_a_job_without_gpus_has_no_gpu_hours() -> None:
    found = job_cost(billing((C5, 2), gpus=0, nodes=2), PRICES, INSTANCES)
    assert (found.gpus, found.gpu_hours, found.usd_per_gpu_hour) == (0, None, None)
    assert found.usd_per_node_hour == Decimal("0.204")


def test_stages_that_are_billed() -> None:
    def stage(status: str) -> Stage:
        return Stage(status, 0, 1, "")

    for status in ("Downloading", "Training", "Uploading"):
        assert is_billed(stage(status)) is True
    for status in ("Starting", "Pending", "Interrupted", "LaunchingMLInstances"):
        assert is_billed(stage(status)) is False
    for status in ("Completed", "Failed", "Restarting", "", "<b>"):
        assert is_billed(stage(status)) is None
    assert is_billed(stage("Downloading"), [stage("Interrupted")]) is False
    assert is_billed(stage("Training"), [stage("Interrupted")]) is True
