"""What a framework event is: an operator on the CPU, work of a GPU, communication, a pass, a step, or something else.

The roles are those of the profiler's OverallFrameworkMetrics for its own timelines and TensorFlow's traces, where the
lane decides, and follow from the category in traces of PyTorch. The words here are SQL over the table of events.
"""

from __future__ import annotations

COMMUNICATION_KERNEL = "regexp_matches(name, '^(void )?(nccl|rccl|msccl|nvshmem)', 'i')"
"""Kernels by which GPUs talk to each other."""

COMMUNICATION_KINDS = ("horovod_timeline", "smdataparallel_timeline")
"""Kinds of files whose events are all communication. Their lanes are tensors, so that lanes say nothing there."""

NAMED_ROLES = ("cpu", "gpu", "communication")
"""Roles whose events are told apart by name; of the others only the lane matters."""

_ROLE = """
case when list_contains($communication, file) then 'communication'
     when lower(category) in ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset') then 'gpu'
     when lower(category) = 'cpu_op' then 'cpu'
     when category <> '' and phase = category then ''
     when contains(lower(phase), 'cpu') then 'cpu'
     when contains(lower(phase), 'gpu') then 'gpu'
     when contains(phase, 'Step') then 'step'
     when phase = 'Forward' then 'forward'
     when phase in ('Backward', 'Backward(post-forward)') then 'backward'
     when phase = 'Forward-SubModuleInternal' then 'forward_inner'
     when phase = 'Backward-SubModuleInternal' then 'backward_inner'
     else 'general' end
"""

EVENTS = f"""
(select role, node, worker, phase, category, if(role in {NAMED_ROLES}, name, '') as name, device,
        role = 'communication' or (role = 'gpu' and {COMMUNICATION_KERNEL}) as communication,
        process, thread, wall, start_ns, duration_ns, start_ns + duration_ns as end_ns
 from (select *, {_ROLE} as role from read_parquet($files) where duration_ns <= $longest_ns))
"""  # noqa: S608 (our own words)
"""Events with their role; $files is the table, $communication the ids of the files that are all communication."""

GROUP = "role, node, worker, phase, category, name, device, communication"
"""What the operators of a job are counted by."""

KEY = "hash(node, worker, phase, category, name, device)"
"""A number for each group. Of 64 bits: that two of a million groups share one will not be seen."""

LANE = "hash(node, worker, wall, process, thread)"
"""A number for each thread whose events can lie inside one another."""
