"""Reports without names: nothing of them is anywhere in the file, in any format, and the figures stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from components.report.anonymous import Names
from components.report.render import FORMATS, Format, render
from data.insights.report import Report
from tests import frames, quality, reports

HOSTS = ("gpu-box-1.example.org", "gpu-box-12.example.org", "ip-10-0-7-3")
JOB = "secret-bert-run"
SECRETS = (
    *HOSTS, JOB, "gpu-box", "mallory", "/data/runs", "123456789012", "10.1.2.3", "s3://", "bucket", "arn:aws",
    "train.py", "algo.json", "someone@example.org",
)  # fmt: skip


def named() -> Report:
    """A report with names in every place that may hold one."""
    message = "line 2 of 1.algo.json: s3://bucket/key, arn:aws:iam::123456789012:role/x, 10.1.2.3, someone@example.org"
    sentence = f"1 of 3 GPUs stayed below 70 % ({HOSTS[0]} gpu3, {HOSTS[1]} gpu0 and 1 more)."
    place = replace(frames.outcome().places[0], node=HOSTS[1])
    outcome = frames.outcome(text=sentence, confidence=f"{HOSTS[2]} had too few samples.", places=(place,))
    histogram, timeline = frames.step_histogram(), frames.step_timeline()
    operator = f"/home/mallory/train.py(12): forward on {HOSTS[0]}"
    return reports.report(
        header=frames.job_header(
            name=JOB, job_id=f"{JOB}-0a1b2c3d", source=f"/data/runs/{JOB}", nodes=HOSTS,
            status_detail=f"training-job.json says Failed: see s3://bucket/{JOB}/log in account 123456789012",
        ),
        basis=replace(reports.report().basis, node_gpus=tuple((host, 4, 32) for host in HOSTS)),
        usage=frames.usage_summary([row for host in HOSTS for row in frames.usage_rows(host)]),
        operators=frames.operators([("cpu", operator, False, 150, 60, 5, None, HOSTS[:1], 1)]),
        shares=frames.framework_shares(
            general=(replace(frames.framework_shares().general[0], name=f"Loader {HOSTS[1]}"),)
        ),
        functions=frames.function_totals([("cprofile", "/home/mallory/train.py", 1, "step", 3, 3, 5, 6)]),
        findings=frames.findings(frames.finding(outcome=outcome)),
        step_histogram=replace(
            histogram,
            groups=tuple(replace(group, node=HOSTS[0]) for group in histogram.groups),
            outliers=tuple(replace(step, node=HOSTS[0], worker=f"81-{HOSTS[0]}") for step in histogram.outliers),
        ),
        step_timeline=replace(
            timeline,
            groups=tuple((phase, HOSTS[0]) for phase, _ in timeline.groups),
            outliers=tuple(replace(step, node=HOSTS[0]) for step in timeline.outliers),
        ),
        heatmap=frames.heatmap(HOSTS, bins=20),
        gpu_memory=frames.over_time("gpu_memory", [(HOSTS[0], "gpu0"), (HOSTS[1], "gpu1")]),
        quality=quality.quality(
            quality.kind(lost_rows=5), losses=(quality.NodeLoss("system", HOSTS[2], 1, 5),), nodes=HOSTS
        ),
        coverage=quality.coverage([(1, 10, 40, "gap")], names=HOSTS),
        values=replace(
            quality.values(), measured=tuple(quality.Measured(host, quality.METRICS[:3]) for host in HOSTS)
        ),
        clocks=replace(quality.clocks((HOSTS[1], 50, 1, 2, 3)), reference=HOSTS[0]),
        problems=reports.problem_page(("warning", "profiler-output/system/1.algo.json", 2, message, 5)),
    )  # fmt: skip


@pytest.mark.parametrize("as_format", list(FORMATS))
def test_no_name_is_anywhere_in_the_file(as_format: Format) -> None:
    """First: without the switch they all are, so that the search can find something."""
    with_names = render(named(), as_format)
    assert all(secret in with_names.replace("\\", "") for secret in (*HOSTS[:2], JOB))
    text = render(named(), as_format, nameless=True)
    assert [secret for secret in SECRETS if secret in text or secret in text.replace("\\", "")] == []
    assert "node-1" in text.replace("\\", "")


def test_nodes_are_the_same_everywhere_and_in_order() -> None:
    found = json.loads(render(named(), "json", nameless=True))
    assert found["anonymous"] is True
    assert found["job"]["name"] == "job"
    assert found["job"]["nodes"] == ["node-1", "node-2", "node-3"]
    (issue,) = found["insights"]["findings"]
    assert issue["places"][0]["node"] == "node-2"
    assert issue["text"] == "1 of 3 GPUs stayed below 70 % (node-1 gpu3, node-2 gpu0 and 1 more)."
    assert {row["node"] for row in found["system_usage"]["rows"]} == {"node-1", "node-2", "node-3"}
    assert any("node-3" in one["found"] for one in found["data_quality"]["statements"])
    assert found["data_quality"]["listed_problems"][0]["file"] == "file-2"  # after that of the functions


def test_figures_stay_as_they_are() -> None:
    before, after = (json.loads(render(named(), "json", nameless=hidden)) for hidden in (False, True))
    for part in ("training_job_summary", "cost", "gpu_memory", "steps"):
        assert _numbers(before[part]) == _numbers(after[part]), part
    assert before["comparison_basis"]["instances"] == after["comparison_basis"]["instances"]


def _numbers(value: object) -> list[object]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    return [] if isinstance(value, str) else [value]


def test_ten_is_not_one_and_a_zero() -> None:
    names = Names(reports.report(header=frames.job_header(nodes=("algo-1", "algo-10", "algo-100"))))
    assert names.said("algo-10, algo-1 and algo-100: algo-1000") == "node-2, node-1 and node-3: algo-1000"
    assert names.foreign("81-algo-10_pythontimeline") == "81-node-2_pythontimeline"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/device:GPU:0 (pid 1)", "/device:GPU:0 (pid 1)"),
        ("resnet50/conv1/Conv2D", "resnet50/conv1/Conv2D"),
        ("at ~/work/x.py", "at (path)"),
        ("C:\\Users\\mallory\\x.py failed", "(path) failed"),
        ("version 2.3.1", "version 2.3.1"),
        ("12345678901 or 1234567890123", "12345678901 or 1234567890123"),
    ],
)
def test_what_is_no_name_stays(words: str, told: str) -> None:
    assert Names(reports.report()).foreign(words) == told


def test_a_bare_number_is_no_name_in_a_sentence() -> None:
    """It names nobody, and taking it for one would change every number of the report."""
    found = json.loads(
        render(
            reports.report(
                header=frames.job_header(nodes=("1", "2")), usage=frames.usage_summary(frames.usage_rows("1"))
            ),
            "json",
            nameless=True,
        )
    )
    assert found["system_usage"]["rows"][0]["node"] == "node-1"
    assert found["insights"]["findings"][0]["text"].startswith("1 of 12 GPUs")
