"""What the rules found, as a list: states in words, waste in hours and money, places as links, thresholds as fields."""

from __future__ import annotations

from decimal import Decimal

import pytest

from components.insights import Price, Surroundings, cost_words, insights_list, waste_sentence
from components.thresholds import shown
from data.frames.findings import Figure, FigureTable, Outcome, Parameter, Place
from tests import frames
from tests.drawn import components, ids, said, words
from tests.quality import HOSTILE

AROUND = Surroundings(href=lambda place: f"/nodes?node={place.node}", when=lambda window: f"{window[0]} to {window[1]}")


def around(**changes):
    return Surroundings(**{"href": AROUND.href, "when": AROUND.when, **changes})


def entries(root):
    return {
        part.__getattribute__("data-insight"): part for part in components(root) if type(part).__name__ == "Details"
    }


def badge(entry):
    return next(words(part) for part in components(entry) if "insight-badge" in str(getattr(part, "className", "")))


def of(state, severity="", **changes):
    return frames.finding(
        state.title().replace(" ", "").replace("/", ""),
        severity=severity,
        outcome=Outcome(state, f"It is {state}."),
        **changes,
    )


def test_the_line_counts_rules_and_issues():
    found = frames.findings(frames.finding("A"), frames.finding("B"), of("no issue"))
    assert "Showing 3 rules, 2 found an issue" in words(insights_list(found, AROUND))
    assert "do not add them up" in words(insights_list(found, AROUND))
    alone = frames.findings(of("no issue"))
    assert "Showing 1 rule, none found an issue" in words(insights_list(alone, AROUND))
    assert "do not add" not in words(insights_list(alone, AROUND))


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (of("issue", "high"), "Issue, high"),
        (of("issue", "medium"), "Issue, medium"),
        (of("issue", "low"), "Issue, low"),
        (of("no issue"), "No issue"),
        (of("not enough data"), "Not enough data"),
        (of("n/a"), "n/a"),
        (of("failed"), "Failed"),
        (of("summary"), "Summary"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_state_is_said_in_words(finding, expected):
    (entry,) = entries(insights_list(frames.findings(finding), AROUND)).values()
    assert badge(entry) == expected


def test_the_order_is_that_of_the_findings():
    names = ["C", "A", "B"]
    found = frames.findings(*(frames.finding(name) for name in names))
    assert list(entries(insights_list(found, AROUND))) == names


def test_the_worst_issue_is_open_unless_the_address_says_otherwise():
    found = frames.findings(frames.finding("A"), frames.finding("B"), of("no issue"))

    def opened(**changes):
        return [name for name, one in entries(insights_list(found, around(**changes))).items() if one.open]

    assert opened() == ["A"]
    assert opened(opened=frozenset()) == []
    assert opened(opened=frozenset({"B", "NoIssue", "gone"})) == ["B", "NoIssue"]
    quiet = frames.findings(of("no issue"))
    assert not next(iter(entries(insights_list(quiet, AROUND)).values())).open


def test_a_closed_entry_is_small_and_an_open_one_tells_all():
    found = frames.findings(frames.finding("A"), frames.finding("B"))
    first, second = entries(insights_list(found, AROUND)).values()
    assert len(list(components(second))) < 9
    text = words(first)
    for part in ("Where", "What it wastes", "What to do", "Look at gpu3.", "Parameters", "Looks for a GPU"):
        assert part in text
        assert part not in words(second)


def test_an_entry_shows_points_triggers_and_figures():
    figures = (Figure("ticks", 70.52, "%"), Figure("length", 0.01234, "s"), Figure("nothing", float("nan"), "s"))
    outcome = Outcome("issue", "Text.", 3019, "ticks of nodes", 4, 2129, figures=figures)
    text = words(insights_list(frames.findings(frames.finding(outcome=outcome)), AROUND))
    assert "Looked at (ticks of nodes) 3,019 Times triggered 4 Violations 2,129" in text
    assert "Ticks 70.5 % Length 0.0123 s Nothing n/a" in text


def test_places_link_to_where_they_show():
    place = Place("algo-1", "gpu0", (5, 9), "p95 13.5 %", "utilization")
    outcome = Outcome("issue", "Text.", places=(place, Place("", "", None, "all of it")))
    root = insights_list(frames.findings(frames.finding(outcome=outcome)), AROUND)
    links = [part for part in components(root) if type(part).__name__ == "Link"]
    assert [link.href for link in links] == ["/nodes?node=algo-1", "/nodes?node="]
    assert words(links[0]) == "algo-1 gpu0 5 to 9 Nodes →"
    assert words(links[1]) == "whole job Nodes →"


def test_tables_show_their_first_rows_and_how_many_follow():
    table = FigureTable("by step", ("step", "seconds"), tuple((f"s{at}", float(at)) for at in range(20)))
    outcome = Outcome("summary", "Text.", tables=(table,))
    root = insights_list(
        frames.findings(frames.finding(outcome=outcome)), around(opened=frozenset({"LowGPUUtilization"}))
    )
    text = words(root)
    assert "By step step seconds s0 0" in text
    assert "and 8 more rows" in text
    assert "s12" not in text
    missing = Outcome("summary", "Text.", tables=(FigureTable("t", ("a",), ((None,),)),))
    root = insights_list(
        frames.findings(frames.finding(outcome=missing)), around(opened=frozenset({"LowGPUUtilization"}))
    )
    assert "T a n/a" in words(root)


# --- waste ---


@pytest.mark.parametrize(
    ("outcome", "price", "expected"),
    [
        # 3,600 GPU-seconds are an hour
        (Outcome("issue", "", wasted_gpu_s=3600.0), Price(), "up to 1.00 GPU-h"),
        (Outcome("issue", "", wasted_gpu_s=1800.0), Price(gpu_hour=Decimal("3.672")), "up to 0.50 GPU-h · $1.84"),
        (
            Outcome("issue", "", wasted_node_s=7200.0),
            Price(Decimal(3), Decimal("14.688")),
            "up to 2.00 node-h · $29.38",
        ),
        (Outcome("issue", "", wasted_gpu_s=1.0), Price(), "under 0.01 GPU-h"),
        (Outcome("issue", "", wasted_gpu_s=0.0), Price(gpu_hour=Decimal(3)), "up to 0.00 GPU-h · $0.00"),
        (Outcome("issue", ""), Price(Decimal(3), Decimal(14)), ""),
    ],
)
def test_the_waste_in_few_words(outcome, price, expected):
    assert cost_words(outcome, price) == expected


def test_the_waste_in_a_sentence():
    one = frames.finding(share=0.305, outcome=Outcome("issue", "", wasted_gpu_s=1836.0, saved_s=250.0))
    assert waste_sentence(one, Price(gpu_hour=Decimal("3.672"))) == (
        "At most 0.51 GPU-hours (30.5 % of the job's GPU time): $1.87 at $3.672 per GPU-hour."
        " If fixed, the job could end up to 4m 10s earlier."
    )
    assert waste_sentence(one, Price()).startswith("At most 0.51 GPU-hours (30.5 % of the job's GPU time).")
    unknown = frames.finding(share=None, outcome=Outcome("issue", ""))
    assert waste_sentence(unknown, Price(Decimal(1))) == "These data do not tell."


def test_what_found_nothing_has_no_cost():
    one = frames.finding("Fine", severity="", outcome=Outcome("no issue", "Fine.", wasted_gpu_s=3600.0))
    assert "GPU-h" not in words(insights_list(frames.findings(one), AROUND))


# --- thresholds ---


def fields(root):
    rows = [part for part in components(root) if "data-threshold" in part.to_plotly_json()["props"]]
    return {row.__getattribute__("data-threshold"): row for row in rows}


def test_every_parameter_is_a_field_with_unit_default_and_limits():
    root = insights_list(frames.findings(), AROUND)
    found = fields(root)
    assert list(found) == ["LowGPUUtilization_threshold_p95", "LowGPUUtilization_window"]
    moved, window = found.values()
    box = next(part for part in components(moved) if type(part).__name__ == "Input")
    assert (box.value, box.type) == ("60", "number")
    assert "default 70" in words(moved)
    assert "moved" in moved.className
    assert "moved" not in window.className
    props = window.to_plotly_json()["props"]
    assert (props["data-low"], props["data-high"], props["data-standard"]) == ("1", "1000000", "500")
    label = next(part for part in components(window) if type(part).__name__ == "Label")
    assert label.htmlFor == "threshold-LowGPUUtilization_window"
    assert label.htmlFor in ids(root)


def test_a_text_parameter_is_a_text_field_without_limits():
    one = frames.finding(parameters=(Parameter("phase", "train", "train", "", 0, 100, "which phase"),))
    (field,) = fields(insights_list(frames.findings(one), AROUND)).values()
    box = next(part for part in components(field) if type(part).__name__ == "Input")
    assert (box.type, box.value) == ("text", "train")
    assert "data-low" not in field.to_plotly_json()["props"]


def resets(root):
    return [
        part.__getattribute__("data-reset")
        for part in components(root)
        if "data-reset" in part.to_plotly_json()["props"]
    ]


def test_moved_thresholds_can_be_reset_for_a_rule_and_for_all():
    assert resets(insights_list(frames.findings(), AROUND)) == ["*", "LowGPUUtilization_threshold_p95"]
    still = frames.finding(parameters=frames.finding().parameters[1:])
    assert resets(insights_list(frames.findings(still), AROUND)) == []


def test_the_server_s_own_thresholds_count_as_the_default():
    base = {("LowGPUUtilization", "threshold_p95"): 60.0, ("LowGPUUtilization", "window"): 900.0}
    root = insights_list(frames.findings(), around(base=base))
    moved, window = fields(root).values()
    assert "default 70, here 60" in words(moved)
    assert moved.to_plotly_json()["props"]["data-standard"] == "60"
    assert "moved" not in moved.className
    assert "moved" in window.className
    assert resets(root) == ["*", "LowGPUUtilization_window"]


@pytest.mark.parametrize(("value", "expected"), [(70.0, "70"), (0.5, "0.5"), (1e6, "1000000"), (0.1 + 0.2, "0.3")])
def test_values_stand_as_people_type_them(value, expected):
    assert shown(value) == expected


def test_the_way_of_counting_is_a_choice_with_its_explanation():
    fixed = words(insights_list(frames.findings(), AROUND))
    compat = words(insights_list(frames.findings(mode="compat"), AROUND))
    assert "as it is meant" in fixed
    assert "faults included" in compat
    root = insights_list(frames.findings(), around(mode="compat"))
    default = {
        part.__getattribute__("data-query-value"): part.__getattribute__("data-query-default")
        for part in components(root)
        if "data-query-key" in part.to_plotly_json()["props"]
    }
    assert default == {"fixed": "false", "compat": "true"}


# --- text from files ---


def test_hostile_text_stays_text():
    place = Place(HOSTILE, HOSTILE, (1, 2), HOSTILE, HOSTILE)
    outcome = Outcome(
        "issue",
        HOSTILE,
        1,
        HOSTILE,
        places=(place,),
        figures=(Figure(HOSTILE, 1.0, HOSTILE),),
        tables=(FigureTable(HOSTILE, (HOSTILE,), ((HOSTILE,),)),),
        advice=(HOSTILE,),
        confidence=HOSTILE,
    )
    one = frames.finding("X", title=HOSTILE, claim=HOSTILE, advice=(HOSTILE,), outcome=outcome)
    root = insights_list(frames.findings(one), AROUND, (HOSTILE,))
    assert "\u202e" not in words(root)
    assert "dangerously" not in said(root)
