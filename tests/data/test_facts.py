"""What training-job.json says, what it leaves open, and the status of a job."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.facts import InstanceGroup, TrainingJob, framework_of, parse_training_job, region_of, status_of
from data.problem import Problem

IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/tensorflow-training:2.3.1-gpu-py37-cu110-ubuntu18.04"
ANSWER: dict[str, Any] = {
    "TrainingJobName": "train-1",
    "TrainingJobStatus": "Completed",
    "SecondaryStatus": "Completed",
    "AlgorithmSpecification": {"TrainingImage": IMAGE},
    "ResourceConfig": {"InstanceType": "ml.p3.8xlarge", "InstanceCount": 3, "VolumeSizeInGB": 30},
    "CreationTime": "2026-01-01T12:00:00.250000+00:00",
    "TrainingStartTime": "2026-01-01T14:01:00.000001+02:00",
    "TrainingEndTime": 1767269460.5,
    "TrainingTimeInSeconds": 540,
    "BillableTimeInSeconds": 180,
    "EnableManagedSpotTraining": True,
    "HyperParameters": {"batch_size": "256", "lr": "0.1"},
    "SecondaryStatusTransitions": [
        {"Status": "Starting", "StartTime": 1767268800, "EndTime": 1767268860, "StatusMessage": "Preparing"},
        {"Status": "Interrupted", "StartTime": 1767268900, "EndTime": 1767269000, "StatusMessage": "Spot"},
        {"Status": "Training", "StartTime": 1767269000},
    ],
    "WarmPoolStatus": {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 60},
}


def described(answer: object) -> TrainingJob:
    job = parse_training_job(json.dumps(answer).encode())
    assert isinstance(job, TrainingJob)
    return job


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


def test_a_whole_answer_is_understood() -> None:
    job = described(ANSWER)
    assert (job.name, job.status, job.framework) == ("train-1", "Completed", "TensorFlow 2.3.1")
    assert job.created_ns == ns("2026-01-01T12:00:00") + 250_000_000
    assert job.start_ns == ns("2026-01-01T12:01:00") + 1_000
    assert job.end_ns == ns("2026-01-01T12:11:00") + 500_000_000
    assert (job.training_s, job.billable_s, job.spot) == (540, 180, True)
    assert job.instances == "3 × ml.p3.8xlarge"
    assert job.hyperparameters == (("batch_size", "256"), ("lr", "0.1"))
    assert [(gap.start_ns, gap.end_ns) for gap in job.interruptions] == [(1767268900 * 10**9, 1767269000 * 10**9)]
    assert job.transitions[-1].end_ns is None
    assert job.warm_pool is not None
    assert job.warm_pool.retained_billable_s == 60
    assert job.problems == ()


def test_the_region_is_that_of_the_job_else_of_its_image() -> None:
    arn = "arn:aws:sagemaker:us-west-2:111122223333:training-job/train-1"
    assert region_of(arn, IMAGE) == ("us-west-2", "TrainingJobArn")
    assert region_of("", IMAGE) == ("us-east-1", "TrainingImage")
    assert (
        region_of(arn.replace("aws:", "aws-us-gov:", 1).replace("us-west-2", "us-gov-west-1"), "")[0] == "us-gov-west-1"
    )
    china = IMAGE.replace("us-east-1.amazonaws.com", "cn-north-1.amazonaws.com.cn")
    assert region_of("train-1", china) == ("cn-north-1", "TrainingImage")
    assert described(ANSWER | {"TrainingJobArn": arn}).region == "us-west-2"
    assert (described(ANSWER).region, described(ANSWER).region_from) == ("us-east-1", "TrainingImage")


@pytest.mark.parametrize("arn", ["", "arn:aws:s3:us-west-2:1:x", "arn:aws:sagemaker:<b>:1:x", "arn:aws:sagemaker::1:x"])
@pytest.mark.parametrize("image", ["", "docker.io/pytorch:2", "example.com/ecr.us-east-1.amazonaws.com/x"])
def test_what_names_no_region_gives_none(arn: str, image: str) -> None:
    assert region_of(arn, image) == ("", "")


def test_instance_groups() -> None:
    groups = [
        {"InstanceType": "ml.p3.8xlarge", "InstanceCount": 1, "InstanceGroupName": "gpu"},
        {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "InstanceGroupName": "cpu"},
    ]
    job = described({"ResourceConfig": {"InstanceGroups": groups}})
    assert job.groups == (InstanceGroup("ml.p3.8xlarge", 1, "gpu"), InstanceGroup("ml.c5.xlarge", 2, "cpu"))
    assert job.instances == "1 × ml.p3.8xlarge + 2 × ml.c5.xlarge"


def test_what_is_missing_stays_unknown() -> None:
    assert described({}) == TrainingJob()


def test_wrong_types_are_unknown_and_named() -> None:
    wrong = {
        "TrainingJobName": 5,
        "TrainingJobStatus": ["Completed"],
        "TrainingStartTime": "yesterday",
        "TrainingEndTime": 1767269460500,  # milliseconds
        "TrainingTimeInSeconds": -3,
        "BillableTimeInSeconds": True,
        "EnableManagedSpotTraining": "yes",
        "ResourceConfig": {"InstanceType": "ml.p3.8xlarge", "InstanceCount": 1.5},
        "SecondaryStatusTransitions": [{"Status": "Training", "StartTime": {}}, 7],
        "HyperParameters": {"a": 1},
        "AlgorithmSpecification": "x",
        "FailureReason": None,
    }
    job = described(wrong)
    assert (job.name, job.status, job.start_ns, job.end_ns, job.training_s, job.billable_s) == ("", "", *[None] * 4)
    assert (job.spot, job.groups, job.framework, len(job.transitions)) == (None, (), "", 1)
    named = {problem.split(" ")[0] for problem in job.problems}
    assert named == {
        "TrainingJobName", "TrainingJobStatus", "TrainingStartTime", "TrainingEndTime", "TrainingTimeInSeconds",
        "BillableTimeInSeconds", "EnableManagedSpotTraining", "ResourceConfig.InstanceCount", "HyperParameters.a",
        "SecondaryStatusTransitions", "SecondaryStatusTransitions[0].StartTime", "AlgorithmSpecification",
    }  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe{}", b"[" * 100_000, b'{"TrainingTimeInSeconds": ' + b"9" * 5000 + b"}",
     b'{"TrainingTimeInSeconds": 1e99999999999999999999}',
     b" " * (2 << 20)],
)  # fmt: skip
def test_what_is_no_answer_is_a_problem(data: bytes) -> None:
    problem = parse_training_job(data)
    assert isinstance(problem, Problem)
    assert (problem.file, problem.severity) == ("training-job.json", "warning")


def test_odd_values_of_json_are_no_values() -> None:
    job = parse_training_job(
        b'\xef\xbb\xbf{"TrainingTimeInSeconds": NaN, "TrainingStartTime": 1e999, "BillableTimeInSeconds": 1e400000,'
        b' "TrainingJobName": "\\ud800"}'
    )
    assert isinstance(job, TrainingJob)
    assert (job.training_s, job.start_ns, job.billable_s) == (None, None, None)
    assert job.name.encode() == b"?"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(ANSWER)), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ANSWER)), JSON), st.binary(max_size=40))
def test_nothing_raises(answer: dict[str, Any], noise: bytes) -> None:
    job = described(answer)
    assert len(job.problems) <= 50
    status_of(job, True, True, None, 0)
    parse_training_job(noise)
    parse_training_job(json.dumps(ANSWER).encode()[: len(noise) * 20] + noise)


@pytest.mark.parametrize(
    ("image", "framework"),
    [
        ("1.dkr.ecr.eu-west-1.amazonaws.com/tensorflow-training:2.3.1-gpu-py37-cu110", "TensorFlow 2.3.1"),
        ("1.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:1.6.0-gpu-py36", "PyTorch 1.6.0"),
        ("x/sagemaker-tensorflow-scriptmode:1.12.0-gpu-py3", "TensorFlow 1.12.0"),
        ("x/huggingface-pytorch-training:1.10.2-transformers4.17.0-gpu", "Hugging Face, PyTorch 1.10.2"),
        ("x/sagemaker-xgboost:1.2-1", "XGBoost 1.2-1"),
        ("x/sagemaker-scikit-learn:0.23-1-cpu-py3", "scikit-learn 0.23-1"),
        ("x/pytorch-training@sha256:0123", "PyTorch"),
        ("localhost:5000/mxnet-training:latest", "MXNet"),
        ("x/my-own-trainer:2.3.1", ""),
        ("", ""),
    ],
)
def test_the_framework_is_told_only_where_the_image_tells_it(image: str, framework: str) -> None:
    assert framework_of(image) == framework


NOW = 1767268800 * 10**9
MINUTE = 60 * 10**9


@pytest.mark.parametrize(
    ("system_end", "framework_end", "age_ns", "expected"),
    [
        (True, True, MINUTE, ("Completed", "both end markers are there")),
        (False, True, 4 * MINUTE, ("InProgress", "data are newer than 5 minutes")),
        (True, False, 5 * MINUTE, ("Unknown", "no data for 5 min")),
        (False, False, 61 * MINUTE, ("Unknown", "no data for 1 h")),
        (False, False, 180 * MINUTE, ("Unknown", "no data for 3 h")),
        (False, False, 47 * 60 * MINUTE, ("Unknown", "no data for 47 h")),
        (False, False, 49 * 60 * MINUTE, ("Unknown", "no data for 2 days")),
        (False, False, -MINUTE, ("InProgress", "data are newer than 5 minutes")),
    ],
)
def test_status_without_description(
    system_end: bool, framework_end: bool, age_ns: int, expected: tuple[str, str]
) -> None:
    assert status_of(None, system_end, framework_end, NOW - age_ns, NOW) == expected
    assert status_of(TrainingJob(), system_end, framework_end, NOW - age_ns, NOW) == expected


def test_status_without_any_data() -> None:
    assert status_of(None, True, False, None, NOW) == ("Unknown", "no data")


def test_the_description_has_the_first_word() -> None:
    failed = TrainingJob(status="Failed", secondary_status="Failed", failure_reason="AlgorithmError: x")
    assert status_of(failed, True, True, NOW, NOW) == ("Failed", "training-job.json says Failed: AlgorithmError: x")
    running = TrainingJob(status="InProgress", secondary_status="Uploading")
    assert status_of(running, True, True, 1, NOW) == ("InProgress", "training-job.json says InProgress (Uploading)")
    assert status_of(TrainingJob(status="Deleting"), True, True, 1, NOW)[0] == "Unknown"
