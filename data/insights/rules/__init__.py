"""The built-in rules, one module each, named for the problem. `docs/rules.md` describes every one."""

from __future__ import annotations

from data.insights.rule import Rule
from data.insights.rules import (
    batch_size,
    cpu_bottleneck,
    dataloader,
    gpu_memory_increase,
    held_idle,
    io_bottleneck,
    load_balancing,
    low_gpu_utilization,
    max_initialization_time,
    overall_framework_metrics,
    overall_system_usage,
    periodic_stall,
    step_gap,
    step_outlier,
    stopped_gpu,
    straggling_node,
    underused_node,
)

RULES: tuple[Rule, ...] = (
    cpu_bottleneck.RULE,
    io_bottleneck.RULE,
    low_gpu_utilization.RULE,
    step_outlier.RULE,
    gpu_memory_increase.RULE,
    batch_size.RULE,
    max_initialization_time.RULE,
    load_balancing.RULE,
    overall_system_usage.RULE,
    dataloader.RULE,
    overall_framework_metrics.RULE,
    stopped_gpu.RULE,
    held_idle.RULE,
    step_gap.RULE,
    periodic_stall.RULE,
    straggling_node.RULE,
    underused_node.RULE,
)
