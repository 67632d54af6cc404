"""The command line as a user meets it: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from app import cli
from tests.conftest import ROOT, Demo

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `python -m app` with these arguments, with a store of its own."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "INSIGHTS_STORE": str(tmp_path / "store"), **environment},
            timeout=120,
        )

    return run


@pytest.fixture
def small_job(demo: Demo, tmp_path: Path) -> Path:
    """A folder with the smallest demo job."""
    folder = tmp_path / "jobs"
    shutil.copytree(demo.source / "pt-tabular-cpu", folder / "pt-tabular-cpu")
    return folder


def test_help_names_every_command_and_loads_nothing_heavy(run: Run) -> None:
    result = run("--help")
    assert result.returncode == 0
    assert all(name in result.stdout for name in cli.COMMANDS)
    script = (
        "import sys\nfrom app import cli\nsys.argv = ['app', '--help']\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'dash', 'duckdb', 'flask', 'numpy', 'pandas', 'plotly', 'pyarrow', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert loaded.stderr.strip() == ""


@pytest.mark.parametrize(
    "arguments",
    [("--no-such-flag",), ("convert",), ("inspect",), ("serve", "--port", "many"), ("demo", "a", "b")],
)
def test_wrong_usage_is_exit_status_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_a_missing_source_is_one_line_and_exit_status_1(run: Run, command: str, tmp_path: Path) -> None:
    result = run(command, tmp_path / "missing")
    assert result.returncode == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_an_unusable_setting_is_said_with_its_name(run: Run) -> None:
    result = run("serve", INSIGHTS_PORT="many")
    assert result.returncode == 1
    assert "INSIGHTS_PORT" in result.stderr


def test_a_store_that_cannot_be_made_is_said_with_the_next_step(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("serve", "--check", "--store", tmp_path / "file" / "store", INSIGHTS_PORT=str(free_port()))
    assert result.returncode == 1
    assert "not a directory" in result.stderr
    assert "--store" in result.stderr


def test_gunicorn_alone_says_what_is_wrong_with_its_settings_too() -> None:
    command = [sys.executable, "-m", "gunicorn", "--config", "app/gunicorn_conf.py", "app.wsgi:server"]
    environment = {**os.environ, "INSIGHTS_PORT": "many"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert "INSIGHTS_PORT" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_taken_port_is_said_with_the_next_step(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("serve", "--port", str(port))
    assert result.returncode == 1
    assert f"127.0.0.1:{port}: address already in use" in result.stderr
    assert f"--port {port + 1}" in result.stderr
    assert f"PORT={port + 1} make demo" in result.stderr


def test_convert_says_what_it_did_and_the_second_time_changes_nothing(
    run: Run, small_job: Path, tmp_path: Path
) -> None:
    first = run("convert", small_job)
    assert first.returncode == 0, first.stderr
    assert "1 of 1 jobs are in" in first.stdout
    current = {path: path.read_bytes() for path in (tmp_path / "store" / "jobs").rglob("*") if path.is_file()}
    second = run("convert", small_job, "--json")
    assert json.loads(second.stdout)["jobs"][0]["error"] == ""
    assert {p: p.read_bytes() for p in (tmp_path / "store" / "jobs").rglob("*") if p.is_file()} == current


def test_a_folder_too_large_to_look_through_is_said_beside_the_jobs(run: Run, small_job: Path) -> None:
    (small_job / "images").mkdir()
    for number in range(5001):
        (small_job / "images" / f"{number}.jpg").touch()
    result = run("convert", small_job, "--json")
    assert len(json.loads(result.stdout)["jobs"]) == 1
    assert "too large to be looked through for traces: images." in result.stderr


def test_inspect_prints_one_json_object_with_the_words_of_the_contract(run: Run, small_job: Path) -> None:
    result = run("inspect", small_job, "--json")
    assert result.returncode == 0, result.stderr

    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    (job,) = json.loads(result.stdout, parse_constant=no_constant)["jobs"]
    words = {"job", "outcome", "system_rows", "events", "nodes", "problems", "stats", "step_duration_us", "gaps"}
    assert words | {"start_us", "end_us"} <= set(job)
    assert job["job"] == "pt-tabular-cpu"
    assert job["system_rows"] == 12_760
    assert run("inspect", small_job).stdout.startswith("pt-tabular-cpu: ")


def test_inspect_of_nothing_readable_is_exit_status_1(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "job" / "profiler-output" / "system" / "incremental" / "2020120423"
    broken.mkdir(parents=True)
    (broken / "1607123400.algo-1.json").write_bytes(b"\x00\xff not json\n" * 3)
    result = run("inspect", tmp_path / "job", "--json")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "jobs" in json.loads(result.stdout)


def test_demo_writes_raw_jobs_once(run: Run, tmp_path: Path) -> None:
    first = run("demo", "--out", tmp_path / "demo")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("records") == 4
    second = run("demo", "--out", tmp_path / "demo")
    assert second.stdout == f"4 synthetic demo jobs are in {tmp_path / 'demo'}.\n"


def test_a_first_argument_that_is_no_command_is_a_source_to_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(cli, "cli", lambda arguments, prog_name: seen.append(arguments))
    for arguments in (["jobs"], ["--port", "1", "jobs"], [], ["convert", "jobs"], ["--help"]):
        monkeypatch.setattr(sys, "argv", ["app", *arguments])
        cli.main()
    assert [arguments[0] for arguments in seen] == ["serve", "serve", "serve", "convert", "--help"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_serve_is_the_gunicorn_of_the_procfile_and_answers_all_its_first_requests(demo: Demo, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "app", str(demo.source), "--port", str(port), "--store", str(demo.store)]
    environment = {**os.environ, "INSIGHTS_CACHE": str(tmp_path / "cache"), "INSIGHTS_WORKERS": "2"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == f"Starting on http://127.0.0.1:{port}/\n"
            ready = json.loads(server.stdout.readline())
            assert (ready["event"], ready["url"]) == ("ready", f"http://127.0.0.1:{port}/")
            assert statuses(port) == {200}
        finally:
            server.terminate()
            server.wait(timeout=30)


def statuses(port: int) -> set[int]:
    """The statuses of many first requests at once, for a script that Dash serves."""
    from concurrent.futures import ThreadPoolExecutor

    def ask(_number: int) -> int:
        url = f"http://127.0.0.1:{port}/_dash-component-suites/dash/dcc/async-graph.js"
        try:
            with urllib.request.urlopen(url, timeout=30) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    with ThreadPoolExecutor(16) as pool:
        return set(pool.map(ask, range(32)))


def test_what_gunicorn_loads_knows_its_scripts_before_it_is_asked_for_one(tmp_path: Path) -> None:
    script = "from app.wsgi import dash_app\nassert 'dash' in dash_app.registered_paths"
    environment = {**os.environ, "INSIGHTS_STORE": str(tmp_path / "store"), "INSIGHTS_CACHE": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, env=environment, timeout=60)


def test_the_procfile_starts_what_serve_starts() -> None:
    assert (ROOT / "Procfile").read_text() == "web: gunicorn --config app/gunicorn_conf.py app.wsgi:server\n"


# --- report ---


@pytest.mark.parametrize("as_format", ["html", "json", "md"])
def test_report_of_a_folder_with_one_job_goes_to_standard_output(run: Run, small_job: Path, as_format: str) -> None:
    result = run("report", small_job, "--format", as_format)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "pt-tabular-cpu" in result.stdout
    assert result.stdout.startswith({"html": "<!DOCTYPE html>", "json": "{", "md": "## Training job"}[as_format])


def test_report_is_written_whole_and_again(run: Run, small_job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for _ in range(2):
        result = run("report", small_job, "--format", "json", "-o", out / "report.json", "--anonymous")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        found = json.loads((out / "report.json").read_text())
        assert found["anonymous"] is True
        assert "pt-tabular" not in (out / "report.json").read_text()
    assert [path.name for path in out.iterdir()] == ["report.json"]


def test_report_asks_which_of_several_jobs(run: Run, demo: Demo) -> None:
    result = run("report", demo.source, "--store", demo.store)
    assert result.returncode == 1
    assert result.stderr.startswith("Error: 4 jobs are in ")
    assert "--job: pt-bert-squad-running, pt-tabular-cpu, tf-hvd" in result.stderr
    missing = run("report", demo.source, "--job", "nope", "--store", demo.store)
    assert missing.returncode == 1
    assert "There is no job 'nope'" in missing.stderr
    assert missing.stderr.count("\n") == 1


def test_report_takes_name_and_id(run: Run, demo: Demo) -> None:
    for job in ("pt-tabular-cpu", demo.job_ids["pt-tabular-cpu"]):
        result = run("report", demo.source, "--job", job, "--format", "json", "--store", demo.store)
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["job"]["id"] == demo.job_ids["pt-tabular-cpu"]


def test_report_judges_by_a_profile_and_names_what_it_does_not_use(run: Run, small_job: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text("[MaxInitializationTime]\nthreshold = 0.1\n[Nope]\nx = 1\n")
    result = run("report", small_job, "--format", "json", "--profile", profile)
    assert result.returncode == 0
    assert result.stderr.startswith("profile: Nope.x = 1 is not used")
    rules = {one["rule"]: one for one in json.loads(result.stdout)["insights"]["findings"]}
    assert rules["MaxInitializationTime"]["parameters"][0]["value"] == 0.1
    assert rules["MaxInitializationTime"]["state"] == "issue"
    missing = run("report", small_job, "--profile", tmp_path / "missing.toml")
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)


def test_report_refuses_what_it_cannot_write(run: Run, small_job: Path, tmp_path: Path) -> None:
    folder = run("report", small_job, "-o", tmp_path)
    assert folder.returncode == 1
    assert "is a folder" in folder.stderr
    nowhere = run("report", small_job, "-o", tmp_path / "none" / "report.html")
    assert nowhere.returncode == 1
    assert "There is no folder" in nowhere.stderr
    assert run("report", small_job, "--format", "pdf").returncode == 2
    assert run("report").returncode == 2


def test_report_leaves_the_old_file_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app import report_command

    path = tmp_path / "report.md"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_command.os, "fsync", full)
    with pytest.raises(report_command.OutputError, match="no space left"):
        report_command.write_whole(path, b"new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.md"]
