"""The shape of the code: layers, homes of libraries, registries that forget nothing, ids that do not collide."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("app", "components", "data")
STAND_INS = {"converting", "first_run", "not_found"}
"""Screens that stand in for a page; they have no address of their own."""


def modules(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


def test_layers_and_homes_of_libraries_hold() -> None:
    """The contracts are in pyproject.toml."""
    program = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_page_is_registered() -> None:
    from app.pages import PAGES

    files = {path.stem for path in (ROOT / "app" / "pages").glob("*.py")} - {"__init__"} - STAND_INS
    registered = [page.layout.__module__.removeprefix("app.pages.") for page in PAGES]
    assert sorted(registered) == sorted(files)
    assert len({page.pattern for page in PAGES}) == len(PAGES)


def test_every_reader_is_registered() -> None:
    """A module may have several: of one format, but for other files."""
    from data.readers import READERS
    from data.readers.events import EventReader

    found = []
    for path in (ROOT / "data" / "readers").glob("[!_]*.py"):
        module = importlib.import_module(f"data.readers.{path.stem}")
        found += [value for value in vars(module).values() if isinstance(value, EventReader)]
    assert sorted(map(id, READERS)) == sorted(map(id, found))


def test_judgement_is_kept_from_every_part_of_data_but_three() -> None:
    """A new module of data has to be added to the contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = [item for item in contracts if item.get("source_modules") == ["data.insights"]]
    parts = {
        f"data.{path.stem}"
        for path in (ROOT / "data").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    kept_out = {name for name in contract["forbidden_modules"] if name.startswith("data.")}
    assert parts - kept_out - {"data.__init__", "data.insights"} == {"data.frames", "data.selection", "data.errors"}
    assert not contract.get("allow_indirect_imports", False)


def test_ids_of_pages_are_unique_and_carry_the_page_s_name() -> None:
    owners: Counter[str] = Counter()
    for path in (ROOT / "app" / "pages").glob("*.py"):
        module = importlib.import_module(f"app.pages.{path.stem}".removesuffix(".__init__"))
        name = path.stem.replace("_", "-")
        for ids in (getattr(module, "Id", None), getattr(module, "Part", None)):
            if ids is None or ids.__module__ != module.__name__:
                continue
            assert issubclass(ids, StrEnum)
            owners.update(str(member) for member in ids)
            assert [str(member) for member in ids if not str(member).startswith(f"{name}-")] == []
    from components.shell import ShellId

    owners.update(str(member) for member in ShellId)
    assert [name for name, times in owners.items() if times > 1] == []


def test_modules_say_what_they_are_and_stay_small() -> None:
    """The limits are where to stop, not where to aim: 250 lines a module and 40 a function are better."""
    faults = []
    for path in modules(*PACKAGES):
        text = path.read_text()
        tree = ast.parse(text)
        name = path.relative_to(ROOT)
        if not ast.get_docstring(tree):
            faults.append(f"{name} has no docstring")
        if len(text.splitlines()) > 450:
            faults.append(f"{name} is too long")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno and node.end_lineno - node.lineno >= 60:
                faults.append(f"{name}: {node.name} is too long")
    assert faults == []


@pytest.mark.parametrize("word", ["utils", "helpers", "common", "manager", "base", "misc"])
def test_no_module_has_a_name_that_says_nothing(word: str) -> None:
    assert [path for path in modules(*PACKAGES) if path.stem == word] == []


def test_importing_the_packages_builds_nothing() -> None:
    """Only `app.wsgi` builds an app when imported."""
    script = (
        "import app.server, app.cli, app.pages, components.shell, data.store, dash, threading\n"
        "from dash._callback import GLOBAL_CALLBACK_LIST\n"
        "assert not GLOBAL_CALLBACK_LIST and threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
