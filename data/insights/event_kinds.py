"""What kind of work an event is, judged by its phase, category and name, and which kind an instant counts for.

A step's time is divided so that it adds up: each instant counts for the first kind, in the order of `KINDS`, of which
an event runs then. What the training process itself waits for or does comes first; communication and the GPU count
where it does nothing else (communication is the part that is not hidden behind computation), and workers that load
data in the background where nothing else runs at all.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

KINDS: Final = (
    ("data_loading", "data loading"),
    ("backward", "backward"),
    ("optimizer", "optimizer"),
    ("forward", "forward"),
    ("compute", "other CPU work"),
    ("communication", "communication"),
    ("gpu", "GPU only"),
    ("data_workers", "loader workers"),
    ("other", "other events"),
)
"""Kinds and their words, in order of precedence."""

SPAN: Final = "span"
"""Events that hold a step, or all of it: they say nothing about its kind, and count for none."""


class Rule(NamedTuple):
    """A kind, and a pattern that is searched for in one field of an event."""

    kind: str
    field: str  # phase | category | name
    pattern: str


RULES: Final = (
    Rule(SPAN, "phase", r"^(Step:|ProfilerStep|Trace$|gpu_user_annotation$)"),
    Rule(SPAN, "name", r"^(Step:|ProfilerStep#)"),
    Rule("data_workers", "phase", r"^(DataLoaderWorker|Dataset)"),
    Rule("data_loading", "phase", r"^(DataLoaderIter|DataIterator)"),
    Rule("data_loading", "name", r"^enumerate\(DataLoader\)#|DataLoaderIter\b"),
    Rule("optimizer", "name", r"^Optimizer\.|^## ?(optimizer|zero_grad)"),
    Rule("backward", "phase", r"^Backward"),
    Rule("backward", "name", r"^autograd::engine|^## ?backward"),
    Rule("communication", "phase", r"(?i)horovod|smdataparallel|^nccl"),
    Rule("communication", "name", r"(?i)\b(nccl|rccl|msccl|nvshmem|c10d|gloo|mpi)|(allreduce|allgather|broadcast)$"),
    Rule("communication", "name", r"^(NEGOTIATE_|WAIT_FOR_|MEMCPY_(IN|OUT)_FUSION_BUFFER)"),
    Rule("forward", "phase", r"^Forward"),
    Rule("forward", "name", r"^## ?forward|\.forward$"),
    Rule("gpu", "phase", r"(?i)^(kernel|(gpu_)?mem(cpy|set)|gpu_functions.*)$"),
    Rule("gpu", "category", r"(?i)^(kernel|(gpu_)?mem(cpy|set))$"),
    Rule("other", "name", r"(?i)^(cuda|hip).*synchronize"),
    Rule("compute", "category", r"(?i)^(cpu_op|operator|cuda_runtime|cuda_driver|runtime|hip_runtime)$"),
    Rule("compute", "phase", r"^(cpu_functions|/(host|device):CPU)"),
    Rule("other", "name", r""),
)
"""The first rule that matches says what an event is; the last one takes all that is left."""


def kind_of(phase: str, category: str = "", name: str = "") -> str:
    """The kind of an event: a key of `KINDS`, or `SPAN`."""
    fields = {"phase": phase, "category": category, "name": name}
    return next(rule.kind for rule in RULES if re.search(rule.pattern, fields[rule.field]))
