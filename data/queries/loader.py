"""Data loading: how long the training process waits for batches, what its workers take, and from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import LOADER_KINDS, LoaderEvents
from data.frames.framework import DataLoading, LoaderGroup
from data.names import natural_key
from data.queries.bins import window_of
from data.queries.events import events_of, part_files
from data.queries.steps import histogram_counts, histogram_edges
from data.selection import Selection
from data.store import Database

OUTLIER_MEDIANS = 2
"""An outlier takes at least this many medians of its kind (as smdebug's data-loader analysis has it)."""

MAX_GROUPS = 24
MAX_SETTINGS = 8

NO_LOADER = "No event of a data loader was recorded."
HOW_TO = (
    "PyTorch's profiler records enumerate(DataLoader); SageMaker's needs a DataloaderProfilingConfig, "
    "and PyTorch as the framework."
)

_NAMED = "name >= 'enumerate(DataLoader)#' and name < 'enumerate(DataLoader)$'"
_OF_PHASE = "phase >= 'DataLoader' and phase < 'DataLoades'"
"""Begins with the words, written so that Parquet's own index skips all other rows and their arguments."""

_EVENTS = f"""
select case when ends_with(name, '__init__') or phase = 'DataLoaderIterInitialize' then 'start'
            when phase = 'DataLoaderWorker' then 'worker' else 'wait' end as kind,
       node::varchar as node, (case when process = '' then worker else process end)::varchar as process,
       coalesce(regexp_extract(args, '"worker_id": ?"?(-?[0-9]+)', 1), '') as loader,
       coalesce(regexp_extract(args, '"num_workers": ?"?([0-9]+)', 1), '') as workers,
       coalesce(lower(regexp_extract(args, '"pin_memory": ?"?([A-Za-z]+)', 1)), '') as pinned,
       phase = 'DataLoaderIter' as of_profiler, start_ns, duration_ns
from (select * from read_parquet($files) where {_NAMED}
      union all select * from read_parquet($files) where {_OF_PHASE} and not ({_NAMED}))
where wall = $wall and duration_ns <= $longest_ns and start_ns >= $start and start_ns < $end
"""


_ALL = f"""
select list_position({list(LOADER_KINDS)}, case
         when ends_with(name, '__init__') or phase = 'DataLoaderIterInitialize' then 'start'
         when phase = 'DataLoaderWorker' then 'worker' else 'wait' end) - 1 as kind,
       node::varchar as node, (case when process = '' then worker else process end)::varchar as process,
       contains(name, '_SingleProcess') as alone, phase in ('DataLoaderIter', 'DataLoaderWorker') as of_profiler,
       start_ns, duration_ns
from (select * from read_parquet($files) where {_NAMED}
      union all select * from read_parquet($files) where {_OF_PHASE} and not ({_NAMED}))
where wall = $wall and duration_ns <= $longest_ns
"""
_SETTINGS = f"""
select distinct coalesce(regexp_extract(args, '"num_workers": ?"?([0-9]+)', 1), '') as workers,
       coalesce(lower(regexp_extract(args, '"pin_memory": ?"?([A-Za-z]+)', 1)), '') as pinned
from read_parquet($files) where {_OF_PHASE} and (ends_with(name, '__init__') or phase = 'DataLoaderIterInitialize')
order by all limit {MAX_SETTINGS}
"""


def events(db: Database, selection: Selection) -> LoaderEvents:
    """Every event of a data loader of the whole job. Raises MissingTable without any."""
    stored = db.job(selection.job)
    manifest = stored.manifest
    if not manifest.events:
        raise MissingTable(NO_LOADER, HOW_TO)
    files = part_files(stored)
    found = db.frame(
        f"with found as ({_ALL}) select *, dense_rank() over (order by node, process) - 1 as place from found"
        " order by start_ns, node, process",
        files=files,
        wall=manifest.wall_clock,
        longest_ns=manifest.longest_ns,
    )
    if found.empty:
        raise MissingTable(NO_LOADER, HOW_TO)
    nodes = tuple(sorted(found["node"].unique(), key=natural_key))
    settings = db.frame(_SETTINGS, files=files)
    return LoaderEvents(
        nodes=nodes,
        node=found["node"].map({node: at for at, node in enumerate(nodes)}).to_numpy(np.int16),
        processes=tuple(found.drop_duplicates("place").sort_values("place")["process"]),
        process=found["place"].to_numpy(np.int32),
        kind=found["kind"].to_numpy(np.int8),
        alone=found["alone"].to_numpy(bool),
        of_profiler=found["of_profiler"].to_numpy(bool),
        start_ns=found["start_ns"].to_numpy(np.int64),
        duration_ns=found["duration_ns"].to_numpy(np.int64),
        settings=tuple(settings.itertuples(index=False, name=None)),
    )


def data_loading(db: Database, selection: Selection) -> DataLoading:
    """Waits, workers and settings of data loaders whose events start in the window. Raises MissingTable without any."""
    stored = db.job(selection.job)
    window = window_of(stored, selection)
    if not stored.manifest.events:
        raise MissingTable(NO_LOADER, HOW_TO)
    found = events_of(db, stored, _EVENTS, window, selection.nodes)
    if not len(found):
        raise MissingTable(NO_LOADER, HOW_TO)
    groups = _groups(found)
    settings = found.loc[found["kind"] == "start", ["workers", "pinned"]].drop_duplicates().head(MAX_SETTINGS)
    took, before = _batches(found)
    order = np.argsort(took, kind="stable")
    ascending = took[order]
    median_ns = float(np.median(took)) if len(took) else float("nan")
    edges = histogram_edges(int(ascending[0]), int(ascending[-1]), "log") if len(took) else np.zeros(0)
    return DataLoading(
        groups=groups[:MAX_GROUPS],
        group_count=len(groups),
        settings=tuple(settings.itertuples(index=False, name=None)),
        edges_ns=edges,
        counts=histogram_counts(ascending, edges) if len(took) else np.zeros(0, np.int64),
        batches=len(took),
        median_ns=median_ns,
        outliers=int(np.count_nonzero(_outliers(took, median_ns))),
        longest_ns=int(ascending[-1]) if len(took) else 0,
        longest_start_ns=int(before[order[-1]]) if len(took) else 0,
    )


def _outliers(took: NDArray[Any], median_ns: NDArray[Any] | float) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (took >= OUTLIER_MEDIANS * np.asarray(median_ns)) & (took > 0)
    return found


def _groups(found: pd.DataFrame) -> tuple[LoaderGroup, ...]:
    """Kinds, processes and workers, those with the most time first chosen, then in the order of their names."""
    middle = found.groupby("kind")["duration_ns"].transform("median").to_numpy()
    found = found.assign(outlier=_outliers(found["duration_ns"].to_numpy(), middle))
    groups = []
    for key, mine in found.groupby(["kind", "node", "process", "loader"]):
        kind, node, process, loader = (str(part) for part in key)
        took = mine["duration_ns"].to_numpy()
        p50, p95 = np.quantile(took, [0.5, 0.95]).tolist()
        total, longest, outliers = int(took.sum()), int(took.max()), int(mine["outlier"].sum())
        groups.append(LoaderGroup(kind, node, process, loader, len(took), total, p50, p95, longest, outliers))
    chosen = sorted(groups, key=lambda group: -group.total_ns)
    return (*sorted(chosen[:MAX_GROUPS], key=_group_order), *chosen[MAX_GROUPS:])


def _batches(found: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From the start of each wait to that of the next one of its process, in the order of their ends."""
    waits = found[found["kind"] == "wait"]
    if waits["of_profiler"].any():
        waits = waits[waits["of_profiler"]]  # PyTorch's own profiler may have recorded the same waits
    start = waits["start_ns"].to_numpy()
    owner = waits.groupby(["node", "process"]).ngroup().to_numpy()
    order = np.lexsort((start, start + waits["duration_ns"].to_numpy(), owner))
    start, owner = start[order], owner[order]
    took, same = np.diff(start), owner[1:] == owner[:-1]
    known = same & (took >= 0)
    return took[known], start[:-1][known]


def _group_order(group: LoaderGroup) -> tuple[Any, ...]:
    kind = ("wait", "worker", "start").index(group.kind)
    return natural_key(group.node), kind, natural_key(group.process), natural_key(group.loader)
