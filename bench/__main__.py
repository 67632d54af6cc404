"""`make bench`: measures, prints tables of ratios with their goals, and writes the figures to a file."""

from __future__ import annotations

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.conversion import bare_read, convert, peer
from bench.measure import Cost
from bench.rules import judge_long_job
from bench.trees import Tree, tree_of
from bench.views import cold_summary, views

PACKAGES = ("duckdb", "pyarrow", "numpy", "pandas", "dash", "plotly")


def main() -> int:
    """Parses the arguments and runs the benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--size",
        choices=("S", "M", "L", "XL"),
        action="append",
        help="may be repeated; default S and M; of XL only the rules are measured",
    )
    parser.add_argument("--tree", type=Path, help="a raw tree on disk instead: the folder with profiler-output/")
    parser.add_argument("--runs", type=int, default=5, help="runs of each measurement, the median counts")
    parser.add_argument("--no-peer", action="store_true", help="leave smdebug out")
    parser.add_argument("--out", type=Path, default=Path("var/bench"))
    arguments = parser.parse_args()
    root = arguments.out.absolute()
    root.mkdir(parents=True, exist_ok=True)
    sizes = arguments.size or ["S", "M"]
    trees = (
        [Tree(arguments.tree.name, arguments.tree.absolute())]
        if arguments.tree
        else [tree_of(size, root) for size in sizes if size != "XL"]
    )
    console, results = Console(), []
    for tree in trees:
        runs = arguments.runs if tree.raw_bytes < 2**30 else min(arguments.runs, 3)
        result = measure(tree, root, runs, with_peer=not arguments.no_peer)
        show(console, tree, result)
        results.append({"tree": tree.name, **result})
    if "XL" in sizes and not arguments.tree:
        judged = judge_long_job(root, arguments.runs)
        show_rules(console, judged)
        results.append({"tree": "XL", **judged})
    about = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "versions": {name: version(name) for name in PACKAGES},
    }
    (root / "results.json").write_text(json.dumps({"about": about, "results": results}, indent=1))
    console.print(f"Written to {root / 'results.json'}. Processor seconds count; wall times depend on the neighbours.")
    return 0


def measure(tree: Tree, root: Path, runs: int, *, with_peer: bool) -> dict[str, Any]:
    """All figures of one tree."""
    cost, stored_bytes = convert(tree, root, runs)
    bare = bare_read(tree, root, runs)
    smdebug = peer(tree, root, 1 if tree.raw_bytes > 2**30 else runs) if with_peer else "left out"
    return {
        "runs": runs,
        "raw_bytes": tree.raw_bytes,
        "stored_bytes": stored_bytes,
        "convert": vars(cost),
        "bare_read": vars(bare),
        "smdebug": vars(smdebug) if isinstance(smdebug, Cost) else smdebug,
        "cold_summary": vars(cold_summary(tree, root, runs)),
        "views_ms": views(tree, root, runs),
    }


def show(console: Console, tree: Tree, result: dict[str, Any]) -> None:
    """One table of ratios, one of views."""
    cost, bare, smdebug = result["convert"], result["bare_read"], result["smdebug"]
    table = Table(title=f"{tree.name}: {result['raw_bytes'] / 1e6:,.0f} MB raw")
    for column in ("what", "ours", "beside", "ratio", "goal"):
        table.add_column(column, justify="left" if column == "what" else "right")
    cpu, bare_cpu = cost["cpu_s"], bare["cpu_s"]
    table.add_row(
        "conversion / bare DuckDB read, CPU", f"{cpu:.2f} s", f"{bare_cpu:.2f} s", f"{cpu / bare_cpu:.2f} x", "≤ 2.5 x"
    )
    if isinstance(smdebug, dict):
        times = smdebug["cpu_s"] / cpu
        goal = "≥ 4 x" if result["raw_bytes"] > 2**30 else "≥ 5 x"
        table.add_row(
            "smdebug get_events / conversion, CPU", f"{cpu:.2f} s", f"{smdebug['cpu_s']:.2f} s", f"{times:.1f} x", goal
        )
    else:
        table.add_row("smdebug", "", "", smdebug, "")
    table.add_row("peak memory of the conversion", f"{cost['peak_mb']:.0f} MB", "", "", "≤ 1024 MB")
    stored = result["stored_bytes"]
    table.add_row("raw / stored bytes", f"{stored / 1e6:.1f} MB", "", f"{result['raw_bytes'] / stored:.1f} x", "≥ 20 x")
    cold = result["cold_summary"]
    table.add_row("new process to the summary", f"{cold['cpu_s']:.2f} s", "", f"wall {cold['wall_s']:.2f} s", "≤ 1 s")
    console.print(table)
    shown = Table(title=f"{tree.name}: server part of each view, warm, median")
    for column in ("view", "wall ms", "CPU ms", "goal"):
        shown.add_column(column, justify="left" if column == "view" else "right")
    for name, (wall, cpu_ms) in result["views_ms"].items():
        shown.add_row(name, f"{wall:.0f}", f"{cpu_ms:.0f}", "≤ 100")
    console.print(shown)


def show_rules(console: Console, result: dict[str, Any]) -> None:
    """One table of what judging costs."""
    table = Table(title="XL: judging 691,200 ticks of nodes, of 146 million records")
    for column in ("what", "wall ms", "CPU ms", "goal, wall"):
        table.add_column(column, justify="left" if column == "what" else "right")
    goals = {"all rules, warm": "≤ 1000", "all rules, new process": "≤ 3000"}
    for name, (wall, cpu) in result["rules_ms"].items():
        table.add_row(name, f"{wall:.0f}", f"{cpu:.0f}", goals.get(name, ""))
    console.print(table)


if __name__ == "__main__":
    raise SystemExit(main())
