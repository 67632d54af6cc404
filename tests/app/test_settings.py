"""Where a setting comes from, and what is said when it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, SettingsError, load


def test_the_defaults_are_safe() -> None:
    settings = load()
    assert (settings.host, settings.port, settings.prefix) == ("127.0.0.1", 8050, "/")
    assert settings.source == settings.allowed_host == ()
    assert settings.known_hosts == {"localhost", "127.0.0.1", "::1"}
    assert settings.url == "http://127.0.0.1:8050/"


def test_a_flag_wins_over_insights_over_port_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().port == 8050
    monkeypatch.setenv("PORT", "9000")
    assert load().port == 9000
    monkeypatch.setenv("INSIGHTS_PORT", "9001")
    assert load().port == 9001
    assert load(port=9002).port == 9002


def test_flags_that_were_not_given_do_not_hide_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSIGHTS_SOURCE", "/data/train:1,a")
    monkeypatch.setenv("INSIGHTS_STORE", "/data/store")
    settings = load(source=(), store=None)
    assert settings.source == ("/data/train:1,a",)
    assert settings.store == Path("/data/store")
    assert settings.cache_folder == Path("/data/store-cache")


def test_several_values_are_a_json_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSIGHTS_SOURCE", '["/a b", "s3://bucket/x"]')
    monkeypatch.setenv("INSIGHTS_ALLOWED_HOST", "Insights.Example, [::5]")
    assert load().source == ("/a b", "s3://bucket/x")
    assert load().allowed_host == ("insights.example", "::5")


def test_settings_travel_to_another_process_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(source=("a", "[b"), port=8123, prefix="x", allowed_host=("h",), query_seconds=1.5)
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert load() == settings


@pytest.mark.parametrize(
    ("given", "understood"), [("/", "/"), ("", "/"), ("insights", "/insights/"), ("/a/b", "/a/b/"), ("/a/b/", "/a/b/")]
)
def test_a_prefix_needs_no_slashes(given: str, understood: str) -> None:
    assert load(prefix=given).prefix == understood


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", 0),
        ("port", 65536),
        ("prefix", "/a b/"),
        ("prefix", "/../"),
        ("prefix", "/a?b"),
        ("frame_ancestors", "'none'; script-src *"),
        ("frame_ancestors", "a\r\nX: y"),
        ("log_level", "loud"),
        ("query_seconds", 0),
    ],
)
def test_a_bad_value_is_said_with_the_names_to_set_it_by(name: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        load(**{name: value})
    assert caught.value.message.startswith(f"{name.replace('_', '-')}: ")
    assert f"INSIGHTS_{name.upper()}" in caught.value.hint


def test_a_bad_variable_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSIGHTS_SOURCE", "[1, 2]")
    with pytest.raises(SettingsError, match="source"):
        load()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("host", "url", "known"),
    [
        ("0.0.0.0", "http://localhost:8050/", {"localhost", "127.0.0.1", "::1"}),
        ("::1", "http://[::1]:8050/", {"localhost", "127.0.0.1", "::1"}),
        ("10.0.0.7", "http://10.0.0.7:8050/", {"localhost", "127.0.0.1", "::1", "10.0.0.7"}),
    ],
)
def test_the_address_to_listen_on_decides_url_and_names(host: str, url: str, known: set[str]) -> None:
    settings = Settings(host=host)
    assert settings.url == url
    assert settings.known_hosts == known
