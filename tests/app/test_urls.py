"""Addresses survive the way there and back, and nonsense in a URL is ignored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app import urls
from app.urls import Address
from data.selection import Selection, Window

INT64 = 2**63 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
TIMES = st.integers(-INT64, INT64)
WINDOWS = st.none() | st.tuples(TIMES, TIMES).filter(lambda pair: pair[0] != pair[1]).map(
    lambda pair: Window(min(pair), max(pair))
)
NODES = st.lists(TEXT, max_size=4, unique=True).map(tuple)
NONSENSE = (
    "?from=1&to=x",
    "?from=5&to=5",
    "?from=9&to=1",
    "?from=1",
    "?to=2",
    "?from=1e3&to=2e3",
    "?from=&to=",
    "?from=99999999999999999999&to=2",
    "?from=1.1234567&to=3",
    "?from=\u0663&to=\u0664",
    "?from=NaN&to=inf",
)
REST = st.dictionaries(TEXT.filter(lambda key: key not in ("from", "to", "node", "a")), TEXT, max_size=3)


@given(TEXT, WINDOWS, NODES, st.sampled_from((*urls.TABS, urls.COMPARE)), REST)
def test_an_address_survives_the_way_there_and_back(
    job: str, window: Window | None, nodes: tuple[str, ...], tab: str, rest: dict[str, str]
) -> None:
    address = Address(Selection(job, window, nodes), tab, tuple(rest.items()))
    assert urls.parse(*urls.build(address)) == address


@given(TIMES)
def test_a_time_survives_as_milliseconds(time_ns: int) -> None:
    assert urls.nanoseconds(urls.milliseconds(time_ns)) == time_ns


def test_milliseconds_are_written_as_short_as_they_can_be() -> None:
    assert urls.milliseconds(1_607_121_560_122_000_000) == "1607121560122"
    assert urls.milliseconds(1_607_121_560_122_500_000) == "1607121560122.5"
    assert urls.milliseconds(1_607_121_560_122_000_001) == "1607121560122.000001"
    assert urls.milliseconds(-1) == "-0.000001"


def test_a_job_and_its_window_are_read_from_a_url() -> None:
    found = urls.parse("/jobs/train-1-1a2b3c4d/nodes", "?from=1000.5&to=2000&node=algo-2&node=algo-10&metric=io_wait")
    window = Window(1_000_500_000, 2_000_000_000)
    assert found.selection == Selection("train-1-1a2b3c4d", window, ("algo-2", "algo-10"))
    assert found.tab == urls.NODES
    assert found.get("metric") == "io_wait"
    assert found.get("scale", "log") == "log"


def test_what_cannot_be_understood_is_the_whole_job() -> None:
    for search in NONSENSE:
        assert urls.parse("/jobs/a", search).selection == Selection("a"), search


def test_a_slash_in_an_id_stays_in_its_place() -> None:
    path, _ = urls.build(Address(Selection("a/b c"), urls.NODES))
    assert path == "/jobs/a%2Fb%20c/nodes"
    assert urls.parse(path, "").selection.job == "a/b c"


def test_paths_of_no_job_have_no_job() -> None:
    for path in ("/", "/jobs", "/jobs/", "/elsewhere/x", "/jobs/a/b/c", ""):
        assert urls.parse(path, "").selection.job == ""
