"""Writes the raw tree of one synthetic job: system metrics, steps, Python profiles, end markers."""

from dataclasses import dataclass
from pathlib import Path

from data.demo.profile_files import write_profiles
from data.demo.schedule import schedule
from data.demo.spec import TreeSpec
from data.demo.step_files import write_steps
from data.demo.system_files import write_system


@dataclass(frozen=True, slots=True)
class TreeSize:
    """How much was written."""

    records: int
    events: int
    size_bytes: int


def write_tree(out: Path, spec: TreeSpec) -> TreeSize:
    """Writes `out/profiler-output`; the same spec gives the same bytes. Memory does not grow with the tree's length."""
    profiler = out / "profiler-output"
    plan = schedule(spec)
    records, system_bytes = write_system(profiler, spec, plan)
    events, step_bytes = write_steps(profiler, spec, plan)
    profile_bytes = write_profiles(profiler, spec, plan)
    if spec.ended:
        for folder in ("system", "framework"):
            (profiler / folder).mkdir(parents=True, exist_ok=True)
            (profiler / folder / "training_job_end.ts").write_bytes(b"")
    return TreeSize(records, events, system_bytes + step_bytes + profile_bytes)
