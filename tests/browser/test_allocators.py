"""Memory by allocators in the browser: a drag zooms into it, and the common hover line tells its values."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import drag, serving, settled
from tests.stored import convert, only_job
from tests.traces import START_US, event, memory

MIB = 1 << 20


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A process that holds 1 to 4 GiB of a GPU for 100 ms, more with every 10 ms, and 200 MiB of the CPU all along."""
    folder = tmp_path_factory.mktemp("allocators")
    rows = [event(START_US, 100_000, name="aten::mm") | {"cat": "cpu_op"}]
    for at in range(101):
        step = at // 10
        rows.append(memory(START_US + 1000 * at, 1 << 20, (1024 + 300 * step) * MIB, 4096 * MIB))
        rows.append(memory(START_US + 1000 * at, 8, 200 * MIB, 0, kind=0, device=-1))
    (folder / "job").mkdir()
    trace = {"distributedInfo": {"rank": 0}, "traceEvents": rows}
    (folder / "job" / "rank0.pt.trace.json").write_text(json.dumps(trace))
    convert(folder / "job", folder / "store")
    with serving(source=(str(folder / "job"),), store=folder / "store", cache=folder / "cache") as site:
        yield f"{site}jobs/{only_job(folder / 'job').job_id}/nodes"


def test_a_drag_zooms_and_the_peak_is_that_of_the_window(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    caption = page.locator("#nodes-gpu-allocator-caption")
    expect(caption).to_contain_text("Peak 3.93 GiB allocated on rank0 cuda:0")
    drag(page, "nodes-gpu-allocator", 0.42, 0.48)
    expect(caption).to_contain_text("Peak 2.17 GiB allocated on rank0 cuda:0")
    expect(page.locator("#nodes-cpu-allocator-caption")).to_contain_text("Peak 200 MiB")


def test_the_hover_line_tells_round_numbers_whole(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    box = page.locator("[data-panel='nodes-gpu-allocator'] .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    page.mouse.move(box["x"] + box["width"] * 0.52, box["y"] + box["height"] * 0.5)
    expect(page.locator("[data-panel='nodes-cpu-allocator'] .hover-tag.on")).to_have_text("200 MiB allocated")
