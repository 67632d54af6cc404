"""What steps are spent on: each instant of a step counts for one kind of event, so that the parts add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.coverage import merged
from data.errors import MissingTable
from data.frames.framework import StepBreakdown, StepRule
from data.queries.bins import window_of
from data.queries.events import part_files
from data.selection import Selection
from data.store import Database, StoredJob

LAST_STEPS = 30
MOST_EVENTS = 500_000
"""Fewer steps are looked at where they hold more events than this."""

_FIELDS = ("phase", "category", "name")
_STEPS = f"""
select "group", worker, step, start_ns, duration_ns, count(*) over () as steps,
       row_number() over (partition by "group", worker order by start_ns desc, duration_ns) as age
from read_parquet($files)
where list_contains($groups, "group") and start_ns >= $start and start_ns < $end
qualify age <= {LAST_STEPS}
"""
_PHASES = """
select distinct "group" from read_parquet($files) where start_ns >= $start and start_ns < $end
"""
_BEGUN = """
select bin_ns, sum(begun)::bigint as begun from read_parquet($bins)
where lane in (select lane from read_parquet($lanes) where list_contains($nodes, node)) group by bin_ns order by bin_ns
"""
_SHOWN = """wall = $wall and duration_ns <= $longest_ns and duration_ns > 0
    and start_ns < $end and start_ns + duration_ns > $start"""
_EVENTS = """
select process, kind, start_ns, start_ns + duration_ns as end_ns
from (select node::varchar as node, worker::varchar as worker, hash(phase, category, name) as label, start_ns,
             duration_ns from read_parquet($files) where {shown})
join (select label, case {cases} end as kind
      from (select hash(phase, category, name) as label, any_value(phase::varchar) as phase,
                   any_value(category::varchar) as category, any_value(name::varchar) as name
            from read_parquet($files) where {shown} group by label)) using (label)
join (select unnest($nodes) as node, unnest($workers) as worker, unnest($processes) as process) using (node, worker)
where kind >= 0
"""


def last_steps(
    db: Database, selection: Selection, rules: tuple[StepRule, ...], kinds: tuple[str, ...]
) -> StepBreakdown:
    """The last training steps that start in the window. The first rule that matches gives an event its kind.

    An instant counts for the first of `kinds` that runs on the step's process, or on one of its node that takes no
    steps itself; kinds that are not among them count for nothing. Raises MissingTable where there is no step.
    """
    stored = db.job(selection.job)
    steps, phase, count = _steps(db, stored, selection)
    steps = _fewer(db, stored, steps)
    owners = list(dict.fromkeys(zip(steps["node"], steps["worker"], strict=True)))
    found = _events(db, stored, steps, owners, rules, kinds)
    spent = np.zeros((len(steps), len(kinds)))
    for process, owner in enumerate(owners):
        mine = (found["process"] == process) | (found["process"] == _shared(owners, owner[0]))
        kind, start, end = (found[name][mine] for name in ("kind", "start_ns", "end_ns"))
        order = np.argsort(start, kind="stable")
        rows = np.flatnonzero((steps["node"] == owner[0]) & (steps["worker"] == owner[1]))
        spent[rows] = divided(
            kind[order],
            start[order],
            end[order],
            steps["start_ns"].to_numpy()[rows],
            (steps["start_ns"] + steps["duration_ns"]).to_numpy()[rows],
            len(kinds),
        )
    return _averaged(steps, spent, phase, kinds, count)


def divided(
    kind: NDArray[np.int64],
    start_ns: NDArray[np.int64],
    end_ns: NDArray[np.int64],
    step_start_ns: NDArray[np.int64],
    step_end_ns: NDArray[np.int64],
    kinds: int,
) -> NDArray[np.int64]:
    """Time of each step that counts for each kind; events come by start. The lowest kind that runs takes an instant."""
    spent = np.zeros((len(step_start_ns), kinds), np.int64)
    reached = np.maximum.accumulate(end_ns) if len(end_ns) else end_ns
    for row, (first, last) in enumerate(zip(step_start_ns.tolist(), step_end_ns.tolist(), strict=True)):
        inside = slice(int(np.searchsorted(reached, first, side="right")), int(np.searchsorted(start_ns, last)))
        begin, end, mine = np.maximum(start_ns[inside], first), np.minimum(end_ns[inside], last), kind[inside]
        taken = 0
        for at in range(kinds):
            if not (mine == at).any():
                continue
            chosen = (mine <= at) & (end > begin)
            islands = merged(begin[chosen], end[chosen])
            union = int((islands[1] - islands[0]).sum())
            spent[row, at] = union - taken
            taken = union
    return spent


def _steps(db: Database, stored: StoredJob, selection: Selection) -> tuple[pd.DataFrame, str, int]:
    """The last steps of each process, their phase, and how many there are: of training, if it has any here."""
    files = [stored.file("steps.parquet", "This job's framework recorded no steps.")]
    window = window_of(stored, selection)
    span = {"files": files, "start": window.start_ns, "end": window.end_ns}
    groups = stored.manifest.step_groups
    here = set(db.columns(_PHASES, **span)["group"].tolist())
    here = {at for at in here if not selection.nodes or groups[at][1] in selection.nodes}
    phase = next((name for at, (name, _) in enumerate(groups) if at in here), None)
    if phase is None:
        raise MissingTable("No step starts in this window on these nodes.")
    steps = db.frame(_STEPS, groups=[at for at in sorted(here) if groups[at][0] == phase], **span)
    steps["node"] = [groups[at][1] for at in steps["group"]]
    # the same number may come again, when training was resumed: it is told apart by its place from the end
    steps = steps.sort_values(["start_ns", "duration_ns"], ascending=False, kind="stable")
    steps["again"] = steps.groupby(["group", "worker", "step"]).cumcount()
    count = int(steps["steps"].iloc[0])
    return _last(steps, LAST_STEPS), phase, count


def _last(steps: pd.DataFrame, most: int) -> pd.DataFrame:
    """The rows of the last steps, whichever process took them, in order of time."""
    first = steps.groupby(["step", "again"])["start_ns"].min().sort_values().tail(most)
    place = pd.Series(np.arange(len(first)), first.index, name="place")
    kept = steps.drop(columns="place", errors="ignore").join(place, on=["step", "again"], how="inner")
    return kept.sort_values(["place", "start_ns"], kind="stable").reset_index(drop=True)


def _fewer(db: Database, stored: StoredJob, steps: pd.DataFrame) -> pd.DataFrame:
    """As many of the last steps as hold not too many events."""
    nodes = sorted(set(steps["node"]))
    lanes = {name: [str(stored.folder / f"{table}.parquet")] for name, table in (("bins", "lane_bins"), ("lanes",) * 2)}
    begun = db.columns(_BEGUN, nodes=nodes, **lanes)
    before = np.concatenate([[0], np.cumsum(begun["begun"])])
    while steps["place"].nunique() > 1:
        span = [steps["start_ns"].min(), (steps["start_ns"] + steps["duration_ns"]).max()]
        low, high = before[np.searchsorted(begun["bin_ns"], span)]
        if high - low <= MOST_EVENTS:
            break
        steps = _last(steps, steps["place"].nunique() // 2)
    return steps


def _events(
    db: Database,
    stored: StoredJob,
    steps: pd.DataFrame,
    owners: list[tuple[str, str]],
    rules: tuple[StepRule, ...],
    kinds: tuple[str, ...],
) -> dict[str, NDArray[Any]]:
    """Events that run during the steps, by process and start; those of processes without steps count for their node."""
    nodes = dict.fromkeys(node for node, _ in owners)
    taking = {
        (node, worker) for at, (_, node) in enumerate(stored.manifest.step_groups) for worker in _workers(steps, at)
    }
    everyone = [one for one in stored.manifest.event_processes if one[0] in nodes]
    numbers = {one: at for at, one in enumerate(owners)}
    numbers |= {one: _shared(owners, one[0]) for one in everyone if one not in numbers and one not in taking}
    patterns = {f"pattern_{at}": pattern for at, (_, _, pattern) in enumerate(rules)}
    cases = " ".join(
        f"when regexp_matches({_FIELDS[_FIELDS.index(field)]}, $pattern_{at})"
        f" then {kinds.index(kind) if kind in kinds else -1}"
        for at, (kind, field, _) in enumerate(rules)
    )
    return db.columns(
        _EVENTS.format(shown=_SHOWN, cases=cases),
        files=part_files(stored),
        wall=stored.manifest.wall_clock,
        longest_ns=stored.manifest.longest_ns,
        start=int(steps["start_ns"].min()),
        end=int((steps["start_ns"] + steps["duration_ns"]).max()),
        nodes=[node for node, _ in numbers],
        workers=[worker for _, worker in numbers],
        processes=list(numbers.values()),
        **patterns,
    )


def _workers(steps: pd.DataFrame, group: int) -> list[str]:
    return steps["worker"][steps["group"] == group].unique().tolist()


def _shared(owners: list[tuple[str, str]], node: str) -> int:
    """The number that stands for all processes of a node that take no steps."""
    return len(owners) + list(dict.fromkeys(name for name, _ in owners)).index(node)


def _averaged(
    steps: pd.DataFrame, spent: NDArray[np.float64], phase: str, kinds: tuple[str, ...], count: int
) -> StepBreakdown:
    place = steps["place"].to_numpy()
    size = int(place.max()) + 1
    processes = np.bincount(place, minlength=size)
    first = np.unique(place, return_index=True)[1]
    totals = np.stack([np.bincount(place, spent[:, at], size) for at in range(len(kinds))], axis=1)
    return StepBreakdown(
        phase=phase,
        kinds=kinds,
        step=steps["step"].to_numpy()[first],
        start_ns=steps["start_ns"].to_numpy()[first],
        duration_ns=np.bincount(place, steps["duration_ns"].to_numpy(), size) / processes,
        spent_ns=totals / processes[:, None],
        processes=processes,
        step_count=count,
    )
