"""Runs the children: watches over them, kills one that hangs, starts the next, and keeps what failed as files."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.child import format_of
from tests.fuzz.mutation import mutant

MOST_SECONDS = 5.0
_START_SECONDS = 60.0
_ROOT = Path(__file__).parents[2]


@dataclass
class Result:
    """How the mutants of a format ended."""

    name: str
    words: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    slowest_s: float = 0.0


def fuzz(name: str, seed: int, count: int, kept: Path, first: int = 0) -> Result:
    """Reads `count` mutants of a format. Those that fail lie in `kept` afterwards, with the reason beside them."""
    result = Result(name)
    number, end = first, first + count
    while number < end:
        number = _child(name, seed, number, end - number, result)
    good = format_of(name).seed()
    for at, reason in result.failures:
        kept.mkdir(parents=True, exist_ok=True)
        content = mutant(good, f"{seed}/{name}/{at}")
        (kept / f"{name}-{seed}-{at}.bin").write_bytes(content)
        (kept / f"{name}-{seed}-{at}.txt").write_text(reason)
    return result


def _child(name: str, seed: int, first: int, count: int, result: Result) -> int:
    """Runs a child until it has done its work, died or hung; the number to go on from."""
    command = [sys.executable, "-m", "tests.fuzz.child", name, str(seed), str(first), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=_ROOT) as child:
        assert child.stdout is not None
        current, buffer, limit = -1, b"", _START_SECONDS
        while True:
            ready, _, _ = select.select([child.stdout], [], [], limit)
            data = os.read(child.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                answer = json.loads(line)
                if "begin" in answer:
                    current, limit = answer["begin"], MOST_SECONDS + 1
                else:
                    current = -1
                    _note(result, answer)
        hung = not ready
        if hung:
            child.send_signal(signal.SIGKILL)
        status = child.wait()
    if current >= 0:
        reason = f"took more than {MOST_SECONDS:g} s" if hung else f"ended the process (status {status})"
        result.failures.append((current, reason))
        return current + 1
    if hung or status:
        raise RuntimeError(f"the child for {name} failed outside of a mutant (status {status})")
    return first + count


def _note(result: Result, answer: dict[str, object]) -> None:
    number = int(str(answer["end"]))
    if "error" in answer:
        result.failures.append((number, str(answer["error"])))
        return
    word, seconds = str(answer["word"]), float(str(answer["seconds"]))
    result.words[word] += 1
    result.slowest_s = max(result.slowest_s, seconds)
    if word == "silent":
        result.failures.append((number, "gave nothing, and no reason"))
    elif seconds > MOST_SECONDS:
        result.failures.append((number, f"took {seconds:.1f} s"))
