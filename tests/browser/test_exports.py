"""The export menu of panels: values as CSV and Parquet, charts as pictures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page

from tests.browser.driving import settled


def export(page: Page, panel: str, as_format: str, folder: Path) -> Path:
    """What a panel's menu gives."""
    place = page.locator(f"[data-panel='{panel}']")
    place.scroll_into_view_if_needed()
    menu = place.locator(":scope > .exports")
    menu.wait_for(state="attached")
    place.hover()
    menu.locator("summary").click()
    with page.expect_download() as started:
        menu.locator(f"[data-export={as_format}]").click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def test_a_chart_as_values_and_as_pictures(page: Page, job_url: Callable[..., str], tmp_path: Path) -> None:
    page.goto(job_url(tab="nodes"))
    settled(page)
    csv = export(page, "nodes-cpu", "csv", tmp_path).read_text(encoding="utf-8-sig").splitlines()
    table = pq.read_table(export(page, "nodes-cpu", "parquet", tmp_path))
    assert csv[0] == "series,time,%"
    assert table.num_rows == len(csv) - 1
    assert [str(kind) for kind in table.schema.types] == ["string", "timestamp[us]", "double"]
    last = csv[-1].split(",")
    assert table.to_pylist()[-1]["series"] == last[0]
    assert table.to_pylist()[-1]["%"] == pytest.approx(float(last[2]), abs=1e-5)
    png, svg = (export(page, "nodes-cpu", kind, tmp_path) for kind in ("png", "svg"))
    assert (png.name, svg.name) == ("cpu-utilization.png", "cpu-utilization.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "CPU utilization" in svg.read_text()


def test_the_heatmap_of_the_window_as_parquet(page: Page, job_url: Callable[..., str], tmp_path: Path) -> None:
    page.goto(job_url(tab="nodes", query="?node=algo-1&from=1607121860000&to=1607121920000"))
    settled(page)
    found = pq.read_table(export(page, "nodes-heatmap", "parquet", tmp_path)).to_pandas()
    assert set(found["node"]) == {"algo-1"}
    assert found["device"].nunique() == 36
    assert 0 <= found["highest %"].min() <= found["highest %"].max() <= 100
    assert found["middle of column"].max() - found["middle of column"].min() < timedelta(seconds=70)


def test_tables_have_an_export_too(page: Page, job_url: Callable[..., str], tmp_path: Path) -> None:
    page.goto(job_url())
    settled(page)
    usage = pq.read_table(export(page, "overview-usage", "parquet", tmp_path)).to_pylist()
    assert len(usage) == 18
    assert (usage[1]["node"], usage[1]["metric"], usage[1]["p95"]) == ("algo-1", "GPU", 13.5)
    functions = pq.read_table(export(page, "overview-functions", "parquet", tmp_path))
    assert functions.num_rows == 31
    page.goto(job_url(tab="quality", query="?files=all"))
    settled(page)
    assert (
        pq.read_table(export(page, "quality-files", "parquet", tmp_path)).num_rows == 123 + 9
    )  # and the reports of the original
