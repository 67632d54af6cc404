"""Reports as the original's rules would have left them of the first demo run, with the figures that were published."""

import json
from collections.abc import Mapping
from pathlib import Path

FOLDER = "rule-output/ProfilerReport-1607121480/profiler-output/profiler-reports"
NOTE = "Made up by the generator of demo jobs; no rule wrote this."

_THRESHOLDS_95 = "cpu_threshold_p95:70\ngpu_threshold_p95:70\ngpu_memory_threshold_p95:70\npatience:1000\nwindow:500"
_REPORTS: tuple[tuple[str, int, int, int, str, Mapping[str, object]], ...] = (
    ("LowGPUUtilization", 8, 8, 1001, "threshold_p95:70\nthreshold_p5:10\nwindow:500\npatience:1000", {}),
    ("BatchSize", 4, 4, 1000, _THRESHOLDS_95, {}),
    (
        "CPUBottleneck",
        4,
        2129,
        3019,
        "threshold:50\ncpu_threshold:90\ngpu_threshold:10\npatience:1000",
        {"low_gpu_utilization": 3000},
    ),
    ("MaxInitializationTime", 0, 0, 8832, "threshold:20", {}),
    ("LoadBalancing", 0, 0, 1001, "threshold:0.2\npatience:1000", {}),
    ("StepOutlier", 0, 0, 8832, "threshold:3\nmode:None\nn_outliers:10\nstddev:3", {}),
    ("Dataloader", 0, 0, 0, "min_threshold:70\nmax_threshold:200", {}),
    ("IOBottleneck", 0, 0, 3019, "threshold:50\nio_threshold:50\ngpu_threshold:10\npatience:1000", {}),
    ("GPUMemoryIncrease", 0, 0, 1001, "increase:5\npatience:1000\nwindow:10", {}),
)
"""Rule, how often it triggered, violations, points looked at, parameters, details."""


def write_reports(out: Path) -> int:
    """Writes a report for each rule that was published; the size of all of them in bytes."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    size = 0
    for rule, triggered, violations, datapoints, parameters, details in _REPORTS:
        report = {
            "RuleTriggered": triggered,
            "Violations": violations,
            "Details": details,
            "Datapoints": datapoints,
            "RuleParameters": parameters,
            "Note": NOTE,
        }
        size += (folder / f"{rule}.json").write_bytes((json.dumps(report, indent=4) + "\n").encode())
    return size
