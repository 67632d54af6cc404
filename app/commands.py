"""What the commands do that print results: convert, inspect, demo. The command line itself is `app.cli`."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import converter, logs
from app.conversion import Conversions
from app.settings import Settings
from data.errors import InsightsError, SourceError, StoreError

if TYPE_CHECKING:
    from data.convert import Limits
    from data.convert.progress import Progress
    from data.sources import SourceJob

STORED = "stored"
Report = Callable[["Progress"], None]


def work_off_queue(settings: Settings) -> None:
    """Be the server's converter process; how each conversion went, its status file says."""
    from app.judging import Judge

    logs.configure(settings.log_level)
    converter.drain(Conversions(settings.store, settings.source), _converting(settings), Judge(settings).keep)


def convert(settings: Settings, as_json: bool) -> bool:
    """Convert every job of the sources, with a progress bar. True where a job failed."""
    from app.judging import Judge

    convert_job = _converting(settings)
    jobs = _jobs(settings)
    judge = Judge(settings)
    results = []
    with Conversions(settings.store, settings.source).lock() as held, _progress(quiet=as_json) as bar:
        if not held:
            raise StoreError(f"Another conversion into {settings.store} is running.", "Wait for it, then try again.")
        for job in jobs:
            results.append({"job": job.name, "job_id": job.job_id, **_converted(job, settings, bar, convert_job)})
            judge.keep(job.job_id)
    failures = [result for result in results if result["error"]]
    if as_json:
        _print_json({"jobs": results})
    else:
        for result in failures:
            sys.stderr.write(f"{_printable(str(result['job']))}: {result['error']}\n")
        _say(f"{len(results) - len(failures)} of {len(results)} jobs are in {settings.store}.")
    return bool(failures)


def inspect(settings: Settings, as_json: bool) -> bool:
    """Print what was understood of the sources. True where at least something could be read."""
    from data.inspection import inspect as inspect_source
    from data.inspection import readable

    limits = limits_of(settings)
    jobs = [job for uri in settings.source for job in inspect_source(uri, settings.store, limits)["jobs"]]
    if as_json:
        _print_json({"jobs": jobs})
    else:
        for job in jobs:
            sys.stdout.write(_summary(job))
    return readable({"jobs": jobs})


def demo(folder: Path) -> None:
    """Write the demo jobs that are not there yet."""
    from data.demo import write_demo

    jobs = write_demo(folder, _say)
    _say(f"{len(jobs)} synthetic demo jobs are in {folder}.")


def _jobs(settings: Settings) -> list[SourceJob]:
    from data.sources import open_source

    listings = [open_source(uri).listing() for uri in settings.source]
    for note in filter(None, (listing.note for listing in listings)):
        sys.stderr.write(f"{_printable(note)}\n")
    jobs = [job for listing in listings for job in listing.jobs]
    if not jobs:
        raise SourceError(f"No training job was found in {', '.join(settings.source)}.", "Is it the right folder?")
    return jobs


def _converting(settings: Settings) -> converter.Convert:
    from data.convert import convert as convert_job

    return partial(convert_job, limits=limits_of(settings))


def limits_of(settings: Settings) -> Limits:
    """What a conversion may use."""
    from data.convert import Limits

    return Limits(
        memory_mb=settings.convert_memory_bytes >> 20,
        seconds=settings.convert_seconds,
        free_space_floor_bytes=settings.free_space_bytes,
    )


def _converted(
    job: SourceJob, settings: Settings, bar: Callable[[str], Report], convert_job: converter.Convert
) -> dict[str, str]:
    from data.convert.progress import Progress

    report = bar(job.name)
    try:
        convert_job(job, settings.store, report, lambda: False)
    except InsightsError as error:
        return {"error": error.message, "hint": error.hint}
    report(Progress(STORED, 0, 0, 0, 0))
    return {"error": "", "hint": ""}


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], Report]]:
    """A bar per job on a terminal, a line per job and stage elsewhere, nothing where `quiet`."""
    if quiet or not sys.stdout.isatty():
        yield lambda name: _lines(name, quiet)
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[stage]}", markup=False),
    )
    with Bars(*columns) as bars:

        def bar(name: str) -> Report:
            task = bars.add_task(_printable(name), total=None, stage="")

            def report(progress: Progress) -> None:
                if progress.stage == STORED:
                    read = bars.tasks[task].total or 0
                    bars.update(task, completed=read, total=read, stage=STORED)
                    bars.stop_task(task)
                else:
                    total = progress.bytes_total or None
                    bars.update(task, completed=progress.bytes_done, total=total, stage=progress.stage)

            return report

        yield bar


def _lines(name: str, quiet: bool) -> Report:
    seen: list[str] = []

    def report(progress: Progress) -> None:
        if not quiet and progress.stage not in seen:
            seen.append(progress.stage)
            _say(f"{_printable(name)}: {progress.stage}")

    return report


def _summary(job: dict[str, Any]) -> str:
    problems = job.get("problems", [])
    head = (
        f"{_printable(str(job.get('job')))}: {job.get('outcome')}, {job.get('system_rows', 0):,} system rows, "
        f"{job.get('events', 0):,} events, {len(job.get('nodes', []))} nodes, {len(problems)} problems\n"
    )
    lines = (
        f"  {problem['severity']}: {_printable(str(problem['file']))}"
        f"{':' + str(problem['line']) if problem.get('line') else ''}: {_printable(str(problem['message']))}\n"
        for problem in problems[:20]
    )
    more = f"  and {len(problems) - 20} more (--json lists them all)\n" if len(problems) > 20 else ""
    return head + "".join(lines) + more


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _print_json(value: Any) -> None:
    json.dump(_strict(value), sys.stdout, indent=2, ensure_ascii=True, allow_nan=False)
    sys.stdout.write("\n")


def _strict(value: Any) -> Any:
    """The value with null for what JSON has no number for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value


def _printable(text: str) -> str:
    """A text from a file without what would steer a terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)[:200]
