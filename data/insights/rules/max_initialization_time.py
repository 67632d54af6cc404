"""MaxInitializationTime: a job that takes long to come to its first step (reference 4.8)."""

from __future__ import annotations

import numpy as np

from data.errors import MissingTable
from data.frames import JobTimes
from data.frames.findings import Figure, Outcome, Place
from data.insights.evidence import Evidence
from data.insights.rule import ORIGINAL, Rule, Setting, Values
from data.insights.statement import NS_PER_S, span

POINTS_ARE = "steps of processes"
STEP_FILES = ("pythontimeline", "model_timeline")
"""Files in which the profiler writes steps, where there are any."""

ORIGINAL_PHASES = "Step:ModeKeys"
NOT_MEASURED = "Without system metrics nobody knows when the job began, so its initialization has no length."


def judge(evidence: Evidence, values: Values) -> Outcome:
    """From the first system record to the first step."""
    if not evidence.header.measured:
        raise MissingTable(NOT_MEASURED)
    times, limit_ns = evidence.times, round(values["threshold"] * 60 * NS_PER_S)
    if times.initialization_ns is None or times.loop_start_ns is None:
        return _without_steps(evidence, limit_ns)
    took_ns, points = times.initialization_ns, evidence.header.step_count
    figures = (Figure("initialization", took_ns / NS_PER_S, "s"),)
    recorded = times.first_step in (None, 0)
    confidence = "" if recorded else f"The first recorded step is number {times.first_step}; training began before it."
    limit = f"{values['threshold']:g} min"
    if took_ns <= limit_ns:
        text = f"The first step began after {span(took_ns)}, within {limit}."
        return Outcome("no issue", text, points, POINTS_ARE, figures=figures, confidence=confidence)
    gpu_s, node_s = _wasted(evidence, times, limit_ns)
    return Outcome(
        "issue",
        f"{'The first step' if recorded else 'The first recorded step'} began {span(took_ns)} after the first record, "
        f"{span(took_ns - limit_ns)} more than the {limit} allowed.",
        points,
        POINTS_ARE,
        triggered=1,
        violations=1,
        places=(
            Place("", "", (times.start_ns, times.loop_start_ns), f"{span(took_ns)} without a step", "utilization"),
        ),
        figures=figures,
        confidence=confidence,
        wasted_gpu_s=gpu_s,
        wasted_node_s=node_s,
        saved_s=(took_ns - limit_ns) / NS_PER_S,
    )


def compat(evidence: Evidence, values: Values) -> Outcome:
    """As the original inside its report: it only counts steps, its clock stands still, and it never fires."""
    try:
        records = evidence.steps
    except MissingTable:
        points = 0
    else:
        wanted = [at for at, (phase, _) in enumerate(records.groups) if ORIGINAL_PHASES in phase]
        points = int(np.isin(records.group, wanted).sum())
    return Outcome("no issue", "The condition was met 0 times.", points, POINTS_ARE)


def _without_steps(evidence: Evidence, limit_ns: int) -> Outcome:
    """An issue only where files that would hold steps are there, and none came for longer than allowed."""
    times = evidence.times
    if not any(kind in evidence.file_kinds for kind in STEP_FILES):
        raise MissingTable(times.steps_reason, "No file of the kind that holds steps was written.")
    if times.duration_ns <= limit_ns:
        return Outcome(
            "not enough data",
            f"No step was seen in {span(times.duration_ns)}, which is within {span(limit_ns)}.",
        )
    return Outcome(
        "issue",
        f"No step was seen in {span(times.duration_ns)}, though the framework's profiler wrote files.",
        triggered=1,
        violations=1,
        places=(Place("", "", (times.start_ns, times.end_ns), "no step", "utilization"),),
        confidence="The profiler may have been told to record something else, or another part of the training; "
        "then this says nothing.",
    )


def _wasted(evidence: Evidence, times: JobTimes, limit_ns: int) -> tuple[float | None, float | None]:
    """GPU-seconds not used between the end of the time allowed and the first step; node-seconds without GPUs."""
    try:
        unused = evidence.unused_gpus
    except MissingTable:
        return None, None
    window = np.array([times.start_ns + limit_ns]), np.array([times.loop_start_ns])
    if any(node.gpus for node in unused.values()):
        return float(sum(node.between(*window)[0] for node in unused.values())), None
    return None, float((window[1] - window[0])[0]) / NS_PER_S * len(unused)


RULE = Rule(
    name="MaxInitializationTime",
    title="Training starts late",
    claim="Looks for a job that takes long from its first record to its first step.",
    advice=(
        "See what the nodes do meanwhile: a busy network or disk fetches data, one busy core means that one process"
        " prepares something.",
        "Stream the data or mount them instead of copying all of them first; keep what was prepared for the next run.",
        "Install packages into the image instead of at every start.",
    ),
    settings=(Setting("threshold", 20.0, "min", "the first step must come within this", 0, 10_000),),
    judge=judge,
    compat=compat,
    origin=ORIGINAL,
)
