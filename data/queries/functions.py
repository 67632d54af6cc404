"""Python functions: calls and times added up over the profiles of a job."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import MissingTable
from data.frames import FUNCTIONS_COLUMNS, Functions, FunctionTotals
from data.selection import Selection
from data.store import Database

JobPhase = Literal["", "initialization", "training_loop", "finalization"]

MAX_FUNCTIONS = 10_000
"""Rows that one answer holds; the totals count all."""

NO_PROFILES = "This job has no Python profile."


def listed(
    db: Database,
    selection: Selection,
    phase: JobPhase = "",
    mode: str = "",
    profiler: str = "",
    limit: int = MAX_FUNCTIONS,
) -> FunctionTotals:
    """Functions with their calls and times over all profiles that fit, those with the most own time first.

    A window takes every profile whose interval overlaps it, whole: a profile cannot be divided. The original took only
    those that begin or end inside and missed the ones around it. `phase` is a part of the training, `mode` one that a
    profile both begins and ends in (train, eval, ...), `profiler` cprofile or pyinstrument; "" is all of them.
    Raises MissingTable where no profile fits.
    """
    files = [db.job(selection.job).file("functions.parquet", NO_PROFILES)]
    condition, parameters = _where(selection, phase, mode, profiler)
    total = db.columns(_TOTALS.format(condition=condition), files=files, **parameters)
    if not int(total["profiles"][0]):
        raise MissingTable("No Python profile was taken here.", "Choose another window, other nodes, or all phases.")
    rows = db.columns(_ROWS.format(condition=condition, limit=int(limit)), files=files, **parameters)
    return FunctionTotals(
        rows=_frame(rows),
        functions=int(total["functions"][0]),
        profiles=int(total["profiles"][0]),
        profilers=tuple(sorted(total["profilers"][0])),
        ncalls=_number(total["ncalls"]),
        pcalls=_number(total["pcalls"]),
        tottime_ns=int(total["tottime_ns"][0]),
        start_ns=_number(total["start_ns"]),
        end_ns=_number(total["end_ns"]),
    )


def _sum(column: str) -> str:
    # hostile numbers must not make a sum that does not fit; `least` alone would turn what is missing into its limit
    limited = f"greatest(least(sum({column}), 9223372036854775807), -9223372036854775807)::bigint"
    return f"case when count({column}) > 0 then {limited} end as {column}"


_ROWS = f"""
    select profiler, code_file, line, "function", {_sum("ncalls")}, {_sum("pcalls")}, {_sum("tottime_ns")},
           {_sum("cumtime_ns")}
    from read_parquet($files) where {{condition}} group by profiler, code_file, line, "function"
    order by tottime_ns desc, cumtime_ns desc, code_file, line, "function", profiler limit {{limit}}
"""
_TOTALS = f"""
    select count(distinct {{{{'code_file': code_file, 'line': line, 'function': "function"}}}}) as functions,
           count(distinct file) as profiles, list(distinct profiler) as profilers,
           {_sum("ncalls")}, {_sum("pcalls")}, {_sum("tottime_ns")}, min(start_ns) as start_ns, max(end_ns) as end_ns
    from read_parquet($files) where {{condition}}
"""


def _where(selection: Selection, phase: str, mode: str, profiler: str) -> tuple[str, dict[str, Any]]:
    conditions, parameters = ["true"], dict[str, Any]()
    if selection.window:
        conditions.append("start_ns < $end and end_ns >= $start")
        parameters |= {"start": selection.window.start_ns, "end": selection.window.end_ns}
    if selection.nodes:
        conditions.append("node in (select unnest($nodes))")
        parameters["nodes"] = list(selection.nodes)
    if phase:
        conditions.append("job_phase = $phase")
        parameters["phase"] = phase
    if mode:
        conditions.append("start_mode = $mode and end_mode = $mode")
        parameters["mode"] = mode
    if profiler:
        conditions.append("profiler = $profiler")
        parameters["profiler"] = profiler
    return " and ".join(conditions), parameters


def _frame(columns: dict[str, NDArray[Any]]) -> Functions:
    counts = {name: _whole_numbers(columns[name]) for name in ("ncalls", "pcalls")}
    return Functions(pd.DataFrame({name: counts.get(name, columns[name]) for name in FUNCTIONS_COLUMNS}))


def _whole_numbers(values: NDArray[Any]) -> pd.Series[int]:
    """Exact numbers with gaps: through floats they would lose their last digits."""
    masked = np.ma.asarray(values)
    numbers = np.ma.getdata(masked).astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(numbers, np.ma.getmaskarray(masked)))


def _number(values: NDArray[Any]) -> int | None:
    return None if np.ma.is_masked(values[0]) else int(values[0])
