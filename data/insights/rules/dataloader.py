"""Dataloader: more or fewer processes load data than a node has cores for (reference 4.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames.evidence import LOADER_KINDS, LoaderEvents, Ticks
from data.frames.findings import Figure, Outcome, Place
from data.insights.capacity import Windows, disjoint, wasted_by_processes
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.scans import SCAN_NS, scan_ends
from data.insights.statement import NS_PER_S, counted, names, times

POINTS_ARE = "events of data loaders"
PATIENCE = 10
"""Seconds with a loader at work after which a node is judged; internal in the original too."""

KEPT_SECONDS = 1000
"""The original forgets all seconds once it has more than this."""

WAIT, WORKER = LOADER_KINDS.index("wait"), LOADER_KINDS.index("worker")
ONLY_WAITS = "Only the waits of training processes were recorded, not how many processes load their batches."
HOW_TO = "SageMaker's profiler records workers with a DataloaderProfilingConfig."


@dataclass(frozen=True)
class _Node:
    """How many processes load on a node."""

    name: str
    cores: int
    loaders: float  # median over the seconds in which any is at work
    seconds: int
    window: tuple[int, int] | None  # from the first event to the end of the last one
    waited: float | None  # share of their time that training processes wait; None without such events

    @property
    def fit(self) -> str:
        """Loaders and cores, for a sentence."""
        return f"{self.loaders:g} {'process' if self.loaders == 1 else 'processes'} for {counted(self.cores, 'core')}"

    def off(self, values: Values) -> str:
        """What is wrong: few, many, or nothing."""
        if self.loaders < self.cores * values["min_threshold"] / 100:
            return "few"
        return "many" if self.loaders > self.cores * values["max_threshold"] / 100 else ""


def judge(evidence: Evidence, values: Values) -> Outcome:
    """Each node: the median number of processes that load at the same time, against its cores."""
    events, ticks = evidence.loader, evidence.ticks
    points = len(events.kind)
    loading, waits = _loading(events), _waits(events)
    cores = {node.node: node.cores for node in ticks.nodes if node.cores}
    every = [
        _node(events, at, loading, cores[name], waits.get(name, []))
        for at, name in enumerate(events.nodes)
        if name in cores
    ]
    if not every:
        raise MissingTable("The nodes with data loaders have no system metrics, so their cores are not known.")
    judged = [node for node in every if node.seconds > PATIENCE]
    if not judged:
        most = counted(max(node.seconds for node in every), "second")
        text = f"Data loaders were seen at work in {most}; more than {PATIENCE} are needed."
        return Outcome("not enough data", text, points, POINTS_ARE)
    bad = sorted((node for node in judged if node.off(values)), key=lambda node: node.loaders / node.cores)
    figures = tuple(Figure(f"processes that load on {node.name}", node.loaders, "") for node in judged[:8])
    advice = _advice(events, ticks)
    if not bad:
        least = min(judged, key=lambda node: node.loaders / node.cores)
        text = (
            f"On each of {counted(len(judged), 'node')} there are neither too few data loaders nor too many; "
            f"the fewest are {least.fit} on {least.name}."
        )
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures)
    few = [node for node in bad if node.off(values) == "few"]
    gpu_s, node_s = _wasted(evidence, waits, few)
    return Outcome(
        "issue",
        _sentence(bad, few),
        points,
        POINTS_ARE,
        triggered=len(bad),
        violations=len(bad),
        places=tuple(Place(one.name, "", one.window, one.fit) for one in bad)[:5],
        figures=figures,
        advice=advice,
        confidence=_confidence(few),
        wasted_gpu_s=gpu_s,
        wasted_node_s=node_s,
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original: processes that began something in a second, over all nodes together, and whole medians."""
    try:
        events = evidence.loader
    except MissingTable:
        return Outcome("no issue", "The condition was met 0 times.", 0, POINTS_ARE)
    ticks = evidence.ticks
    cores = max((node.cores for node in ticks.nodes), default=0)
    mine = np.flatnonzero(events.of_profiler)
    start_ns = events.start_ns[mine]
    begin_ns = min(ticks.start_ns, int(start_ns.min(initial=ticks.start_ns)))
    scans = len(scan_ends(begin_ns, max(ticks.end_ns, int(start_ns.max(initial=0)))))
    scan, counts = _begun(events, mine, begin_ns)
    of_scan = np.split(counts, np.searchsorted(scan, np.arange(1, scans)))
    violations, kept, loaders = 0, list[int](), 0
    for new in of_scan:
        if len(kept) > KEPT_SECONDS:
            kept = []
        kept += new.tolist()
        loaders = int(np.median(kept)) if kept else 0
        if len(kept) > PATIENCE:
            violations += loaders < cores * values["min_threshold"] / 100
            violations += loaders > cores * values["max_threshold"] / 100
    return Outcome(
        "issue" if violations else "no issue",
        f"The condition was met {times(violations)}.",
        len(mine),
        POINTS_ARE,
        triggered=int(violations > 0),
        violations=violations,
        figures=(Figure("dataloaders", loaders, ""), Figure("cores", cores, "")),
    )


def _begun(events: LoaderEvents, mine: NDArray[np.int64], begin_ns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many differently written processes began something in each second, and the scan that saw it.

    A second across the end of a scan is two, as the original had it. `mine` are in order of time.
    """
    start_ns = events.start_ns[mine]
    scan, second = (start_ns - begin_ns) // SCAN_NS, start_ns // NS_PER_S
    written = {name: at for at, name in enumerate(dict.fromkeys(events.processes))}
    process = np.array([written[name] for name in events.processes], np.int64)[events.process[mine]]
    new = np.append(True, (np.diff(scan) != 0) | (np.diff(second) != 0))[: len(mine)]
    distinct = np.unique((np.cumsum(new) - 1) * len(written) + process)
    return scan[new], np.bincount(distinct // max(len(written), 1), minlength=int(new.sum()))


def _loading(events: LoaderEvents) -> NDArray[np.bool_]:
    """Which events are those of a process that loads. Raises MissingTable where nothing tells."""
    workers: NDArray[np.bool_] = events.kind == WORKER
    if workers.any():
        return workers
    alone: NDArray[np.bool_] = events.alone & (events.kind == WAIT)
    if not alone.any():
        raise MissingTable(ONLY_WAITS, HOW_TO)
    return alone


def _node(events: LoaderEvents, at: int, loading: NDArray[np.bool_], cores: int, waits: list[Windows]) -> _Node:
    mine = events.node == at
    chosen = np.flatnonzero(mine & loading)
    start_ns, end_ns = events.start_ns[chosen], events.start_ns[chosen] + events.duration_ns[chosen]
    at_work = processes_by_second(start_ns, end_ns, events.process[chosen])
    window = (int(start_ns.min()), int(end_ns.max())) if len(chosen) else None
    whole_s = sum(float(end[-1] - start[0]) for start, end in waits) / NS_PER_S
    waited = sum(float((end - start).sum()) for start, end in waits) / NS_PER_S / whole_s if whole_s else None
    return _Node(
        events.nodes[at], cores, float(np.median(at_work)) if len(at_work) else 0.0, len(at_work), window, waited
    )


def processes_by_second(
    start_ns: NDArray[np.int64], end_ns: NDArray[np.int64], process: NDArray[np.int32]
) -> NDArray[np.int64]:
    """How many processes are at work in each second in which any is; an event counts in every second it touches."""
    if not len(start_ns):
        return np.empty(0, np.int64)
    order = np.lexsort((start_ns, process))
    first = start_ns[order] // NS_PER_S
    last = np.maximum(end_ns[order] - 1, start_ns[order]) // NS_PER_S
    origin, length = int(first.min()), int(last.max()) - int(first.min()) + 2
    base = process[order].astype(np.int64) * length - origin  # a stretch of numbers of its own for each process
    reached = np.maximum.accumulate(last + base)
    new = np.maximum(first + base, np.append(-1, reached[:-1]) + 1)
    many = np.maximum(last + base - new + 1, 0)
    ends = np.cumsum(many)
    seconds = (np.arange(int(ends[-1])) - np.repeat(ends - many, many) + np.repeat(new, many)) % length
    counts = np.bincount(seconds)
    return counts[counts > 0]


def _waits(events: LoaderEvents) -> dict[str, list[Windows]]:
    """Per node and process, when it waits for a batch."""
    mine = np.flatnonzero(events.kind == WAIT)
    if events.of_profiler[mine].any():
        mine = mine[events.of_profiler[mine]]  # PyTorch's own profiler may have recorded the same waits
    mine = mine[np.argsort(events.process[mine], kind="stable")]
    found: dict[str, list[Windows]] = {}
    for one in np.split(mine, np.flatnonzero(np.diff(events.process[mine])) + 1) if len(mine) else ():
        windows = disjoint(events.start_ns[one], events.start_ns[one] + events.duration_ns[one])
        found.setdefault(events.nodes[events.node[one[0]]], []).append(windows)
    return found


def _wasted(evidence: Evidence, waits: dict[str, list[Windows]], few: list[_Node]) -> tuple[float | None, float | None]:
    """What GPUs leave unused while their process waits for a batch."""
    chosen = {node.name: waits[node.name] for node in few if node.name in waits}
    if not chosen:
        return None, None
    lost = [(node, one, (one[1] - one[0]) / NS_PER_S) for node, many in chosen.items() for one in many]
    return wasted_by_processes(evidence, {node: len(many) for node, many in chosen.items()}, lost)


def _sentence(bad: list[_Node], few: list[_Node]) -> str:
    many = [node for node in bad if node not in few]
    parts = []
    for some, what in ((few, "fewer than they could take"), (many, "more than they can run at a time")):
        if some:
            worst = some[0] if some is few else some[-1]
            parts.append(
                f"{names(node.name for node in some)} {'loads' if len(some) == 1 else 'load'} data with {what}: "
                f"{worst.fit} on {worst.name}"
            )
    waits = [node.waited for node in bad if node.waited is not None]
    told = f"; training processes wait {100 * max(waits):.0f} % of their time for batches" if waits else ""
    return f"{'; '.join(parts)}{told}."


def _confidence(few: list[_Node]) -> str:
    if few and all(node.waited is not None and node.waited < 0.05 for node in few):
        return "Training hardly waits for batches: more processes would change little."
    return "Whether training waits for batches was not recorded." if few and few[0].waited is None else ""


def _advice(events: LoaderEvents, ticks: Ticks) -> tuple[str, ...]:
    unpinned = any(pinned == "false" for _, pinned in events.settings)
    if unpinned and any(node.gpus for node in ticks.nodes):
        return ("Set pin_memory: batches then reach the GPU faster.",)
    return ()


RULE = Rule(
    name="Dataloader",
    title="The number of data loaders does not fit the cores",
    claim="Looks for nodes on which far fewer, or far more, processes load data than there are cores.",
    advice=(
        "Set num_workers so that all training processes of a node together have about as many workers as it has cores.",
        "Measure again: once training no longer waits for batches, more workers only take memory.",
    ),
    settings=(
        Setting("min_threshold", 70.0, "%", "fewer processes than this share of the cores are too few", 0, 1000),
        Setting("max_threshold", 200.0, "%", "more processes than this share of the cores are too many", 0, 10_000),
    ),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
