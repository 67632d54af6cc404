"""The trees that are measured: sizes S, M and L, or any tree on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from data.demo.spec import TreeSpec
from data.demo.tree import write_tree

SPECS = {
    "S": TreeSpec(nodes=1, cores=32, gpus=4, seconds=600, step_ms=84),
    "M": TreeSpec(nodes=3, cores=32, gpus=4, seconds=3600, step_ms=84),
    "L": TreeSpec(nodes=8, cores=96, gpus=8, seconds=7200, step_ms=84),
}


@dataclass(frozen=True)
class Tree:
    """A raw profiler tree on disk."""

    name: str
    folder: Path

    @property
    def system_files(self) -> list[Path]:
        return sorted((self.folder / "profiler-output" / "system").rglob("*.json"))

    @property
    def raw_bytes(self) -> int:
        return sum(path.stat().st_size for path in (self.folder / "profiler-output").rglob("*.json"))


def tree_of(size: str, root: Path) -> Tree:
    """A tree of one of the sizes, written once."""
    folder = root / "trees" / size
    if not (folder / "complete").exists():
        write_tree(folder, SPECS[size])
        (folder / "complete").touch()
    return Tree(size, folder)
