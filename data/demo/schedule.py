"""When things happen in a synthetic job: its phases, steps and evaluation pauses, in time after its start."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.demo.spec import US_PER_S, StepPlan, TreeSpec

Ints = NDArray[np.int64]

STEP_GAP_US = 9_000  # between the end of a step and the start of the next
EVALUATION_STEP_SHARE = 0.4  # an evaluation step has no backward pass


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps and phases of one job, in microseconds after its start."""

    step_start_us: Ints
    step_duration_us: Ints
    evaluation_start_us: Ints
    evaluation_duration_us: Ints
    pause_start_us: Ints
    pause_end_us: Ints
    download_end_us: int
    setup_end_us: int
    graph_end_us: int
    loop_start_us: int
    loop_end_us: int


def schedule(spec: TreeSpec) -> Schedule:
    """Lays out the job: download, set-up, graph building, the loop with its pauses, and the rest."""
    plan = spec.steps or default_plan(spec)
    duration_us = _durations(plan, spec.seed)
    waits_us = np.full(plan.count, STEP_GAP_US, np.int64)
    waits_us[list(plan.pauses_after)] += plan.pause_us
    waits_us[-1] = 0
    end_us = plan.first_start_us + np.cumsum(duration_us + waits_us) - waits_us
    start_us = end_us - duration_us
    pause_start_us = end_us[list(plan.pauses_after)]
    evaluation_start_us, evaluation_duration_us = _evaluations(plan, pause_start_us, duration_us)
    init_us = plan.first_start_us
    return Schedule(
        step_start_us=start_us,
        step_duration_us=duration_us,
        evaluation_start_us=evaluation_start_us,
        evaluation_duration_us=evaluation_duration_us,
        pause_start_us=pause_start_us,
        pause_end_us=pause_start_us + plan.pause_us + STEP_GAP_US,
        download_end_us=init_us * 42 // 100,
        setup_end_us=init_us * 72 // 100,
        graph_end_us=init_us * 97 // 100,
        loop_start_us=init_us,
        loop_end_us=int(end_us[-1]),
    )


def default_plan(spec: TreeSpec) -> StepPlan:
    """A loop over most of the job, paused every few minutes, for trees that tell no particular story."""
    first_start_us = spec.span_us * 15 // 100
    loop_us = spec.span_us * 83 // 100
    step_us = max(round(spec.step_ms * 1000), 2 * STEP_GAP_US)
    pause_us = min(8 * US_PER_S, loop_us // 20)
    pauses = loop_us // (240 * US_PER_S)
    first_us = min(8 * step_us, loop_us // 4)
    count = max(2, 1 + (loop_us - first_us - pauses * pause_us) // step_us)
    after = tuple((index + 1) * count // (pauses + 1) - 1 for index in range(pauses))
    return StepPlan(first_start_us, first_us, loop_us, count, after, pause_us)


def _durations(plan: StepPlan, seed: int) -> Ints:
    """Step durations that fill the loop to the microsecond: the fixed ones as told, the others around their mean."""
    rng = np.random.default_rng((seed, 41))
    fixed = {0: plan.first_duration_us, **dict(plan.slow)}
    weights = np.exp(rng.normal(0.0, 0.11, plan.count))
    weights[list(fixed)] = 0.0
    waits_us = STEP_GAP_US * (plan.count - 1) + plan.pause_us * len(plan.pauses_after)
    free_us = plan.loop_us - waits_us - sum(fixed.values())
    edges_us = np.rint(np.cumsum(weights) * (free_us / weights.sum())).astype(np.int64)
    durations_us: Ints = np.diff(edges_us, prepend=0)
    durations_us[list(fixed)] = list(fixed.values())
    return durations_us


def _evaluations(plan: StepPlan, pause_start_us: Ints, duration_us: Ints) -> tuple[Ints, Ints]:
    """Evaluation steps that fill the pauses (only some frameworks record them)."""
    step_us = max(int(np.median(duration_us) * EVALUATION_STEP_SHARE), 1)
    in_pause = max(plan.pause_us // (step_us + STEP_GAP_US), 1)
    length_us = min(step_us, plan.pause_us)
    offsets_us = STEP_GAP_US + np.arange(in_pause) * (length_us + STEP_GAP_US)
    start_us = (pause_start_us[:, None] + offsets_us[None, :]).ravel()
    return start_us, np.full(start_us.size, length_us, np.int64)
