"""The layout of a stored job: its tables, and the version of that layout.

A job is a folder of Parquet files and a manifest. `docs/store.md` describes every table for people and other tools.
Times are int64 nanoseconds since 1970 UTC.
"""

from __future__ import annotations

from enum import StrEnum

import pyarrow as pa

SCHEMA_VERSION = 5
"""Raised with every change of a table or of the manifest; a store of another version is converted again."""

CHUNK_NS = 300 * 10**9
"""Raw rows are ordered by chunks of this length, and histograms are kept per chunk."""

ROLLUP_FACTORS = (8, 32, 128)
"""Bins of the first rollup levels, in sampling intervals; further levels are each four times wider."""

MAX_BINS = 1500
"""Levels are added until a whole job fits this many bins; a view takes the finest level that does."""

TICK_TOLERANCE_NS = 20_000_000
"""Records of a node closer than this to the first one of a tick belong to the tick (reference: the rules' 20 ms)."""

GAP_INTERVALS = 3
"""Time without a record of a node is a gap above this many of its median intervals."""

NOMINAL_INTERVALS_NS = tuple(ms * 10**6 for ms in (100, 200, 500, 1000, 5000, 60_000))
"""The sampling intervals the profiler offers; bins are built on the nearest one."""

JOB_PHASES = ("initialization", "training_loop", "finalization")
"""Parts of a training that a Python profile may belong to: before the first step, between, after the last."""

HISTOGRAM_BINS = 21
"""Device histogram of a tick: 20 bins of 5 percent, [0, 5) ... [95, 100), and one for 100 and above."""


class Table(StrEnum):
    """The tables of a stored job."""

    SERIES = "series"
    RAW = "raw"
    ROLLUP = "rollup"
    COARSE = "coarse"
    HISTOGRAM = "histogram"
    STAMPS = "stamps"
    TICKS = "ticks"
    SUMMARY = "summary"
    GAPS = "gaps"
    EVENTS = "events"
    STEPS = "steps"
    KERNELS = "kernels"
    GPU_BUSY = "gpu_busy"
    MEMORY = "memory"
    MEMORY_LINES = "memory_lines"
    MEMORY_BINS = "memory_bins"
    FUNCTIONS = "functions"
    OPERATORS = "operators"
    LANES = "lanes"
    LANE_BINS = "lane_bins"
    REPORTS = "reports"
    FILES = "files"
    PROBLEMS = "problems"


RAW = pa.schema([("sid", pa.int32()), ("time_ns", pa.int64()), ("value", pa.float64()), ("file", pa.int32())])

ROLLUP = pa.schema(
    [
        ("sid", pa.int32()),
        ("bin_ns", pa.int64()),
        ("min", pa.float64()),
        ("max", pa.float64()),
        ("sum", pa.float64()),
        ("count", pa.int32()),
    ]
)

HISTOGRAM = pa.schema(
    [
        ("node", pa.int16()),
        ("metric", pa.int8()),
        ("chunk", pa.int64()),
        ("value", pa.float64()),
        ("count", pa.int64()),
    ]
)

FILES = pa.schema(
    [
        ("file", pa.int32()),
        ("path", pa.string()),
        ("kind", pa.string()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("node", pa.string()),  # as the name gives it
        ("stamp_ns", pa.int64()),  # the time in the name, 0 where there is none
        ("rows", pa.int64()),  # records or events that were read
        ("lost_rows", pa.int64()),
        ("invalid", pa.int64()),  # events left out because their time or duration makes no sense
        ("waiting", pa.bool_()),  # other files complete it, or may
        ("copy_of", pa.string()),  # the path of the file that this one repeats byte for byte, "" for most
    ]
)

PROBLEMS = pa.schema(
    [
        ("file_path", pa.string()),
        ("line", pa.int64()),
        ("message", pa.string()),
        ("severity", pa.string()),
        ("lost_rows", pa.int64()),
        ("derived", pa.bool_()),  # follows from all files together, and not from this one alone
    ]
)

GAPS = pa.schema([("node", pa.string()), ("start_ns", pa.int64()), ("end_ns", pa.int64()), ("spot", pa.bool_())])

SUMMARY = pa.schema(
    [
        ("node", pa.string()),
        ("metric", pa.string()),
        ("unit", pa.string()),
        ("max", pa.float64()),
        ("p99", pa.float64()),
        ("p95", pa.float64()),
        ("p50", pa.float64()),
        ("min", pa.float64()),
        ("ticks", pa.int64()),
    ]
)

STEPS = pa.schema(
    [
        ("group", pa.int16()),  # position in the manifest's step_groups: phase and node
        ("worker", pa.string()),
        ("step", pa.int64()),
        ("start_ns", pa.int64()),
        ("duration_ns", pa.int64()),
    ]
)

KERNELS = pa.schema(
    [
        ("node", pa.string()),
        ("worker", pa.string()),
        ("device", pa.string()),
        ("stream", pa.int64()),
        ("name", pa.string()),
        ("start_ns", pa.int64()),
        ("duration_ns", pa.int64()),
        ("bytes", pa.int64()),
        ("kind", pa.string()),  # kernel, memcpy, memset
        ("communication", pa.bool_()),  # a collective of NCCL, RCCL and the like
    ]
)

GPU_BUSY = pa.schema(
    [
        ("node", pa.string()),
        ("device", pa.string()),
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("kernels", pa.int64()),
    ]
)
"""Times in which at least one kernel ran on a GPU."""

_TEXT = pa.dictionary(pa.int32(), pa.string())

FUNCTIONS = pa.schema(
    [
        ("file", pa.int32()),
        ("profiler", _TEXT),  # cprofile or pyinstrument
        ("node", _TEXT),
        ("worker", _TEXT),
        ("job_phase", _TEXT),  # one of JOB_PHASES, "" where the profile's folder does not tell
        ("start_mode", _TEXT),
        ("start_step", pa.int64()),
        ("start_phase", _TEXT),
        ("start_ns", pa.int64()),  # null where unknown, as end_ns
        ("end_mode", _TEXT),
        ("end_step", pa.int64()),
        ("end_phase", _TEXT),
        ("end_ns", pa.int64()),
        ("code_file", _TEXT),
        ("line", pa.int64()),
        ("function", _TEXT),
        ("ncalls", pa.int64()),  # null where the profiler takes samples, as pcalls
        ("pcalls", pa.int64()),
        ("tottime_ns", pa.int64()),
        ("cumtime_ns", pa.int64()),
    ]
)

INTERVAL_COLUMNS = tuple(FUNCTIONS.names[2:13])
"""What all functions of one profile share: where and when it was taken."""

OPERATORS = pa.schema(
    [
        ("role", pa.string()),  # see data/operators.py: cpu, gpu, communication, step, forward, backward, general...
        ("node", pa.string()),
        ("worker", pa.string()),
        ("phase", pa.string()),
        ("category", pa.string()),
        ("name", pa.string()),  # "" where only the phase matters: roles other than cpu, gpu and communication
        ("device", pa.string()),  # number of the GPU, "" where the event names none
        ("communication", pa.bool_()),
        ("count", pa.int64()),
        ("total_ns", pa.int64()),
        ("self_ns", pa.int64()),  # null where nothing says what lies inside what: no thread, or no CPU operator
        ("longest_ns", pa.int64()),
        ("shortest_ns", pa.int64()),
    ]
)

LANES = pa.schema(
    [
        ("lane", pa.int32()),
        ("node", pa.string()),
        ("phase", pa.string()),
        ("events", pa.int64()),
        ("duration_ns", pa.int64()),  # of all events together
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("covered_ns", pa.int64()),  # time in which at least one of them runs
    ]
)

LANE_BINS = pa.schema(
    [
        ("lane", pa.int32()),
        ("bin_ns", pa.int64()),
        ("covered_ns", pa.int64()),
        ("begun", pa.int32()),  # events that start in the bin
    ]
)

MEMORY_LINES = pa.schema(
    [
        ("line", pa.int32()),
        ("node", pa.string()),
        ("process", pa.string()),
        ("device_kind", pa.string()),
        ("device", pa.int32()),
        ("file", pa.int32()),
        ("start_ns", pa.int64()),  # first record of the file
        ("end_ns", pa.int64()),  # last one
        ("records", pa.int64()),
    ]
)
"""What one process allocates on one device, and where its files have records of that: a row for each file."""

MEMORY_BINS = pa.schema(
    [
        ("line", pa.int32()),
        ("bin_ns", pa.int64()),
        ("low", pa.int64()),  # least allocated after a record; null where no record tells, as the next six
        ("high", pa.int64()),
        ("high_ns", pa.int64()),  # when that was so first
        ("last", pa.int64()),
        ("rise", pa.int64()),  # most by which the bytes allocated grew inside the bin, from a record to a later one
        ("reserved_high", pa.int64()),
        ("reserved_last", pa.int64()),
        ("largest", pa.int64()),  # allocation, 0 where there is none
        ("allocations", pa.int32()),
        ("frees", pa.int32()),
        ("uncounted", pa.int32()),  # records that the totals leave out
    ]
)

REPORTS = pa.schema(
    [
        ("rule", pa.string()),  # as the file is called: CPUBottleneck
        ("triggered", pa.int64()),  # null where the report does not say, as the next two
        ("violations", pa.int64()),
        ("datapoints", pa.int64()),
        ("parameters", pa.string()),  # name:value, one a line
        ("details", pa.string()),  # strict JSON; "" where it is too large
        ("path", pa.string()),
        ("modified_ns", pa.int64()),
    ]
)
"""What the original's rules reported, a row for each file."""
