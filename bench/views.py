"""What the server part of each view costs on a stored job, warm, and how soon a stored job's summary is there, cold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import Cost, cost_of, median_cost, median_ms
from bench.trees import Tree
from data.codec import encode
from data.queries import distribution, heatmap, jobs, steps, system
from data.selection import Selection, Window
from data.sources import open_source
from data.store import Store

WIDTH_PX = 900

_COLD = """
import sys
from pathlib import Path
from data.queries import jobs, system
from data.selection import Selection
from data.sources import open_source
from data.store import Store
store = Store(Path(sys.argv[1]), [open_source(sys.argv[2])])
selection = Selection(store.job_ids()[0])
for query in (jobs.header, jobs.times, system.usage_summary):
    store.fetch(query, selection)
"""


def cold_summary(tree: Tree, root: Path, runs: int) -> Cost:
    """A new process that opens the store and asks for what the Overview shows first."""
    command = [sys.executable, "-c", _COLD, str(root / "stores" / tree.name), str(tree.folder)]
    return median_cost(runs, lambda: cost_of(command))


def views(tree: Tree, root: Path, runs: int) -> dict[str, tuple[float, float]]:
    """Median wall and processor milliseconds of every view of the pages, result encoded as for the cache."""
    store = Store(root / "stores" / tree.name, [open_source(str(tree.folder))])
    job_id = store.job_ids()[0]
    header = store.fetch(jobs.header, Selection(job_id))
    middle = (header.start_ns + header.end_ns) // 2
    windows = {
        "whole job": None,
        "10 min": Window(middle, middle + 600 * 10**9),
        "2 min": Window(middle, middle + 120 * 10**9),
    }
    found: dict[str, tuple[float, float]] = {}
    for name, window in windows.items():
        selection = Selection(job_id, window)
        for view, query, arguments in _VIEWS:
            found[f"{view}, {name}"] = median_ms(runs, partial(_encoded, store, query, selection, arguments))
    return found


def _encoded(store: Store, query: Callable[..., Any], selection: Selection, arguments: tuple[Any, ...]) -> bytes:
    return encode(store.fetch(query, selection, *arguments))


_VIEWS = (
    ("usage summary", system.usage_summary, ()),
    ("utilization heatmap", heatmap.device_heatmap, ("utilization", WIDTH_PX)),
    ("GPU memory heatmap", heatmap.device_heatmap, ("gpu_memory", WIDTH_PX)),
    ("I/O wait heatmap", heatmap.device_heatmap, ("io_wait", WIDTH_PX)),
    ("GPU over time", system.over_time, ("gpu", "all", WIDTH_PX)),
    ("CPU over time", system.over_time, ("cpu", "all", WIDTH_PX)),
    ("GPU memory timeline", system.over_time, ("gpu_memory", "device", WIDTH_PX)),
    ("memory over time", system.over_time, ("memory", "node", WIDTH_PX)),
    ("network over time", system.over_time, ("network", "all", WIDTH_PX)),
    ("I/O wait over time", system.over_time, ("io_wait", "all", WIDTH_PX)),
    ("throughput over time", system.over_time, ("throughput", "all", WIDTH_PX)),
    ("disk operations over time", system.over_time, ("iops", "all", WIDTH_PX)),
    ("CPU histogram", distribution.metric_histogram, ("cpu",)),
    ("GPU histogram", distribution.metric_histogram, ("gpu",)),
    ("GPU memory histogram", distribution.metric_histogram, ("gpu_memory",)),
    ("step histogram", steps.histogram, ("log",)),
    ("step timeline", steps.timeline, (WIDTH_PX,)),
)
