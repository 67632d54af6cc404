"""What the times of operators and of framework events come down to, one plain sentence at a time.

Nothing here is a verdict: sentences say which part of what is how large. Whether that is too much, rules decide.
"""

from __future__ import annotations

from dataclasses import dataclass

from data.frames.operators import FrameworkShares, Operators, TimeShare

FEW = 5
"""How many of the heaviest operators are taken together."""

SIDE_WORDS = {"cpu": "CPU operators", "gpu": "GPU operators", "communication": "communication events"}
PASS_WORDS = {"forward": "forward pass", "backward": "backward pass"}


@dataclass(frozen=True)
class Remark:
    """A name from a file, which may be anything or "", and what is said of it."""

    subject: str
    text: str


def operator_remarks(operators: Operators, side: str) -> tuple[Remark, ...]:
    """What stands out among the operators of a side; () where it has none that took any time."""
    mine = operators[operators["side"] == side]
    if mine.empty or not int(mine["total_ns"].sum()):
        return ()
    what = SIDE_WORDS[side]
    first = mine.iloc[0]
    text = f"takes {_percent(first['percent'])} of the time of all {what}."
    if len(mine) > FEW:
        text = f"{text[:-1]}; the {FEW} heaviest of {len(mine):,} take {_percent(mine['percent'].head(FEW).sum())}."
    return (Remark(str(first["name"]), text), *_own(mine, str(first["name"])), *_spoken(mine, side))


def _own(mine: Operators, heaviest: str) -> tuple[Remark, ...]:
    """The operator with the most time for itself, where that is another one than the heaviest."""
    own = mine["self_ns"].fillna(0).to_numpy(dtype="int64")
    whole, at = int(own.sum()), int(own.argmax())
    name = str(mine["name"].iloc[at])
    if not whole or name == heaviest:
        return ()
    percent = 100 * int(own[at]) / whole
    return (
        Remark(name, f"takes the most time itself, without operators inside it: {_percent(percent)} of all self time."),
    )


def _spoken(mine: Operators, side: str) -> tuple[Remark, ...]:
    percent = float(mine["percent"][mine["communication"]].sum())
    if side != "gpu" or not percent:
        return ()
    return (Remark("", f"Communication between GPUs takes {_percent(percent)} of the time of all GPU operators."),)


def share_remarks(shares: FrameworkShares) -> tuple[Remark, ...]:
    """How the parts of framework time compare."""
    return (*_sides(shares.sides), *_passes(shares), *_steps(shares.steps))


def _sides(sides: tuple[TimeShare, ...]) -> tuple[Remark, ...]:
    cpu, gpu = (sum(one.total_ns for one in sides if one.role == role) for role in ("cpu", "gpu"))
    if not cpu or not gpu:
        return ()
    more, less, times = ("CPU", "GPU", cpu / gpu) if cpu >= gpu else ("GPU", "CPU", gpu / cpu)
    if times < 1.05:
        return (Remark("", "CPU and GPU operators take about the same time."),)
    return (Remark("", f"{more} operators take {times:,.1f} times as long as {less} operators, all added up."),)


def _passes(shares: FrameworkShares) -> tuple[Remark, ...]:
    times = {one.role: one.total_ns for one in shares.passes}
    forward, backward = times.get("forward", 0), times.get("backward", 0)
    if not forward or not backward:
        return ()
    longer, shorter = ("backward", "forward") if backward >= forward else ("forward", "backward")
    ratio = times[longer] / times[shorter]
    if ratio < 1.05:
        return (Remark("", "Forward and backward passes take about the same time."),)
    text = f"The {PASS_WORDS[longer]} takes {ratio:,.1f} times as long as the {PASS_WORDS[shorter]}"
    return (Remark("", f"{text}{', summed over submodules' if shares.inner_passes else ''}."),)


def _steps(steps: tuple[TimeShare, ...]) -> tuple[Remark, ...]:
    between = [one for one in steps if one.role == "others"]
    if not between or not between[0].total_ns:
        return ()
    return (Remark("", f"Of the time from first to last step, {_percent(between[0].percent)} lies between steps."),)


def _percent(value: float) -> str:
    return "under 0.1 %" if 0 < value < 0.05 else f"{value:.1f} %"
