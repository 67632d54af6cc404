"""What converting a tree costs, beside a bare DuckDB read of the same files and smdebug's reader."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bench.measure import Cost, Failed, cost_of, median_cost
from bench.trees import Tree
from data.sources import open_source

SMDEBUG = ["smdebug==1.0.34", "numpy<1.24", "pandas<2", "bokeh<3", "protobuf==3.20.3", "requests", "ipython"]

_BARE = """
import sys, duckdb
db = duckdb.connect(config={"threads": 2})
db.execute("set preserve_insertion_order = false")
columns = "{Type: 'VARCHAR', Name: 'VARCHAR', Dimension: 'VARCHAR', Value: 'DOUBLE', NodeId: 'VARCHAR',"
columns += " Timestamp: 'DOUBLE'}"
read = f"select * from read_json($files, format = 'newline_delimited', columns = {columns})"
target = sys.argv[1].replace("'", "''")
files = sys.stdin.read().split(chr(10))
db.execute(f"copy ({read}) to '{target}' (format parquet, compression zstd)", {"files": files})
"""

_PEER = """
import logging, sys, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.CRITICAL)
from smdebug.profiler.system_metrics_reader import LocalSystemMetricsReader
print(len(LocalSystemMetricsReader(sys.argv[1]).get_events(0, 10**17)))
"""


def convert(tree: Tree, root: Path, runs: int) -> tuple[Cost, int]:
    """The whole conversion, as the product runs it, from nothing; and the bytes it stores."""
    (job,) = open_source(str(tree.folder)).jobs()
    store = root / "stores" / tree.name
    limits = {"memory_mb": 8192, "seconds": 7200, "free_space_floor_bytes": 0, "duckdb_memory_mb": 512}
    order = {"source": str(tree.folder), "job_id": job.job_id, "store": str(store), "limits": limits}

    def once() -> Cost:
        shutil.rmtree(store, ignore_errors=True)
        return cost_of([sys.executable, "-m", "data.convert.child"], given=json.dumps(order))

    cost = median_cost(runs, once)
    return cost, sum(path.stat().st_size for path in store.rglob("*") if path.is_file())


def bare_read(tree: Tree, root: Path, runs: int) -> Cost:
    """The floor: the same files, read by DuckDB with explicit columns into one zstd Parquet file, on two threads."""
    target = root / f"bare-{tree.name}.parquet"
    given = "\n".join(map(str, tree.system_files))
    return median_cost(runs, lambda: cost_of([sys.executable, "-c", _BARE, str(target)], given=given))


def peer(tree: Tree, root: Path, runs: int) -> Cost | str:
    """smdebug reading all system metrics, in an environment of its own; why not, where it cannot be had."""
    python = root / "smdebug" / "bin" / "python"
    try:
        if not (root / "smdebug" / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", root / "smdebug"], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", *SMDEBUG], check=True, capture_output=True)
            (root / "smdebug" / "complete").touch()
        return median_cost(runs, lambda: cost_of([str(python), "-c", _PEER, str(tree.folder / "profiler-output")]))
    except (OSError, subprocess.CalledProcessError, Failed) as error:
        return f"smdebug could not be measured: {error}"
