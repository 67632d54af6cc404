"""The four demo jobs, and how they come to lie in a folder. `docs/demo.md` says what each is built to show."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data.demo.job_file import JobFacts, training_job
from data.demo.report_files import write_reports
from data.demo.schedule import schedule
from data.demo.spec import US_PER_S, StepPlan, Targets, TreeSpec
from data.demo.tree import write_tree
from data.errors import StoreError

DEMO_VERSION = "4"  # to be raised with every change of the bytes written: demo jobs of another version are replaced
STAMP_NAME = ".demo-job"
ASIDE_PREFIX = ".demo-writing-"
DEMO_NOW = datetime(2020, 12, 5, 9, 30, tzinfo=UTC)
RUNNING_SECONDS = 390
TF_IMAGE = "tensorflow-training:2.3.1-gpu-py37-cu110-ubuntu18.04"


@dataclass(frozen=True, slots=True)
class DemoJob:
    """One demo job: its tree and what its `training-job.json` says."""

    facts: JobFacts
    spec: TreeSpec
    reported: bool = False  # whether the original's rules left reports


def write_demo(out: Path, report: Callable[[str], None], *, now: datetime = DEMO_NOW) -> tuple[Path, ...]:
    """Writes the demo jobs into `out`, each in a folder of its own, and returns the folders.

    A job that is already there is left alone; a job appears only when it is complete. `now` is when the job that is
    still running was last heard of; the bytes depend on nothing else.
    """
    jobs = demo_jobs(now)
    try:
        if not all(_is_there(out / job.facts.name) for job in jobs):
            out.mkdir(parents=True, exist_ok=True)
            with _only_writer(out):
                for job in jobs:
                    _write_job(out, job, report)
    except OSError as error:
        raise StoreError(
            f"The demo jobs cannot be written to {out}: {error.strerror or error}.",
            "Check its permissions and free space (60 MB), or choose another folder with --out.",
        ) from error
    return tuple(out / job.facts.name for job in jobs)


def demo_jobs(now: datetime = DEMO_NOW) -> tuple[DemoJob, ...]:
    """The demo jobs in the order in which they are written."""
    return (_first_run(), _second_run(), _cpu_only(), _running(now))


def _is_there(target: Path) -> bool:
    stamp = target / STAMP_NAME
    return stamp.is_file() and stamp.read_text(encoding="ascii").strip() == DEMO_VERSION


@contextmanager
def _only_writer(out: Path) -> Iterator[None]:
    """One writer at a time, which may then clear what a killed one left behind."""
    with (out / ".demo-lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in out.glob(f"{ASIDE_PREFIX}*"):
            shutil.rmtree(left)
        yield


def _write_job(out: Path, job: DemoJob, report: Callable[[str], None]) -> None:
    target = out / job.facts.name
    if _is_there(target):
        return
    if target.exists() and not (target / STAMP_NAME).is_file():
        raise StoreError(
            f"{target} exists and was not written by the demo, so it is left as it is.",
            "Move it away, or choose another folder with --out.",
        )
    aside = out / f"{ASIDE_PREFIX}{job.facts.name}"
    size = write_tree(aside, job.spec)
    (aside / "training-job.json").write_bytes(training_job(job.facts, job.spec, schedule(job.spec)))
    if job.reported:
        write_reports(aside)
    (aside / STAMP_NAME).write_text(DEMO_VERSION + "\n", encoding="ascii")
    if target.exists():
        target.rename(out / f"{ASIDE_PREFIX}replaced")
    aside.rename(target)
    shutil.rmtree(out / f"{ASIDE_PREFIX}replaced", ignore_errors=True)
    report(f"{job.facts.name}: {size.records:,} records, {size.events:,} events, {size.size_bytes / 1e6:.1f} MB")


def _epoch_us(*when: int) -> int:
    year, month, day, hour, minute, second, microsecond = when
    moment = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _first_run() -> DemoJob:
    """Too many large machines: idle GPUs, five busy cores, one GPU of each node without work."""
    spec = TreeSpec(
        nodes=3,
        cores=32,
        gpus=4,
        seconds=503.0,
        seed=256,
        start_us=_epoch_us(2020, 12, 4, 22, 39, 43, 862_417),
        gpus_in_use=3,
        offsets_us=(166_000, 333_000, 0),
        gpu_late_ticks=(5, 8, 6),
        hot_cores=5,
        train_cpu_percent=10.0,
        train_gpu_percent=10.0,
        download_core_percent=96.0,
        targets=Targets(13.5, 24.4, bottleneck_ticks=(710, 709, 710)),
        processes=3,
        steps=StepPlan(
            first_start_us=270_250_000,
            first_duration_us=10_966_842,
            loop_us=226_350_000,
            count=188,
            pauses_after=(30, 60, 91, 121, 152, 182),
            slow=((61, 4_130_518), (122, 4_274_033)),
        ),
    )
    return DemoJob(
        JobFacts("tf-hvd-resnet50-cifar10-256", "ml.p3.8xlarge", TF_IMAGE, _horovod(256, 3)), spec, reported=True
    )


def _second_run() -> DemoJob:
    """The same training on two small machines with twice the batch: as fast, and far better used."""
    spec = TreeSpec(
        nodes=2,
        cores=8,
        gpus=1,
        seconds=502.0,
        seed=512,
        start_us=_epoch_us(2020, 12, 4, 23, 31, 8, 417_230),
        offsets_us=(0, 240_000),
        gpu_late_ticks=(4, 5),
        missing_ticks=((97, 251, 388, 540, 733, 911), (64, 203, 377, 616, 842)),
        hot_cores=0,
        train_cpu_percent=55.0,
        train_gpu_percent=39.0,
        targets=Targets(46.0, 61.0),
        steps=StepPlan(
            first_start_us=270_000_000,
            first_duration_us=12_418_305,
            loop_us=225_900_000,
            count=244,
            pauses_after=(39, 80, 120, 161, 202),
            slow=((81, 3_902_117), (162, 3_846_950)),
        ),
    )
    return DemoJob(JobFacts("tf-hvd-resnet50-cifar10-512", "ml.p3.2xlarge", TF_IMAGE, _horovod(512, 1)), spec)


def _cpu_only() -> DemoJob:
    """A job on a machine without GPUs, on spot capacity, sampled once a second, with evaluation steps."""
    spec = TreeSpec(
        nodes=1,
        cores=16,
        gpus=0,
        seconds=318.0,
        interval_ms=1000,
        seed=16,
        start_us=_epoch_us(2020, 12, 5, 8, 12, 27, 305_118),
        hot_cores=6,
        train_cpu_percent=31.0,
        first_worker=None,
        framework="pytorch",
        steps=StepPlan(41_000_000, 1_904_226, 268_500_000, 412, (136, 273, 410), 11_000_000, ((274, 1_611_870),)),
    )
    parameters = (("batch_size", "64"), ("epochs", "3"), ("lr", "0.001"), *_script("train_tabular.py"))
    image = "pytorch-training:1.6.0-cpu-py36-ubuntu16.04"
    facts = JobFacts("pt-tabular-cpu", "ml.c5.4xlarge", image, parameters, spot=True, billable_seconds=102)
    return DemoJob(facts, spec)


def _running(now: datetime) -> DemoJob:
    """A job that is still being written: no end markers, the last line cut, and a hole in one node's data."""
    now_us = (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    first_start_us = 96_000_000
    spec = TreeSpec(
        nodes=2,
        cores=8,
        gpus=1,
        seconds=float(RUNNING_SECONDS),
        seed=4,
        start_us=now_us - (RUNNING_SECONDS + 12) * US_PER_S + 271_904,
        ended=False,
        cut_last_line=True,
        missing_ticks=((), tuple(range(412, 456))),
        hot_cores=2,
        train_cpu_percent=20.0,
        train_gpu_percent=83.0,
        framework="pytorch",
        steps=StepPlan(
            first_start_us, 3_218_400, (RUNNING_SECONDS + 20) * US_PER_S - first_start_us, 520, (259,), 7_000_000
        ),
    )
    parameters = (("batch_size", "16"), ("epochs", "2"), ("lr", "3e-05"), *_script("finetune_squad.py"))
    image = "pytorch-training:1.6.0-gpu-py36-cu101-ubuntu16.04"
    return DemoJob(JobFacts("pt-bert-squad-running", "ml.g4dn.2xlarge", image, parameters), spec)


def _horovod(batch_size: int, processes: int) -> tuple[tuple[str, str], ...]:
    return (
        ("batch_size", str(batch_size)),
        ("epochs", "25"),
        ("sagemaker_mpi_enabled", "true"),
        ("sagemaker_mpi_num_of_processes_per_host", str(processes)),
        *_script("train_tf_hvd_resnet50.py"),
    )


def _script(name: str) -> tuple[tuple[str, str], ...]:
    """What the SageMaker Python SDK adds; it stores text as JSON."""
    return (("sagemaker_program", f'"{name}"'), ("sagemaker_region", '"us-west-2"'))
