"""Synthetic profiler output: four demo jobs that tell a known story, and trees of any size for tests and benchmarks.

Everything here is invented data in the documented raw format, made from a seed: the same call writes the same bytes.
`docs/demo.md` says what the demo jobs are built to show.
"""

from data.demo.jobs import DEMO_NOW, demo_jobs, write_demo
from data.demo.spec import StepPlan, Targets, TreeSpec
from data.demo.tree import TreeSize, write_tree

__all__ = ["DEMO_NOW", "StepPlan", "Targets", "TreeSize", "TreeSpec", "demo_jobs", "write_demo", "write_tree"]
