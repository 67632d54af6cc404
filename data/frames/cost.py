"""What a job is billed by, as the training service reports it, and the tables of prices and of instance types."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Price:
    """What an hour of an instance type costs in a region."""

    instance_type: str  # ml.p3.8xlarge
    region: str  # us-west-2; "" for every region
    usd_per_hour: Decimal
    as_of: str  # when it was seen: 2020-12 or 2026-09-24; "" where that is not known
    source: str  # who says so, "" where that is not known
    own: bool = False  # from the table that the user named


@dataclass(frozen=True)
class Instance:
    """What an instance type has. None and "" stand for what is not known; 0 GPUs is known."""

    instance_type: str
    vcpus: int | None
    memory_gib: float | None
    gpus: int | None  # accelerators of any kind
    gpu_model: str
    gpu_memory_gib: float | None  # of one GPU
    network_gbps: float | None  # what is guaranteed, where it may be exceeded for a while


@dataclass(frozen=True)
class BilledGroup:
    """Instances of one type that are billed together."""

    instance_type: str
    count: int
    name: str = ""  # of the group, in heterogeneous clusters


@dataclass(frozen=True)
class Stage:
    """One stage of a job's life as the service reports it."""

    status: str  # Downloading, Training, Interrupted...; hostile text, as `message`
    start_ns: int | None
    end_ns: int | None  # None while it lasts
    message: str


@dataclass(frozen=True)
class Billing:
    """Everything that the cost of a job follows from. None, "" and () stand for what nobody says."""

    described: bool  # whether there is a description of the job that can be read
    ended: bool  # whether the job had ended when it was described
    groups: tuple[BilledGroup, ...]
    billed_s: float | None  # BillableTimeInSeconds: of one instance, what spot saves taken off
    training_s: float | None  # TrainingTimeInSeconds, of one instance
    spot: bool | None
    region: str
    region_from: str  # TrainingJobArn | TrainingImage | ""
    pool_status: str  # of the warm pool that kept the instances after the job, "" where there was none
    retained_s: float | None  # how long it kept them
    stages: tuple[Stage, ...]
    gpus: int  # in the measurements
    nodes: int  # that were measured
    covered_s: float | None  # from the first record of the measurements to the last; None without any
