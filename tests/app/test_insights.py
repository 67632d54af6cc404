"""The Insights panel over the demo jobs: what the address asks for, links into Nodes, thresholds as a file."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from app import insights, urls
from app.insights import nodes_address, shown_window
from data.frames.findings import Place
from data.selection import Window
from tests import frames
from tests.drawn import components, words

BODY = "overview-insights-body.children"
JOB = "tf-hvd-resnet50-cifar10-256"


@pytest.fixture
def ask(call, demo):
    """What the panel answers to the query of an address."""

    def run(query="", name=JOB, **request):
        data = {"path": f"/jobs/{demo.job_ids[name]}", "search": query, "serial": 1, "width": 400, **request}
        return call(BODY, **{"overview-insights-request.data": data})["overview-insights-body"]["children"][0]

    return run


def walk(node):
    if isinstance(node, dict):
        yield node
        yield from walk(node.get("props", {}).get("children"))
    elif isinstance(node, list):
        for child in node:
            yield from walk(child)


def text_of(node):
    if isinstance(node, dict):
        return text_of(node.get("props", {}).get("children"))
    if isinstance(node, list):
        return " ".join(filter(None, map(text_of, node)))
    return "" if node is None else str(node)


def entry(root, rule):
    return next(node for node in walk(root) if node.get("props", {}).get("data-insight") == rule)


def test_the_panel_counts_its_rules_and_opens_the_worst(ask):
    root = ask()
    entries = [node["props"] for node in walk(root) if "data-insight" in node.get("props", {})]
    assert f"Showing {len(entries)} rules" in text_of(root)
    assert [props["open"] for props in entries] == [True] + [False] * (len(entries) - 1)


def test_a_threshold_in_the_address_turns_the_verdict(ask):
    """No GPU of the demo job is used more than half of the time; below 0.0 nothing can lie."""
    assert "Issue, high" in text_of(entry(ask(), "LowGPUUtilization"))
    query = "?LowGPUUtilization_threshold_p95=0&LowGPUUtilization_threshold_p5=0&insight=LowGPUUtilization"
    found = entry(ask(query), "LowGPUUtilization")
    assert "No issue" in text_of(found)
    values = {node["props"]["id"]: node["props"]["value"] for node in walk(found) if node.get("type") == "Input"}
    assert values["threshold-LowGPUUtilization_threshold_p95"] == "0"
    assert values["threshold-LowGPUUtilization_window"] == "500"


def test_counting_as_the_original_leaves_out_what_it_did_not_have(ask):
    assert any("StoppedGPU" in str(node.get("props", {}).get("data-insight")) for node in walk(ask()))
    root = ask("?mode=compat")
    assert not any("StoppedGPU" in str(node.get("props", {}).get("data-insight")) for node in walk(root))
    assert "as the original reports did" in text_of(root)


def test_what_cannot_be_used_is_said(ask):
    root = ask("?LowGPUUtilization_window=0&LowGPUUtilization_nothing=1&mode=x")
    alert = next(node for node in walk(root) if node.get("props", {}).get("role") == "alert")
    assert "LowGPUUtilization.window = 0 is not used: it must be from 1 to 1,000,000." in text_of(alert)
    assert "no such parameter" in text_of(alert)
    assert "mode = x is not used" in text_of(alert)


def test_a_waste_has_its_price(ask):
    """ml.p3.8xlarge in us-west-2: 14.688 dollars an hour for 4 GPUs."""
    assert "$3.672 per GPU-hour" in text_of(entry(ask(), "CPUBottleneck"))


def test_a_place_leads_to_its_node_and_time(ask, demo):
    root = ask("?insight=LowGPUUtilization")
    link = next(node for node in walk(entry(root, "LowGPUUtilization")) if node.get("type") == "Link")["props"]
    parts = urlsplit(link["href"])
    assert parts.path == f"/jobs/{demo.job_ids[JOB]}/nodes"
    query = parse_qs(parts.query)
    assert query["node"][0] in ("algo-1", "algo-2", "algo-3")
    assert query["node"][0] in text_of(link["children"])
    address = urls.parse(parts.path, f"?{parts.query}")
    assert address.selection.window is not None


def test_a_job_without_gpus_says_what_does_not_apply(ask):
    found = entry(ask(name="pt-tabular-cpu"), "LowGPUUtilization")
    assert "n/a" in text_of(found)


def test_thresholds_are_saved_as_they_are_in_force(call, demo):
    data = {"path": f"/jobs/{demo.job_ids[JOB]}", "search": "?LowGPUUtilization_window=250&mode=compat"}
    save = {"overview-insights-save.n_clicks": 1, "overview-insights-request.data": data}
    file = call("overview-insights-download.data", **save)["overview-insights-download"]["data"]
    assert file["filename"] == "insights-profile.toml"
    profile = tomllib.loads(file["content"])
    assert profile["mode"] == "compat"
    assert profile["LowGPUUtilization"] == {"threshold_p95": 70, "threshold_p5": 10, "window": 250, "patience": 1000}


# --- links ---

HEADER = frames.job_header()
S = frames.S


def place(**changes):
    return replace(Place("algo-1", "gpu0", (HEADER.start_ns + 60 * S, HEADER.start_ns + 120 * S), ""), **changes)


def test_a_link_has_node_window_and_chart():
    path, search = nodes_address(place(metric="io_wait"), HEADER)
    address = urls.parse(path, search)
    assert address.tab == urls.NODES
    assert address.selection.nodes == ("algo-1",)
    assert address.selection.window == Window(HEADER.start_ns + 60 * S, HEADER.start_ns + 120 * S)
    assert address.query == (("metric", "io_wait"),)


def test_a_link_to_what_is_there_anyway_is_short():
    everywhere = place(node="", window=None, metric="utilization")
    assert nodes_address(everywhere, HEADER) == (urls.job_path(HEADER.job_id, urls.NODES), "")
    one_node = frames.job_header(nodes=("algo-1",))
    assert nodes_address(place(window=None), one_node)[1] == ""
    assert "node=" not in nodes_address(place(node="elsewhere"), HEADER)[1]


def test_steps_are_shown_where_the_step_timeline_is():
    assert nodes_address(place(metric="steps"), HEADER)[1].endswith("#nodes-step-timeline")


def test_a_short_stretch_is_shown_with_something_around_it():
    start = HEADER.start_ns + 60 * S
    assert shown_window((start, start + S), HEADER) == Window(start - 9_500_000_000, start + S + 9_500_000_000)
    first = shown_window((HEADER.start_ns, HEADER.start_ns + S), HEADER)
    assert first == Window(HEADER.start_ns, HEADER.start_ns + S + 9_500_000_000)
    assert shown_window(None, HEADER) is None
    assert shown_window((HEADER.end_ns + 60 * S, HEADER.end_ns + 61 * S), HEADER) is None


def test_the_panel_asks_again_for_thresholds_and_what_is_open_only():
    section = insights.panel()
    assert section.__getattribute__("data-query-keys").split() == ["mode", "insight", "*_*"]
    assert "Save thresholds" in words(section)
    assert len({part.id for part in components(section) if getattr(part, "id", None)}) == 5
