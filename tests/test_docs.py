"""The documents against the code: what exists is described, what is described exists, links lead somewhere."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import duckdb
import pandas
import pyarrow.parquet as pq
import pytest
import typer

from app.cli import cli
from app.pages import PAGES, compare, nodes, overview, quality
from app.settings import FLAGS, Settings
from components.details import detail_rows
from components.jobs_table import jobs_grid
from components.operators import divided
from components.operators_table import operators_table
from data import inspection, schema
from data.convert.job import convert_job
from data.frames import JobTimes
from data.insights.rule import ORIGINAL, Setting
from data.insights.rules import RULES
from data.manifest import EventPart, Manifest, NodeEntry, PartEntry, read_manifest
from data.queries import distribution, heatmap, steps, system
from data.readers import READERS
from data.series import SUMMARY_METRICS, UNITS
from data.sources import FileKind, open_source
from data.store import Store
from tests import frames, oracle, traces, trees
from tests.conftest import ROOT
from tests.drawn import components

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
EXAMPLE_JOB = "var/store/jobs/tf-hvd-resnet50-cifar10-256-00000000"
NOT_IN_THE_TABLE = {"level"}
"""Stored tables beside those of `schema.Table`: rollups that are named by their factor."""


def read(name: str) -> str:
    return (ROOT / name).read_text()


def prose(text: str) -> str:
    """The text without blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def headings(name: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", prose(read(name)), re.MULTILINE)


def section(name: str, heading: str) -> str:
    """The text under a heading, up to the next one of its level or above."""
    text = read(name)
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, f"{name} has no heading {heading!r}"
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def rows(text: str) -> Iterator[list[str]]:
    """The cells of all tables' rows, heads left out."""
    for table in re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def words(text: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", text)


def first_cells(text: str) -> set[str]:
    return {word for row in rows(text) for word in words(row[0])}


# --- settings and commands ---


def setting_rows() -> dict[str, list[str]]:
    """Rows of the table of settings by variable."""
    return {words(row[1])[0]: row for row in rows(section("docs/configuration.md", "Settings"))}


def test_every_setting_has_a_row_and_every_row_is_a_setting() -> None:
    assert set(setting_rows()) == {f"INSIGHTS_{name.upper()}" for name in Settings.model_fields}


def test_flags_of_settings_are_the_real_ones() -> None:
    documented = {words(row[0])[0] for row in setting_rows().values() if words(row[0])}
    assert documented - {"SOURCE…"} == {f"--{name.replace('_', '-')}" for name in FLAGS}


def test_defaults_are_the_real_ones() -> None:
    for name, field in Settings.model_fields.items():
        cell = setting_rows()[f"INSIGHTS_{name.upper()}"][2]
        if field.default in ((), None):
            assert not words(cell), name
        else:
            assert words(cell) == [str(field.default)], name


def test_the_program_speaks_only_of_variables_that_exist() -> None:
    known = {f"INSIGHTS_{name.upper()}" for name in Settings.model_fields} | {"INSIGHTS_JSON", "INSIGHTS_OUT"}
    texts = {
        path: path.read_text() for folder in ("app", "components", "data") for path in (ROOT / folder).rglob("*.py")
    }
    texts |= {path: path.read_text() for path in DOCUMENTS}
    unknown = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in re.findall(r"INSIGHTS_[A-Z][A-Z_]*[A-Z]", text)
        if name not in known
    }
    assert unknown == set()


def commands() -> dict[str, Any]:
    return dict(typer.main.get_command(cli).commands)  # type: ignore[attr-defined]


def test_every_command_is_described_with_its_flags() -> None:
    for name, command in commands().items():
        real = {
            option
            for parameter in command.params
            if parameter.param_type_name == "option" and not parameter.hidden
            for option in parameter.opts
        }
        assert first_cells(section("docs/configuration.md", f"`{name}`")) >= real - {"--help"}, name
        flags = {word for word in first_cells(section("docs/configuration.md", f"`{name}`")) if word.startswith("-")}
        assert flags == real - {"--help"}, name


def test_no_other_command_is_described() -> None:
    text = section("docs/configuration.md", "Commands")
    assert set(re.findall(r"^### `(.*)`$", text, re.MULTILINE)) == set(commands())


def test_every_target_of_make_is_listed() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", read("Makefile"), re.MULTILINE))
    listed = {word.split()[1] for word in first_cells(section("README.md", "Commands")) if word.startswith("make ")}
    assert listed == targets


# --- pages, figures, formats ---


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_page_has_a_heading(page: Any) -> None:
    assert f"{page.title} `{page.pattern}`" in headings("docs/figures.md")


@pytest.mark.parametrize(
    ("page", "module"),
    [(PAGES[1], overview), (PAGES[2], nodes), (PAGES[3], quality), (PAGES[4], compare)],
    ids=["overview", "nodes", "quality", "compare"],
)
def test_every_panel_has_a_row(page: Any, module: Any) -> None:
    documented = first_cells(section("docs/figures.md", f"{page.title} `{page.pattern}`"))
    name = module.__name__.rpartition(".")[2]
    assert {word for word in documented if word.startswith(f"{name}-")} == {str(one) for one in module.Id}


def test_every_column_of_the_list_has_a_row() -> None:
    names = [column["headerName"] for column in jobs_grid("grid").columnDefs if column["headerName"]]
    assert [row[0] for row in rows(section("docs/figures.md", "Jobs `/`"))] == names


def test_every_column_of_the_operators_has_a_row() -> None:
    (grid,) = (part for part in components(operators_table("p", frames.operators())) if hasattr(part, "columnDefs"))
    names = [column["headerName"] for column in grid.columnDefs]
    documented = [row[0] for row in rows(section("docs/figures.md", "Overview `/jobs/<job>`"))]
    at = documented.index(names[0])
    assert documented[at : at + len(names)] == names


def test_every_group_of_framework_time_has_a_row() -> None:
    heads = (part for part in components(divided(frames.framework_shares(), ())) if type(part).__name__ == "H4")
    groups = [head.children[0] for head in heads]
    documented = [row[0] for row in rows(section("docs/figures.md", "Overview `/jobs/<job>`"))]
    at = documented.index(groups[0])
    assert documented[at : at + len(groups)] == groups


def test_the_eleven_rows_are_the_real_ones() -> None:
    names = [name for name, _ in detail_rows(JobTimes(0, 1, 1, *[None] * 11, (), ""))]  # type: ignore[arg-type]
    documented = [row[0] for row in rows(section("docs/figures.md", "Overview `/jobs/<job>`"))]
    assert len(names) == 11
    assert [row for row in documented if row in names] == names


def test_every_metric_of_the_queries_is_described() -> None:
    text = section("docs/figures.md", "Nodes `/jobs/<job>/nodes`")
    lines = {row[0].strip("`"): row[2] for row in rows(text) if len(row) == 3 and not row[0].startswith("`nodes-")}
    assert set(lines) == set(get_args(system.LineMetric))
    for choices in (heatmap.HeatmapMetric, distribution.HistogramMetric, system.Grouping, steps.Scale):
        assert set(get_args(choices)) <= set(words(text))
    overview_text = section("docs/figures.md", "Overview `/jobs/<job>`")
    assert [(name, unit) for name, unit, _ in SUMMARY_METRICS] == [
        (row[0], row[2])
        for row in rows(overview_text)
        if row[0] in {name for name, _, _ in SUMMARY_METRICS} and row[2] != "s"
    ]


def test_every_reader_and_kind_of_file_is_described() -> None:
    found = headings("docs/formats.md")
    assert [reader.name for reader in READERS if reader.name not in found] == []
    assert "System metrics" in found
    assert first_cells(section("docs/formats.md", "File kinds")) == {str(kind) for kind in FileKind}


def test_every_unit_of_a_metric_is_described() -> None:
    of_unit = {"%": "percent", "operations/s": "operations per second", "bytes/s": "bytes per second"}
    documented = {
        metric: row[1].split(",")[0]
        for row in rows(section("docs/formats.md", "System metrics"))
        for metric in words(row[0])
    }
    assert documented == {metric: of_unit[unit] for metric, unit in UNITS.items()}


# --- rules ---


def as_written(setting: Setting) -> list[str]:
    default = setting.default if isinstance(setting.default, str) else f"{setting.default:g}"
    return [f"`{setting.name}`", default, setting.unit, setting.means]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_described_with_its_parameters(rule: Any) -> None:
    text = section("docs/rules.md", rule.name)
    assert rule.claim in " ".join(text.split())
    tables = re.findall(r"^\| Parameter \|.*\n(?:\|.*\n)*", text, re.MULTILINE)
    assert [row for table in tables for row in rows(table)] == [as_written(setting) for setting in rule.settings]
    for part in ("*Points*", "*Waste*", "*Limits*", "*Example*"):
        assert part in text


def test_no_other_rule_is_described_and_the_original_s_stand_together() -> None:
    kinds = {True: "Rules of the original", False: "Rules of our own"}
    for original, heading in kinds.items():
        names = [rule.name for rule in RULES if (rule.origin == ORIGINAL) is original]
        if names or heading in headings("docs/rules.md"):
            found = re.findall(r"^### (.*)$", section("docs/rules.md", heading), re.MULTILINE)
            assert sorted(found) == sorted(names)


# --- the store ---


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small job with everything a job can have: its source and its stored version."""
    from data.demo import TreeSpec, write_tree
    from data.demo.report_files import write_reports

    folder = tmp_path_factory.mktemp("documented")
    source, store = folder / "job", folder / "store"
    write_tree(source, TreeSpec(nodes=2, cores=2, gpus=1, seconds=90, seed=5))
    write_reports(source)
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}}
    path = "profiler-output/framework/1_0-algo-1_merged_timeline.json"
    trees.write(source, {path: json.dumps([traces.start(), kernel, traces.memory(1, 512, 512)]).encode()})
    (job,) = open_source(str(source)).jobs()
    manifest = convert_job(job, store, lambda progress: None)
    return source, store / "jobs" / job.job_id / manifest.version


def documented_columns(table: str) -> dict[str, str]:
    """Columns with their types as the document writes them."""
    return {name: row[1] for row in rows(section("docs/store.md", table)) for name in words(row[0])}


def plain_type(kind: Any) -> str:
    text = str(kind).replace("<element: ", " of ").replace(">", "").replace("list of", "list of")
    text = re.sub(r"^dictionary<values=(\w+), .*", r"\1", text)  # strings that pyarrow remembers as categories
    text = re.sub(r"fixed_size_list of (\w+)\[(\d+)\]", r"list of \2 \1", text)
    return text


def test_every_table_has_a_heading() -> None:
    assert set(re.findall(r"^### (.*)$", section("docs/store.md", "Tables"), re.MULTILINE)) == (
        {str(table) for table in schema.Table} | NOT_IN_THE_TABLE
    )


def test_tables_are_as_described(stored: tuple[Path, Path]) -> None:
    seen = set()
    for path in stored[1].glob("*.parquet"):
        table = re.sub(r"-\d+$", "", path.stem)
        seen.add(table)
        columns = {field.name: plain_type(field.type) for field in pq.read_schema(path)}
        documented = documented_columns(table)
        if path.name == "histogram.parquet":
            del documented["chunk"]
        assert set(documented) == set(columns), path.name
        assert [name for name, kind in documented.items() if kind and kind != columns[name]] == [], path.name
    assert seen == {str(table) for table in schema.Table} | NOT_IN_THE_TABLE


def test_the_manifest_is_as_described() -> None:
    text = section("docs/store.md", "Manifest")
    assert first_cells(text) == set(Manifest.__annotations__)
    for name, kind in (("parts", PartEntry), ("event_parts", EventPart), ("nodes", NodeEntry)):
        entry = re.search(rf"Each of `{name}`:(.*?)(?:\n\n|\Z)", text, re.DOTALL)
        assert entry is not None, name
        assert set(words(entry[1])) == set(kind.__annotations__), name


def test_the_version_of_the_layout_is_the_real_one() -> None:
    assert f"{schema.SCHEMA_VERSION} at present" in read("docs/store.md")


def test_inspect_gives_what_is_described(stored: tuple[Path, Path]) -> None:
    source, version = stored
    (job,) = inspection.inspect(str(source), version.parents[2])["jobs"]
    text = section("docs/configuration.md", "`inspect`")
    documented = {word: row[1] for row in rows(text) for word in words(row[0]) if not word.startswith("--")}
    assert set(documented) == set(job)
    assert set(words(documented["stats"])) == set(job["stats"][0])
    assert set(words(documented["step_duration_us"])) == set(job["step_duration_us"])
    assert set(words(documented["by_phase"])) == set(next(iter(job["by_phase"].values())))
    assert set(words(documented["outcome"])) == set(inspection.OUTCOMES)


def test_every_key_of_a_report_is_described() -> None:
    from components.report import conclusions, document, parts

    classes = {
        name: value
        for module in (parts, conclusions, document)
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }
    text = section("docs/report.md", "JSON")
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) == set(classes)
    for name, value in classes.items():
        documented = [word for row in rows(section("docs/report.md", name)) for word in words(row[0])]
        assert sorted(documented) == sorted(field.name for field in fields(value)), name


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", section("docs/store.md", "Reading it with other tools"), re.M | re.S)


def run_example(stored: tuple[Path, Path], result: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the example that makes a result makes of the small job."""
    (code,) = [one for one in examples() if f"\n{result} = " in one]
    assert EXAMPLE_JOB in code
    (stored[1].parent / "current").read_text()
    left: dict[str, Any] = {}
    exec(compile(code.replace(EXAMPLE_JOB, str(stored[1].parent)), "docs/store.md", "exec"), left)
    assert capsys.readouterr().out
    return left[result]


def test_the_example_for_duckdb_runs(stored: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    busiest = run_example(stored, "busiest", capsys)
    files = sorted((stored[0] / "profiler-output" / "system").rglob("*.json"))
    expected = duckdb.sql(
        """
        select NodeId as node, Name as device, floor(Timestamp / 60) as minute, avg(Value) as gpu_percent
        from read_json($files, format = 'newline_delimited', columns = {Name: 'VARCHAR', Dimension: 'VARCHAR',
            Value: 'DOUBLE', NodeId: 'VARCHAR', Timestamp: 'DOUBLE'})
        where Dimension = 'GPUUtilization' group by all order by gpu_percent desc, node, device, minute limit 10
        """,
        params={"files": [str(path) for path in files]},
    ).df()
    assert busiest["node"].tolist() == expected["node"].tolist()
    assert busiest["device"].tolist() == expected["device"].tolist()
    assert busiest["gpu_percent"].tolist() == pytest.approx(expected["gpu_percent"].tolist())
    minutes = [int(one.timestamp()) // 60 for one in busiest["minute"].dt.tz_localize("UTC")]
    assert minutes == expected["minute"].astype(int).tolist()


def test_the_example_for_events_runs(stored: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    inside = run_example(stored, "inside", capsys)
    steps = oracle.steps(stored[0])
    slowest = max(steps, key=lambda step: (step.duration_us, -step.start_us))
    expected = [one for one in steps if slowest.start_us <= one.start_us < slowest.start_us + slowest.duration_us]
    durations = sorted((one.duration_us / 1000 for one in expected), reverse=True)[:10]
    assert inside["ms"].tolist() == pytest.approx(durations)
    assert set(inside["path"]) <= {path.relative_to(stored[0]).as_posix() for path in stored[0].rglob("*.json")}


def test_the_example_for_pandas_runs(stored: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    usage = run_example(stored, "usage", capsys)
    assert isinstance(usage, pandas.DataFrame)
    assert set(usage["node"]) == {"algo-1", "algo-2"}
    assert set(usage["metric"]) == {name for name, _, _ in SUMMARY_METRICS}


def test_a_stored_version_is_complete_for_readers(stored: tuple[Path, Path]) -> None:
    """The layout on disk as the document draws it."""
    _, version = stored
    assert (version.parent / "current").read_text() == version.name
    assert read_manifest(version).version == version.name
    assert Store(version.parents[2]).version(version.parent.name) == version.name


def test_every_library_at_run_time_has_a_row() -> None:
    required = set(re.findall(r"^([\w-]+)==", read("requirements.txt"), re.MULTILINE))
    listed = {name.strip() for row in rows(read("docs/adr/0005-libraries.md")) for name in row[0].split(",")}
    assert listed == required


# --- links ---


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as they are made from them where it is shown."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(path.read_text()), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(plain.replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    path, broken = ROOT / name, []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        aim = (path.parent / file).resolve() if file else path
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_named_exist(name: str) -> None:
    """Paths in backticks that begin with a folder of the project."""
    text = prose(read(name))
    named = re.findall(r"`((?:app|components|data|tests|docs|assets|scripts|bench)/[\w./-]+)`", text)
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_pages_of_the_documents_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        reached.add(path)
        targets = re.findall(r"\]\(([^)\s#]+\.md)", prose(path.read_text()))
        linked = {(path.parent / one).resolve() for one in targets if "://" not in one}
        waiting += [one for one in linked - reached if one.exists()]
    records = {path for path in DOCUMENTS if path.parent.name == "adr"}
    assert [str(path) for path in set(DOCUMENTS) - records - reached] == []


def test_names_of_limits_in_the_documents_are_the_real_ones() -> None:
    """Numbers that are easily changed in the code and forgotten here."""
    from components.figures import quality as quality_figures
    from data.convert.derive import SPOT_GAP_NS, TREND_POINTS
    from data.convert.supervise import DEFAULT_LIMITS
    from data.insights import coverage, statement
    from data.queries import bins

    figures = " ".join(read("docs/figures.md").split())
    sentences: list[tuple[str, Callable[[], str]]] = [
        (figures, lambda: f"lie within {schema.TICK_TOLERANCE_NS // 10**6} ms of the tick's first record"),
        (figures, lambda: f"longer than {schema.GAP_INTERVALS} times the node's median interval"),
        (figures, lambda: f"more than {SPOT_GAP_NS // 10**9} s is a **spot gap**"),
        (figures, lambda: f"mean + {steps.OUTLIER_DEVIATIONS} standard deviations"),
        (figures, lambda: f"at most {schema.MAX_BINS:,} intervals"),
        (figures, lambda: f"in {TREND_POINTS} stretches"),
        (figures, lambda: f"Above {heatmap.MAX_HEATMAP_ROWS} rows"),
        (figures, lambda: f"above {nodes.MAX_HEATMAP_NODES} nodes"),
        (figures, lambda: f"above {steps.MAX_POINTS:,} steps"),
        (figures, lambda: f"At most {steps.MAX_OUTLIERS} outliers are marked"),
        (figures, lambda: f"at most {statement.MOST_NAMED} nodes are named"),
        (figures, lambda: f"at most {quality_figures.MAX_ROWS} nodes, the least covered"),
        (figures, lambda: f"the {quality_figures.MAX_STRETCHES:,} longest stretches"),
        (figures, lambda: f"Below {coverage.MIN_SHARED_STEPS} shared steps"),
        (figures, lambda: f"{steps.BINS} bins, exact, every step"),
        (read("SECURITY.md"), lambda: f"may use {DEFAULT_LIMITS.memory_mb // 1024} GiB of memory"),
        (read("SECURITY.md"), lambda: f"and {DEFAULT_LIMITS.seconds // 3600} hours"),
        (read("CONTRIBUTING.md"), lambda: f"{schema.MAX_BINS:,} bins a series and {bins.MAX_CELLS:,} cells"),
    ]
    assert [sentence() for text, sentence in sentences if sentence() not in text] == []


def test_files_of_the_documents_are_part_of_the_project() -> None:
    """A picture that only lies in somebody's working tree is a broken link for everybody else."""
    listed = subprocess.run(["git", "ls-files", "docs"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", read("README.md"))
    assert [one for one in pictures if one not in listed.stdout.splitlines()] == []
