"""CPUBottleneck: GPUs idle while a core of the same node is fully busy (reference 4.2)."""

from __future__ import annotations

from functools import partial

from data.insights import bottlenecks
from data.insights.rule import ORIGINAL, Rule, Setting

CAUSE = bottlenecks.Cause(
    column="cpu_max",
    limit="cpu_threshold",
    is_high="a core was above",
    metric="utilization",
    missing="No core was recorded on nodes with GPUs.",
)

RULE = Rule(
    name="CPUBottleneck",
    title="GPUs wait for the CPU",
    claim="Looks for time in which a GPU idles while a core of its node is fully busy.",
    advice=(
        "Read and prepare data in more processes; one busy core beside idle ones means that one thread does it all.",
        "Let the loader fetch ahead while the GPU computes.",
        "Prepare the data once, ahead of the training, or do it on the GPU.",
    ),
    settings=bottlenecks.settings(Setting("cpu_threshold", 90.0, "%", "a core above this is fully busy")),
    judge=partial(bottlenecks.judge, cause=CAUSE),
    compat=partial(bottlenecks.compat, cause=CAUSE),
    origin=ORIGINAL,
)
