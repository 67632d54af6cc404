"""IOBottleneck: GPUs idle while a core of the same node waits for storage (reference 4.2)."""

from __future__ import annotations

from functools import partial

from data.insights import bottlenecks
from data.insights.rule import ORIGINAL, Rule, Setting

CAUSE = bottlenecks.Cause(
    column="io_wait_max",
    limit="io_threshold",
    is_high="a core waited for I/O for more than",
    metric="io_wait",
    missing="No I/O wait was recorded on nodes with GPUs.",
)

RULE = Rule(
    name="IOBottleneck",
    title="GPUs wait for storage",
    claim="Looks for time in which a GPU idles while a core of its node waits for storage.",
    advice=(
        "Let the loader fetch ahead, so that storage works while the GPU computes.",
        "Pack small files into large ones that are read from front to end, such as TFRecord or WebDataset archives.",
        "Use faster storage: a local disk, or a file system made for training data.",
    ),
    settings=bottlenecks.settings(Setting("io_threshold", 50.0, "%", "a core that waits more than this is held up")),
    judge=partial(bottlenecks.judge, cause=CAUSE),
    compat=partial(bottlenecks.compat, cause=CAUSE),
    origin=ORIGINAL,
)
