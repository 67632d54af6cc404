"""What a synthetic profiler tree shall be: its machines, its length, its steps, and figures it must show exactly.

A `TreeSpec` alone gives a plausible job of any size. `Targets` is only for demo jobs that tell a known story: it fixes
ticks, late GPU records, percentiles and bottleneck counts, which the generator then meets to the last digit.
"""

from dataclasses import dataclass

US_PER_S = 1_000_000
DEFAULT_START_US = 1_607_040_000_000_000  # 2020-12-04 00:00:00 UTC


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The training loop: when it runs, how many steps it has, and where it pauses to evaluate."""

    first_start_us: int  # after the start of the job
    first_duration_us: int  # the first step builds the graph and takes long
    loop_us: int  # from the start of the first step to the end of the last
    count: int
    pauses_after: tuple[int, ...] = ()  # step numbers that an evaluation follows
    pause_us: int = 4_500_000
    slow: tuple[tuple[int, int], ...] = ()  # (step number, duration) of steps that stand out


@dataclass(frozen=True, slots=True)
class Targets:
    """Figures that a node shall show exactly. Tuples have one entry a node; None leaves a figure to chance."""

    gpu_p95_percent: float  # of the mean over the node's GPUs, linear interpolation, over its GPU ticks
    cpu_p95_percent: float  # of the mean over the node's cores
    bottleneck_ticks: tuple[int, ...] | None = None  # ticks with a GPU below 10 % and a core above 90 %


@dataclass(frozen=True, slots=True)
class TreeSpec:
    """A profiler tree. Everything that is written follows from these fields, byte for byte."""

    nodes: int = 1
    cores: int = 8
    gpus: int = 1
    seconds: float = 600.0  # first to last system sample
    interval_ms: int = 500
    seed: int = 1
    start_us: int = DEFAULT_START_US
    ended: bool = True  # both end markers are there
    cut_last_line: bool = False  # the newest system file is still being written

    # system metrics
    gpus_in_use: int | None = None  # None: all of them
    offsets_us: tuple[int, ...] = ()  # clock of each node inside a tick; empty: spread by the generator
    gpu_late_ticks: tuple[int, ...] = ()  # ticks at the start of each node without GPU records
    missing_ticks: tuple[tuple[int, ...], ...] = ()  # ticks that each node did not record
    hot_cores: int = 2  # cores that are busy all through the training loop
    train_cpu_percent: float = 12.0  # the other cores in the loop
    train_gpu_percent: float = 60.0
    download_core_percent: float = 80.0  # the core that unpacks the data
    targets: Targets | None = None

    # steps
    processes: int = 1  # training processes a node; 0: no steps are recorded
    first_worker: int | None = 0  # rank in file names, counted over all nodes; None: the process id is used
    framework: str = "tensorflow"  # or "pytorch", which also records forward, backward, loader and evaluation
    step_ms: float = 1000.0
    steps: StepPlan | None = None  # None: laid out by the generator

    @property
    def span_us(self) -> int:
        """First to last system sample in microseconds."""
        return round(self.seconds * US_PER_S)

    @property
    def interval_us(self) -> int:
        """Time between two ticks of a node in microseconds."""
        return self.interval_ms * 1000

    @property
    def used_gpus(self) -> int:
        """GPUs of a node that a training process uses."""
        return self.gpus if self.gpus_in_use is None else min(self.gpus_in_use, self.gpus)

    def node_offset_us(self, node: int) -> int:
        """How far this node's clock ticks after the start of the job (nodes count from 0)."""
        if self.offsets_us:
            return self.offsets_us[node]
        return node * self.interval_us // max(self.nodes, 1)

    def late_ticks(self, node: int) -> int:
        """Ticks at the start of this node without GPU records."""
        return self.gpu_late_ticks[node] if self.gpu_late_ticks else 0

    def ticks_missing(self, node: int) -> tuple[int, ...]:
        """Tick numbers that this node did not record."""
        return self.missing_ticks[node] if self.missing_ticks else ()
