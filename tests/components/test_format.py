"""Wording of values, and the one door for hostile text into charts."""

import math
from decimal import Decimal

import pandas as pd
import pytest

from components import format as text

MS = 1_000_000
S = 1_000_000_000


@pytest.mark.parametrize(
    ("duration_ns", "words"),
    [
        (503 * S, "8m 23s"),
        (59_700 * MS, "1m 00s"),
        (3_725 * S, "1h 02m"),
        (90_000 * S, "1d 01h"),
        (1_550 * MS, "1.55 s"),
        (10_966_842_000, "10.97 s"),
        (12_000 * MS, "12 s"),
        (83 * MS, "83 ms"),
        (999_999_700, "1 s"),
        (412_000, "412 µs"),
        (7, "7 ns"),
        (0, "0 ns"),
        (-90 * S, "−1m 30s"),
        (None, "n/a"),
        (math.nan, "n/a"),
    ],
)
def test_durations_use_the_two_units_that_fit(duration_ns, words):
    assert text.duration(duration_ns) == words


def test_exact_durations():
    assert text.seconds(459_500 * MS) == "459.500 s"
    assert text.duration_exact(459_500 * MS + 999_999) == "7m 39s 500ms"
    assert text.duration_exact(1_703 * MS) == "1s 703ms"
    assert text.duration_exact(5 * MS) == "5ms"
    assert text.duration_exact(3_600 * S) == "1h 0m 0s 000ms"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (431_000_000, "431 MB"), (10.5e9, "10.5 GB"), (None, "n/a")],
)
def test_bytes_are_decimal(size, words):
    assert text.byte_size(size) == words


def test_rates_and_shares():
    assert text.byte_rate(431e6) == "431 MB/s"
    assert text.percent(13.5) == "13.5 %"
    assert text.share(0.27) == "27.0 %"
    assert text.share(0.0002) == "under 0.1 %"
    assert text.share(0.9999) == "over 99.9 %"
    assert text.share(0) == "0.0 %"


def test_numbers_have_separators_and_a_real_minus():
    assert text.number(2129, 0) == "2,129"
    assert text.number(-3.54) == "−3.5"
    assert text.number(-0.01) == "0.0"
    assert text.counted(1, "step") == "1 step"
    assert text.counted(2129, "step") == "2,129 steps"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, pd.NA, pd.NaT])
def test_missing_is_never_a_number(value):
    assert text.is_missing(value)
    assert text.number(value) == "n/a"
    assert not text.is_missing(0)


def test_times_in_utc_and_with_an_offset():
    moment_ns = 1_607_121_560_122_999_999  # 2020-12-04 22:39:20.122999999
    assert text.timestamp(moment_ns) == "2020-12-04 22:39:20.122"
    assert text.timestamp(moment_ns, 60) == "2020-12-04 23:39:20.122"
    assert text.timestamp(moment_ns, 120) == "2020-12-05 00:39:20.122"
    assert text.clock(moment_ns) == "22:39:20"
    assert text.clock(moment_ns, 0, 2 * S) == "22:39:20.122"
    assert text.axis_time(moment_ns, -210) == "2020-12-04 19:09:20.122999"
    assert text.timestamp(None) == "n/a"
    assert (text.zone(0), text.zone(60), text.zone(-210)) == ("UTC", "UTC+01:00", "UTC−03:30")


def test_the_month_is_not_one_too_low():
    assert text.timestamp(1_606_694_400 * S) == "2020-11-30 00:00:00.000"


@pytest.mark.parametrize(
    ("hostile", "safe"),
    [
        ("void foo<float, 4>(a&)", "void foo&lt;float, 4&gt;(a&amp;)"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ('<a href="javascript:alert(1)">x</a>', '&lt;a href="javascript:alert(1)"&gt;x&lt;/a&gt;'),
        ("a<br>b", "a&lt;br&gt;b"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("$\\href{javascript:1}{x}$", "&#36;\\href{javascript:1}{x}&#36;"),
        ("%{customdata[0]}", "%&#123;customdata[0]}"),
        ("a\x00\x1b[31mb\u202ec\u2066d\u200be", "a[31mbcde"),
        ("one\ntwo\u2028three", "one two three"),
        ("\ud800broken", "broken"),
        ("2026-01", "2026-01"),
        ("Übergröße 学習", "Übergröße 学習"),
    ],
)
def test_label_lets_no_markup_through(hostile, safe):
    assert text.label(hostile) == safe


def test_text_is_capped():
    assert text.plain("x" * 200) == "x" * 200
    assert text.plain("x" * 201) == "x" * 199 + "…"
    assert len(text.plain("\u200b" * 10_000_000 + "x")) <= 200
    assert text.plain("  a  ") == "a"


def test_plain_text_keeps_its_signs():
    assert text.plain("a < b & c") == "a < b & c"


def test_byte_axes_choose_one_unit():
    assert text.bytes_scale(431e6) == (1e6, "MB")
    assert text.bytes_scale(0) == (1.0, "B")


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        ("6.15672", "$6.16"),
        ("1.06675", "$1.07"),
        ("0.125", "$0.13"),
        ("2.675", "$2.68"),
        ("0", "$0.00"),
        ("0.0049", "under $0.01"),
        ("0.005", "$0.01"),
        ("1234567.891", "$1,234,567.89"),
        ("1e30", "$1,000,000,000,000,000,000,000,000,000,000.00"),
        ("-3.5", "−$3.50"),
        ("NaN", "n/a"),
    ],
)
def test_money_is_rounded_half_up_and_never_to_nothing(usd: str, shown: str) -> None:
    assert text.money(Decimal(usd)) == shown
    assert text.money(None) == "n/a"


@pytest.mark.parametrize(
    ("usd", "shown"),
    [("14.688", "$14.688"), ("3.825", "$3.825"), ("2", "$2.00"), ("1.2701", "$1.2701"), ("0.115", "$0.115"),
     ("1.10228628", "$1.1023"), ("0.00001", "under $0.0001"), ("1234.5", "$1,234.50")],
)  # fmt: skip
def test_prices_keep_their_digits(usd: str, shown: str) -> None:
    assert text.price(Decimal(usd)) == shown
    assert text.price(None) == "n/a"


@pytest.mark.parametrize(
    ("value", "shown"), [("1.676", "1.68"), ("0", "0.00"), ("0.001", "under 0.01"), ("12345.6", "12,346")]
)
def test_hours(value: str, shown: str) -> None:
    assert text.hours(Decimal(value)) == shown
    assert text.hours(None) == "n/a"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536 * 2**20, "1.5 GiB"), (-(2**50), "−1 PiB"), (None, "n/a")],
)
def test_memory_is_counted_in_binary_units(size: float | None, words: str) -> None:
    assert text.binary_size(size) == words
