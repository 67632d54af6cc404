"""Statements about a job's data: what they say, which panels they touch, and the words they share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MOST_NAMED = 6
"""Nodes named one by one in statements of one sort; the rest are counted."""

NS_PER_S = 10**9

Panels = tuple[tuple[str, tuple[str, ...]], ...]
"""Pages with the titles of their panels."""

_STEP_PANELS: Panels = (
    ("Overview", ("Time spent in phases of training", "Training progress over time")),
    ("Nodes", ("Step duration", "Step timeline")),
)
_EVENT_PANELS: Panels = (("Nodes", ("Framework metrics over time", "Time spent in training")),)
_TRACE_PANELS: Panels = (*_STEP_PANELS[:1], ("Nodes", (*_STEP_PANELS[1][1], *_EVENT_PANELS[0][1])))
_PYTORCH_PANELS: Panels = (
    _STEP_PANELS[0],
    ("Nodes", (*_TRACE_PANELS[1][1], "GPU memory (allocator)", "CPU memory (allocator)")),
)
_FUNCTION_PANELS: Panels = (("Overview", ("Python functions",)),)
FILE_KINDS: tuple[tuple[str, str, Panels], ...] = (
    (
        "system",
        "system metrics",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "Over time", "Distributions"))),
    ),
    ("pythontimeline", "Python timelines", _TRACE_PANELS),
    ("model_timeline", "model timelines", _TRACE_PANELS),
    ("horovod_timeline", "Horovod timelines", _EVENT_PANELS),
    ("smdataparallel_timeline", "SMDataParallel timelines", _EVENT_PANELS),
    ("merged_timeline", "merged timelines", _TRACE_PANELS),
    ("tensorflow_trace", "TensorFlow traces", _EVENT_PANELS),
    ("tensorflow_metadata", "start times of TensorFlow traces", _EVENT_PANELS),
    ("trace", "traces", _PYTORCH_PANELS),
    ("perhaps_trace", "JSON files, traces by their content", _PYTORCH_PANELS),
    ("python_stats", "Python profiles (cProfile)", _FUNCTION_PANELS),
    ("pyinstrument", "Python profiles (Pyinstrument)", _FUNCTION_PANELS),
    ("original_report", "reports of the original's rules", ()),
    ("training_job", "the job's description", (("Overview", ("Training job details",)),)),
)
"""Kind of file, its name in words, and the panels that are drawn from it: none where no panel shows it yet."""

METRICS: tuple[tuple[str, str, Panels], ...] = (
    (
        "gpu",
        "GPU utilization",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "GPU utilization"))),
    ),
    (
        "cpu",
        "CPU utilization",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "CPU utilization"))),
    ),
    (
        "gpu_memory",
        "GPU memory",
        (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "GPU memory"))),
    ),
    ("memory", "CPU memory", (("Overview", ("Resource utilization",)), ("Nodes", ("CPU memory",)))),
    ("io_wait", "I/O wait", (("Overview", ("Resource utilization",)), ("Nodes", ("System utilization", "I/O wait")))),
    ("network", "network", (("Overview", ("Resource utilization",)), ("Nodes", ("Network",)))),
    ("throughput", "disk throughput", (("Nodes", ("Disk throughput",)),)),
    ("iops", "disk operations", (("Nodes", ("Disk operations",)),)),
)
"""Metric as queries name it, its name in words, and the panels that show it."""


class Level(StrEnum):
    """How much a statement weighs: something could not be read, is missing or odd, or is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    GOOD = "good"


@dataclass(frozen=True)
class Statement:
    """One thing to know before a number is trusted."""

    level: Level
    found: str
    touches: Panels  # empty where no panel is touched
    means: str
    window: tuple[int, int] | None = None  # where in time it shows, nanoseconds
    node: str = ""  # whose it is, "" for the job's


def kind_name(kind: str) -> str:
    """A kind of file in words."""
    return next((name for key, name, _ in FILE_KINDS if key == kind), kind.replace("_", " "))


def panels_of_kind(kind: str) -> Panels:
    """The panels that are drawn from files of this kind; none where nothing is drawn from them yet."""
    return next((panels for key, _, panels in FILE_KINDS if key == kind), ())


def panels_of_metric(metric: str) -> Panels:
    """The panels that show a metric."""
    return next((panels for key, _, panels in METRICS if key == metric), ())


def joined(many: Iterable[Panels]) -> Panels:
    """Panels of several sorts, each once, by page."""
    pages: dict[str, dict[str, None]] = {}
    for panels in many:
        for page, titles in panels:
            pages.setdefault(page, {}).update(dict.fromkeys(titles))
    return tuple((page, tuple(titles)) for page, titles in pages.items())


def span(duration_ns: float) -> str:
    """A length of time for a sentence: 4 min 10 s, 2.5 s, 38 ms."""
    total_s = round(duration_ns / NS_PER_S)
    if total_s >= 3600:
        return f"{total_s // 3600} h {total_s % 3600 // 60} min"
    if total_s >= 60:
        return f"{total_s // 60} min {total_s % 60} s"
    if duration_ns >= NS_PER_S:
        return f"{duration_ns / NS_PER_S:.2f}".rstrip("0").rstrip(".") + " s"
    if duration_ns >= 10**6:
        return f"{duration_ns / 10**6:.1f}".rstrip("0").rstrip(".") + " ms"
    return f"{duration_ns / 1000:.0f} µs"


def counted(value: int, noun: str) -> str:
    """A number with its noun."""
    return f"{value:,} {noun if value == 1 else noun + 's'}"


def times(value: int) -> str:
    """How often: once, 2 times."""
    return "once" if value == 1 else f"{value:,} times"


def were(value: int) -> str:
    """The verb for so many."""
    return "was" if value == 1 else "were"


def share(part: int, whole: int) -> str:
    """A part in percent."""
    percent = 100 * part / whole if whole else math.nan
    return "under 0.01 %" if percent < 0.01 else f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def names(nodes: Iterable[str]) -> str:
    """Nodes by name, the first three of them."""
    every = list(nodes)
    shown = ", ".join(every[:3])
    return shown if len(every) <= 3 else f"{shown} and {len(every) - 3} more"
