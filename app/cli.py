"""The command line. Heavy imports happen inside the commands, so that help is quick.

Exit status: 0 done, 1 a failure said in one line and a hint, 2 wrong usage, 3 a budget that is broken.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import InsightsError

if TYPE_CHECKING:
    from app.settings import Settings

COMMANDS = ("serve", "convert", "inspect", "insights", "report", "compare", "demo")
cli = typer.Typer(
    help="Debugger Insights: what the profiler saw of your training jobs, in the browser. Without a command: serve.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Sources = Annotated[
    list[str] | None,
    typer.Argument(metavar="SOURCE", help="Folders: a job, or a folder of jobs.", show_default=False),
]
Store = Annotated[Path | None, typer.Option(help="Where converted jobs are kept.  [INSIGHTS_STORE; var/store]")]
Json = Annotated[bool, typer.Option("--json", envvar="INSIGHTS_JSON", help="Print JSON for machines.")]


def main() -> None:
    """Run the command line; a first argument that is no command belongs to `serve`."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] not in COMMANDS and arguments[0] not in ("--help", "-h")):
        arguments.insert(0, "serve")
    cli(arguments, prog_name="python -m app")


@cli.command()
def serve(
    sources: Sources = None,
    store: Store = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.  [INSIGHTS_HOST; 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.  [INSIGHTS_PORT, PORT; 8050]")] = None,
    prefix: Annotated[str | None, typer.Option(help="Path the dashboard lives under.  [INSIGHTS_PREFIX; /]")] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="A name the server may be called by; repeatable.  [INSIGHTS_ALLOWED_HOST]"),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say whether it could be served.")] = False,
) -> None:
    """Open the dashboard in the browser."""
    with _said_plainly():
        settings = _settings(
            source=tuple(sources or ()),
            store=store,
            host=host,
            port=port,
            prefix=prefix,
            allowed_host=tuple(allowed_host or ()),
        )
        _check_port(settings)
        _check_store(settings)
    if check:
        return
    os.environ.update(settings.environment())
    sys.stdout.write(f"Starting on {settings.url}\n")
    sys.stdout.flush()
    configuration = Path(__file__).with_name("gunicorn_conf.py")
    os.execv(  # noqa: S606 - our own interpreter, no shell
        sys.executable, [sys.executable, "-m", "gunicorn", "--config", str(configuration), "app.wsgi:server"]
    )


@cli.command()
def convert(
    sources: Sources = None,
    store: Store = None,
    json: Json = False,
    queue: Annotated[bool, typer.Option("--queue", hidden=True)] = False,
) -> None:
    """Convert the jobs of a source into the store; only what is new or changed is read."""
    from app import commands

    with _said_plainly():
        settings = _settings(source=tuple(sources or ()), store=store)
        if queue:
            return commands.work_off_queue(settings)
        _require_source(settings)
        failed = commands.convert(settings, as_json=json)
    raise typer.Exit(1 if failed else 0)


@cli.command()
def inspect(
    source: Annotated[
        str | None, typer.Argument(help="A folder: a job, or a folder of jobs.", show_default=False)
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Say what was understood of a source: jobs, rows, problems, statistics, step durations, gaps."""
    from app import commands

    with _said_plainly():
        settings = _settings(source=(source,) if source else (), store=store)
        _require_source(settings)
        readable = commands.inspect(settings, as_json=json)
    raise typer.Exit(0 if readable else 1)


class CompareFormat(StrEnum):
    """Formats of a comparison."""

    MD = "md"
    JSON = "json"
    HTML = "html"
    JUNIT = "junit"


class FailOn(StrEnum):
    """Which issues make the command fail."""

    ISSUE = "issue"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def least(self) -> int:
        """The least weight: 1 low, 2 medium, 3 high."""
        return list(FailOn).index(self) + 1


class ReportFormat(StrEnum):
    """Formats of a report."""

    HTML = "html"
    JSON = "json"
    MD = "md"


@cli.command()
def insights(
    source: Annotated[
        str | None, typer.Argument(help="A folder: a job, or a folder of jobs.", show_default=False)
    ] = None,
    job: Annotated[str, typer.Option(help="Name or id of one job; else all of them.")] = "",
    profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Thresholds to judge by.  [INSIGHTS_PROFILE]")
    ] = None,
    thresholds: Annotated[
        list[str] | None, typer.Option("--set", metavar="RULE.PARAMETER=VALUE", help="A threshold; repeatable.")
    ] = None,
    mode: Annotated[str, typer.Option(help="How rules judge: fixed, or compat as the original did.")] = "",
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 3 where an issue is found: any, of medium weight or more, or high.")
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Say what the rules find: what is wrong, where, what it wastes, and what to do."""
    from app import insights_command

    with _said_plainly():
        settings = _settings(source=(source,) if source else (), store=store, profile=profile)
        _require_source(settings)
        try:
            worst = insights_command.insights(settings, job, tuple(thresholds or ()), mode, as_json=json)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    if fail_on is not None and worst >= fail_on.least:
        raise typer.Exit(3)


@cli.command()
def report(
    source: Annotated[
        str | None, typer.Argument(help="A folder: a job, or a folder of jobs.", show_default=False)
    ] = None,
    job: Annotated[str, typer.Option(help="Name or id of the job, where there are several.")] = "",
    store: Store = None,
    as_format: Annotated[ReportFormat, typer.Option("--format", help="Format of the report.")] = ReportFormat.HTML,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output, the default.")
    ] = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Leave out hosts, paths, account numbers and the job's name.")
    ] = False,
    profile: Annotated[
        Path | None, typer.Option(help="A file of thresholds to judge by.  [INSIGHTS_PROFILE]", show_default=False)
    ] = None,
) -> None:
    """Write the report of a job: one HTML file that opens from disk, JSON, or Markdown for a pull request."""
    from app import report_command

    with _said_plainly():
        settings = _settings(source=(source,) if source else (), store=store, profile=profile)
        _require_source(settings)
        report_command.report(settings, job, as_format.value, output, anonymous=anonymous)


@cli.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The baseline: a job's folder, or its name in the source.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The job that is compared with it.")],
    store: Store = None,
    as_format: Annotated[CompareFormat, typer.Option("--format", help="Format of the comparison.")] = CompareFormat.MD,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output, the default.")
    ] = "",
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="BUDGET", help="Exit with 3 if it is broken beyond noise, e.g. step_time>3%; repeatable."),
    ] = None,
    mode: Annotated[str, typer.Option(help="How rules judge: fixed, or compat as the original did.")] = "fixed",
) -> None:
    """Compare two jobs, and say whether what differs is more than noise."""
    from app import compare_command

    with _said_plainly():
        settings = _settings(store=store)
        broken = compare_command.compare(settings, a, b, as_format.value, output, tuple(fail_on or ()), mode)
    if broken:
        raise typer.Exit(3)


@cli.command()
def demo(
    out: Annotated[
        Path | None, typer.Option(help="Where to write the jobs.  [INSIGHTS_OUT; var/demo]", envvar="INSIGHTS_OUT")
    ] = None,
) -> None:
    """Write synthetic demo jobs as raw profiler output."""
    from app import commands

    with _said_plainly():
        commands.demo(out or Path("var/demo"))


def _settings(**flags: Any) -> Settings:
    from app.settings import load

    return load(**flags)


def _require_source(settings: Settings) -> None:
    if not settings.source:
        raise typer.BadParameter("name a folder, or set INSIGHTS_SOURCE", param_hint="SOURCE")


def _check_port(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise InsightsError(
                f"Cannot listen on {settings.host}:{settings.port}: {(error.strerror or str(error)).lower()}.",
                f"Take another port: --port {_next(settings.port)}, or PORT={_next(settings.port)} make demo.",
            ) from error


def _check_store(settings: Settings) -> None:
    try:
        settings.store.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InsightsError(
            f"The store {settings.store} cannot be made: {(error.strerror or str(error)).lower()}.",
            "Choose another place: --store.",
        ) from error


def _next(port: int) -> int:
    return port + 1 if port < 65535 else 8050


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Failures that people can understand become a line and a hint on stderr, and exit status 1."""
    try:
        yield
    except InsightsError as error:
        sys.stderr.write(" ".join(filter(None, [f"Error: {error.message}", error.hint])) + "\n")
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise typer.Exit(130) from None
