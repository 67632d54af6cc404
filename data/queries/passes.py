"""Durations of forward and backward passes, as those of steps: whole passes, not those of submodules."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from data.errors import MissingTable
from data.frames import Step, StepGroup, StepHistogram
from data.names import natural_key
from data.queries.bins import window_of
from data.queries.events import events_of
from data.queries.steps import (
    MAX_OUTLIERS,
    OUTLIER_DEVIATIONS,
    Scale,
    histogram_counts,
    histogram_edges,
    quantiles,
)
from data.selection import Selection
from data.store import Database

Pass = Literal["forward", "backward"]

_CONDITIONS: Final = {
    "forward": "phase = 'Forward' or name = '## forward ##'",
    "backward": "(phase >= 'Backward' and phase < 'Backware' and not contains(phase, 'SubModule'))"
    " or name = '## backward ##'",
}
_PASSES = """
select node::varchar as node, worker::varchar as worker,
       (case when starts_with(name, '## ') then name else phase end)::varchar as phase, step, start_ns, duration_ns
from read_parquet($files)
where ({condition}) and wall = $wall and duration_ns <= $longest_ns and start_ns >= $start and start_ns < $end
order by start_ns, worker
"""


def histogram(db: Database, selection: Selection, scale: Scale, which: Pass) -> StepHistogram:
    """Durations of the passes that start in the window, per phase and node; exact. Raises MissingTable without any."""
    stored = db.job(selection.job)
    window = window_of(stored, selection)
    if not stored.manifest.events:
        raise MissingTable("This job has no framework events.")
    found = events_of(db, stored, _PASSES.format(condition=_CONDITIONS[which]), window, selection.nodes)
    if not len(found):
        raise MissingTable(
            f"No {which} pass starts in this window on these nodes.",
            "SageMaker's profiler records passes of PyTorch; PyTorch's own where the code names them, ## forward ##.",
        )
    ascending = np.sort(found["duration_ns"].to_numpy())
    edges = histogram_edges(int(ascending[0]), int(ascending[-1]), scale)
    groups, outliers = list[StepGroup](), list[Step]()
    for key, mine in found.groupby(["phase", "node"]):
        phase, node = (str(part) for part in key)
        took = mine["duration_ns"].to_numpy()
        late = mine[took > took.mean() + OUTLIER_DEVIATIONS * took.std()]
        rows = zip(late["worker"], late["step"], late["start_ns"], late["duration_ns"], strict=True)
        outliers += [Step(node, worker, phase, int(step), int(at), int(length)) for worker, step, at, length in rows]
        took = np.sort(took)
        p50, p95, p99 = quantiles(took)
        counts = histogram_counts(took, edges)
        groups.append(StepGroup(phase, node, counts, len(took), float(took.mean()), p50, p95, p99, len(late)))
    p50, p95, p99 = quantiles(ascending)
    outliers.sort(key=lambda one: (-one.duration_ns, one.start_ns))
    return StepHistogram(
        edges_ns=edges,
        scale=scale,
        groups=tuple(sorted(groups, key=lambda group: (group.phase, natural_key(group.node)))),
        steps=len(found),
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        outliers=tuple(outliers[:MAX_OUTLIERS]),
        outlier_count=len(outliers),
    )
