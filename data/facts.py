"""What is known of a training job beside its measurements: its description, and its status.

`training-job.json` in a job's folder is the answer of DescribeTrainingJob as the AWS command line saves it. It is read
tolerantly: what is missing or malformed stays unknown and is named in `problems`; nothing is made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from data.answers import Answer, Malformed
from data.problem import Problem

LARGEST_BYTES = 1 << 20
FILE_NAME = "training-job.json"
FRESH_NS = 300 * 1_000_000_000  # data newer than this belong to a job that is still running

COMPLETED, IN_PROGRESS, UNKNOWN = "Completed", "InProgress", "Unknown"
STATUSES = (IN_PROGRESS, COMPLETED, "Failed", "Stopping", "Stopped")

_FRAMEWORKS = {
    "tensorflow": "TensorFlow",
    "pytorch": "PyTorch",
    "mxnet": "MXNet",
    "chainer": "Chainer",
    "xgboost": "XGBoost",
    "scikit-learn": "scikit-learn",
    "sklearn": "scikit-learn",
    "huggingface-pytorch": "Hugging Face, PyTorch",
    "huggingface-tensorflow": "Hugging Face, TensorFlow",
}
_REPOSITORY_TAIL = re.compile(r"-(?:training|inference|scriptmode|neuron|neuronx|eia|trcomp)+\b.*")
_REGION = r"([a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2})"
_ARN = re.compile(rf"arn:aws[a-z-]*:sagemaker:{_REGION}:", re.ASCII)
_REGISTRY = re.compile(rf"[0-9]+\.dkr\.ecr(?:-fips)?\.{_REGION}\.", re.ASCII)
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+(?:-[0-9]+)?(?![0-9.])")


@dataclass(frozen=True, slots=True)
class InstanceGroup:
    """Instances of one type."""

    instance_type: str
    count: int
    name: str = ""  # of the group, in heterogeneous clusters


@dataclass(frozen=True, slots=True)
class Transition:
    """One stage of the job's life."""

    status: str
    start_ns: int | None
    end_ns: int | None  # None while it lasts
    message: str


@dataclass(frozen=True, slots=True)
class WarmPool:
    """The pool that kept the instances after the job."""

    status: str
    retained_billable_s: float | None
    reused_by: str


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A training job as it was described. None, "" and () stand for what the description does not say."""

    name: str = ""
    status: str = ""
    secondary_status: str = ""
    failure_reason: str = ""
    created_ns: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    training_s: float | None = None
    billable_s: float | None = None
    spot: bool | None = None
    groups: tuple[InstanceGroup, ...] = ()
    transitions: tuple[Transition, ...] = ()
    hyperparameters: tuple[tuple[str, str], ...] = ()
    image: str = ""
    framework: str = ""  # "TensorFlow 2.3.1"
    region: str = ""  # us-west-2
    region_from: str = ""  # the field that says so: TrainingJobArn, else TrainingImage
    warm_pool: WarmPool | None = None
    problems: tuple[str, ...] = ()

    @property
    def instances(self) -> str:
        """The instances in words: "3 × ml.p3.8xlarge", groups joined by " + "."""
        return " + ".join(f"{group.count} × {group.instance_type}" for group in self.groups)

    @property
    def interruptions(self) -> tuple[Transition, ...]:
        """The times at which a spot job was interrupted."""
        return tuple(transition for transition in self.transitions if transition.status == "Interrupted")


def parse_training_job(data: bytes) -> TrainingJob | Problem:
    """Read a description; a Problem where it is none at all."""
    try:
        answer = Answer.parse(data, LARGEST_BYTES)
    except Malformed as error:
        return Problem(FILE_NAME, None, f"the description of the training job cannot be used: {error}", "warning")
    image = answer.section("AlgorithmSpecification").text("TrainingImage")
    region, region_from = region_of(answer.text("TrainingJobArn"), image)
    return TrainingJob(
        name=answer.text("TrainingJobName"),
        status=answer.text("TrainingJobStatus"),
        secondary_status=answer.text("SecondaryStatus"),
        failure_reason=answer.text("FailureReason"),
        created_ns=answer.time_ns("CreationTime"),
        start_ns=answer.time_ns("TrainingStartTime"),
        end_ns=answer.time_ns("TrainingEndTime"),
        training_s=answer.seconds("TrainingTimeInSeconds"),
        billable_s=answer.seconds("BillableTimeInSeconds"),
        spot=answer.flag("EnableManagedSpotTraining"),
        groups=_groups(answer.section("ResourceConfig")),
        transitions=_transitions(answer),
        hyperparameters=answer.section("HyperParameters").texts(),
        image=image,
        framework=framework_of(image),
        region=region,
        region_from=region_from,
        warm_pool=_warm_pool(answer),
        problems=tuple(answer.problems),
    )


def framework_of(image: str) -> str:
    """Framework and version where the name of a container image says them, else ""."""
    repository, _, tag = image.rpartition("/")[2].partition("@")[0].partition(":")
    family = _REPOSITORY_TAIL.sub("", repository.removeprefix("sagemaker-"))
    name = _FRAMEWORKS.get(family, "")
    version = _VERSION.match(tag)
    return f"{name} {version[0]}" if name and version else name


def region_of(arn: str, image: str) -> tuple[str, str]:
    """The region of a job and the field that tells it: the job's own name, else the registry of its image."""
    for field, pattern, text in (("TrainingJobArn", _ARN, arn), ("TrainingImage", _REGISTRY, image)):
        if match := pattern.match(text):
            return match[1], field
    return "", ""


def status_of(
    training_job: TrainingJob | None,
    system_end: bool,
    framework_end: bool,
    newest_data_ns: int | None,
    now_ns: int,
) -> tuple[str, str]:
    """A job's status and a sentence that says where it comes from."""
    if training_job is not None and training_job.status:
        return _described_status(training_job)
    if system_end and framework_end:
        return COMPLETED, "both end markers are there"
    if not newest_data_ns:
        return UNKNOWN, "no data"
    age_ns = now_ns - newest_data_ns
    if age_ns < FRESH_NS:
        return IN_PROGRESS, "data are newer than 5 minutes"
    return UNKNOWN, f"no data for {_age(age_ns)}"


def _described_status(training_job: TrainingJob) -> tuple[str, str]:
    told = training_job.status
    detail = f"{FILE_NAME} says {told}"
    if training_job.failure_reason:
        detail += f": {training_job.failure_reason}"
    elif training_job.secondary_status not in ("", told):
        detail += f" ({training_job.secondary_status})"
    return (told if told in STATUSES else UNKNOWN), detail


def _age(age_ns: int) -> str:
    """A time span in one fitting unit, rounded down."""
    minutes = age_ns // 60_000_000_000
    for size, unit in ((24 * 60, "days"), (60, "h")):
        if minutes >= 2 * size or (unit == "h" and minutes >= size):
            return f"{minutes // size} {unit}"
    return f"{minutes} min"


def _groups(resources: Answer) -> tuple[InstanceGroup, ...]:
    groups = resources.sections("InstanceGroups") or [resources]
    found = [
        (group.text("InstanceType"), group.count("InstanceCount"), group.text("InstanceGroupName")) for group in groups
    ]
    return tuple(InstanceGroup(kind, count, name) for kind, count, name in found if kind and count)


def _transitions(answer: Answer) -> tuple[Transition, ...]:
    return tuple(
        Transition(
            stage.text("Status"), stage.time_ns("StartTime"), stage.time_ns("EndTime"), stage.text("StatusMessage")
        )
        for stage in answer.sections("SecondaryStatusTransitions")
    )


def _warm_pool(answer: Answer) -> WarmPool | None:
    pool = answer.section("WarmPoolStatus")
    status = pool.text("Status")
    if not status:
        return None
    return WarmPool(status, pool.seconds("ResourceRetainedBillableTimeInSeconds"), pool.text("ReusedByJob"))
