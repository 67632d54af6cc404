"""`training-job.json`: what DescribeTrainingJob says about a synthetic job, in the form the AWS command line saves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from data.demo.schedule import Schedule
from data.demo.spec import TreeSpec

REGION = "us-west-2"
ACCOUNT = "111122223333"  # one of the account numbers that AWS reserves for examples
BUCKET = f"s3://sagemaker-{REGION}-{ACCOUNT}"
IMAGE_REGISTRY = f"763104351884.dkr.ecr.{REGION}.amazonaws.com"
STARTING_TIME = timedelta(seconds=171)

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What `training-job.json` says beyond what follows from the tree itself."""

    name: str
    instance_type: str
    image: str  # repository and tag
    hyperparameters: tuple[tuple[str, str], ...]
    spot: bool = False
    billable_seconds: int | None = None  # None: as long as the training; spot jobs pay for less


def training_job(facts: JobFacts, spec: TreeSpec, plan: Schedule) -> bytes:
    """The response as JSON text, times as ISO 8601 in UTC."""
    response = {
        "TrainingJobName": facts.name,
        "TrainingJobArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{facts.name}",
        "ModelArtifacts": {"S3ModelArtifacts": f"{BUCKET}/{facts.name}/output/model.tar.gz"},
        "TrainingJobStatus": "Completed" if spec.ended else "InProgress",
        "SecondaryStatus": "Completed" if spec.ended else "Training",
        "HyperParameters": dict(facts.hyperparameters),
        **_request(facts, spec),
        **_times(spec, plan),
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": facts.spot,
        **(_seconds(facts, spec) if spec.ended else {}),
        "ProfilerConfig": {
            "S3OutputPath": f"{BUCKET}/",
            "ProfilingIntervalInMilliseconds": spec.interval_ms,
            "ProfilingParameters": {"LocalPath": "/opt/ml/output/profiler", "ProfilerEnabled": "True"},
        },
        "ProfilingStatus": "Enabled",
    }
    return (json.dumps(response, indent=4) + "\n").encode()


def _request(facts: JobFacts, spec: TreeSpec) -> Json:
    """What was asked for when the job was created."""
    resources = {"InstanceType": facts.instance_type, "InstanceCount": spec.nodes, "VolumeSizeInGB": 100}
    wait = {"MaxWaitTimeInSeconds": 90_000} if facts.spot else {}
    return {
        "AlgorithmSpecification": {
            "TrainingImage": f"{IMAGE_REGISTRY}/{facts.image}",
            "TrainingInputMode": "File",
            "EnableSageMakerMetricsTimeSeries": True,
        },
        "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/demo-training",
        "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": f"{BUCKET}/"},
        "ResourceConfig": resources,
        "StoppingCondition": {"MaxRuntimeInSeconds": 86_400, **wait},
    }


def _times(spec: TreeSpec, plan: Schedule) -> Json:
    started = _moment(spec.start_us)
    ended = started + timedelta(seconds=spec.seconds)
    created = started - STARTING_TIME
    changed = ended + timedelta(seconds=1) if spec.ended else started + timedelta(seconds=90)
    return {
        "CreationTime": _iso(created),
        "TrainingStartTime": _iso(started),
        **({"TrainingEndTime": _iso(ended)} if spec.ended else {}),
        "LastModifiedTime": _iso(changed),
        "SecondaryStatusTransitions": _transitions(spec, plan, created, started, ended),
    }


def _seconds(facts: JobFacts, spec: TreeSpec) -> Json:
    seconds = round(spec.seconds)
    billable = seconds if facts.billable_seconds is None else facts.billable_seconds
    return {"TrainingTimeInSeconds": seconds, "BillableTimeInSeconds": billable}


def _transitions(spec: TreeSpec, plan: Schedule, created: datetime, started: datetime, ended: datetime) -> list[Json]:
    """Status changes in order; the last one is open, so it has no end."""
    downloaded = started + timedelta(microseconds=plan.download_end_us)
    trained = started + timedelta(microseconds=plan.loop_end_us)
    stages = [
        ("Starting", created, started, "Preparing the instances for training"),
        ("Downloading", started, downloaded, "Downloading input data"),
        ("Training", downloaded, trained, "Training image download completed. Training in progress."),
        ("Uploading", trained, ended, "Uploading generated training model"),
        ("Completed", ended, ended, "Training job completed"),
    ]
    if not spec.ended:
        stages = stages[:3]
    entries: list[Json] = []
    for status, start, end, message in stages:
        is_open = not spec.ended and status == "Training"
        times = {"StartTime": _iso(start)} if is_open else {"StartTime": _iso(start), "EndTime": _iso(end)}
        entries.append({"Status": status, **times, "StatusMessage": message})
    return entries


def _moment(epoch_us: int) -> datetime:
    """To the millisecond, as the service keeps times."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch_us // 1000)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")
