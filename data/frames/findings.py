"""What rules conclude: for each rule whether there is an issue, where, how sure that is, and what it wastes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

State = Literal["issue", "no issue", "not enough data", "n/a", "failed", "summary"]
"""`no issue` is only said where it was looked at; `n/a` where the job has no such data; `failed` where a rule broke."""

Severity = Literal["", "low", "medium", "high"]

Number = float | str
"""The value of a parameter."""

FIXED: Final = "fixed"
COMPAT: Final = "compat"
Mode = Literal["fixed", "compat"]
"""`fixed` is right where the original is wrong; `compat` gives the original's numbers."""


@dataclass(frozen=True)
class Place:
    """One of the worst places of a finding. "" and None stand for the whole job."""

    node: str
    device: str  # gpu0, "" for the whole node
    window: tuple[int, int] | None  # nanoseconds, where in time it shows
    text: str  # what is there, with its numbers: "p95 13.5 %"
    metric: str = ""  # what to look at in Nodes: utilization | gpu_memory | io_wait | steps | ""


@dataclass(frozen=True)
class Figure:
    """A number that a conclusion rests on, as it is to be shown."""

    name: str
    value: float
    unit: str  # %, s, samples... "" for a plain number


@dataclass(frozen=True)
class FigureTable:
    """Figures that belong together, as a page or a report shows them. Units stand in the names of columns."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]  # None where a figure is unknown; texts may come from files


@dataclass(frozen=True)
class Outcome:
    """What a rule concludes of one job.

    `wasted_gpu_s` and `wasted_node_s` are GPU-seconds and node-seconds that a cure could give back at most: of the time
    that the finding covers, the part not used. None where the rule cannot tell. `saved_s` is the time by which the job
    could end earlier at most, None where it would not or where nobody can tell.
    """

    state: State
    text: str  # one sentence with its numbers
    points: int = 0  # how many were looked at
    points_are: str = ""  # what a point is: "samples of a GPU", "ticks of a node", "steps"
    triggered: int = 0  # how often the condition was met
    violations: int = 0
    places: tuple[Place, ...] = ()  # at most the worst few
    figures: tuple[Figure, ...] = ()
    tables: tuple[FigureTable, ...] = ()
    advice: tuple[str, ...] = ()  # what this case asks for, before the rule's own advice
    confidence: str = ""  # why not to be too sure; "" where the data are plenty
    wasted_gpu_s: float | None = None
    wasted_node_s: float | None = None
    saved_s: float | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a rule with the value in force."""

    name: str  # as the original calls it
    value: Number
    default: Number
    unit: str
    low: float  # smallest value that makes sense; of numbers
    high: float
    means: str


@dataclass(frozen=True)
class Finding:
    """A rule's conclusion with all that is needed to show it."""

    rule: str  # CPUBottleneck
    title: str  # in words
    claim: str  # what it looks for
    advice: tuple[str, ...]
    origin: str  # original | ours | custom
    parameters: tuple[Parameter, ...]
    severity: Severity
    outcome: Outcome
    share: float | None  # of the job's GPU time (node time where it has no GPU) that is wasted, 0 to 1


@dataclass(frozen=True)
class Findings:
    """All rules' conclusions: issues first, what wastes most before the rest."""

    mode: Mode
    findings: tuple[Finding, ...]
    gpu_s: float | None  # GPU-seconds of the job, what shares are of; None without GPUs
    node_s: float | None

    @property
    def issues(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.outcome.state == "issue")
