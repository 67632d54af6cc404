"""The command that writes a report: finds the job, brings it up to date in the store, writes the file whole or not."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from data.errors import InsightsError, SourceError

if TYPE_CHECKING:
    from components.report.render import Format
    from data.sources import Source, SourceJob

STANDARD_OUTPUT = "-"
MOST_NAMED = 12


class OutputError(InsightsError):
    """A file cannot be written where it was asked for."""


def report(settings: Settings, job: str, as_format: Format, output: str, *, anonymous: bool) -> None:
    """Write the report of a job to a file, or to standard output for "" and "-". Raises InsightsError."""
    from app.commands import limits_of
    from app.report import gather
    from app.rulebook import judgement_of
    from components.report.render import render
    from data.convert import convert
    from data.sources import open_source
    from data.store import Store

    target = _target(output, as_format)
    judgement, refused = judgement_of(settings.rules, settings.profile)
    for one in refused:
        sys.stderr.write(f"profile: {one.words}\n")
    sources = [open_source(uri) for uri in settings.source]
    chosen = _chosen(sources, job)
    convert(chosen, settings.store, lambda progress: None, limits=limits_of(settings))
    store = Store(
        settings.store, sources, time_limit_s=settings.query_seconds, row_cap=settings.row_cap, prices=settings.prices
    )
    content = render(gather(store.fetch, chosen.job_id, judgement), as_format, nameless=anonymous)
    if target is None:
        sys.stdout.buffer.write(content.encode())
        sys.stdout.flush()
    else:
        write_whole(target, content.encode())


def _chosen(sources: list[Source], wanted: str) -> SourceJob:
    """The job of this name or id; the only one where none is named."""
    jobs = [job for source in sources for job in source.jobs()]
    where = ", ".join(source.uri for source in sources)
    if not jobs:
        raise SourceError(f"No training job was found in {where}.", "Is it the right folder?")
    found = [job for job in jobs if not wanted or wanted in (job.name, job.job_id)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(job.job_id if wanted else job.name for job in (found or jobs))[:MOST_NAMED])
    more = f" and {len(found or jobs) - MOST_NAMED} more" if len(found or jobs) > MOST_NAMED else ""
    if wanted and not found:
        raise SourceError(f"There is no job {wanted!r} in {where}.", f"There are: {_plain(names)}{more}.")
    raise SourceError(
        f"{len(found)} jobs {'have that name' if wanted else 'are'} in {where}.",
        f"Choose one with --job: {_plain(names)}{more}.",
    )


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _target(output: str, as_format: Format) -> Path | None:
    """Where the file goes; None is standard output."""
    if output in ("", STANDARD_OUTPUT):
        if as_format == "html" and not output and sys.stdout.isatty():
            raise OutputError("A report as HTML is a file of some megabytes.", "Name one: -o report.html.")
        return None
    path = Path(output)
    if path.is_dir():
        raise OutputError(f"{output} is a folder.", "Name a file in it.")
    if not path.parent.is_dir():
        raise OutputError(f"There is no folder {path.parent}.", "Make it first, or name another one.")
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step: others see the old one or the new one, never a part. Raises OutputError."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"{path} cannot be written: {reason}.", "Choose another place: -o.") from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
