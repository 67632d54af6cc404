"""Memory by allocators: which line is which, in what unit, and what is said beside and below it."""

from __future__ import annotations

import numpy as np

from components.figures import memory
from components.figures.axes import View
from components.theme import hue, rgba
from tests import frames
from tests.components.figures.plot import VIEW, WHOLE, assert_house_rules, everything, named, numbers
from tests.drawn import words
from tests.frames import GIB


def test_one_process_has_a_solid_line_a_dotted_one_and_its_exact_peak() -> None:
    view = memory.allocated(frames.allocated_memory(), VIEW)
    assert_house_rules(view.figure, time=True)
    held, kept = (named(view.figure, f"rank0 cuda:0 {what}") for what in ("allocated", "reserved"))
    assert (numbers(held.y).tolist(), held.line.dash) == ([3.0] * 10, "solid")
    assert (numbers(kept.y).tolist(), kept.line.dash) == ([4.0] * 10, "dot")
    assert held.line.color == hue("dark", "gpu_memory")
    (band,) = [trace for trace in view.figure.data if trace.fill == "toself"]
    assert sorted(set(numbers(band.y).tolist())) == [2.0, 3.0]
    (peak,) = [trace for trace in view.figure.data if trace.mode == "markers+text"]
    assert (peak.x, peak.y) == (("2020-12-04 22:41:00.000000",), (3.0,))
    assert peak.text == ("<b>Peak 3 GiB</b> rank0 cuda:0 22:41:00",)
    assert view.figure.layout.yaxis.range[1] >= 4
    assert words(view.note) == "GiB, by PyTorch's allocator, not the driver · exact peaks, per 50 s allocated reserved"
    assert view.caption == (
        "Peak 3 GiB allocated on rank0 cuda:0 at 22:41:00; grew by up to 1 GiB. "
        "1,200 allocations, the largest 512 MiB, and 1,100 frees in this window."
    )


def test_the_highest_line_stands_out_and_says_where_it_is() -> None:
    lines = [frames.memory_line(node="rank1", rise_bytes=5), frames.memory_line(peak_bytes=GIB, uncounted=1)]
    view = memory.allocated(frames.allocated_memory(lines, line_count=30), VIEW)
    assert_house_rules(view.figure, time=True)
    assert named(view.figure, "rank1 cuda:0 allocated").line.color == hue("dark", "gpu_memory")
    assert named(view.figure, "rank0 cuda:0 allocated").line.color == rgba(hue("dark", "gpu_memory"), 0.45)
    assert [trace.meta["tag"] for trace in view.figure.data if trace.meta] == ["reserved", "allocated"]
    assert not [trace for trace in view.figure.data if trace.fill == "toself"]
    assert "the 2 highest of 30 lines" in words(view.note)
    assert "at 22:41:00; grew by up to 1 GiB on rank0 cuda:0. 2,400 allocations" in view.caption
    assert view.caption.endswith(" 1 record of memory that processes share tells no total and is left out.")


def test_processes_are_named_where_only_they_tell_lines_apart() -> None:
    lines = [frames.memory_line(process="<b>5"), frames.memory_line(process="6"), frames.memory_line(device=1)]
    view = memory.allocated(frames.allocated_memory(lines), VIEW)
    names = {trace.name for trace in view.figure.data if trace.name}
    assert names == {
        f"{name} {what}"
        for name in ("rank0 cuda:0, process &lt;b&gt;5", "rank0 cuda:0, process 6", "rank0 cuda:1")
        for what in ("allocated", "reserved")
    }
    assert "<b>5" not in everything(view.figure)


def test_the_cpu_reserves_nothing_and_has_the_unit_that_fits() -> None:
    line = frames.memory_line(device_kind="cpu", device=-1, peak_bytes=3 << 20, rise_bytes=0, allocations=0, frees=1)
    view = memory.allocated(frames.allocated_memory([line], allocated_last=np.full((1, 10), 1.0 * (3 << 20))), VIEW)
    (held,) = [trace for trace in view.figure.data if trace.name]
    assert (held.name, numbers(held.y)[0], held.line.color) == ("rank0 cpu allocated", 3.0, hue("dark", "memory"))
    assert words(view.note).startswith("MiB, by PyTorch's allocator · exact peaks")
    assert "driver" not in words(view.note)
    assert view.caption.endswith("grew by up to 0 B. 0 allocations, and 1 free in this window.")


def test_times_without_a_clock_count_from_the_start() -> None:
    view = memory.allocated(frames.allocated_memory(), View(WHOLE, origin_ns=frames.START_NS))
    assert "at +1m 40s" in view.caption


def test_what_was_not_recorded_is_a_gap() -> None:
    frame = frames.allocated_memory()
    for array in (frame.allocated, frame.allocated_last, frame.reserved, frame.reserved_last):
        array[0, :4] = np.nan
    view = memory.allocated(frame, View(WHOLE, "light"))
    assert np.isnan(numbers(named(view.figure, "rank0 cuda:0 allocated").y)[:4]).all()
    assert np.isnan(numbers(named(view.figure, "rank0 cuda:0 reserved").y)[:4]).all()
