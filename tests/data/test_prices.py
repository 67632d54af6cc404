"""The tables of prices and instances: what ships is sound, a user's own wins, and damage is named and contained."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import prices
from data.prices import TABLES, PriceBook, read_tables


def own(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "own.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def shipped(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open() as stream:
        return list(csv.DictReader(stream))


def test_every_row_that_ships_is_read() -> None:
    tables = read_tables()
    assert tables.problems == ()
    assert sum(map(len, tables.prices.values())) == len(shipped("prices.csv"))
    assert list(tables.instances) == [row["type"] for row in shipped("instances.csv")]


def test_every_price_that_ships_has_region_date_and_source() -> None:
    for row in shipped("prices.csv"):
        assert all(row[column] for column in prices.PRICE_COLUMNS), row


def test_prices_and_instances_of_the_demo_jobs() -> None:
    tables = read_tables()
    (price,) = tables.prices["ml.p3.8xlarge"]
    assert (price.usd_per_hour, price.region, price.as_of) == (Decimal("14.688"), "us-west-2", "2020-12")
    found = tables.instances["ml.p3.8xlarge"]
    assert (found.vcpus, found.memory_gib, found.gpus, found.gpu_model) == (32, 244.0, 4, "V100")
    assert (found.gpu_memory_gib, found.network_gbps) == (16.0, 10.0)


def test_what_no_source_says_is_unknown_and_no_gpu_is_known() -> None:
    tables = read_tables()
    assert tables.instances["ml.m4.xlarge"].network_gbps is None
    assert tables.instances["ml.m4.xlarge"].gpus == 0
    assert "ml.p4d.24xlarge" in tables.instances
    assert "ml.p4d.24xlarge" not in tables.prices


def test_own_rows_win(tmp_path: Path) -> None:
    path = own(
        tmp_path,
        "type,region,usd_per_hour,as_of,source\n"
        "ml.p3.8xlarge,us-west-2,9.5,2026-10-01,contract\n"
        "ml.m5.large,,0.1,,\n"
        "ml.p4d.24xlarge,eu-west-1,30,,\n",
    )
    tables = read_tables(path)
    assert tables.problems == ()
    (mine,) = tables.prices["ml.p3.8xlarge"]
    assert (mine.usd_per_hour, mine.source, mine.own) == (Decimal("9.5"), "contract", True)
    assert [(one.region, one.own) for one in tables.prices["ml.m5.large"]] == [("", True)]  # ours would contradict it
    assert [one.region for one in tables.prices["ml.p4d.24xlarge"]] == ["eu-west-1"]
    assert not tables.prices["ml.m5.xlarge"][0].own


def test_own_rows_of_another_region_stand_beside_ours(tmp_path: Path) -> None:
    found = read_tables(own(tmp_path, "type,region,usd_per_hour\nml.p3.8xlarge,eu-west-1,16\n")).prices["ml.p3.8xlarge"]
    assert {one.region: one.own for one in found} == {"eu-west-1": True, "us-west-2": False}


def test_columns_may_stand_in_any_order_and_more_are_fine(tmp_path: Path) -> None:
    tables = read_tables(own(tmp_path, b"\xef\xbb\xbfnote, USD_per_hour ,type\r\nx, 2.50 , ml.x.large \r\n\r\n"))
    assert tables.problems == ()
    assert tables.prices["ml.x.large"][0].usd_per_hour == Decimal("2.50")


def test_the_latest_of_several_prices_counts(tmp_path: Path) -> None:
    rows = "ml.x.large,,2,2026-01,\nml.x.large,,3,2026-05-01,\nml.x.large,,1,2025,\n"
    tables = read_tables(own(tmp_path, f"type,region,usd_per_hour,as_of,source\n{rows}"))
    assert [one.usd_per_hour for one in tables.prices["ml.x.large"]] == [3]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ml.x.large,,0,,", "usd_per_hour"),
        ("ml.x.large,,-1,,", "usd_per_hour"),
        ("ml.x.large,,,,", "usd_per_hour"),
        ("ml.x.large,,NaN,,", "usd_per_hour"),
        ("ml.x.large,,1e999999,,", "usd_per_hour"),
        ("ml.x.large,,12 dollars,,", "usd_per_hour"),
        ("ml.x.large,<b>,1,,", "region"),
        ("ml.x.large,,1,yesterday,", "as_of"),
        ("ml.x.large,,1,2026-13,", "as_of"),
        (",,1,,", "type"),
        ("<script>,,1,,", "type"),
        ("ml.x.large,,1,,,,", "cells"),
    ],
)
def test_a_broken_row_is_named_and_the_rest_is_used(tmp_path: Path, row: str, said: str) -> None:
    path = own(tmp_path, f"type,region,usd_per_hour,as_of,source\n{row}\nml.y.large,,1,,\n")
    tables = read_tables(path)
    (problem,) = tables.problems
    assert (problem.file, problem.line, problem.severity) == (str(path), 2, "error")
    assert said in problem.message
    assert "ml.x.large" not in tables.prices
    assert "ml.y.large" in tables.prices
    assert "ml.p3.8xlarge" in tables.prices


def test_a_file_that_is_no_table_is_named_and_ours_is_used(tmp_path: Path) -> None:
    for content in (b"", b"a,b\n1,2\n", b"\x00\xff\xfe", b"x" * (prices.LARGEST_BYTES + 1)):
        tables = read_tables(own(tmp_path, content))
        assert len(tables.problems) == 1
        assert "ml.p3.8xlarge" in tables.prices
    (problem,) = read_tables(tmp_path / "nowhere.csv").problems
    assert "cannot be read" in problem.message
    assert len(read_tables(tmp_path).problems) == 1  # a folder


def test_a_book_sees_a_changed_file(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    book = PriceBook(path)
    assert len(book.tables().problems) == 1  # it is not there yet
    own(tmp_path, "type,usd_per_hour\nml.x.large,1\n")
    first = book.tables()
    assert first.prices["ml.x.large"][0].usd_per_hour == 1
    assert book.tables() is first
    own(tmp_path, "type,usd_per_hour\nml.x.large,1.25\n")
    assert book.tables().prices["ml.x.large"][0].usd_per_hour == Decimal("1.25")
    assert "ml.p3.8xlarge" in PriceBook().tables().prices


def test_many_broken_rows_are_counted(tmp_path: Path) -> None:
    tables = read_tables(own(tmp_path, "type,usd_per_hour\n" + "ml.x,0\n" * 200))
    assert len(tables.problems) == prices.MOST_PROBLEMS + 1
    assert "150 more" in tables.problems[-1].message


@given(st.binary(max_size=300))
def test_anything_else_is_an_answer_and_ours_stays(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("own") / "own.csv"
    path.write_bytes(b"type,usd_per_hour\n" + content)
    assert "ml.p3.8xlarge" in read_tables(path).prices
