"""The manifest of a stored job: what it holds, which files it was made of, and where to look for which time."""

from __future__ import annotations

from pathlib import Path

import msgspec

from data.errors import StoreError

MANIFEST = "manifest.json"


class PartEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of the system metrics."""

    part: int
    start_ns: int  # first record
    end_ns: int  # last record
    rows: int
    files: tuple[int, ...]  # ids of the files that its records come from
    duplicates: int
    duplicate_files: tuple[int, ...]


class NodeEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One node, in natural order."""

    name: str
    nominal_ns: int  # the offered sampling interval nearest to its own: what its bins are built on
    interval_ns: int  # median time from tick to tick, 0 where it has fewer than two
    ticks: int
    start_ns: int
    end_ns: int
    cpus: int
    gpus: int


class EventPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the table of events, or of memory records: some files' rows, a million or so."""

    part: int
    rows: int
    files: tuple[int, ...]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything about a stored job but its rows."""

    schema_version: int
    version: str  # the folder's name; changes with every conversion
    job_id: str
    name: str
    source: str
    place: str
    converted_ns: int
    span_ns: int  # length of a part
    parts: tuple[PartEntry, ...]
    nodes: tuple[NodeEntry, ...]
    levels: tuple[int, ...]  # rollup factors that are stored for the whole job, ascending (the first is kept by part)
    system_rows: int
    start_ns: int  # first record, system or framework; of the Python profiles where there is none, else 0
    end_ns: int
    system_start_ns: int
    system_end_ns: int
    event_parts: tuple[EventPart, ...]
    events: int
    suspicious_events: int  # so long that they cannot be true; kept, and left out of every figure
    longest_ns: int  # longer events are suspicious
    wall_clock: bool  # False: nothing in the job says when it was; times count from the start of the trace
    event_processes: tuple[tuple[str, str], ...]  # node and worker of all events
    kernels: int
    operator_roles: tuple[str, ...]  # roles of events that occur, see data/operators.py
    lanes: int  # pairs of node and phase of events
    lane_bin_ns: int  # width of a bin of their coverage
    memory_parts: tuple[EventPart, ...]
    memory_records: int  # of allocators, that have a place in time
    memory_kinds: tuple[str, ...]  # kinds of devices that they are of: cpu, cuda, ...
    memory_bin_ns: int  # width of a bin of their totals
    steps: int
    step_numbers: int  # distinct pairs of phase and step number
    step_processes: int  # distinct pairs of node and worker with steps
    step_phases: tuple[str, ...]
    step_groups: tuple[tuple[str, str], ...]  # (phase, node), training first, nodes in natural order
    loop_start_ns: int | None  # start of step 0 in training, of the earliest step where that was not recorded
    loop_end_ns: int | None  # end of the last step
    first_step: int | None
    functions: int  # rows of Python profiles
    function_nodes: tuple[str, ...]  # in natural order
    function_phases: tuple[str, ...]  # those of schema.JOB_PHASES that profiles belong to
    reports: int  # of the original's rules
    files: int
    raw_bytes: int
    duplicates: int
    problems: int  # warnings and errors
    lost_rows: int
    stored_bytes: int
    system_end_marker: bool
    framework_end_marker: bool
    training_job: str | None  # training-job.json as it was found
    gpu_p95: float | None  # p95 over ticks of the mean over GPUs, of the highest node
    cpu_p95: float | None
    gpu_trend: tuple[float | None, ...]  # mean GPU utilisation over the job in a few points

    @property
    def has_data(self) -> bool:
        """Whether any record or event could be read."""
        return bool(self.system_rows or self.events or self.memory_records or self.functions)


def part_file(table: str, part: int) -> str:
    """The name of a part's file of a table."""
    return f"{table}-{part}.parquet"


def level_file(factor: int) -> str:
    """The name of the whole job's rollup of a factor."""
    return f"level-{factor}.parquet"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a stored version. Raises StoreError where it is damaged or of another schema."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except OSError as error:
        raise StoreError(f"The stored job in {folder.name} has no manifest.", "Convert the job again.") from error
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise StoreError(
            f"The manifest in {folder.name} is damaged or was written by another version.", "Convert the job again."
        ) from error


def is_complete(folder: Path, manifest: Manifest) -> bool:
    """Whether every table is there in full length; a disk that was full or tidied up by hand may have taken some."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.name != MANIFEST) == manifest.stored_bytes
