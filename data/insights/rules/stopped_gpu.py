"""StoppedGPU: a GPU that does nothing, stops, or falls silent while others of the job go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data.errors import MissingTable
from data.frames.evidence import NodeTicks, Ticks
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import OURS, Rule, Setting, Values
from data.insights.statement import counted, names, span

NS_PER_S = 1_000_000_000
POINTS_ARE = "GPUs"


@dataclass(frozen=True)
class _Gpu:
    """When one GPU was measured and used, nanoseconds; `last_used_ns` is None where it never was."""

    node: NodeTicks
    device: str
    samples: int
    first_ns: int
    last_ns: int  # last sample
    last_used_ns: int | None

    @property
    def name(self) -> str:
        return f"{self.node.node} {self.device}"


@dataclass(frozen=True)
class _Found:
    """A GPU with the stretch in which it did nothing; silent ones may have worked on, unseen."""

    gpu: _Gpu
    start_ns: int
    end_ns: int
    text: str
    silent: bool = False


def judge(evidence: Evidence, values: Values) -> Outcome:
    """GPUs without use for long, or without records, while another GPU of the job is used."""
    gpus = _gpus(evidence.ticks, values["at_rest"])
    if not gpus:
        raise MissingTable("No GPU was recorded.")
    judged = [gpu for gpu in gpus if gpu.samples >= values["patience"]]
    if not judged:
        most = max(gpu.samples for gpu in gpus)
        return Outcome(
            "not enough data",
            f"No GPU has {values['patience']:g} samples; the most is {most:,}.",
            len(gpus),
            POINTS_ARE,
        )
    found = [one for gpu in judged for one in _stopped(gpu, judged, int(values["seconds"] * NS_PER_S))]
    found.sort(key=lambda one: (one.silent, one.start_ns - one.end_ns))
    if not found:
        used = sum(gpu.last_used_ns is not None for gpu in judged)
        text = (
            f"All of {counted(len(judged), 'GPU')} {'was' if len(judged) == 1 else 'were'} used until the end."
            if used
            else "No GPU was used at all, so none stands out from the others."
        )
        return Outcome("no issue", text, len(judged), POINTS_ARE)
    idle = [one for one in found if not one.silent]
    return Outcome(
        "issue",
        _sentence(found, len(gpus)),
        len(judged),
        POINTS_ARE,
        triggered=len(found),
        violations=len(found),
        places=tuple(
            Place(one.gpu.node.node, one.gpu.device, (one.start_ns, one.end_ns), one.text, "utilization")
            for one in found[:5]
        ),
        figures=(Figure("GPUs that did nothing or stopped", len(idle), ""),),
        confidence="" if len(judged) == len(gpus) else f"{len(gpus) - len(judged)} GPUs had too few samples.",
        wasted_gpu_s=sum(one.end_ns - one.start_ns for one in idle) / NS_PER_S,
    )


def _gpus(ticks: Ticks, at_rest: float) -> list[_Gpu]:
    found = []
    for node in ticks.nodes:
        for at, device in enumerate(node.gpus):
            known = np.flatnonzero(~np.isnan(node.gpu[:, at]))
            if len(known):
                used = known[node.gpu[known, at] > at_rest]
                found.append(
                    _Gpu(
                        node,
                        device,
                        len(known),
                        int(node.tick_ns[known[0]]),
                        int(node.tick_ns[known[-1]]) + node.interval_ns,
                        int(node.tick_ns[used[-1]]) + node.interval_ns if len(used) else None,
                    )
                )
    return found


def _stopped(gpu: _Gpu, all_gpus: list[_Gpu], least_ns: int) -> list[_Found]:
    """What is wrong with a GPU: a stretch counts only while another GPU was still used."""
    others = [one.last_used_ns for one in all_gpus if one is not gpu and one.last_used_ns is not None]
    if not others:
        return []
    found = []
    since = gpu.first_ns if gpu.last_used_ns is None else gpu.last_used_ns
    until = min(max(others), gpu.last_ns)
    if until - since >= least_ns:
        text = f"no use for {span(until - since)}" + (", from its first sample on" if gpu.last_used_ns is None else "")
        found.append(_Found(gpu, since, until, text))
    node_end = int(gpu.node.tick_ns[-1])
    if node_end - gpu.last_ns >= least_ns:
        text = f"no record for {span(node_end - gpu.last_ns)} while its node has some"
        found.append(_Found(gpu, gpu.last_ns, node_end, text, silent=True))
    return found


def _sentence(found: list[_Found], gpus: int) -> str:
    unused = [one for one in found if not one.silent and one.gpu.last_used_ns is None]
    stopped = [one for one in found if not one.silent and one.gpu.last_used_ns is not None]
    silent = [one for one in found if one.silent]
    parts = [
        f"{counted(len(some), 'GPU')} of {gpus} {what} ({names([one.gpu.name for one in some])})"
        for some, what in (
            (unused, "did nothing at all"),
            (stopped, "stopped working before the others did"),
            (silent, "fell silent while the node went on"),
        )
        if some
    ]
    return "; ".join(parts) + "."


RULE = Rule(
    name="StoppedGPU",
    title="A GPU does nothing",
    claim="Looks for a GPU that is never used, stops, or sends no more records while another GPU of the job goes on.",
    advice=(
        "Start one process for each GPU, and let each choose its own; a GPU that no process chose does nothing.",
        "A GPU that stopped midway may have lost its process: look at the log of that node at that time.",
        "If the training needs no more, choose an instance with fewer GPUs.",
    ),
    settings=(
        Setting("at_rest", 0.0, "%", "a GPU is used while its utilization is above this"),
        Setting("seconds", 60.0, "s", "shorter stretches are left alone", 1, 1_000_000),
        Setting("patience", 100.0, "samples", "a GPU is judged once it has this many", 1, 10_000_000),
    ),
    judge=judge,
    origin=OURS,
)
