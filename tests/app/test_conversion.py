"""Conversions asked for by pages: one process at a time, honest states, and nothing lost when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from app import converter
from app.conversion import FOLDER, Conversions, ConversionStatus, State
from data.convert.progress import Progress
from data.errors import FormatError
from data.store import Store
from tests.conftest import Demo

JOB = "train-1-0a1b2c3d"
OTHER = "train-2-0a1b2c3d"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keeps the converter process from being started, and counts how often it would have been."""
    starts: list[str] = []
    monkeypatch.setattr(Conversions, "_start", lambda self: starts.append("start"))
    return starts


@pytest.fixture
def conversions(tmp_path: Path, started: list[str], monkeypatch: pytest.MonkeyPatch) -> Conversions:
    monkeypatch.setattr(converter, "find_job", lambda sources, job_id: job_id)
    return Conversions(tmp_path / "store", ["source"])


def state(conversions: Conversions, job_id: str = JOB) -> State | None:
    status = conversions.status(job_id)
    return None if status is None else status.state


def test_a_job_nobody_asked_for_has_no_status(conversions: Conversions) -> None:
    assert conversions.status(JOB) is None
    conversions.cancel(JOB)
    assert conversions.status(JOB) is None


def test_a_request_waits_and_starts_the_converter_only_where_none_runs(
    conversions: Conversions, started: list[str]
) -> None:
    conversions.request([JOB, OTHER])
    assert (state(conversions), state(conversions, OTHER)) == (State.QUEUED, State.QUEUED)
    assert started == ["start"]
    with conversions.lock() as held:
        assert held
        conversions.request([JOB])
    assert started == ["start"]
    assert conversions.queued() == [JOB, OTHER]


def test_the_converter_works_the_queue_off_and_says_how_far_it_is(conversions: Conversions) -> None:
    seen: list[ConversionStatus | None] = []
    active: list[list[tuple[str, State]]] = []

    def convert(job: str, store_root: Path, report: Any, cancelled: Any) -> None:
        report(Progress("reading", 1, 4, 100, 400))
        report(Progress("writing", 4, 4, 400, 400))
        seen.append(conversions.status(job))
        active.append([(status.job_id, status.state) for status in conversions.active()])
        assert not cancelled()

    conversions.request([JOB, OTHER])
    assert converter.drain(conversions, convert)
    running = seen[0]
    assert running is not None
    assert (running.state, running.stage, running.files_done, running.fraction) == (State.RUNNING, "writing", 4, 1.0)
    assert [status.job_id for status in seen if status] == [JOB, OTHER]
    assert (state(conversions), state(conversions, OTHER)) == (State.DONE, State.DONE)
    assert conversions.queued() == []
    assert active == [[(JOB, State.RUNNING), (OTHER, State.QUEUED)], [(OTHER, State.RUNNING)]]
    assert conversions.active() == []


def test_a_failure_is_said_with_its_hint(conversions: Conversions) -> None:
    def convert(*_: Any) -> None:
        raise FormatError("No reader takes this file.", "Is it the right folder?")

    conversions.request([JOB])
    converter.drain(conversions, convert)
    status = conversions.status(JOB)
    assert status is not None
    assert (status.state, status.message, status.hint) == (
        State.FAILED,
        "No reader takes this file.",
        "Is it the right folder?",
    )


def test_a_bug_fails_that_job_only_and_its_text_stays_out_of_the_status(conversions: Conversions) -> None:
    def convert(job: str, *_: Any) -> None:
        if job == JOB:
            raise RuntimeError("secret /path")

    conversions.request([JOB, OTHER])
    converter.drain(conversions, convert)
    status = conversions.status(JOB)
    assert status is not None
    assert (status.state, status.message) == (State.FAILED, converter.INTERNAL_ERROR)
    assert state(conversions, OTHER) is State.DONE


def test_a_waiting_job_is_cancelled_at_once(conversions: Conversions) -> None:
    converted: list[str] = []
    conversions.request([JOB, OTHER])
    conversions.cancel(JOB)
    assert state(conversions) is State.CANCELLED
    converter.drain(conversions, lambda job, *_: converted.append(job))
    assert converted == [OTHER]


def test_a_running_job_hears_of_its_cancellation_and_can_be_asked_for_again(conversions: Conversions) -> None:
    def stopped(job: str, store_root: Path, report: Any, cancelled: Any) -> None:
        conversions.cancel(job)
        if cancelled():
            raise FormatError("stopped")

    conversions.request([JOB])
    converter.drain(conversions, stopped)
    assert state(conversions) is State.CANCELLED
    conversions.request([JOB])
    converter.drain(conversions, lambda *_: None)
    assert state(conversions) is State.DONE


def test_a_request_that_comes_while_the_converter_stops_is_not_forgotten(conversions: Conversions) -> None:
    calls: list[str] = []

    def convert(job: str, *_: Any) -> None:
        calls.append(job)
        if job == JOB:
            conversions.request([OTHER])

    conversions.request([JOB])
    converter.drain(conversions, convert)
    assert calls == [JOB, OTHER]


def test_only_one_converter_works_at_a_time(conversions: Conversions) -> None:
    conversions.request([JOB])
    with conversions.lock() as held:
        assert held
        outcome: list[bool] = []
        second = threading.Thread(target=lambda: outcome.append(converter.drain(conversions, lambda *_: None)))
        second.start()
        second.join()
    assert outcome == [False]
    assert state(conversions) is State.QUEUED


def test_a_killed_converter_is_reported_as_lost_and_the_job_can_be_converted_again(
    conversions: Conversions, tmp_path: Path
) -> None:
    conversions.request([JOB])
    script = (
        "import time\nfrom pathlib import Path\nfrom app import converter\nfrom app.conversion import Conversions\n"
        "converter.find_job = lambda sources, job_id: job_id\n"
        "def convert(*_):\n    print('running', flush=True)\n    time.sleep(60)\n"
        f"converter.drain(Conversions(Path({str(conversions.store_root)!r})), convert)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        assert state(conversions) is State.RUNNING
        os.kill(process.pid, signal.SIGKILL)
    status = conversions.status(JOB)
    assert status is not None
    assert status.state is State.LOST
    assert status.hint == "Convert again."
    conversions.request([JOB])
    converter.drain(conversions, lambda *_: None)
    assert state(conversions) is State.DONE


def test_a_request_that_no_converter_picked_up_is_lost_after_a_while(
    conversions: Conversions, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversions.request([JOB])
    monkeypatch.setattr("app.conversion.START_PATIENCE_S", -1.0)
    assert state(conversions) is State.LOST
    conversions.cancel(JOB)
    assert state(conversions) is State.CANCELLED


@pytest.mark.parametrize("job_id", ["../../escape", "/etc/passwd", "a\x00b", "\udcff", "x" * 5000, ""])
def test_no_id_can_name_a_file_of_its_own(conversions: Conversions, job_id: str) -> None:
    conversions.request([job_id])
    conversions.cancel(job_id)
    names = {path.relative_to(conversions.store_root).parts[0] for path in conversions.store_root.rglob("*")}
    assert names == {FOLDER}
    assert list(conversions.store_root.parent.iterdir()) == [conversions.store_root]


def test_the_real_converter_is_a_process_of_its_own(demo: Demo, tmp_path: Path) -> None:
    (job_id,) = (job_id for name, job_id in demo.job_ids.items() if name == "pt-tabular-cpu")
    conversions = Conversions(tmp_path / "store", [str(demo.source)])
    conversions.request([job_id])
    (reaper,) = (thread for thread in threading.enumerate() if thread.name == "converter-reaper")
    reaper.join(120)
    status = conversions.status(job_id)
    assert status is not None
    assert (status.state, status.message) == (State.DONE, "")
    assert status.pid != os.getpid()
    assert Store(tmp_path / "store").version(job_id)
    assert (conversions.folder / "converter.log").read_text() == ""


def test_a_damaged_status_file_counts_as_none(conversions: Conversions) -> None:
    conversions.request([JOB])
    converter.drain(conversions, lambda *_: None)
    conversions.status_path(JOB).write_text("{")
    assert conversions.status(JOB) is None
