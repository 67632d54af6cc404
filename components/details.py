"""The times of a training job in words: the eleven rows of the original dashboard."""

from __future__ import annotations

from components import format as text
from data.frames import JobTimes


def detail_rows(times: JobTimes, offset_minutes: int = 0, origin_ns: int | None = None) -> list[tuple[str, str]]:
    """The eleven rows in the order of the original dashboard; with an origin, times since then."""

    def moment(time_ns: int | None) -> str:
        if origin_ns is None or time_ns is None:
            return text.timestamp(time_ns, offset_minutes)
        return text.elapsed(time_ns - origin_ns)

    return [
        ("Start time", moment(times.start_ns) if origin_ns is None else text.MISSING),
        ("End time", moment(times.end_ns) if origin_ns is None else text.MISSING),
        ("Job duration", text.seconds(times.duration_ns)),
        ("Training loop start", moment(times.loop_start_ns)),
        ("Training loop end", moment(times.loop_end_ns)),
        ("Training loop duration", text.seconds(times.loop_duration_ns)),
        ("Initialization", text.seconds(times.initialization_ns)),
        ("Finalization", text.seconds(times.finalization_ns)),
        ("Initialization (%)", text.number(times.initialization_percent, 2)),
        ("Training loop (%)", text.number(times.loop_percent, 2)),
        ("Finalization (%)", text.number(times.finalization_percent, 2)),
    ]
